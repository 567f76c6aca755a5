package workq_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/workq"
)

const inspected = "+OK 1\r\n" + id + " 12\r\nname ping\r\nttr 1000\r\nttl 600000\r\npayload-size 4\r\npayload ping\r\n" +
	"max-attempts 0\r\nattempts 0\r\nmax-fails 0\r\nfails 0\r\npriority 0\r\nstate 0\r\ncreated 2016-08-22T01:50:51Z\r\n"

// TestReplies reads each reply whole, cut at every byte, and behind another one, and writes it again.
func TestReplies(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"+OK\r\n", "OK\r\n", "+OK 0\r\n", "-TIMEOUT\r\n", "-NOT-FOUND\r\n", "-CLIENT-ERROR\r\n",
		"-CLIENT-ERROR Invalid name\r\n", "-SERVER-ERROR x\r\n",
		"+OK 1\r\n" + id + " 1 4\r\npong\r\n",
		"+OK 1\r\n" + id + " 0 0\r\n\r\n",
		"+OK 1\r\n" + id + " ping 1000 6\r\n\r\n\x00\xff+O\r\n",
		inspected,
		"+OK 1\r\n" + id + " 2\r\npayload-size 4\r\npayload \r\n\r\n\r\n",
		"+OK 1\r\n" + id + " 3\r\npayload \r\n\r\n\r\npayload-size 4\r\nttr 1000\r\n",
		"+OK 1\r\n" + id + " 4\r\npayload x\r\n\r\nstate\r\npayload-size 10\r\nstate 7\r\nttr 1\r\n",
		"+OK 1\r\n" + id + " 3\r\npayload ping\r\nttr 1000\r\npayload-size 4\r\n",
		"+OK 2\r\nping1 2\r\nready-len 3\r\nscheduled-len 0\r\nping2 1\r\nready-len 9\r\n",
		"OK 1\r\nserver 3\r\nactive-clients 32\r\nevicted-jobs 0\r\nstarted 2016-01-02T15:04:05Z\r\n",
	} {
		reply, n, err := workq.ParseReply([]byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, len(text), n)
		assert.Equal(t, text, string(workq.AppendReply(nil, reply)))
		r := workq.NewReader(iotest.OneByteReader(strings.NewReader(text+text)), 1<<20)
		for range 2 {
			got, err := r.Read()
			require.NoError(t, err, text)
			assert.Equal(t, reply, got)
		}
		_, err = r.Read()
		require.ErrorIs(t, err, io.EOF)
		r = workq.NewReader(strings.NewReader(text[:len(text)-1]), 1<<20)
		_, err = r.Read()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, text)
		need, _ := r.Pending()
		assert.NotEmpty(t, need, text)
	}
}

// TestPending: a block is too short, or has no end; one that ends with CRLF may have it counted.
func TestPending(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]workq.Rule{
		"":                                    "",
		"+O":                                  workq.RuleLineEnd,
		"+OK 1\r\n" + id + " 1 0\r\n":         workq.RuleLineEnd,
		"+OK 1\r\n" + id + " 1 4\r\npong\r":   workq.RuleLineEnd,
		"+OK 1\r\n" + id + " 1 5\r\npong":     workq.RuleBlock,
		"+OK 1\r\n" + id + " 1 6\r\npong\r\n": workq.RuleBlock,
	} {
		r := workq.NewReader(strings.NewReader(text), 1<<20)
		_, err := r.Read()
		require.Error(t, err)
		_, got := r.Pending()
		assert.Equal(t, want, got, text)
	}
}

func TestBrokenReplies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"*OK\r\n":                              `sign: byte 0: expected + or -, got "*OK\r\n"`,
		"+OK\n":                                `line-end: byte 3: expected CR before LF, got "\n"`,
		"+OK\r+OK\r\n":                         `line-end: byte 4: expected LF behind CR, got "+OK\r\n"`,
		"+ok\r\n":                              `ok: byte 1: expected OK, got "ok\r\n"`,
		"+OKAY\r\n":                            `ok: byte 1: expected OK, got "OKAY\r\n"`,
		"+OK x\r\n":                            `count: byte 4: expected a count of replies, got "x\r\n"`,
		"-OOPS\r\n":                            `error: byte 1: expected CLIENT-ERROR, SERVER-ERROR, TIMEOUT or NOT-FOUND, got "OOPS\r\n"`,
		"-TIMEOUT x\r\n":                       `error: byte 8: expected the end of the line behind -TIMEOUT, got " x\r\n"`,
		"+OK 1\r\nx\r\n":                       `record: byte 7: expected two, three or four words with a blank between them, got "x\r\n"`,
		"+OK 1\r\nping  2\r\n":                 `record: byte 7: expected two, three or four words with a blank between them, got "ping  2\r\n"`,
		"+OK 1\r\nx 1 4\r\npong\r\n":           `record: byte 7: expected the id of a job and, where it was leased, its name, got "x 1 4\r\npong\r\n"`,
		"+OK 1\r\n" + id + " 2 4\r\npong\r\n":  `record: byte 44: expected 0 or 1, got "2 4\r\npong\r\n"`,
		"+OK 1\r\n" + id + " 1 4\r\npong!\r\n": `block: byte 53: expected CRLF behind a block of 4 bytes, got "!\r\n"`,
		"+OK 1\r\n" + id + " 1 5\r\npong\r\n+": `block: byte 54: expected CRLF behind a block of 5 bytes, got "\n+"`,
		"+OK 1\r\n" + id + " ping x 4\r\npong\r\n":       `count: byte 49: expected a ttr in milliseconds, got "x 4\r\npong\r\n"`,
		"+OK 1\r\n" + id + " ping 1 -4\r\npong\r\n":      `block: byte 51: expected the size of a block, which is at most 1048576 bytes, got "-4\r\npong\r\n"`,
		"+OK 1\r\n" + id + " 1 1048577\r\npong\r\n":      `block: byte 46: expected the size of a block, which is at most 1048576 bytes, got "1048577\r\npong\r\n"`,
		"+OK 1\r\n" + id + " 1 18446744073709551616\r\n": `block: byte 46: expected the size of a block, which is at most 1048576 bytes, got "18446744073709551616\r\n"`,
		"+OK 1\r\nping 1\r\nready-len\r\n":               `key: byte 15: expected a key, a blank and its value, got "ready-len\r\n"`,
		"+OK 1\r\n" + id + " 1\r\npayload-size four\r\n": `count: byte 60: expected a size, got "four\r\n"`,
	} {
		r := workq.NewReader(strings.NewReader("+OK\r\n"+text), 1<<20)
		_, err := r.Read()
		require.NoError(t, err)
		_, err = r.Read()
		syntax, ok := errors.AsType[*workq.SyntaxError](err)
		require.True(t, ok, "%q: %v", text, err)
		syntax.Offset -= 5
		assert.Equal(t, want, syntax.Error(), "%q", text)
	}
}

