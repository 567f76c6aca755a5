package session_test

import (
	"context"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
)

func TestEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		require.NoError(t, c.End(session.HalfClosed))
		_, err := io.ReadAll(peer)
		require.NoError(t, err, "we send no more")
		peerWrite(t, peer, "hi\n")
		assert.Equal(t, "+hi", take(t, c).String(), "but read on")
		require.NoError(t, c.End(session.Closed))
		assert.Equal(t, session.Closed, c.Ending())
		require.NoError(t, c.End(session.Reset), "a second end is none")
	})
}

// wrapped is a connection in another one, as TLS is.
type wrapped struct {
	net.Conn
	inner net.Conn
}

func (c wrapped) NetConn() net.Conn { return c.inner }
func (c wrapped) Close() error      { return io.ErrClosedPipe } // it would say farewell

func TestReset(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"plain":            func(nc net.Conn) net.Conn { return nc },
		"the socket below": func(nc net.Conn) net.Conn { return wrapped{struct{ net.Conn }{nc}, nc} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ours, peer := pair(t)
				c := session.New(wrap(ours), toy{}, session.Config{})
				require.NoError(t, c.End(session.Reset))
				_, err := peer.Read(make([]byte, 1))
				require.ErrorIs(t, err, syscall.ECONNRESET)
			})
		})
	}
}

func TestNoHalfClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, _ := pair(t)
		c := session.New(struct{ net.Conn }{ours}, toy{}, session.Config{})
		require.Error(t, c.End(session.HalfClosed))
		require.NoError(t, c.End(session.Closed))
	})
}

func TestLeave(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before func(t *testing.T, c *session.Conn, peer net.Conn)
		heard  string
		took   time.Duration
	}{
		"politely": {func(t *testing.T, c *session.Conn, peer net.Conn) { peerWrite(t, peer, "hi\n"); take(t, c) },
			"bye\n", time.Second},
		"before the greeting": {func(*testing.T, *session.Conn, net.Conn) {}, "", 0},
		"while an answer is owed": {func(t *testing.T, c *session.Conn, peer net.Conn) {
			peerWrite(t, peer, "hi\n")
			take(t, c)
			require.NoError(t, c.Write(t.Context(), [][]byte{[]byte("a\n")}, 0))
		}, "a\n", 0},
		"while something waits": {func(t *testing.T, c *session.Conn, peer net.Conn) {
			peerWrite(t, peer, "hi\n!job\n")
			take(t, c)
			synctest.Wait()
			c.Poll()
		}, "", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
				heard := peerRead(peer)
				test.before(t, c, peer)
				ctx, cancel := context.WithCancel(t.Context())
				cancel() // it is left politely all the same
				begin := time.Now()
				c.Leave(ctx)
				assert.Equal(t, test.heard, <-heard)
				assert.Equal(t, test.took, time.Since(begin))
			})
		})
	}
}

func TestLeaveWaitsNoLongerThanThePeer(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		peerWrite(t, peer, "hi\n")
		take(t, c)
		go func() {
			_, _ = peer.Read(make([]byte, 10))
			_, _ = peer.Write([]byte("bye\n"))
			_ = peer.Close()
		}()
		begin := time.Now()
		c.Leave(t.Context())
		assert.Zero(t, time.Since(begin))
	})
}
