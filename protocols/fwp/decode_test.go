package fwp_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

func TestDecodeLegal(t *testing.T) {
	t.Parallel()
	for _, v := range legalReplies {
		t.Run(v.bytes, func(t *testing.T) {
			t.Parallel()
			for _, after := range []string{"", "+", "\r\n", "garbage"} {
				r, n, err := fwp.Decode([]byte(v.bytes+after), limit)
				require.NoError(t, err)
				assert.Equal(t, v.want, r)
				assert.Equal(t, len(v.bytes), n)
			}
		})
	}
}

// Every proper beginning of a legal reply is short, nothing else.
func TestDecodeShort(t *testing.T) {
	t.Parallel()
	for _, v := range legalReplies {
		for i := range len(v.bytes) {
			r, n, err := fwp.Decode([]byte(v.bytes[:i]), limit)
			assert.Equal(t, fwp.ErrShort, err, "%q", v.bytes[:i])
			assert.Zero(t, r)
			assert.Zero(t, n)
		}
	}
}

func TestDecodeBroken(t *testing.T) {
	t.Parallel()
	for _, v := range brokenReplies {
		t.Run(v.bytes, func(t *testing.T) {
			t.Parallel()
			_, n, err := fwp.Decode([]byte(v.bytes), limit)
			var syntax *fwp.SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Zero(t, n)
			assert.Equal(t, v.rule, syntax.Rule, "%v", err)
			assert.Equal(t, v.offset, syntax.Offset, "%v", err)
			if v.expected != "" {
				assert.Equal(t, v.expected, syntax.Expected)
			}
			if v.got != "" {
				assert.Equal(t, v.got, syntax.Got)
			}
		})
	}
}

// A verdict falls at one byte: before it the bytes are short, from it on the error
// is the same whatever follows.
func TestDecodeBrokenIsFinal(t *testing.T) {
	t.Parallel()
	for _, v := range brokenReplies {
		failed := false
		for i := range len(v.bytes) + 1 {
			_, _, err := fwp.Decode([]byte(v.bytes[:i]), limit)
			if errors.Is(err, fwp.ErrShort) {
				assert.False(t, failed, "%q took an error back", v.bytes[:i])
				continue
			}
			failed = true
			assertSyntax(t, err, v.rule, v.offset)
		}
		_, _, err := fwp.Decode([]byte(v.bytes+"\r\n+OK\r\n"), limit)
		assertSyntax(t, err, v.rule, v.offset)
	}
}

// Errors that the last byte of these makes certain.
func TestDecodeFailsEarly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"H", "\x16", "$x", "$5x", "$0\r\n", "$00", "$-0", "$5\n", "$5\rx", "+O\n", "+O\rK", "*-1\r\n",
		"$5\r\nhellox", "$5\r\nhello\rx", "$257\r\n", ":1x", "*1\r\nx", "$5\r\nh\xc3\xa9llox",
	} {
		data := []byte(text)
		_, _, err := fwp.Decode(data[:len(data)-1], limit)
		assert.Equal(t, fwp.ErrShort, err, "%q", data[:len(data)-1])
		_, _, err = fwp.Decode(data, limit)
		var syntax *fwp.SyntaxError
		assert.ErrorAs(t, err, &syntax, "%q", text)
	}
}

func TestDecodeLimit(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"+OK\r\n", "-ERR\r\n", "$5\r\nhello\r\n", "$-1\r\n", ":12\r\n", "*2\r\n:1\r\n:2\r\n",
		"*0\r\n"} {
		_, n, err := fwp.Decode([]byte(text), len(text))
		require.NoError(t, err, "%q", text)
		assert.Equal(t, len(text), n)
		for less := 1; less < len(text); less++ {
			_, _, err = fwp.Decode([]byte(text), less)
			var syntax *fwp.SyntaxError
			if assert.ErrorAs(t, err, &syntax, "%q limit %d", text, less) {
				assert.Equal(t, fwp.RuleTooLong, syntax.Rule)
			}
		}
	}
	for _, none := range []int{0, -1} {
		_, _, err := fwp.Decode([]byte(fmt.Sprintf("$%d\r\n", fwp.DefaultLimit-100)), none)
		assert.Equal(t, fwp.ErrShort, err)
		_, _, err = fwp.Decode([]byte(fmt.Sprintf("$%d\r\n", fwp.DefaultLimit)), none)
		assertSyntax(t, err, fwp.RuleTooLong, 1)
	}
}

