package fwp_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	cases := []struct {
		got  []byte
		want string
	}{
		{fwp.AppendSimple(nil, "OK"), "+OK\r\n"},
		{fwp.AppendSimple(nil, ""), "+\r\n"},
		{fwp.AppendSimple(nil, "a\r\nb\rc\nd\xff"), "+a  b c d\xff\r\n"},
		{fwp.AppendError(nil, "ERR no"), "-ERR no\r\n"},
		{fwp.AppendError(nil, "ERR\r\n+OK\r\n"), "-ERR  +OK  \r\n"},
		{fwp.AppendInteger(nil, 0), ":0\r\n"},
		{fwp.AppendInteger(nil, math.MinInt64), ":-9223372036854775808\r\n"},
		{fwp.AppendBulk(nil, []byte("h\xc3\xa9llo")), "$6\r\nh\xc3\xa9llo\r\n"},
		{fwp.AppendBulk(nil, []byte("\r\n")), "$2\r\n\r\n\r\n"},
		{fwp.AppendBulk(nil, []byte{}), "$0\r\n\r\n"},
		{fwp.AppendBulk(nil, nil), "$0\r\n\r\n"},
		{fwp.AppendNull(nil), "$-1\r\n"},
		{fwp.AppendNull([]byte("before")), "before$-1\r\n"},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, string(c.got))
	}
}

func TestAppendThenDecode(t *testing.T) {
	t.Parallel()
	texts := []string{"OK", "h\xc3\xa9", "\x00\xff", "{}", "-1", "+", "a b  c "}
	for _, text := range texts {
		assertDecodes(t, fwp.AppendSimple(nil, text), simple(text))
		assertDecodes(t, fwp.AppendError(nil, text), fwp.Reply{Kind: fwp.ErrorReply, Text: []byte(text)})
		assertDecodes(t, fwp.AppendBulk(nil, []byte(text+"\r\n"+text)), bulk(text+"\r\n"+text))
	}
	for _, n := range []int64{0, 1, -1, 9007199254740993, math.MaxInt64, math.MinInt64} {
		assertDecodes(t, fwp.AppendInteger(nil, n), integer(n))
	}
	assertDecodes(t, fwp.AppendNull(nil), fwp.Reply{Kind: fwp.NullBulk})
}

func assertDecodes(t *testing.T, b []byte, want fwp.Reply) {
	t.Helper()
	r, n, err := fwp.Decode(b, 0)
	require.NoError(t, err, "%q", b)
	assert.Equal(t, want, r)
	assert.Equal(t, len(b), n)
}
