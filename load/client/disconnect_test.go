package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
)

// quits has a connection decide, as if it had been drawn, to end now or after a while.
func quits(c *conn, now time.Duration, ending plan.Ending, after time.Duration) {
	c.quit = quit{decided: true, ending: ending, at: now + after}
}

// pushing is a scene whose producer has a PUSH in flight that it does not mean to wait for.
func pushing(t *testing.T, ending plan.Ending, after time.Duration) (*scene, *conn) {
	t.Helper()
	s := play(t, producers(1))
	s.connect()
	p := &s.shard.producers[0].conn
	s.start()
	require.Contains(t, s.said(p), "PUSH ")
	quits(p, s.now, ending, after)
	s.step(p, engine.Event{Kind: engine.Woken})
	return s, p
}

func TestHowAClientDisconnects(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ending plan.Ending
		next   engine.Next
	}{
		"close": {plan.Close, engine.Next{Close: true}},
		"reset": {plan.Reset, engine.Next{Close: true, Reset: true}},
	}
	for name, test := range cases {
		s, p := pushing(t, test.ending, 0)
		assert.Equal(t, test.next, s.nexts[p], name)
		status := s.shard.Status()
		assert.EqualValues(t, 1, status.Disconnects)
		assert.Zero(t, status.Lost+status.Errors, "it is not the server's doing")
		assert.Zero(t, status.Ready)
		assert.Zero(t, p.failures)
		assert.EqualValues(t, 1, s.ledger.Count(false).Doubtful)
		s.pass(time.Millisecond)
		assert.Len(t, s.dials, 1, "it is back at once")
		s.open(p)
		s.data(p, hi)
		s.data(p, ok)
		assert.Contains(t, s.said(p), s.jid(1), "with the next job")
	}
}

// A reply that comes before the time is up is taken, and then the connection ends.
func TestADisconnectAwaitsItsTime(t *testing.T) {
	t.Parallel()
	for name, replied := range map[string]bool{"reply": true, "silence": false} {
		s, p := pushing(t, plan.Close, 10*time.Millisecond)
		assert.False(t, s.nexts[p].Close, name)
		s.pass(9 * time.Millisecond)
		assert.False(t, s.nexts[p].Close, name)
		if replied {
			s.data(p, ok)
		} else {
			s.pass(time.Millisecond)
		}
		assert.True(t, s.nexts[p].Close, name)
		counts := s.ledger.Count(false)
		assert.Equal(t, replied, counts.Pushed == 1, name)
		assert.Equal(t, !replied, counts.Doubtful == 1, name)
	}
}

// After a half-close the reply counts; none, or the end of the connection, is no error.
func TestAHalfCloseAwaitsTheReply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		then   func(s *scene, p *conn)
		pushed int64
		errors int64
	}{
		"reply":    {func(s *scene, p *conn) { s.data(p, ok) }, 1, 0},
		"end":      {func(s *scene, p *conn) { s.end(p, nil) }, 0, 0},
		"silence":  {func(s *scene, _ *conn) { s.pass(31 * time.Second) }, 0, 0},
		"nonsense": {func(s *scene, p *conn) { s.data(p, "nonsense\r\n") }, 0, 1},
	} {
		s, p := pushing(t, plan.HalfClose, 0)
		assert.True(t, s.nexts[p].CloseWrite, name)
		assert.False(t, s.nexts[p].Close, name)
		assert.Zero(t, s.shard.Status().Disconnects, name)
		test.then(s, p)
		assert.Equal(t, test.pushed, s.ledger.Count(false).Pushed, name)
		assert.Equal(t, 1-test.pushed, s.ledger.Count(false).Doubtful, name)
		assert.Equal(t, test.errors, s.shard.Status().Errors, name)
		assert.Equal(t, 1-test.errors, s.shard.Status().Disconnects, name)
	}
}

// A worker whose ACK got no reply because it disconnected sends it again; a refusal is as
// good as an OK then.
func TestAnAckThatWasNotAwaitedIsRepeated(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{ok, "-ERR no such job\r\n"} {
		s := play(t, consumers(1))
		s.connect()
		s.start()
		d := &s.shard.workers[0].conns[0].conn
		s.said(d)
		s.shard.ledger.Sent(0, 0)
		s.data(d, s.body(0))
		require.Contains(t, s.said(d), "ACK ")
		quits(d, s.now, plan.Close, 0)
		s.step(d, engine.Event{Kind: engine.Woken})
		assert.Equal(t, 1, s.shard.Status().Held)
		s.pass(time.Millisecond)
		s.open(d)
		s.data(d, hi)
		s.data(d, ok)
		assert.Contains(t, s.said(d), `ACK {"jid":"`+s.jid(0))
		s.data(d, reply)
		assert.Zero(t, s.shard.Status().Errors)
		assert.Equal(t, int64(1), s.set().Done(measure.Ack))
		assert.Equal(t, reply != ok, s.shard.Status().Repeated == 1)
		assert.Zero(t, s.shard.Status().Held)
	}
}

// Once the run stops, connections end in order.
func TestNoClientDisconnectsWhenTheRunStops(t *testing.T) {
	t.Parallel()
	load := consumers(1)
	load.Disconnects, load.DisconnectAt = 0.999, []plan.Phase{plan.AtIdle}
	s := play(t, load)
	s.connect()
	s.start()
	w := &s.shard.workers[0].conns[0].conn
	assert.Contains(t, s.said(w), "FETCH")
	s.do(s.shard.Stop)
	s.data(w, "$-1\r\n")
	assert.Equal(t, "END\r\n", s.said(w))
}

// A short-lived connection that ends before its command comes back for the same job.
func TestAChurnerComesBackForItsJob(t *testing.T) {
	t.Parallel()
	s := play(t, churn(1))
	s.connect()
	s.start()
	c := &s.shard.churners[0].conn
	s.open(c)
	s.data(c, hi)
	assert.Contains(t, s.said(c), "HELLO")
	quits(c, s.now, plan.Close, 0)
	s.step(c, engine.Event{Kind: engine.Woken})
	assert.Zero(t, s.ledger.Count(false).Sent)
	cycle(t, s, c, s.jid(0))
	assert.EqualValues(t, 1, s.ledger.Count(false).Pushed)
}

// Where a server does not wait for jobs, a worker that got none waits before it asks again.
func TestAWorkerPollsAServerThatDoesNotWait(t *testing.T) {
	t.Parallel()
	s := play(t, consumers(1))
	s.shard.times.Poll = 10 * time.Millisecond
	s.connect()
	s.start()
	w := &s.shard.workers[0].conns[0].conn
	s.said(w)
	s.data(w, "$-1\r\n")
	s.pass(10*time.Millisecond - 1)
	assert.Empty(t, s.said(w))
	s.pass(1)
	assert.Contains(t, s.said(w), "FETCH")
}
