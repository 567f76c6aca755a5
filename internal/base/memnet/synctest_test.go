package memnet_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
)

// More than one direction of a connection holds.
const tooMuch = 1 << 20

// TestReadDeadlineCostsNoTime is what this package is for.
func TestReadDeadlineCostsNoTime(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	synctest.Test(t, func(t *testing.T) {
		client, _ := connect(t)
		start := time.Now()
		require.NoError(t, client.SetReadDeadline(start.Add(30*time.Minute)))
		_, err := client.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.True(t, isTimeout(err))
		assert.Equal(t, 30*time.Minute, time.Since(start), "virtual time is exact")
	})
	assert.Less(t, time.Since(begin), time.Minute)
}

// TestWaitReturnsWhileBothEndsBlock has each kind of waiting at once: two reads, a
// write and the write that waits for its turn behind it, and an Accept.
func TestWaitReturnsWhileBothEndsBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := connect(t)
		c, d := connect(t)
		l, err := memnet.New().Listen("other:1")
		require.NoError(t, err)
		failed := make(chan error, 5)
		block := func(call func() error) {
			go func() { failed <- call() }()
		}
		block(func() error { _, err := a.Read(make([]byte, 1)); return err })
		block(func() error { _, err := b.Read(make([]byte, 1)); return err })
		block(func() error { _, err := c.Write(make([]byte, tooMuch)); return err })
		synctest.Wait() // the next write is the second one
		block(func() error { _, err := c.Write(make([]byte, 1)); return err })
		block(func() error { _, err := l.Accept(); return err })
		synctest.Wait()
		require.Empty(t, failed, "all of them wait")

		time.Sleep(time.Hour)
		require.Empty(t, failed, "all of them still wait")

		for _, closer := range []io.Closer{a, b, c, d, l} {
			require.NoError(t, closer.Close())
		}
		synctest.Wait()
		require.Len(t, failed, cap(failed))
	})
}

func TestDeadlineMoves(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		moved time.Duration // set after 10 s of waiting, from the start; 0: none
		want  time.Duration
	}{
		"later":   {moved: 50 * time.Second, want: 50 * time.Second},
		"earlier": {moved: 15 * time.Second, want: 15 * time.Second},
		"past":    {moved: 5 * time.Second, want: 10 * time.Second},
		"none":    {want: time.Hour},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, server := connect(t)
				start := time.Now()
				time.AfterFunc(10*time.Second, func() {
					var deadline time.Time
					if test.moved != 0 {
						deadline = start.Add(test.moved)
					}
					assert.NoError(t, client.SetReadDeadline(deadline))
				})
				time.AfterFunc(time.Hour, func() { assert.NoError(t, server.Close()) })
				require.NoError(t, client.SetReadDeadline(start.Add(30*time.Second)))
				_, err := client.Read(make([]byte, 1))
				require.Error(t, err)
				assert.Equal(t, test.want, time.Since(start))
				assert.Equal(t, test.moved != 0, isTimeout(err))
			})
		})
	}
}

func TestWriteDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		start := time.Now()
		require.NoError(t, client.SetWriteDeadline(start.Add(time.Minute)))
		n, err := client.Write(make([]byte, tooMuch))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, 256<<10, n)
		assert.Equal(t, time.Minute, time.Since(start))

		require.NoError(t, client.SetWriteDeadline(time.Time{}))
		go func() { _, _ = client.Write([]byte("next")) }()
		synctest.Wait()
		receive(t, server, n)
		assert.Equal(t, "next", receive(t, server, 4))
	})
}

// TestWaitingIsWoken tries every ending on a Read and a Write, of the other end and of
// the same one, that wait already.
func TestWaitingIsWoken(t *testing.T) {
	t.Parallel()
	reset := func(c conn) { _ = c.SetLinger(0); _ = c.Close() }
	tests := map[string]struct {
		end                func(local, remote conn)
		readErr, writerErr error
	}{
		"own close":       {func(local, _ conn) { _ = local.Close() }, net.ErrClosed, net.ErrClosed},
		"own reset":       {func(local, _ conn) { reset(local) }, net.ErrClosed, net.ErrClosed},
		"peer's close":    {func(_, remote conn) { _ = remote.Close() }, syscall.ECONNRESET, syscall.ECONNRESET},
		"peer's reset":    {func(_, remote conn) { reset(remote) }, syscall.ECONNRESET, syscall.ECONNRESET},
		"both half-close": {func(local, remote conn) { _ = remote.CloseWrite(); _ = local.CloseWrite() }, io.EOF, syscall.EPIPE},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				local, remote := connect(t)
				read, written := make(chan error, 1), make(chan error, 1)
				go func() { _, err := local.Read(make([]byte, 1)); read <- err }()
				go func() { _, err := local.Write(make([]byte, tooMuch)); written <- err }()
				synctest.Wait()
				test.end(local, remote)
				require.ErrorIs(t, <-read, test.readErr)
				require.ErrorIs(t, <-written, test.writerErr)
			})
		})
	}
}

func TestBackPressure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(t)
		sent := bytes.Repeat([]byte("0123456789abcdef"), tooMuch/16)
		var written int
		done := make(chan struct{})
		go func() {
			defer close(done)
			written, _ = client.Write(sent)
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("the write did not wait for a reader")
		default:
		}
		assert.Equal(t, string(sent), receive(t, server, tooMuch))
		<-done
		assert.Equal(t, tooMuch, written)
	})
}

// TestFullBacklog dials until the listener's queue is full; the next dial waits,
// and gives up with its context or goes through when somebody accepts.
func TestFullBacklog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New()
		l, err := network.Listen("server:7419")
		require.NoError(t, err)
		for range 128 {
			_, err := network.DialContext(t.Context(), "tcp", "server:7419")
			require.NoError(t, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		_, err = network.DialContext(ctx, "tcp", "server:7419")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.True(t, isTimeout(err))
		assert.Equal(t, 3*time.Second, time.Since(start))

		dialled := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := network.DialContext(t.Context(), "tcp", "server:7419")
				dialled <- err
			}()
		}
		synctest.Wait()
		require.Empty(t, dialled)
		_, err = l.Accept()
		require.NoError(t, err)
		require.NoError(t, <-dialled)
		require.NoError(t, l.Close())
		require.ErrorIs(t, <-dialled, syscall.ECONNREFUSED)
	})
}
