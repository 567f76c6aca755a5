package blockq

import (
	"errors"
	"io"
	"strconv"
)

// Kind is the word with which a reply begins.
type Kind string

// The kinds of replies.
const (
	OK    Kind = "OK"
	Err   Kind = "ERR"
	None  Kind = "NONE"
	Job   Kind = "JOB"
	Count Kind = "COUNT"
)

// Reply is what a server answers to a command.
type Reply struct {
	Kind   Kind
	Reason string // of Err
	ID     string // of Job
	N      int    // of Count
	Block  []byte // of Job
}

// Decode reads the first reply in b and returns how many bytes it takes. It keeps
// nothing, and the reply's Block aliases b.
//
// The error is [ErrShort] while b is the beginning of a reply (call it again with
// more bytes), and a *[SyntaxError] as soon as b cannot become one; n is 0 then.
func Decode(b []byte) (r Reply, n int, err error) {
	s := scanner{b: b}
	r.Kind = Kind(s.keyword(string(OK), string(Err), string(None), string(Job), string(Count)))
	switch r.Kind {
	case Err:
		r.Reason = s.text("a reason")
	case Count:
		r.N = s.number("a number of jobs", 9_999_999)
	case Job:
		r.ID = s.name("an id")
		size := s.number("a size of at most 1048576", MaxBlock)
		s.lineEnd()
		r.Block = s.block(size)
	}
	if r.Kind != Job {
		s.lineEnd()
	}
	if s.err != nil {
		return Reply{}, 0, s.err
	}
	return r, s.pos, nil
}

// AppendReply appends r as a server sends it.
func AppendReply(out []byte, r Reply) []byte {
	out = append(out, r.Kind...)
	switch r.Kind {
	case Err:
		out = append(append(out, ' '), r.Reason...)
	case Count:
		out = strconv.AppendInt(append(out, ' '), int64(r.N), 10)
	case Job:
		out = append(append(out, ' '), r.ID...)
		return appendBlock(out, len(r.Block), r.Block)
	}
	return append(out, "\r\n"...)
}

// appendBlock appends the size that ends a line, and the block that follows it.
func appendBlock(out []byte, size int, block []byte) []byte {
	out = strconv.AppendInt(append(out, ' '), int64(size), 10)
	out = append(append(out, "\r\n"...), block...)
	return append(out, "\r\n"...)
}

// Reader reads replies from a stream. It is not safe for concurrent use.
type Reader struct {
	stream stream
	broken error // the stream's SyntaxError
}

// NewReader returns a Reader on r.
func NewReader(r io.Reader) *Reader { return &Reader{stream: stream{src: r}} }

// Read returns the next reply; its Block is valid until the next Read. It blocks as
// long as the underlying reader does.
//
// It returns io.EOF if the stream ends between two replies, and a *[SyntaxError]
// with an offset into the stream if the server breaks the grammar or the stream ends
// inside a reply: then every later Read returns that error again. Any other error is
// the underlying reader's; after a deadline Read continues where it was.
func (r *Reader) Read() (Reply, error) {
	if r.broken != nil {
		return Reply{}, r.broken
	}
	for {
		reply, n, err := Decode(r.stream.buffered())
		if err == nil {
			r.stream.consume(n)
			return reply, nil
		}
		if errors.Is(err, ErrShort) {
			err = r.stream.fill()
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF) && len(r.stream.buffered()) > 0:
			err = &SyntaxError{
				Offset: int64(len(r.stream.buffered())), Expected: "the rest of a reply", Got: "the end of the stream",
			}
		}
		if syntax, ok := errors.AsType[*SyntaxError](err); ok {
			syntax.Offset += r.stream.offset
			r.broken = err
		}
		return Reply{}, err
	}
}

// Buffered returns the bytes that were read from the stream and belong to no reply
// that Read returned. They are valid until the next Read.
func (r *Reader) Buffered() []byte { return r.stream.buffered() }

// stream is a buffer before a reader. The zero value but for src is ready.
type stream struct {
	src        io.Reader
	buf        []byte
	start, end int   // of the bytes in buf that are not consumed
	offset     int64 // of start in the stream
	pending    error // came together with the last bytes
}

func (s *stream) buffered() []byte { return s.buf[s.start:s.end] }

func (s *stream) consume(n int) {
	s.start += n
	s.offset += int64(n)
}

// fill reads once from the source.
func (s *stream) fill() error {
	if err := s.pending; err != nil {
		s.pending = nil
		return err
	}
	into := s.buf
	if s.end-s.start > len(s.buf)/2 || len(s.buf) == 0 {
		into = make([]byte, max(512, 2*len(s.buf)))
	}
	s.end = copy(into, s.buffered())
	s.start, s.buf = 0, into
	n, err := s.src.Read(s.buf[s.end:])
	s.end += n
	if n > 0 {
		s.pending, err = err, nil
	}
	return err
}
