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

// setQuit has a connection decide, as if it had been drawn, to end now or after a while.
func setQuit(c *conn, now time.Duration, ending plan.Ending, after time.Duration) {
	c.quit = quit{isDecided: true, ending: ending, at: now + after}
}

// newPushScene is a scene whose producer has a PUSH in flight that it does not mean to wait for.
func newPushScene(t *testing.T, ending plan.Ending, after time.Duration) (*scene, *conn) {
	t.Helper()
	s := newScene(t, producers(1))
	s.connect()
	p := &s.shard.producers[0].conn
	s.start()
	require.Contains(t, s.takeSent(p), "PUSH ")
	setQuit(p, s.now, ending, after)
	s.step(p, engine.Event{Kind: engine.Woken})
	return s, p
}

func TestDisconnect(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ending plan.Ending
		next   engine.Next
	}{
		"close": {plan.Close, engine.Next{Close: true}},
		"reset": {plan.Reset, engine.Next{Close: true, Reset: true}},
	}
	for name, test := range cases {
		s, p := newPushScene(t, test.ending, 0)
		assert.Equal(t, test.next, s.nexts[p], name)
		status := s.shard.Status()
		assert.EqualValues(t, 1, status.Disconnects)
		assert.Zero(t, status.Losses+status.Errors, "it is not the server's doing")
		assert.Zero(t, status.ReadyConns)
		assert.Zero(t, p.failures)
		assert.EqualValues(t, 1, s.ledger.Count(false).Doubtful)
		s.pass(time.Millisecond)
		assert.Len(t, s.dials, 1, "it is back at once")
		s.open(p)
		s.data(p, greetingLine)
		s.data(p, okLine)
		assert.Contains(t, s.takeSent(p), s.jid(1), "with the next job")
	}
}

// A reply that comes before the time is up is taken, and then the connection ends.
func TestDisconnectDelay(t *testing.T) {
	t.Parallel()
	for name, hasReply := range map[string]bool{"reply": true, "silence": false} {
		s, p := newPushScene(t, plan.Close, 10*time.Millisecond)
		assert.False(t, s.nexts[p].Close, name)
		s.pass(9 * time.Millisecond)
		assert.False(t, s.nexts[p].Close, name)
		if hasReply {
			s.data(p, okLine)
		} else {
			s.pass(time.Millisecond)
		}
		assert.True(t, s.nexts[p].Close, name)
		counts := s.ledger.Count(false)
		assert.Equal(t, hasReply, counts.Pushed == 1, name)
		assert.Equal(t, !hasReply, counts.Doubtful == 1, name)
	}
}

// After a half-close the reply counts; none, or the end of the connection, is no error.
func TestHalfClose(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		action func(s *scene, p *conn)
		pushed int64
		errors int64
	}{
		"reply":    {func(s *scene, p *conn) { s.data(p, okLine) }, 1, 0},
		"end":      {func(s *scene, p *conn) { s.end(p, nil) }, 0, 0},
		"silence":  {func(s *scene, _ *conn) { s.pass(31 * time.Second) }, 0, 0},
		"nonsense": {func(s *scene, p *conn) { s.data(p, "nonsense\r\n") }, 0, 1},
	} {
		s, p := newPushScene(t, plan.HalfClose, 0)
		assert.True(t, s.nexts[p].CloseWrite, name)
		assert.False(t, s.nexts[p].Close, name)
		assert.Zero(t, s.shard.Status().Disconnects, name)
		test.action(s, p)
		assert.Equal(t, test.pushed, s.ledger.Count(false).Pushed, name)
		assert.Equal(t, 1-test.pushed, s.ledger.Count(false).Doubtful, name)
		assert.Equal(t, test.errors, s.shard.Status().Errors, name)
		assert.Equal(t, 1-test.errors, s.shard.Status().Disconnects, name)
	}
}

// A worker whose ACK got no reply because it disconnected sends it again; a refusal is as
// good as an OK then.
func TestRepeatedAck(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{okLine, "-ERR no such job\r\n"} {
		s := newScene(t, consumers(1))
		s.connect()
		s.start()
		d := &s.shard.workers[0].conns[0].conn
		s.takeSent(d)
		s.shard.ledger.BookSent(0, 0)
		s.data(d, s.body(0))
		require.Contains(t, s.takeSent(d), "ACK ")
		setQuit(d, s.now, plan.Close, 0)
		s.step(d, engine.Event{Kind: engine.Woken})
		assert.Equal(t, 1, s.shard.Status().HeldJobs)
		s.pass(time.Millisecond)
		s.open(d)
		s.data(d, greetingLine)
		s.data(d, okLine)
		assert.Contains(t, s.takeSent(d), `ACK {"jid":"`+s.jid(0))
		s.data(d, reply)
		assert.Zero(t, s.shard.Status().Errors)
		assert.Equal(t, int64(1), s.set().Done(measure.Ack))
		assert.Equal(t, reply != okLine, s.shard.Status().RepeatedAcks == 1)
		assert.Zero(t, s.shard.Status().HeldJobs)
	}
}

// Once the run stops, connections end in order.
func TestNoDisconnectAfterStop(t *testing.T) {
	t.Parallel()
	load := consumers(1)
	load.Disconnects, load.DisconnectAt = 0.999, []plan.Phase{plan.AtIdle}
	s := newScene(t, load)
	s.connect()
	s.start()
	w := &s.shard.workers[0].conns[0].conn
	assert.Contains(t, s.takeSent(w), "FETCH")
	s.do(s.shard.Stop)
	s.data(w, "$-1\r\n")
	assert.Equal(t, "END\r\n", s.takeSent(w))
}

// A short-lived connection that ends before its command comes back for the same job.
func TestChurnerReconnects(t *testing.T) {
	t.Parallel()
	s := newScene(t, churn(1))
	s.connect()
	s.start()
	c := &s.shard.churners[0].conn
	s.open(c)
	s.data(c, greetingLine)
	assert.Contains(t, s.takeSent(c), "HELLO")
	setQuit(c, s.now, plan.Close, 0)
	s.step(c, engine.Event{Kind: engine.Woken})
	assert.Zero(t, s.ledger.Count(false).Sent)
	cycle(t, s, c, s.jid(0))
	assert.EqualValues(t, 1, s.ledger.Count(false).Pushed)
}

// Where a server does not wait for jobs, a worker that got none waits before it asks again.
func TestPoll(t *testing.T) {
	t.Parallel()
	s := newScene(t, consumers(1))
	s.shard.times.Poll = 10 * time.Millisecond
	s.connect()
	s.start()
	w := &s.shard.workers[0].conns[0].conn
	s.takeSent(w)
	s.data(w, "$-1\r\n")
	s.pass(10*time.Millisecond - 1)
	assert.Empty(t, s.takeSent(w))
	s.pass(1)
	assert.Contains(t, s.takeSent(w), "FETCH")
}
