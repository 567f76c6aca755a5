package fwp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// FuzzDecode holds that replies come out as they went in, that an error stays the
// same whatever follows, and that it does not matter how a stream is cut.
func FuzzDecode(f *testing.F) {
	for _, v := range legalReplies {
		f.Add([]byte(v.bytes), uint16(len(v.bytes)/2))
	}
	for _, v := range brokenReplies {
		f.Add([]byte(v.bytes), uint16(len(v.bytes)/2))
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		checkDecode(t, b)
		at := min(int(cut), len(b))
		want := readAll(bytes.NewReader(b))
		for _, src := range []io.Reader{
			iotest.OneByteReader(bytes.NewReader(b)),
			&pieces{all: [][]byte{b[:at:at], b[at:]}},
		} {
			got := readAll(src)
			require.Equal(t, want.replies, got.replies)
			require.Equal(t, want.offset, got.offset)
			requireSameError(t, want.err, got.err)
		}
		checkReadAll(t, b, want)
	})
}

func checkDecode(t *testing.T, b []byte) {
	t.Helper()
	r, n, err := fwp.Decode(b, limit)
	var syntax *fwp.SyntaxError
	switch {
	case err == nil:
		require.Positive(t, n)
		require.LessOrEqual(t, n, min(len(b), limit))
		decoded, m, err := fwp.Decode(encode(nil, r), 2*limit)
		require.NoError(t, err)
		require.Equal(t, r, decoded)
		if !strings.Contains(kinds(r), "integer") {
			require.Equal(t, b[:n], encode(nil, r))
			require.Equal(t, n, m)
		}
		_, _, err = fwp.Decode(b[:n-1], limit)
		require.Equal(t, fwp.ErrShort, err)
	case errors.As(err, &syntax):
		require.Zero(t, n)
		require.GreaterOrEqual(t, syntax.Offset, int64(0))
		require.Less(t, syntax.Offset, int64(len(b)))
		require.NotEqual(t, fwp.RuleTruncated, syntax.Rule)
		_, _, longer := fwp.Decode(append(bytes.Clone(b), "\r\n+OK\r\n"...), limit)
		requireSameError(t, err, longer)
	default:
		require.Equal(t, fwp.ErrShort, err)
	}
}

type readResult struct {
	replies []fwp.Reply
	offset  int64
	err     error
}

func readAll(src io.Reader) (all readResult) {
	r := fwp.NewReader(src, limit)
	for {
		reply, err := r.Read()
		if err != nil {
			all.offset, all.err = r.Offset(), err
			return all
		}
		all.replies = append(all.replies, reply.Clone())
	}
}

// checkReadAll holds a Reader's result against Decode called in a loop.
func checkReadAll(t *testing.T, b []byte, got readResult) {
	t.Helper()
	rest := b
	for _, want := range got.replies {
		r, n, err := fwp.Decode(rest, limit)
		require.NoError(t, err)
		require.Equal(t, want, r)
		rest = rest[n:]
	}
	require.EqualValues(t, len(b)-len(rest), got.offset)
	if len(rest) == 0 {
		require.Equal(t, io.EOF, got.err)
		return
	}
	_, _, err := fwp.Decode(rest, limit)
	var decoded, read *fwp.SyntaxError
	require.ErrorAs(t, got.err, &read)
	if !errors.As(err, &decoded) {
		require.Contains(t, []fwp.Rule{fwp.RuleTruncated, fwp.RuleBulkEnd}, read.Rule)
		return
	}
	require.Equal(t, decoded.Rule, read.Rule)
	require.Equal(t, decoded.Offset+got.offset, read.Offset)
}

func requireSameError(t *testing.T, want, got error) {
	t.Helper()
	var a, b *fwp.SyntaxError
	if !errors.As(want, &a) {
		require.Equal(t, want, got)
		return
	}
	require.ErrorAs(t, got, &b)
	require.Equal(t, [...]any{a.Rule, a.Offset, a.Expected}, [...]any{b.Rule, b.Offset, b.Expected})
}

// encode writes a reply back; kinds names all kinds in it.
func encode(dst []byte, r fwp.Reply) []byte {
	switch r.Kind {
	case fwp.SimpleString:
		return fwp.AppendSimple(dst, string(r.Text))
	case fwp.ErrorReply:
		return fwp.AppendError(dst, string(r.Text))
	case fwp.Integer:
		return fwp.AppendInteger(dst, r.Int)
	case fwp.BulkString:
		return fwp.AppendBulk(dst, r.Text)
	case fwp.NullBulk:
		return fwp.AppendNull(dst)
	default:
		return encodeArray(dst, r)
	}
}

func encodeArray(dst []byte, r fwp.Reply) []byte {
	dst = append(strconv.AppendInt(append(dst, '*'), int64(len(r.Array)), 10), "\r\n"...)
	for _, e := range r.Array {
		dst = encode(dst, e)
	}
	return dst
}