func TestDecodeElementBound(t *testing.T) {
	t.Parallel()
	_, _, err := fwp.Decode([]byte("*65537\r\n"), 0)
	assertSyntax(t, err, fwp.RuleTooLong, 1)
	_, _, err = fwp.Decode([]byte("*2\r\n*65534\r\n"), 0)
	assert.Equal(t, fwp.ErrShort, err)
	_, _, err = fwp.Decode([]byte("*2\r\n*65535\r\n"), 0)
	assertSyntax(t, err, fwp.RuleTooLong, 5)

	r, _, err := fwp.Decode([]byte("*65536\r\n"+strings.Repeat("+\r\n", 65536)), 0)
	require.NoError(t, err)
	assert.Len(t, r.Array, 65536)
}

// TestForeign: which replies beyond a limit cannot answer a verb, whatever they contain.
func TestForeign(t *testing.T) {
	t.Parallel()
	for begin, verbs := range map[string]string{
		"*2147483647\r\n":                  " HELLO FLUSH INFO END PUSH FETCH ACK FAIL BEAT",
		strings.Repeat("*1\r\n", 9):        " HELLO FLUSH INFO END PUSH FETCH ACK FAIL BEAT",
		"$400000\r\n":                      " HELLO FLUSH END PUSH ACK FAIL",
		"+" + strings.Repeat("x", 300_000): "HELLO FLUSH INFO END PUSH FETCH ACK FAIL",
		"-" + strings.Repeat("x", 300_000): "",
	} {
		_, _, err := fwp.Decode([]byte(begin), 300_000)
		syntax, _ := errors.AsType[*fwp.SyntaxError](err)
		require.True(t, syntax.Limit(), "%v", err)
		assert.False(t, syntax.Foreign("NONE"))
		for _, verb := range []string{"", "HELLO", "FLUSH", "INFO", "END", "PUSH", "FETCH", "ACK", "FAIL", "BEAT"} {
			want := slices.Contains(strings.Split(verbs, " "), verb) && verbs != ""
			assert.Equal(t, want, syntax.Foreign(verb), "%.12q %s", begin, verb)
		}
	}
	_, _, err := fwp.Decode([]byte("$-2\r\n"), 0)
	syntax, _ := errors.AsType[*fwp.SyntaxError](err)
	assert.False(t, syntax.Foreign("PUSH"), "it breaks the grammar, whatever it answers")
}

func TestReply(t *testing.T) {
	t.Parallel()
	b := []byte("*2\r\n$1\r\na\r\n*1\r\n+b\r\n")
	r, _, err := fwp.Decode(b, 0)
	require.NoError(t, err)
	c := r.Clone()
	require.Equal(t, r, c)
	clear(b)
	assert.Equal(t, array(bulk("a"), array(simple("b"))), c)
	assert.Equal(t, fwp.Reply{}, fwp.Reply{}.Clone())

	require.NoError(t, simple("OK").Err())
	err = fwp.Reply{Kind: fwp.ErrorReply, Text: []byte("ERR \x00no")}.Err()
	var no *fwp.ReplyError
	require.ErrorAs(t, err, &no)
	assert.Equal(t, "ERR \x00no", no.Text)
	assert.EqualError(t, err, `the server answered with the error "ERR \x00no"`)
}

func TestWords(t *testing.T) {
	t.Parallel()
	kinds := map[fwp.Kind]string{
		fwp.SimpleString: "simple string", fwp.ErrorReply: "error", fwp.Integer: "integer",
		fwp.BulkString: "bulk string", fwp.NullBulk: "null bulk string", fwp.Array: "array", 'x': "kind 'x'",
	}
	for k, want := range kinds {
		assert.Equal(t, want, k.String())
	}
	names := map[string]bool{}
	for r := fwp.RuleType; r <= fwp.RuleDepth; r++ {
		assert.NotContains(t, r.String(), "rule")
		assert.False(t, names[r.String()], r.String())
		names[r.String()] = true
	}
	assert.Equal(t, "rule 0", fwp.Rule(0).String())

	err := &fwp.SyntaxError{Rule: fwp.RuleLength, Offset: 7, Expected: "a digit", Got: `"x"`}
	require.EqualError(t, err, `reply syntax (length): byte 7: expected a digit, got "x"`)
	require.NotErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorIs(t, &fwp.SyntaxError{Rule: fwp.RuleTruncated}, io.ErrUnexpectedEOF)
}

func assertSyntax(t *testing.T, err error, rule fwp.Rule, offset int64) {
	t.Helper()
	var syntax *fwp.SyntaxError
	if assert.ErrorAs(t, err, &syntax) {
		assert.Equal(t, rule, syntax.Rule, "%v", err)
		assert.Equal(t, offset, syntax.Offset, "%v", err)
	}
}
