package session_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
)

func TestSegmentsAreWrittenApart(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		begin := time.Now()
		done := make(chan error)
		go func() { done <- c.Write(t.Context(), [][]byte{[]byte("a"), []byte("b"), []byte("c\n")}, time.Second) }()
		buf := make([]byte, 10)
		for i, want := range []string{"a", "b", "c\n"} {
			n, err := peer.Read(buf)
			require.NoError(t, err)
			assert.Equal(t, want, string(buf[:n]))
			assert.Equal(t, time.Duration(i)*time.Second, time.Since(begin))
		}
		require.NoError(t, <-done)
		began, sent := c.LastWrite()
		assert.Equal(t, begin, began)
		assert.Equal(t, 2*time.Second, sent.Sub(begin))
		assert.Equal(t, 2, c.Status().OwedMessages, "the greeting, and one answer")
	})
}

// Nothing is written any more to a peer that has stopped reading.
func TestAPeerThatStopsReading(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{Timeout: time.Minute}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		begin := time.Now()
		err := c.Write(t.Context(), [][]byte{make([]byte, 8<<20)}, 0)
		require.ErrorContains(t, err, "the server stopped reading: write: ")
		assert.Equal(t, time.Minute, time.Since(begin))
		heard := peerRead(peer)
		assert.Equal(t, err, c.Write(t.Context(), [][]byte{[]byte("a\n")}, 0))
		assert.Equal(t, err, c.WriteError())
		assert.Equal(t, time.Minute, time.Since(begin))
		c.Leave(t.Context())
		assert.NotContains(t, <-heard, "a\n")
	})
}

func TestAWriteEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, segments := range map[string][][]byte{
		"while it blocks": {make([]byte, 8<<20)}, "in a pause": {[]byte("a"), []byte("b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, _ net.Conn) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begin := time.Now()
				require.Error(t, c.Write(ctx, segments, 5*time.Second))
				assert.Equal(t, time.Second, time.Since(begin))
				assert.Error(t, c.WriteError())
			})
		})
	}
}

func TestAWriteToAClosedConnection(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		require.NoError(t, peer.(interface{ SetLinger(sec int) error }).SetLinger(0))
		_ = peer.Close()
		require.ErrorContains(t, c.Write(t.Context(), [][]byte{[]byte("a\n")}, 0), "write: ")
		require.NoError(t, c.WriteError(), "what it was shows in what comes")
		assert.Equal(t, session.Reset, take(t, c).Ending)
	})
}

func TestAsideLeavesNoTrace(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		heard := peerRead(peer)
		peerWrite(t, peer, "hi\n")
		take(t, c)
		began, sent := c.LastWrite()
		time.Sleep(time.Hour)
		peerWrite(t, peer, "pong\n")
		synctest.Wait()
		r, err := c.Aside(t.Context(), []byte("ping\n"))
		require.NoError(t, err)
		assert.Equal(t, "+pong", r.String())
		b, s := c.LastWrite()
		assert.Equal(t, []time.Time{began, sent}, []time.Time{b, s})
		peerWrite(t, peer, "again\n")
		assert.Equal(t, session.Unasked, take(t, c).Role, "the last answer was an hour ago")

		r, err = c.Aside(t.Context(), []byte("ping\n"))
		require.NoError(t, err)
		assert.True(t, r.GaveUp)
		assert.Zero(t, c.Status().OwedMessages, "nothing waits for that answer any more")
		require.NoError(t, c.End(session.Closed))
		assert.Equal(t, "ping\nping\n", <-heard)
	})
}