func kinds(r fwp.Reply) string {
	all := r.Kind.String()
	for _, e := range r.Array {
		all += " " + kinds(e)
	}
	return all
}

// FuzzParseCommand holds the parser against a second, blunter one.
func FuzzParseCommand(f *testing.F) {
	for _, v := range legalCommands {
		f.Add([]byte(v.line))
	}
	for _, v := range brokenCommands {
		f.Add([]byte(v.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		split := fwp.SplitCommand(line)
		require.Equal(t, string(line)+"\r\n", string(fwp.AppendCommand(nil, split)))

		c, err := fwp.ParseCommand(line)
		require.Equal(t, isLegal(string(line)), err == nil, "%v", err)
		if err == nil {
			require.Equal(t, split, c)
			return
		}
		var broken *fwp.CommandError
		require.ErrorAs(t, err, &broken)
		require.GreaterOrEqual(t, broken.Offset, 0)
		require.LessOrEqual(t, broken.Offset, len(line))
		require.Equal(t, broken.Offset == len(line), broken.Got == "the end of the line")
	})
}

func isLegal(line string) bool {
	if strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) {
		return false
	}
	words := strings.Split(line, " ")
	switch words[0] {
	case fwp.FLUSH, fwp.INFO, fwp.END:
		return len(words) == 1
	case fwp.FETCH:
		for _, queue := range words[1:] {
			if queue == "" || strings.ContainsAny(queue, "\t\v\f") {
				return false
			}
		}
		return true
	case fwp.HELLO, fwp.PUSH, fwp.ACK, fwp.FAIL, fwp.BEAT:
		args := strings.TrimPrefix(line, words[0]+" ")
		return strings.HasPrefix(args, "{") && strings.HasSuffix(args, "}") && json.Valid([]byte(args))
	}
	return false
}

// FuzzJob holds that a work unit that can be read can be written, that nothing in
// it is lost or changed on the way, and that a second way changes no byte.
func FuzzJob(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second fwp.Job
		if first.UnmarshalJSON(data) != nil {
			return
		}
		out, err := first.MarshalJSON()
		require.NoError(t, err)
		_, err = fwp.ParseCommand(append([]byte("PUSH "), out...))
		require.Equal(t, utf8.Valid(out), err == nil, "%v", err)

		require.NoError(t, second.UnmarshalJSON(out))
		out2, err := second.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, string(out), string(out2))
		requireSameFields(t, data, out)
	})
}

// requireSameFields compares two work units value by value, numbers as they are written.
// The second may lack optional fields that are null or blank in the first, and have
// required ones that the first lacks.
func requireSameFields(t *testing.T, from, to []byte) {
	t.Helper()
	read := func(b []byte) (all map[string]any) {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		require.NoError(t, d.Decode(&all))
		return all
	}
	want, got := read(from), read(to)
	for key, value := range want {
		if value == json.Number("-0") {
			value = got[key] // an integer field's 0
		}
		if _, ok := got[key]; !ok {
			assert.Contains(t, []any{nil, ""}, value, key)
			continue
		}
		assert.Equal(t, value, got[key], key)
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			assert.Contains(t, []string{"jid", "jobtype", "args"}, key)
		}
	}
}

// FuzzParseHi: a greeting that is taken has what it says, and asks for no more rounds than are computed, or says so.
func FuzzParseHi(f *testing.F) {
	for _, hash := range []string{
		`{"v":2}`, `{"v":2,"i":1735,"s":"a1b2"}`, `{"v":2,"i":2000000000,"s":"x"}`, `{"v":2e999999999}`, `{"v":2,"v":2}`,
		`{"v":2,"x":[[[[]]]]}`, `{"v":2,"s":"\u0000\ud800"}`, `{"v":2,"i":-1,"s":""}`, `{`, `{}`, `{"v":2}x}`,
	} {
		f.Add([]byte(hash))
	}
	f.Fuzz(func(t *testing.T, hash []byte) {
		hi, err := fwp.ParseHi(fwp.Reply{Kind: fwp.SimpleString, Text: append([]byte("HI "), hash...)})
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if !json.Valid(hash) {
			t.Errorf("%q is no JSON, and is taken", hash)
		}
		var fields struct {
			V, I json.Number
			S    *string
		}
		if err := json.Unmarshal(hash, &fields); err == nil && fields.S != nil && hi.Protected && *fields.S != hi.Salt {
			t.Errorf("the salt %q is taken for %q", *fields.S, hi.Salt)
		}
		if _, err := fwp.PasswordHash("x", hi.Salt, min(hi.Iterations, 10)); hi.Protected && err != nil && hi.Iterations > 0 {
			t.Errorf("%+v: %v", hi, err)
		}
	})
}
