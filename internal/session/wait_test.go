package session_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	const timeout = 10 * time.Second
	tests := map[string]struct {
		peer  func(t *testing.T, peer net.Conn)
		words string
		took  time.Duration
	}{
		"at once": {func(t *testing.T, peer net.Conn) { peerWrite(t, peer, "hi\n") }, "+hi", 0},
		"in time": {func(t *testing.T, peer net.Conn) { time.Sleep(timeout - 1); peerWrite(t, peer, "hi\n") }, "+hi",
			timeout - 1},
		"none": {func(*testing.T, net.Conn) {}, "no reply", timeout},
		"unfinished": {func(t *testing.T, peer net.Conn) { peerWrite(t, peer, "h") }, `an unfinished reply: a line after "h"`,
			timeout},
		"slow, and at last whole": {func(t *testing.T, peer net.Conn) {
			for range 30 {
				time.Sleep(900 * time.Millisecond)
				peerWrite(t, peer, "x")
			}
			peerWrite(t, peer, "\n")
		}, "+xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 27 * time.Second},
		"without end": {func(_ *testing.T, peer net.Conn) {
			for err := error(nil); err == nil; _, err = peer.Write([]byte("x")) {
				time.Sleep(500 * time.Millisecond)
			}
		}, "a reply that was still coming: a line after", 111 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
				begin := time.Now()
				var wg sync.WaitGroup
				wg.Go(func() { test.peer(t, peer) })
				r, err := c.Answer(t.Context())
				require.NoError(t, err)
				assert.Contains(t, r.String(), test.words)
				assert.Equal(t, test.took, time.Since(begin))
				require.NoError(t, c.End(session.Closed))
				wg.Wait()
			})
		})
	}
}

func TestAnUnfinishedMessageNamesItsRule(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		peerWrite(t, peer, "h")
		time.Sleep(time.Minute)
		r := c.GiveUp(t.Context())
		assert.True(t, r.GaveUp)
		assert.True(t, r.HasBytes())
		assert.Equal(t, "line end", r.Rule)
		assert.False(t, r.IsArriving)
		peerWrite(t, peer, "i\n")
		reply := take(t, c)
		assert.Equal(t, "+hi", reply.String(), "the reader goes on where it was")
		assert.Equal(t, time.Minute, reply.Message.ArrivalTime, "from its first byte, although a wait was given up")
	})
}

func TestAnswerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, _ net.Conn) {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		begin := time.Now()
		_, err := c.Answer(ctx)
		require.ErrorIs(t, err, cause)
		assert.Equal(t, time.Second, time.Since(begin))
	})
}

// A wait that is given up takes what is there; the reader's mark of having been
// disturbed comes behind it and must not be taken for a later wait.
func TestAMarkOfAnEarlierWaitMeansNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		for range 3 {
			peerWrite(t, peer, "a\nb\n")
			time.Sleep(time.Second)
			assert.Equal(t, "+a", c.GiveUp(t.Context()).String())
			assert.Equal(t, "+b", c.GiveUp(t.Context()).String())
		}
		begin := time.Now()
		time.AfterFunc(30*time.Second, func() { _, _ = peer.Write([]byte("late\n")) })
		assert.Equal(t, "+late", take(t, c).String())
		assert.Equal(t, 30*time.Second, time.Since(begin))
		assert.Equal(t, "no reply", c.GiveUp(t.Context()).String())
	})
}

func TestAGivenUpWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		peerWrite(t, peer, "h")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.Equal(t, "no reply", c.GiveUp(ctx).String())
		require.NoError(t, c.End(session.Closed))
		assert.Equal(t, "no reply", c.GiveUp(t.Context()).String())
	})
}
