package session_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
)

func TestMessagesComeInOrderWithTheirTime(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		begin := time.Now()
		time.Sleep(time.Second)
		peerWrite(t, peer, "one\ntwo\n")
		time.Sleep(time.Hour)
		peerWrite(t, peer, "&2\n=3\nabc=0\n")
		time.Sleep(time.Hour) // our side looks late
		first, second, third := take(t, c), take(t, c), take(t, c)
		assert.Equal(t, "+one", first.String())
		assert.Equal(t, 4, first.Trailing)
		assert.Equal(t, "+two", second.String())
		assert.Zero(t, second.Trailing)
		assert.Equal(t, []string{"abc", ""}, []string{string(third.Message.Parts[0]), string(third.Message.Parts[1])})
		assert.Equal(t, []time.Duration{time.Second, time.Second, time.Second + time.Hour},
			[]time.Duration{first.At.Sub(begin), second.At.Sub(begin), third.At.Sub(begin)})
		for _, r := range []session.Received{first, second, third} {
			assert.True(t, r.IsComplete() && r.HasBytes())
		}
	})
}

func TestPeekUsesNothingUp(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		_, ok := c.Poll()
		assert.False(t, ok)
		begin := time.Now()
		_, ok = c.Peek(t.Context(), extraWithin())
		assert.False(t, ok)
		assert.Equal(t, time.Minute, time.Since(begin))
		peerWrite(t, peer, "hi\n")
		for range 2 {
			r, ok := c.Peek(t.Context(), extraWithin())
			assert.True(t, ok)
			assert.Equal(t, "+hi", r.String())
			assert.Equal(t, session.Answer, r.Role)
		}
		assert.Equal(t, 1, c.Status().OwedMessages)
		assert.False(t, c.HasAnswered())
		assert.Equal(t, "+hi", take(t, c).String())
		assert.Zero(t, c.Status().OwedMessages)
		assert.True(t, c.HasAnswered())
		_, ok = c.Poll()
		assert.False(t, ok)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, ok = c.Take(ctx, extraWithin())
		assert.False(t, ok)
	})
}

func TestHowAConversationEnds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		peer   func(t *testing.T, peer net.Conn)
		ending session.Ending
		words  string
	}{
		"FIN": {func(_ *testing.T, peer net.Conn) { _ = peer.Close() }, session.Fin,
			"the connection was closed (orderly, FIN)"},
		"reset": {func(t *testing.T, peer net.Conn) {
			require.NoError(t, peer.(interface{ SetLinger(sec int) error }).SetLinger(0))
			_ = peer.Close()
		}, session.Reset, "the connection was reset"},
		"grammar": {func(t *testing.T, peer net.Conn) { peerWrite(t, peer, "a\rb\n") }, session.NotEnded,
			`reply syntax (no CR): byte 1: expected LF, got "\r"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
				test.peer(t, peer)
				for range 3 { // it is never used up
					r := take(t, c)
					assert.Equal(t, test.ending, r.Ending)
					assert.Equal(t, test.ending, c.Ending())
					assert.Equal(t, test.words, r.String())
					assert.False(t, r.IsComplete())
					assert.Equal(t, r.Broken != nil, r.HasBytes())
				}
			})
		})
	}
}

// unexpected is TLS whose peer is gone without a farewell.
type unexpected struct{ net.Conn }

func (c unexpected) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func TestTLSWithoutItsFarewellIsAnOrderlyClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, peer := pair(t)
		c := session.New(unexpected{ours}, toy{}, session.Config{})
		defer func() { _ = c.End(session.Closed) }()
		_ = peer.Close()
		assert.Equal(t, session.Fin, take(t, c).Ending)
	})
}

func TestTurns(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		heard := peerRead(peer)
		peerWrite(t, peer, "!beat\nhi\nagain\n")
		assert.Equal(t, session.Notice, take(t, c).Role)
		assert.Equal(t, session.Answer, take(t, c).Role)
		assert.Equal(t, session.Extra, take(t, c).Role, "right behind an answer")
		time.Sleep(time.Second)
		peerWrite(t, peer, "again\n!beat\n")
		assert.Equal(t, session.Unasked, take(t, c).Role)
		assert.Equal(t, session.Notice, take(t, c).Role)

		require.NoError(t, c.Write(t.Context(), [][]byte{[]byte("a\n")}, 0))
		require.NoError(t, c.Write(t.Context(), [][]byte{[]byte("b"), []byte("c\n")}, 0))
		assert.Equal(t, session.Status{Phase: session.Serving, OwedMessages: 2, Verb: "bc", Command: []byte("bc\n"),
			Farewell: []byte("bye\n")}, c.Status())
		peerWrite(t, peer, "A\nB\n")
		first, second := take(t, c), take(t, c)
		assert.Equal(t, []int{2, 1}, []int{first.OwedMessages, second.OwedMessages})
		assert.Equal(t, "bc\n", string(second.Command))
		assert.Zero(t, c.Status().OwedMessages)
		require.NoError(t, c.End(session.Closed))
		assert.Equal(t, "a\nbc\n", <-heard)
	})
}

func TestSeenComesBeforeTaken(t *testing.T) {
	t.Parallel()
	var received []string
	done := make(chan struct{})
	config := session.Config{OnReceived: func(r session.Received) { received = append(received, r.String()) },
		OnReadEnd: func() { close(done) }}
	inBubble(t, config, func(t *testing.T, c *session.Conn, peer net.Conn) {
		peerWrite(t, peer, "a\n!b\n")
		take(t, c)
		take(t, c)
		_ = peer.Close()
		take(t, c)
		<-done
		assert.Equal(t, []string{"+a", "!b", "the connection was closed (orderly, FIN)"}, received)
	})
}

// What is large waits in the connection, not in memory, until it is taken.
func TestLargeMessagesAreReadOneByOne(t *testing.T) {
	t.Parallel()
	var received int
	config := session.Config{OnReceived: func(session.Received) { received++ }}
	inBubble(t, config, func(t *testing.T, c *session.Conn, peer net.Conn) {
		const count = 5
		go func() { _, _ = io.WriteString(peer, strings.Repeat(strings.Repeat("x", 1<<20+1)+"\n", count)) }()
		for i := range count {
			synctest.Wait()
			assert.Equal(t, i+1, received)
			take(t, c)
		}
	})
}

func TestEndingsAsTranscriptsWriteThem(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "open <close> <fin> <reset> <half-close>",
		strings.Join([]string{session.NotEnded.String(), session.Closed.String(),
			session.Fin.String(), session.Reset.String(), session.HalfClosed.String()}, " "))
	assert.Empty(t, session.Received{}.String())
}
