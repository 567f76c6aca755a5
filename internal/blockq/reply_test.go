package blockq

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// replies has a valid reply of each kind, as it is sent.
var replies = map[string]Reply{
	"OK\r\n":                      {Kind: OK},
	"NONE\r\n":                    {Kind: None},
	"ERR join first\r\n":          {Kind: Err, Reason: "join first"},
	"COUNT 0\r\n":                 {Kind: Count},
	"COUNT 12\r\n":                {Kind: Count, N: 12},
	"JOB j1 0\r\n\r\n":            {Kind: Job, ID: "j1", Block: []byte{}},
	"JOB j1 4\r\na\r\nb\r\n":      {Kind: Job, ID: "j1", Block: []byte("a\r\nb")},
	"JOB j-2 5\r\n\x00OK\r\n\r\n": {Kind: Job, ID: "j-2", Block: []byte("\x00OK\r\n")},
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for text, want := range replies {
		for end := range text {
			_, n, err := Decode([]byte(text[:end]))
			assert.ErrorIs(t, err, ErrShort, "%q", text[:end])
			assert.Zero(t, n)
		}
		got, n, err := Decode([]byte(text + "OK\r\n"))
		require.NoError(t, err, "%q", text)
		assert.Equal(t, want, got)
		assert.Equal(t, len(text), n)
		assert.Equal(t, text, string(AppendReply(nil, want)))
	}
}

func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		offset   int64
		expected string
		got      string
	}{
		"+OK\r\n":                               {0, `"OK", "ERR", "NONE", "JOB" or "COUNT"`, `"+OK"`},
		"ok\r\n":                                {0, `"OK", "ERR", "NONE", "JOB" or "COUNT"`, `"ok"`},
		"OX\r\n":                                {1, `"OK", "ERR", "NONE", "JOB" or "COUNT"`, `"X"`},
		"OK\n":                                  {2, `"\r\n"`, `"\n"`},
		"OK \r\n":                               {2, `"\r\n"`, `" "`},
		"ERR\r\n":                               {3, `" "`, `"\r\n"`},
		"ERR \r\n":                              {4, "a reason", `"\r\n"`},
		"ERR é\r\n":                             {4, "a reason", `"\u00e9"`},
		"COUNT -1\r\n":                          {6, "a number of jobs", `"-1"`},
		"COUNT 01\r\n":                          {6, "a number of jobs", `"01"`},
		"COUNT 12345678\r\n":                    {13, `"\r\n"`, `"8"`},
		"JOB  1\r\n":                            {4, "an id", `" 1"`},
		"JOB j 1048577\r\n":                     {6, "a size of at most 1048576", `"1048577"`},
		"JOB j 1\r\n\r\n\r\n":                   {10, `"\r\n"`, `"\n"`},
		"JOB j 1\r\nab\r\n":                     {10, `"\r\n"`, `"b"`},
		"NONE" + "\x00":                         {4, `"\r\n"`, `"\x00"`},
		"ERR " + strings.Repeat("x", maxLine+1): {4 + maxLine, `"\r\n"`, `"x"`},
	}
	for text, test := range tests {
		_, n, err := Decode([]byte(text))
		assert.Equal(t, &SyntaxError{Offset: test.offset, Expected: test.expected, Got: test.got}, err, "%q", text)
		assert.Zero(t, n)
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	var stream strings.Builder
	var want []Reply
	for range 40 { // more than the first buffer holds
		for text, reply := range replies {
			stream.WriteString(text)
			want = append(want, reply)
		}
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r },
		"bytes": iotest.OneByteReader,
		"eof":   iotest.DataErrReader,
	} {
		reader := NewReader(wrap(strings.NewReader(stream.String())))
		for _, reply := range want {
			got, err := reader.Read()
			require.NoError(t, err, name)
			require.Equal(t, reply, got, name)
		}
		_, err := reader.Read()
		assert.Equal(t, io.EOF, err, name)
	}
}

func TestReaderErrors(t *testing.T) {
	t.Parallel()
	cut := NewReader(strings.NewReader("OK\r\nJOB j 3\r\nab"))
	_, err := cut.Read()
	require.NoError(t, err)
	want := &SyntaxError{Offset: 15, Expected: "the rest of a reply", Got: "the end of the stream"}
	for range 2 {
		_, err = cut.Read()
		assert.Equal(t, want, err)
	}
	assert.Equal(t, "JOB j 3\r\nab", string(cut.Buffered()))

	wrong := NewReader(strings.NewReader("OK\r\nOK\r\nwhat\r\nOK\r\n"))
	for range 2 {
		_, err = wrong.Read()
		require.NoError(t, err)
	}
	for range 2 {
		_, err = wrong.Read()
		assert.EqualError(t, err, `byte 8: expected "OK", "ERR", "NONE", "JOB" or "COUNT", got "what"`)
	}

	late := NewReader(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("OK\r\n"))))
	_, err = late.Read()
	require.ErrorIs(t, err, iotest.ErrTimeout)
	got, err := late.Read()
	require.NoError(t, err, "a reader continues after a deadline")
	assert.Equal(t, Reply{Kind: OK}, got)
}

func FuzzDecode(f *testing.F) {
	for text := range replies {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		reply, n, err := Decode(b)
		switch {
		case err == nil:
			assert.Equal(t, b[:n], AppendReply(nil, reply))
		case !errors.Is(err, ErrShort):
			_, _, longer := Decode(append(slices.Clip(b), "\r\n12"...))
			assert.ErrorAs(t, longer, new(*SyntaxError))
		}
	})
}
