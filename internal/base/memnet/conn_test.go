package memnet_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEndings tries every way in which one end can go away, and checks what the other
// end, which had written "unread" or nothing, then sees. Nothing here blocks.
func TestEndings(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		unread    string // what the leaving end has not read
		leave     func(c conn) error
		readErr   error // after the leaving end's last words
		writeErr  error // nil: can be written
		localRead error // what the leaving end's own Read gives
	}{
		"close": {
			leave:   conn.Close,
			readErr: io.EOF, writeErr: syscall.EPIPE, localRead: net.ErrClosed,
		},
		"close with unread input": {
			unread: "unread", leave: conn.Close,
			readErr: syscall.ECONNRESET, writeErr: syscall.ECONNRESET, localRead: net.ErrClosed,
		},
		"reset": {
			leave:   func(c conn) error { return errors.Join(c.SetLinger(0), c.Close()) },
			readErr: syscall.ECONNRESET, writeErr: syscall.ECONNRESET, localRead: net.ErrClosed,
		},
		"linger that waits": {
			leave:   func(c conn) error { return errors.Join(c.SetLinger(0), c.SetLinger(10), c.Close()) },
			readErr: io.EOF, writeErr: syscall.EPIPE, localRead: net.ErrClosed,
		},
		"half-close": {
			unread: "x", leave: conn.CloseWrite,
			readErr: io.EOF,
		},
		"half-close, then close": {
			leave:   func(c conn) error { return errors.Join(c.CloseWrite(), c.Close()) },
			readErr: io.EOF, writeErr: syscall.EPIPE, localRead: net.ErrClosed,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stays, leaves := connect(t)
			send(t, stays, test.unread)
			send(t, leaves, "last words")
			require.NoError(t, test.leave(leaves))

			assert.Equal(t, "last words", receive(t, stays, 10))
			for range 2 {
				_, err := stays.Read(make([]byte, 1))
				require.ErrorIs(t, err, test.readErr)
			}
			_, err := stays.Write([]byte("y"))
			if test.writeErr == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, test.writeErr)
			}
			_, err = leaves.Read(make([]byte, 1))
			if test.localRead == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, test.localRead)
			}
		})
	}
}

func TestAfterOwnClose(t *testing.T) {
	t.Parallel()
	calls := map[string]func(c conn) error{
		"read":        func(c conn) error { _, err := c.Read(make([]byte, 1)); return err },
		"write":       func(c conn) error { _, err := c.Write([]byte("x")); return err },
		"close":       conn.Close,
		"close write": conn.CloseWrite,
		"linger":      func(c conn) error { return c.SetLinger(0) },
		"deadline":    func(c conn) error { return c.SetDeadline(time.Time{}) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := connect(t)
			require.NoError(t, client.Close())
			require.ErrorIs(t, call(client), net.ErrClosed)
		})
	}
}

func TestAfterOwnCloseWrite(t *testing.T) {
	t.Parallel()
	client, server := connect(t)
	require.NoError(t, client.CloseWrite())
	require.NoError(t, client.CloseWrite(), "twice is once")
	_, err := client.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EPIPE)
	send(t, server, "still here")
	assert.Equal(t, "still here", receive(t, client, 10))
}

func TestCloseWriteAfterReset(t *testing.T) {
	t.Parallel()
	client, server := connect(t)
	require.NoError(t, server.SetLinger(0))
	require.NoError(t, server.Close())
	require.ErrorIs(t, client.CloseWrite(), syscall.ENOTCONN)
}

func TestPastDeadline(t *testing.T) {
	t.Parallel()
	client, server := connect(t)
	send(t, server, "x")
	require.NoError(t, client.SetDeadline(time.Now().Add(-time.Second)))
	_, err := client.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	assert.True(t, isTimeout(err))
	_, err = client.Write([]byte("y"))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	assert.True(t, isTimeout(err))

	require.NoError(t, client.SetDeadline(time.Time{}))
	assert.Equal(t, "x", receive(t, client, 1), "the deadline took no byte with it")
	send(t, client, "y")
	assert.Equal(t, "y", receive(t, server, 1))
}

func TestEmptyReadAndWrite(t *testing.T) {
	t.Parallel()
	client, _ := connect(t)
	n, err := client.Read(nil)
	require.NoError(t, err)
	assert.Zero(t, n)
	n, err = client.Write(nil)
	require.NoError(t, err)
	assert.Zero(t, n)
}

// TestLargeTransfer sends more than the buffers hold in both directions at once.
func TestLargeTransfer(t *testing.T) {
	t.Parallel()
	client, server := connect(t)
	sent := make([]byte, 3<<20+17)
	_, _ = rand.Read(sent) // never fails
	var wait sync.WaitGroup
	wait.Go(func() {
		_, err := io.Copy(server, server) // echo until the half-close
		assert.NoError(t, err)
		assert.NoError(t, server.CloseWrite())
	})
	wait.Go(func() {
		_, err := client.Write(sent)
		assert.NoError(t, err)
		assert.NoError(t, client.CloseWrite())
	})
	got, err := io.ReadAll(client)
	require.NoError(t, err)
	wait.Wait()
	assert.True(t, bytes.Equal(sent, got), "the bytes that came back differ")
}

// TestConcurrentWrites lets several writers fill the buffer many times over: each
// Write must arrive in one piece.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	const size, writers, rounds = 100 << 10, 4, 5
	client, server := connect(t)
	var wait sync.WaitGroup
	for i := range writers {
		wait.Go(func() {
			for range rounds {
				_, err := client.Write(bytes.Repeat([]byte{byte('a' + i)}, size))
				assert.NoError(t, err)
			}
		})
	}
	piece := make([]byte, size)
	for range writers * rounds {
		_, err := io.ReadFull(server, piece)
		require.NoError(t, err)
		require.Equal(t, size, bytes.Count(piece, piece[:1]), "two writes are mixed")
	}
	wait.Wait()
}

func send(t *testing.T, w io.Writer, text string) {
	t.Helper()
	n, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.Len(t, text, n)
}

func receive(t *testing.T, r io.Reader, size int) string {
	t.Helper()
	b := make([]byte, size)
	_, err := io.ReadFull(r, b)
	require.NoError(t, err)
	return string(b)
}
