package input

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever pieces the stream comes in, the buffered bytes are the stream from the offset on.
func TestPieces(t *testing.T) {
	t.Parallel()
	stream := bytes.Repeat([]byte("0123456789"), 2_000)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole":              func(r io.Reader) io.Reader { return r },
		"one byte at a time": iotest.OneByteReader,
		"halves":             iotest.HalfReader,
		"error with bytes":   iotest.DataErrReader,
	} {
		for _, keep := range []int{0, 1, 700, 5000} {
			r := Reader{Source: wrap(bytes.NewReader(stream))}
			for r.Fill() == nil {
				got := r.Buffered()
				require.Equal(t, string(stream[r.Offset():][:len(got)]), string(got), name)
				r.Discard(max(0, len(got)-keep))
			}
			assert.Equal(t, int64(len(stream)), r.Offset()+int64(len(r.Buffered())), name)
			require.ErrorIs(t, r.Fill(), io.EOF, name)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := Reader{Source: io.MultiReader(bytes.NewReader([]byte("ab")), iotest.ErrReader(broken))}
	require.NoError(t, r.Fill())
	require.ErrorIs(t, r.Fill(), broken)
	assert.Equal(t, "ab", string(r.Buffered()), "an error takes nothing away")

	r = Reader{Source: silent{}}
	require.ErrorIs(t, r.Fill(), io.ErrNoProgress)
}

// silent returns neither bytes nor an error.
type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

// A buffer that one long reply made large is released behind it; a smaller one is used again.
func TestMemory(t *testing.T) {
	t.Parallel()
	for size, isKept := range map[int]bool{100 << 10: true, 3 << 20: false} {
		r := Reader{Source: bytes.NewReader(make([]byte, size+1))}
		for len(r.Buffered()) < size {
			require.NoError(t, r.Fill())
		}
		before := cap(r.buf)
		assert.Less(t, before, 4*size, "the buffer grows with what was received")
		r.Discard(len(r.Buffered()))
		_ = r.Fill()
		assert.Equal(t, isKept, cap(r.buf) == before, size)
	}
}
