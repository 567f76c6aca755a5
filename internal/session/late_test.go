package session_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
)

// grace is always the same.
func grace(by time.Duration) func(time.Time) time.Duration {
	return func(time.Time) time.Duration { return by }
}

func TestALateMachineGivesMoreTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		grace func(time.Time) time.Duration
		want  time.Duration
	}{
		"not late": {nil, time.Minute},
		"late":     {grace(2 * time.Second), time.Minute + 2*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := session.Config{Timeout: time.Minute, Grace: test.grace}
			inBubble(t, config, func(t *testing.T, c *session.Conn, _ net.Conn) {
				begin := time.Now()
				r, err := c.Answer(t.Context())
				require.NoError(t, err)
				assert.True(t, r.GaveUp)
				assert.Equal(t, test.want, time.Since(begin))
			})
			inBubble(t, config, func(t *testing.T, c *session.Conn, _ net.Conn) {
				begin := time.Now()
				require.ErrorContains(t, c.Write(t.Context(), [][]byte{make([]byte, 8<<20)}, 0), "stopped reading")
				assert.Equal(t, test.want, time.Since(begin))
			})
		})
	}
}

func TestAPauseOfOursIsNoTimeOfThePeer(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{Timeout: time.Second}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		segments := [][]byte{[]byte("a"), []byte("b"), make([]byte, 8<<20)}
		begin := time.Now()
		heard := peerRead(peer)
		require.NoError(t, c.Write(t.Context(), segments, time.Minute))
		assert.Equal(t, 2*time.Minute, time.Since(begin))
		require.NoError(t, c.End(session.Closed))
		<-heard
	})
}
