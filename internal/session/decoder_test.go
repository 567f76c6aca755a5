package session

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aWord reads a word with a line end behind it, and knows no word with a digit.
func aWord(b []byte) (Message, int, error) {
	word, _, whole := bytes.Cut(b, []byte("\n"))
	if i := bytes.IndexAny(word, "0123456789"); i >= 0 {
		return Message{}, 0, &SyntaxError{Rule: "word", Offset: int64(i), Expected: "a letter", Got: "a digit"}
	}
	if !whole {
		return Message{}, 0, ErrShort
	}
	return Message{Kind: 'w', Text: bytes.Clone(word)}, len(word) + 1, nil
}

func TestDecoder(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2000)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "eof": iotest.DataErrReader,
	} {
		r := NewReader(wrap(strings.NewReader("a\n"+long+"\nb\n")), aWord, "rest")
		for _, want := range []string{"a", long, "b"} {
			m, err := r.Read()
			require.NoError(t, err, name)
			assert.Equal(t, want, string(m.Text), name)
		}
		_, err := r.Read()
		assert.Equal(t, io.EOF, err, name)
	}
}

func TestDecoderErrors(t *testing.T) {
	t.Parallel()
	cut := NewReader(strings.NewReader("ab\ncd"), aWord, "rest")
	_, err := cut.Read()
	require.NoError(t, err)
	_, err = cut.Read()
	assert.Equal(t, &SyntaxError{Rule: "rest", Offset: 5, Expected: "the rest of a reply", Got: "the end of the stream"},
		err)
	what, rule := cut.Pending()
	assert.Equal(t, []string{"the rest of a reply", "rest"}, []string{what, rule})
	assert.Equal(t, 2, cut.Buffered())

	wrong := NewReader(strings.NewReader("ab\nc7\n"), aWord, "rest")
	_, err = wrong.Read()
	require.NoError(t, err)
	_, err = wrong.Read()
	assert.Equal(t, &SyntaxError{Rule: "word", Offset: 4, Expected: "a letter", Got: "a digit"}, err)

	late := NewReader(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("ab\n"))), aWord, "rest")
	_, err = late.Read()
	require.ErrorIs(t, err, iotest.ErrTimeout)
	m, err := late.Read()
	require.NoError(t, err, "it goes on after a deadline")
	assert.Equal(t, "ab", string(m.Text))
}

func TestExchange(t *testing.T) {
	t.Parallel()
	s := &Exchange{Phase: Serving, Farewell: []byte("bye\n"), Parse: func(b []byte) (string, int, bool) {
		word, _, whole := strings.Cut(string(b), "\n")
		if !whole {
			return "", 0, false
		}
		return word, len(word) + 1, word == "bye"
	}}
	assert.Equal(t, Unasked, s.Turn(Message{}))
	s.Sent([]byte("pi"))
	assert.True(t, s.Status().Begun)
	assert.Equal(t, "pi", string(s.Begun()))
	s.Sent([]byte("ng\nput\n"))
	assert.Equal(t, Status{Phase: Serving, Owed: 2, Verb: "put", Asked: []byte("put\n"), Farewell: []byte("bye\n")},
		s.Status())
	assert.Equal(t, Answer, s.Turn(Message{}))
	assert.Equal(t, "ping", s.Answering())
	s.Received(Message{})
	assert.Equal(t, "put", s.Answering())
	s.Received(Message{})
	s.Sent([]byte("bye\n"))
	assert.Equal(t, Status{Phase: Over, Verb: "bye", Asked: []byte("bye\n")}, s.Status())
	assert.Equal(t, Unasked, s.Turn(Message{}))
}
