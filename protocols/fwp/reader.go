package fwp

import (
	"cmp"
	"errors"
	"io"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// Reader reads replies from a stream, strictly. It allocates nothing for simple
// strings, errors, integers, bulk strings and nulls once its buffer is as large as
// the replies; a buffer of more than 1 MiB is not kept. The buffer grows with the
// received bytes, never by a length that a peer announces. It is not safe for
// concurrent use.
// (Server Protocol Sender; RESP)
type Reader struct {
	in       input.Reader // its offset is the number of bytes of all replies that were returned
	dec      decoder
	finalErr error // the stream's SyntaxError: final
	lapse    *SyntaxError
}

// NewReader returns a Reader on r that refuses replies of more than limit bytes,
// markers and line ends included. A limit of 0 or less means [DefaultLimit].
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{in: input.Reader{Source: r}, dec: newDecoder(limit)}
}

// SetLimit changes the limit for the replies after those that Read has returned. A limit of 0 or less
// means [DefaultLimit].
func (r *Reader) SetLimit(limit int) { r.dec.limit = newDecoder(limit).limit }

// ReadOn makes Read accept replies with one of these mistakes, as far as it is clear where the reply ends: a line
// ends with LF alone; the null is *-1 or an empty bulk string; a length counts characters instead of bytes.
// [Reader.Lapse] returns the mistake.
func (r *Reader) ReadOn() { r.dec.isReadingOn = true }

// Lapse returns the first mistake in the reply that Read returned last, or in the reply that is not complete yet. It
// is nil if there is none. Without [Reader.ReadOn] such a mistake is an error of Read instead.
func (r *Reader) Lapse() *SyntaxError { return cmp.Or(r.dec.lapse, r.lapse) }

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
	if r.finalErr != nil {
		return Reply{}, r.finalErr
	}
	r.lapse = nil
	for {
		err := r.dec.run(r.in.Buffered())
		if err == nil {
			return r.take(), nil
		}
		if !errors.Is(err, ErrShort) {
			return Reply{}, r.fail(err)
		}
		if err := r.in.Fill(); err != nil {
			if errors.Is(err, io.EOF) && len(r.in.Buffered()) > 0 {
				return Reply{}, r.fail(r.dec.finish(r.in.Buffered()))
			}
			return Reply{}, err
		}
	}
}

// take returns the finished reply and prepares for the next one.
func (r *Reader) take() Reply {
	reply, n := r.dec.reply(r.in.Buffered()), r.dec.pos
	if r.lapse = r.dec.lapse; r.lapse != nil {
		r.lapse.Offset += r.in.Offset()
	}
	r.in.Discard(n)
	// the memory for nodes is kept
	r.dec = decoder{limit: r.dec.limit, isReadingOn: r.dec.isReadingOn, nodes: r.dec.nodes[:0]}
	return reply
}

func (r *Reader) fail(err error) error {
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		syntax.Offset += r.in.Offset()
	}
	r.finalErr = err
	return err
}

// Offset returns the offset of the next reply in the stream: the number of bytes of all replies that Read returned.
func (r *Reader) Offset() int64 { return r.in.Offset() }

// Buffered returns the received bytes after the replies that Read returned: trailing
// bytes, or the beginning of a reply. They are valid until the next Read.
func (r *Reader) Buffered() []byte { return r.in.Buffered() }

// Pending describes the missing part of an incomplete reply, such as "a bulk string of 100 bytes, 57 received". It is
// empty between replies and after a syntax error. Only the goroutine that calls Read may call it, between two calls.
func (r *Reader) Pending() string {
	if r.finalErr != nil || len(r.in.Buffered()) == 0 || r.dec.phase == wantType && r.dec.pos == 0 {
		return ""
	}
	return r.dec.describeMissing(r.in.Buffered())
}
