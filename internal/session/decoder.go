package session

import (
	"errors"
	"io"
)

// ErrShort reports that bytes are the beginning of a message, and that more must follow.
var ErrShort = errors.New("the message is not complete")

// Decode reads the first message in b and returns how many bytes it takes. The message keeps no part of b. The error is
// [ErrShort] while b is the beginning of a message, and a *[SyntaxError] with an offset into b as soon as it cannot
// become one.
type Decode func(b []byte) (m Message, n int, err error)

// NewReader returns the Reader of a protocol whose messages decode reads. rule is that of the grammar which a peer
// breaks that never completes a message.
func NewReader(from io.Reader, decode Decode, rule string) Reader {
	return &decoder{from: from, decode: decode, rule: rule}
}

// decoder implements [Reader].
type decoder struct {
	from   io.Reader
	decode Decode
	rule   string
	buf    []byte // what was read and is not part of a returned message
	offset int64  // of buf in the stream
	failed error  // came together with the last bytes
}

// restWords say what an incomplete message needs.
const restWords = "the rest of a reply"

// Read implements [Reader].
func (d *decoder) Read() (Message, error) {
	for {
		m, n, err := d.decode(d.buf)
		if err == nil {
			d.buf, d.offset = d.buf[n:], d.offset+int64(n)
			return m, nil
		}
		if syntax, wrong := errors.AsType[*SyntaxError](err); wrong {
			syntax.Offset += d.offset
			return Message{}, err
		}
		if err := d.fill(); errors.Is(err, io.EOF) && len(d.buf) > 0 {
			return Message{}, &SyntaxError{
				Rule: d.rule, Offset: d.offset + int64(len(d.buf)), Expected: restWords, Got: "the end of the stream",
			}
		} else if err != nil {
			return Message{}, err
		}
	}
}

// fill reads once from the stream.
func (d *decoder) fill() error {
	if err := d.failed; err != nil {
		d.failed = nil
		return err
	}
	chunk := make([]byte, max(512, len(d.buf)))
	n, err := d.from.Read(chunk)
	d.buf = append(d.buf, chunk[:n]...)
	if n > 0 {
		d.failed, err = err, nil
	}
	return err
}

// Pending implements [Reader].
func (d *decoder) Pending() (what, rule string) {
	if len(d.buf) == 0 {
		return "", ""
	}
	return restWords, d.rule
}

// Buffered implements [Reader].
func (d *decoder) Buffered() int { return len(d.buf) }
