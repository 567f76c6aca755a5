package fwp

import (
	"errors"
	"io"
)

const (
	firstBuffer = 4 << 10
	keptBuffer  = 1 << 20 // a larger one is released after its reply
	minRead     = 512
	maxEmpty    = 100 // reads of nothing without an error before giving up
)

// Reader reads replies from a stream, strictly. It allocates nothing for simple
// strings, errors, integers, bulk strings and nulls once its buffer is as large as
// the replies; a buffer of more than 1 MiB is not kept. The buffer grows with the
// received bytes, never by a length that a peer announces. It is not safe for
// concurrent use.
// (Server Protocol Sender; RESP)
type Reader struct {
	src      io.Reader
	dec      decoder
	buf      []byte
	start    int   // the bytes before it belong to replies that were returned
	end      int   // of the bytes received
	consumed int64 // bytes of all replies that were returned
	pending  error // of the read that gave the last bytes; returned by the next fill
	broken   error // the stream's SyntaxError: final
}

// NewReader returns a Reader on r that refuses replies of more than limit bytes,
// markers and line ends included. A limit of 0 or less means [DefaultLimit].
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{src: r, dec: newDecoder(limit)}
}

// SetLimit changes the limit for the replies after those that Read has returned. A limit of 0 or less
// means [DefaultLimit].
func (r *Reader) SetLimit(limit int) { r.dec.limit = newDecoder(limit).limit }

// Read returns the next reply. Its Text is valid until the next Read.
//
// Read blocks as long as the underlying reader does. It returns io.EOF only if the
// stream ends between two replies, and a *[SyntaxError], whose offset counts from
// the start of the stream, if the peer breaks the grammar or the stream ends
// inside a reply; that error is final and every later Read returns it again.
// Errors are returned as early as [Decode] returns them. Any other error is the
// underlying reader's; after a deadline Read can be called again and continues where
// it was.
func (r *Reader) Read() (Reply, error) {
	if r.broken != nil {
		return Reply{}, r.broken
	}
	for {
		err := r.dec.run(r.buf[r.start:r.end])
		if err == nil {
			return r.take(), nil
		}
		if !errors.Is(err, ErrShort) {
			return Reply{}, r.fail(err)
		}
		if err := r.fill(); err != nil {
			if errors.Is(err, io.EOF) && r.start < r.end {
				return Reply{}, r.fail(r.dec.finish(r.buf[r.start:r.end]))
			}
			return Reply{}, err
		}
	}
}

// take returns the finished reply and prepares for the next one. The bytes stay where
// they are until fill needs their room.
func (r *Reader) take() Reply {
	reply, n := r.dec.reply(r.buf[r.start:r.end]), r.dec.pos
	r.start += n
	r.consumed += int64(n)
	r.dec.reset()
	return reply
}

func (r *Reader) fail(err error) error {
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		syntax.Offset += r.consumed
	}
	r.broken = err
	return err
}

// fill reads once from the source, as much as there is room for.
func (r *Reader) fill() error {
	if err := r.pending; err != nil {
		r.pending = nil
		return err
	}
	r.makeRoom()
	for range maxEmpty {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if n > 0 {
			r.pending = err
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// makeRoom moves the unread bytes to the front, or doubles the buffer if they fill
// it, so that a payload in many small pieces is copied a bounded number of times.
func (r *Reader) makeRoom() {
	if r.start == r.end {
		r.start, r.end = 0, 0
		if len(r.buf) > keptBuffer {
			r.buf = nil
		}
	}
	if len(r.buf)-r.end >= minRead {
		return
	}
	into := r.buf
	if len(r.buf)-(r.end-r.start) < max(minRead, len(r.buf)/2) {
		into = make([]byte, max(firstBuffer, 2*len(r.buf)))
	}
	r.end = copy(into, r.buf[r.start:r.end])
	r.start = 0
	r.buf = into
}

// Offset returns the number of bytes of all replies that Read returned: the offset in
// the stream where the next one starts.
func (r *Reader) Offset() int64 { return r.consumed }

// Buffered returns the received bytes after the replies that Read returned: trailing
// bytes, or the beginning of a reply. They are valid until the next Read.
func (r *Reader) Buffered() []byte { return r.buf[r.start:r.end:r.end] }

// Pending describes what is missing of a reply that Read has only a part of, as in "a
// bulk string of 100 bytes, 57 received". It is empty between replies and after a syntax
// error. Only the goroutine that reads may call it, so between two Reads.
func (r *Reader) Pending() string {
	if r.broken != nil || r.start == r.end || r.dec.phase == wantType && r.dec.pos == 0 {
		return ""
	}
	return r.dec.missing(r.buf[r.start:r.end])
}
