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
		says(t, peer, "one\ntwo\n")
		time.Sleep(time.Hour)
		says(t, peer, "&2\n=3\nabc=0\n")
		time.Sleep(time.Hour) // our side looks late
		one, two, three := take(t, c), take(t, c), take(t, c)
		assert.Equal(t, "+one", one.String())
		assert.Equal(t, 4, one.Trailing)
		assert.Equal(t, "+two", two.String())
		assert.Zero(t, two.Trailing)
		assert.Equal(t, []string{"abc", ""}, []string{string(three.Message.Parts[0]), string(three.Message.Parts[1])})
		assert.Equal(t, []time.Duration{time.Second, time.Second, time.Second + time.Hour},
			[]time.Duration{one.At.Sub(begin), two.At.Sub(begin), three.At.Sub(begin)})
		for _, r := range []session.Received{one, two, three} {
			assert.True(t, r.Whole() && r.Bytes())
		}
	})
}

func TestPeekUsesNothingUp(t *testing.T) {
	t.Parallel()
	inBubble(t, session.Config{}, func(t *testing.T, c *session.Conn, peer net.Conn) {
		_, came := c.Waiting()
		assert.False(t, came)
		begin := time.Now()
		_, came = c.Peek(t.Context(), soon())
		assert.False(t, came)
		assert.Equal(t, time.Minute, time.Since(begin))
		says(t, peer, "hi\n")
		for range 2 {
			r, came := c.Peek(t.Context(), soon())
			assert.True(t, came)
			assert.Equal(t, "+hi", r.String())
			assert.Equal(t, session.Answer, r.Turn)
		}
		assert.Equal(t, 1, c.Status().Owed)
		assert.False(t, c.Answered())
		assert.Equal(t, "+hi", take(t, c).String())
		assert.Zero(t, c.Status().Owed)
		assert.True(t, c.Answered())
		_, came = c.Waiting()
		assert.False(t, came)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, came = c.Take(ctx, soon())
		assert.False(t, came)
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
		"grammar": {func(t *testing.T, peer net.Conn) { says(t, peer, "a\rb\n") }, session.Open,
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
					assert.Equal(t, test.ending, c.Ended())
					assert.Equal(t, test.words, r.String())
					assert.False(t, r.Whole())
					assert.Equal(t, r.Broken != nil, r.Bytes())
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
		heard := hears(peer)
		says(t, peer, "!beat\nhi\nagain\n")
		assert.Equal(t, session.Notice, take(t, c).Turn)
		assert.Equal(t, session.Answer, take(t, c).Turn)
		assert.Equal(t, session.Extra, take(t, c).Turn, "right behind an answer")
		time.Sleep(time.Second)
		says(t, peer, "again\n!beat\n")
		assert.Equal(t, session.Unasked, take(t, c).Turn)
		assert.Equal(t, session.Notice, take(t, c).Turn)

		require.NoError(t, c.Write(t.Context(), [][]byte{[]byte("a\n")}, 0))
		require.NoError(t, c.Write(t.Context(), [][]byte{[]byte("b"), []byte("c\n")}, 0))
		assert.Equal(t, session.Status{Phase: session.Serving, Owed: 2, Verb: "bc", Asked: []byte("bc\n"),
			Farewell: []byte("bye\n")}, c.Status())
		says(t, peer, "A\nB\n")
		first, second := take(t, c), take(t, c)
		assert.Equal(t, []int{2, 1}, []int{first.Owed, second.Owed})
		assert.Equal(t, "bc\n", string(second.Asked))
		assert.Zero(t, c.Status().Owed)
		require.NoError(t, c.End(session.Closed))
		assert.Equal(t, "a\nbc\n", <-heard)
	})
}

func TestSeenComesBeforeTaken(t *testing.T) {
	t.Parallel()
	var seen []string
	over := make(chan struct{})
	config := session.Config{Seen: func(r session.Received) { seen = append(seen, r.String()) },
		Closed: func() { close(over) }}
	inBubble(t, config, func(t *testing.T, c *session.Conn, peer net.Conn) {
		says(t, peer, "a\n!b\n")
		take(t, c)
		take(t, c)
		_ = peer.Close()
		take(t, c)
		<-over
		assert.Equal(t, []string{"+a", "!b", "the connection was closed (orderly, FIN)"}, seen)
	})
}

// What is large waits in the connection, not in memory, until it is taken.
func TestLargeMessagesAreReadOneByOne(t *testing.T) {
	t.Parallel()
	var seen int
	config := session.Config{Seen: func(session.Received) { seen++ }}
	inBubble(t, config, func(t *testing.T, c *session.Conn, peer net.Conn) {
		const many = 5
		go func() { _, _ = io.WriteString(peer, strings.Repeat(strings.Repeat("x", 1<<20+1)+"\n", many)) }()
		for i := range many {
			synctest.Wait()
			assert.Equal(t, i+1, seen)
			take(t, c)
		}
	})
}

func TestEndingsAsTranscriptsWriteThem(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "open <close> <fin> <reset> <half-close>",
		strings.Join([]string{session.Open.String(), session.Closed.String(),
			session.Fin.String(), session.Reset.String(), session.HalfShut.String()}, " "))
	assert.Empty(t, session.Received{}.String())
}
