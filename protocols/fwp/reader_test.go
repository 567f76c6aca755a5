package fwp_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// pieces hands out one piece a Read, then the end, which is io.EOF if nil.
type pieces struct {
	all [][]byte
	end error
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.all) == 0 {
		if p.end != nil {
			return 0, p.end
		}
		return 0, io.EOF
	}
	n := copy(b, p.all[0])
	if p.all[0] = p.all[0][n:]; len(p.all[0]) == 0 {
		p.all = p.all[1:]
	}
	return n, nil
}

// splits are readers of b that deliver it in every way worth trying.
func splits(b []byte) []io.Reader {
	all := []io.Reader{
		bytes.NewReader(b),
		iotest.OneByteReader(bytes.NewReader(b)),
		iotest.HalfReader(bytes.NewReader(b)),
		iotest.DataErrReader(bytes.NewReader(b)),
		iotest.DataErrReader(iotest.OneByteReader(bytes.NewReader(b))),
	}
	for i := range len(b) + 1 {
		all = append(all, &pieces{all: [][]byte{b[:i:i], b[i:]}})
	}
	return all
}

func TestReaderLegal(t *testing.T) {
	t.Parallel()
	for _, v := range legalReplies {
		for _, src := range splits([]byte(v.bytes)) {
			r := fwp.NewReader(src, limit)
			got, err := r.Read()
			require.NoError(t, err, "%q", v.bytes)
			require.Equal(t, v.want, got)
			require.EqualValues(t, len(v.bytes), r.Offset())
			require.Empty(t, r.Pending())
			_, err = r.Read()
			require.Equal(t, io.EOF, err)
			_, err = r.Read()
			require.Equal(t, io.EOF, err)
		}
	}
}

func TestReaderStream(t *testing.T) {
	t.Parallel()
	var stream []byte
	for _, v := range legalReplies {
		stream = append(stream, v.bytes...)
	}
	for _, src := range splits(stream) {
		r := fwp.NewReader(src, limit)
		for _, v := range legalReplies {
			got, err := r.Read()
			require.NoError(t, err)
			require.Equal(t, v.want, got)
		}
		require.EqualValues(t, len(stream), r.Offset())
		require.Empty(t, r.Buffered())
	}
}

func TestReaderBroken(t *testing.T) {
	t.Parallel()
	const before = "+OK\r\n$2\r\nhi\r\n"
	for _, v := range brokenReplies {
		for _, src := range splits([]byte(before + v.bytes + "\r\n+OK\r\n")) {
			r := fwp.NewReader(src, limit)
			_, err := r.Read()
			require.NoError(t, err)
			_, err = r.Read()
			require.NoError(t, err)
			_, err = r.Read()
			assertSyntax(t, err, v.rule, v.offset+int64(len(before)))
			_, second := r.Read()
			require.Same(t, err, second, "a syntax error is final")
			require.EqualValues(t, len(before), r.Offset())
			require.Empty(t, r.Pending())
		}
	}
}

func TestReaderTruncated(t *testing.T) {
	t.Parallel()
	for _, v := range legalReplies {
		for i := 1; i < len(v.bytes); i++ {
			for _, src := range splits([]byte("+\r\n" + v.bytes[:i])) {
				r := fwp.NewReader(src, limit)
				_, err := r.Read()
				require.NoError(t, err)
				_, err = r.Read()
				assertSyntax(t, err, fwp.RuleTruncated, int64(i+3))
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			}
		}
	}
	// Certain to be broken, but the explanation did not come.
	r := fwp.NewReader(strings.NewReader("$5\r\nh\xc3\xa9llo"), limit)
	_, err := r.Read()
	assertSyntax(t, err, fwp.RuleBulkEnd, 9)
}

func TestReaderPending(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"":                            "",
		"+O":                          "the end of a simple string, 1 bytes received",
		"-ERR\r":                      "the end of an error, 4 bytes received",
		"$":                           "the end of the length of a bulk string",
		"$10\r":                       "the end of the length of a bulk string",
		"$100\r\n" + "x":              "a bulk string of 100 bytes, 1 received",
		"$100\r\n":                    "a bulk string of 100 bytes, 0 received",
		"$5\r\nhello":                 "CR LF after a bulk string of 5 bytes",
		"$5\r\nhello\r":               "CR LF after a bulk string of 5 bytes",
		"$5\r\nh\xc3\xa9llo":          "the end of a bulk string announced as 5 bytes, 6 received",
		":12":                         "the end of an integer",
		"*2":                          "the end of the length of an array",
		"*2\r\n":                      "element 1 of 2: a reply",
		"*2\r\n+a\r\n":                "element 2 of 2: a reply",
		"*2\r\n+a\r\n*3\r\n$4\r\nabc": "element 2 of 2: element 1 of 3: a bulk string of 4 bytes, 3 received",
	}
	for text, want := range cases {
		for _, src := range []io.Reader{
			&pieces{all: [][]byte{[]byte("+OK\r\n" + text)}, end: os.ErrDeadlineExceeded},
			iotest.OneByteReader(&pieces{all: [][]byte{[]byte("+OK\r\n" + text)}, end: os.ErrDeadlineExceeded}),
		} {
			r := fwp.NewReader(src, 0)
			assert.Empty(t, r.Pending())
			_, err := r.Read()
			require.NoError(t, err)
			assert.Empty(t, r.Pending())
			_, err = r.Read()
			assert.Equal(t, os.ErrDeadlineExceeded, err)
			assert.Equal(t, want, r.Pending(), "%q", text)
			assert.Equal(t, text, string(r.Buffered()))
		}
	}
}

