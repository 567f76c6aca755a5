package fwp_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// TestReaderReadOn reads what comes before "+next\n", wherever the stream is cut.
func TestReaderReadOn(t *testing.T) {
	t.Parallel()
	text := func(k fwp.Kind, s string) fwp.Reply { return fwp.Reply{Kind: k, Text: []byte(s)} }
	for _, test := range []struct {
		bytes string
		want  fwp.Reply
		lapse int64 // where the first line ends so; -1: nowhere
	}{
		{"+OK\n", text(fwp.SimpleString, "OK"), 3},
		{"+OK\r\n", text(fwp.SimpleString, "OK"), -1},
		{"-ERR no\n", text(fwp.ErrorReply, "ERR no"), 7},
		{":12\n", fwp.Reply{Kind: fwp.Integer, Int: 12}, 3},
		{"$-1\n", fwp.Reply{Kind: fwp.NullBulk}, 3},
		{"$5\nhello\n", text(fwp.BulkString, "hello"), 2},
		{"$5\nhello\r\n", text(fwp.BulkString, "hello"), 2},
		{"$5\na\nb\n!\n", text(fwp.BulkString, "a\nb\n!"), 2},
		{"*1\n+a\n", fwp.Reply{Kind: fwp.Array, Array: []fwp.Reply{text(fwp.SimpleString, "a")}}, 2},
	} {
		for _, src := range splits([]byte(test.bytes + "+next\n")) {
			r := fwp.NewReader(src, limit)
			r.ReadOn()
			got, err := r.Read()
			require.NoError(t, err, "%q", test.bytes)
			require.Equal(t, test.want, got)
			if test.lapse < 0 {
				require.Nil(t, r.Lapse())
			} else {
				require.Equal(t, fwp.RuleLineEnd, r.Lapse().Rule)
				require.Equal(t, test.lapse, r.Lapse().Offset, "%q", test.bytes)
			}
			got, err = r.Read()
			require.NoError(t, err)
			require.Equal(t, text(fwp.SimpleString, "next"), got)
			require.Equal(t, int64(len(test.bytes)+5), r.Lapse().Offset)
			_, err = r.Read()
			require.Equal(t, io.EOF, err)
			require.Nil(t, r.Lapse())
		}
	}
}

// TestReaderReadOnIsStrictOtherwise: an LF that leads to no whole reply is what is wrong with it.
func TestReaderReadOnIsStrictOtherwise(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		bytes string
		rule  fwp.Rule
		at    int64
	}{
		{"-ERR a\nb\r\n", fwp.RuleLineEnd, 6},
		{"$5\nhello!\n", fwp.RuleLineEnd, 2},
		{"$5\nhel", fwp.RuleLineEnd, 2},
		{"$5\r\nhello\n+OK\r\n", fwp.RuleBulkEnd, 9},
		{"$0\r\n+OK\r\n", fwp.RuleNull, 1},
		{"*1\r\n*-1\r\n", fwp.RuleNull, 4},
		{"$05\n", fwp.RuleLength, 2},
		{"OK\n", fwp.RuleType, 0},
	} {
		r := fwp.NewReader(&pieces{all: [][]byte{[]byte(test.bytes)}}, limit)
		r.ReadOn()
		_, err := r.Read()
		assertSyntax(t, err, test.rule, test.at)
	}
}

// TestReaderReadsOnBehindALength: another form of the null, and a length that counts characters.
func TestReaderReadsOnBehindALength(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		bytes string
		want  fwp.Reply
		rule  fwp.Rule
	}{
		{"*-1\r\n", fwp.Reply{Kind: fwp.NullBulk}, fwp.RuleNull},
		{"*-1\n", fwp.Reply{Kind: fwp.NullBulk}, fwp.RuleNull},
		{"$0\r\n\r\n", fwp.Reply{Kind: fwp.BulkString, Text: []byte{}}, fwp.RuleNull},
		{"$0\n\n", fwp.Reply{Kind: fwp.BulkString, Text: []byte{}}, fwp.RuleNull},
		{"$1\r\n\u00e9\r\n", fwp.Reply{Kind: fwp.BulkString, Text: []byte("\u00e9")}, fwp.RuleCharacters},
	} {
		for _, src := range splits([]byte(test.bytes + "+next\r\n")) {
			r := fwp.NewReader(src, limit)
			r.ReadOn()
			got, err := r.Read()
			require.NoError(t, err, "%q", test.bytes)
			require.Equal(t, test.want, got, "%q", test.bytes)
			require.Equal(t, test.rule, r.Lapse().Rule)
			got, err = r.Read()
			require.NoError(t, err)
			require.Equal(t, fwp.Reply{Kind: fwp.SimpleString, Text: []byte("next")}, got)
			require.Nil(t, r.Lapse())
		}
	}
}
