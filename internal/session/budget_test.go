package session_test

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
)

// Of the connections that share a budget, two read a large message at a time. The wait of another one is not the bug
// of its peer.
func TestLargeMessagesShareABudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config := session.Config{Budget: new(session.Budget), Timeout: time.Second}
		conns, peers := make([]*session.Conn, 3), make([]net.Conn, 3)
		for i := range conns {
			ours, peer := pair(t)
			conns[i], peers[i] = session.New(ours, toy{}, config), peer
			go func() { _, _ = peer.Write([]byte(strings.Repeat("x", 200<<10))) }()
			synctest.Wait()
		}
		small, peer := pair(t)
		other := session.New(small, toy{}, config)
		peerWrite(t, peer, "small\n")
		assert.Equal(t, "+small", take(t, other).String(), "a small message needs no room")

		time.Sleep(2 * time.Second)
		assert.False(t, conns[1].GiveUp(t.Context()).IsArriving, "its peer has stopped")
		waits := conns[2].GiveUp(t.Context())
		assert.True(t, waits.IsArriving)
		assert.NotEmpty(t, waits.Pending)
		require.NoError(t, conns[0].End(session.Closed))
		go func() { _, _ = peers[2].Write([]byte("\n")) }()
		assert.Len(t, take(t, conns[2]).Message.Text, 200<<10)
		for _, c := range []*session.Conn{conns[1], conns[2], other} {
			require.NoError(t, c.End(session.Closed))
		}
	})
}

// A connection that waits for room can be closed.
func TestEndOfAConnectionThatWaitsForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config := session.Config{Budget: new(session.Budget)}
		var conns []*session.Conn
		for range 3 {
			ours, peer := pair(t)
			conns = append(conns, session.New(ours, toy{}, config))
			go func() { _, _ = peer.Write([]byte(strings.Repeat("x", 200<<10))) }()
			synctest.Wait()
		}
		for i := range conns {
			require.NoError(t, conns[len(conns)-1-i].End(session.Closed))
		}
	})
}

// Small messages that are not taken do not fill the memory either.
func TestUntakenMessages(t *testing.T) {
	t.Parallel()
	count := 0
	config := session.Config{OnReceived: func(session.Received) { count++ }}
	inBubble(t, config, func(t *testing.T, c *session.Conn, peer net.Conn) {
		go func() { _, _ = peer.Write([]byte(strings.Repeat(strings.Repeat("x", 40<<10)+"\n", 10))) }()
		synctest.Wait()
		assert.Equal(t, 2, count)
		for range 10 {
			take(t, c)
			synctest.Wait()
		}
		assert.Equal(t, 10, count)
	})
}