func TestTooLongReplies(t *testing.T) {
	t.Parallel()
	r := workq.NewReader(strings.NewReader("+OK 1\r\n"+id+" 1 1000000\r\n"+strings.Repeat("x", 1<<20)), 1<<16)
	_, err := r.Read()
	syntax, ok := errors.AsType[*workq.SyntaxError](err)
	require.True(t, ok)
	assert.Equal(t, workq.RuleTooLong, syntax.Rule)
}

func FuzzReply(f *testing.F) {
	f.Add([]byte(inspected))
	f.Add([]byte("+OK 1\r\n" + id + " ping 1000 4\r\npong\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		reply, n, err := workq.ParseReply(b)
		if err != nil {
			return
		}
		if got := string(workq.AppendReply(nil, reply)); len(got) > n+64 {
			t.Fatalf("%q became %q", b[:n], got)
		}
	})
}

// TestAcceptLapses reads replies whose lines end with LF alone, or which have another word than OK, wherever they are
// cut: what they are is certain, and the lapse is the first such line.
func TestAcceptLapses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		lapse int64  // where the first line ends so
		right string // the same reply with CRLF
	}{
		{"+OK\n", 3, "+OK\r\n"},
		{"-TIMEOUT\n", 8, "-TIMEOUT\r\n"},
		{"+OK 1\n" + id + " 1 4\npong\n", 5, "+OK 1\r\n" + id + " 1 4\r\npong\r\n"},
		{"+OK 1\r\n" + id + " 1 4\npong\r\n", 47, "+OK 1\r\n" + id + " 1 4\r\npong\r\n"},
		{"+OK 1\n" + id + " 1 4\n\n\r\n\n\n", 5, "+OK 1\r\n" + id + " 1 4\r\n\n\r\n\n\r\n"},
		{strings.ReplaceAll(inspected, "\r\n", "\n"), 5, inspected},
		{"+DELETED\r\n", 1, "+OK\r\n"},
		{"+ok 1\r\n" + id + " 1 4\r\npong\r\n", 1, "+OK 1\r\n" + id + " 1 4\r\npong\r\n"},
	} {
		want, _, err := workq.ParseReply([]byte(c.right))
		require.NoError(t, err)
		r := workq.NewReader(iotest.OneByteReader(strings.NewReader(c.text+"-NOT-FOUND\r\n")), 1<<20)
		r.AcceptLapses()
		got, err := r.Read()
		require.NoError(t, err, "%q", c.text)
		assert.Equal(t, want, got, "%q", c.text)
		rule := workq.RuleLineEnd
		if c.lapse == 1 {
			rule = workq.RuleOK
		}
		assert.Equal(t, rule, r.Lapse().Rule, "%q", c.text)
		assert.Equal(t, c.lapse, r.Lapse().Offset, "%q", c.text)
		_, err = r.Read()
		require.NoError(t, err, "%q", c.text)
		assert.Nil(t, r.Lapse(), "%q", c.text)
	}
}

// An error behind a line that ends with LF alone is that of the line: what stands there may be read in the wrong place.
// An error in it is its own.
func TestAnErrorBehindALapse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"+OK x\n": "count: byte 4:", "+ok x\n": "ok: byte 1:", "+OK 1\nx\n": "line-end: byte 5:",
		"+OK 1\n" + id + " 1 4\npong!\n": "line-end: byte 5:",
	} {
		r := workq.NewReader(strings.NewReader(text), 1<<20)
		r.AcceptLapses()
		_, err := r.Read()
		assert.ErrorContains(t, err, want, "%q", text)
	}
}
