package blockq

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
)

// lines has valid lines of both directions, as they are sent.
var lines = map[string]Line{
	"join me\r\n":                 {Words: []string{"join", "me"}},
	"put q a 2\r\n\r\n\r\n":       {Words: []string{"put", "q", "a"}, Block: []byte("\r\n")},
	"take q\r\n":                  {Words: []string{"take", "q"}},
	"done a\r\n":                  {Words: []string{"done", "a"}},
	"count q\r\n":                 {Words: []string{"count", "q"}},
	"ping\r\n":                    {Words: []string{"ping"}},
	"OK\r\n":                      {Words: []string{"OK"}},
	"ERR join first\r\n":          {Words: []string{"ERR", "join", "first"}},
	"COUNT 12\r\n":                {Words: []string{"COUNT", "12"}},
	"JOB j1 0\r\n\r\n":            {Words: []string{"JOB", "j1"}, Block: []byte{}},
	"JOB j-2 5\r\n\x00OK\r\n\r\n": {Words: []string{"JOB", "j-2"}, Block: []byte("\x00OK\r\n")},
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range lines {
		for end := range text {
			_, n, err := Parse([]byte(text[:end]))
			assert.ErrorIs(t, err, session.ErrShort, "%q", text[:end])
			assert.Zero(t, n)
		}
		got, n, err := Parse([]byte(text + "OK\r\n"))
		require.NoError(t, err, "%q", text)
		assert.Equal(t, want, got)
		assert.Equal(t, len(text), n)
		assert.Equal(t, text, string(Append(nil, want)))
	}
}

// A line that is wrong is refused. The next one begins behind it, unless its block has an unknown end.
func TestParseIsStrict(t *testing.T) {
	t.Parallel()
	for text, test := range map[string]struct {
		n      int
		offset int64
	}{
		"+OK\r\n":             {5, 0},
		"ok\r\n":              {4, 0},
		"OK \r\n":             {5, 0},
		"ERR\r\n":             {5, 0},
		"COUNT -1\r\n":        {10, 0},
		"COUNT 01\r\n":        {10, 0},
		"JOB  1\r\n":          {0, 0},
		"JOB j 1048577\r\n":   {0, 0},
		"JOB j 1\r\n\r\n\r\n": {0, 10},
		"JOB j 1\r\nab\r\n":   {0, 10},
		"take é\r\n":          {9, 0},
		"take " + strings.Repeat("q", 65) + "\r\n": {72, 0},
		strings.Repeat("x", maxLine+1) + "\r":      {0, 0},
	} {
		_, n, err := Parse([]byte(text))
		syntax, is := errors.AsType[*session.SyntaxError](err)
		require.True(t, is, "%q", text)
		assert.Equal(t, test.n, n, "%q", text)
		assert.Equal(t, test.offset, syntax.Offset, "%q", text)
		assert.Equal(t, Rule, syntax.Rule)
	}
}

func FuzzParse(f *testing.F) {
	for text := range lines {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if line, n, err := Parse(b); err == nil {
			assert.Equal(t, b[:n], Append(nil, line))
		}
	})
}