func TestReaderTruncatedMessage(t *testing.T) {
	t.Parallel()
	_, err := fwp.NewReader(strings.NewReader("$100\r\nhello"), 0).Read()
	assert.EqualError(t, err, "reply syntax (truncated): byte 11: expected a bulk string of 100 bytes, 5 received, "+
		`got the end of the stream after "$100\r\nhello"`)
}

// A deadline does not lose the bytes before it.
func TestReaderGoesOnAfterDeadline(t *testing.T) {
	t.Parallel()
	for _, v := range legalReplies {
		for i := range len(v.bytes) {
			src := &pieces{all: [][]byte{[]byte(v.bytes[:i])}, end: os.ErrDeadlineExceeded}
			r := fwp.NewReader(src, limit)
			_, err := r.Read()
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			src.all = [][]byte{[]byte(v.bytes[i:])}
			got, err := r.Read()
			require.NoError(t, err)
			require.Equal(t, v.want, got)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	r := fwp.NewReader(io.MultiReader(strings.NewReader("+OK\r\n+O"), iotest.ErrReader(boom)), 0)
	_, err := r.Read()
	require.NoError(t, err)
	_, err = r.Read()
	assert.Equal(t, boom, err, "a source's error comes as it is, even inside a reply")

	r = fwp.NewReader(&onceReader{text: "+OK\r\n+O", err: boom}, 0)
	_, err = r.Read()
	require.NoError(t, err)
	_, err = r.Read()
	assert.Equal(t, boom, err, "an error of a read that gave bytes is returned after them")
	_, err = r.Read()
	assertSyntax(t, err, fwp.RuleTruncated, 7)

	r = fwp.NewReader(&pieces{all: make([][]byte, 1000)}, 0)
	_, err = r.Read()
	assert.Equal(t, io.ErrNoProgress, err)
}

// onceReader gives all its text and an error in one Read, and then the end.
type onceReader struct {
	text string
	err  error
}

func (o *onceReader) Read(b []byte) (int, error) {
	n := copy(b, o.text)
	err := o.err
	o.text, o.err = "", io.EOF
	return n, err
}

func TestReaderBuffered(t *testing.T) {
	t.Parallel()
	r := fwp.NewReader(strings.NewReader("+OK\r\n+surplus\r\n"), 0)
	assert.Empty(t, r.Buffered())
	_, err := r.Read()
	require.NoError(t, err)
	assert.Equal(t, "+surplus\r\n", string(r.Buffered()))
	assert.EqualValues(t, 5, r.Offset())
	assert.Empty(t, r.Pending())
}

// Payloads around and above every size at which the buffer moves or grows, with
// small replies between them.
func TestReaderSizes(t *testing.T) {
	t.Parallel()
	var stream []byte
	var sizes []int
	for size := 3000; size < 3<<20; size = size*3/2 + 1 {
		sizes = append(sizes, size)
		stream = fwp.AppendBulk(stream, bytes.Repeat([]byte{byte(size)}, size))
		stream = fwp.AppendSimple(stream, "OK")
	}
	r := fwp.NewReader(iotest.HalfReader(bytes.NewReader(stream)), 0)
	for _, size := range sizes {
		got, err := r.Read()
		require.NoError(t, err)
		require.True(t, bytes.Equal(bytes.Repeat([]byte{byte(size)}, size), got.Text))
		got, err = r.Read()
		require.NoError(t, err)
		require.Equal(t, simple("OK"), got)
	}
	_, err := r.Read()
	assert.Equal(t, io.EOF, err)
}

// An announced length costs nothing before its bytes come.
//
//nolint:paralleltest // counts what the whole process allocates
func TestReaderTrustsNoLength(t *testing.T) {
	for _, text := range []string{"$60000000\r\nx", "*65536\r\n"} {
		allocs := measureAllocs(func() {
			_, err := fwp.NewReader(strings.NewReader(text), 0).Read()
			require.Error(t, err)
		})
		assert.Less(t, allocs, uint64(64<<10), "%q", text)
	}
}

// A payload costs its own size a few times over, whatever the pieces are.
//
//nolint:paralleltest // counts what the whole process allocates
func TestReaderGrowsByDoubling(t *testing.T) {
	const size = 4 << 20
	reply := fwp.AppendBulk(nil, make([]byte, size))
	allocs := measureAllocs(func() {
		_, err := fwp.NewReader(iotest.HalfReader(bytes.NewReader(reply)), 0).Read()
		require.NoError(t, err)
	})
	assert.Less(t, allocs, uint64(5*size))
}

// measureAllocs is for tests that are not parallel.
func measureAllocs(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A megabyte in single bytes is not looked at a megabyte times: if it were, this
// would take minutes.
func TestReaderIsLinear(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	cases := map[string]string{
		"bulk":       "$1048576\r\n" + strings.Repeat("x", size) + "\r\n",
		"simple":     "+" + strings.Repeat("x", size) + "\r\n",
		"array":      "*65536\r\n" + strings.Repeat(":1\r\n", 65536),
		"characters": "$1048576\r\n" + strings.Repeat("\xc3\xa9", size) + "\r\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fwp.NewReader(iotest.OneByteReader(strings.NewReader(text)), 0).Read()
			if name == "characters" {
				assertSyntax(t, err, fwp.RuleCharacters, int64(len("$1048576\r\n"))+size)
				return
			}
			assert.NoError(t, err)
		})
	}
}
