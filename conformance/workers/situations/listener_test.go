package situations

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBytesAreReadAhead: what a client sends is recorded at once, up to a limit, and is there for the server later.
func TestBytesAreReadAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		a, recorded := newReadAhead(), new(atomic.Int64)
		go a.run(server, func(data []byte, _ error) { recorded.Add(int64(len(data))) })
		sent := strings.Repeat("x", 3*mostAhead)
		go func() {
			_, _ = io.WriteString(client, sent)
			_ = client.Close()
		}()
		synctest.Wait()
		assert.Greater(t, recorded.Load(), int64(mostAhead))
		assert.LessOrEqual(t, recorded.Load(), int64(mostAhead+32<<10))
		var got strings.Builder
		buffer := make([]byte, 1000)
		for {
			n, err := a.read(buffer)
			got.Write(buffer[:n])
			if err != nil {
				require.ErrorIs(t, err, io.EOF, "behind the last byte")
				break
			}
		}
		assert.Equal(t, sent, got.String())
	})
}

// TestReadDeadlines: a read ends at its deadline, also where that comes while it waits, and goes on without one.
func TestReadDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, begun, buffer := newReadAhead(), time.Now(), make([]byte, 10)
		a.setDeadline(begun.Add(2 * time.Second))
		_, err := a.read(buffer)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, 2*time.Second, time.Since(begun))
		a.add([]byte("late"), nil)
		_, err = a.read(buffer)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the deadline comes before the bytes")
		a.setDeadline(time.Time{})
		n, err := a.read(buffer)
		require.NoError(t, err)
		assert.Equal(t, "late", string(buffer[:n]))
		time.AfterFunc(time.Second, func() { a.setDeadline(time.Unix(1, 0)) })
		_, err = a.read(buffer)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "it wakes a read that waits")
	})
}

// TestAClosedConnectionIsReadOn: when the server reads no more, its client is not kept waiting.
func TestAClosedConnectionIsReadOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, done := newReadAhead(), make(chan struct{})
		go func() {
			a.add(make([]byte, 2*mostAhead), nil)
			close(done)
		}()
		synctest.Wait()
		a.close()
		<-done
		a.add(make([]byte, 2*mostAhead), nil)
		a.add(nil, errors.New("reset"))
		_, err := a.read(make([]byte, 1))
		assert.EqualError(t, err, "reset")
	})
}
