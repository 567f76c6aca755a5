package fwp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

var hotReplies = map[string]string{
	"simple":  "+OK\r\n",
	"error":   "-ERR no such job\r\n",
	"integer": ":12\r\n",
	"null":    "$-1\r\n",
	"bulk":    "$43\r\n{\"jid\":\"0123456789abcdef\",\"jobtype\":\"x\"...}\r\n",
}

// endlessReader repeats the same bytes, cut wherever the reader's buffer ends.
type endlessReader struct {
	text string
	at   int
}

func (e *endlessReader) Read(b []byte) (int, error) {
	n := copy(b, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

//nolint:paralleltest // counts what the whole process allocates
func TestReadAllocatesNothing(t *testing.T) {
	for name, text := range hotReplies {
		r := fwp.NewReader(&endlessReader{text: text}, 0)
		_, err := r.Read()
		require.NoError(t, err)
		assert.Zero(t, testing.AllocsPerRun(1000, func() { _, _ = r.Read() }), name)

		b := []byte(text)
		assert.Zero(t, testing.AllocsPerRun(1000, func() { _, _, _ = fwp.Decode(b, 0) }), name)
	}
}

//nolint:paralleltest // counts what the whole process allocates
func TestAppendAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 1024)
	text := []byte("{}")
	command := fwp.Command{Verb: fwp.ACK, Args: text}
	line := []byte(`ACK {"jid":"0123456789abcdef"}`)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		out := fwp.AppendSimple(dst, "OK")
		out = fwp.AppendError(out, "ERR no")
		out = fwp.AppendInteger(out, 1)
		out = fwp.AppendBulk(out, text)
		out = fwp.AppendNull(out)
		_ = fwp.AppendCommand(out, command)
		_ = fwp.SplitCommand(line)
	}))
}

func BenchmarkRead(b *testing.B) {
	for name, text := range hotReplies {
		b.Run(name, func(b *testing.B) {
			r := fwp.NewReader(&endlessReader{text: text}, 0)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := r.Read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPasswordHash(b *testing.B) {
	for b.Loop() {
		_, err := fwp.PasswordHash("foobar", "55104dc76695721d", 10_000)
		require.NoError(b, err)
	}
}
