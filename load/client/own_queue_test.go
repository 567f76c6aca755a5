package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/ledger"
)

const nothing = "$-1\r\n"

// ownScene is a producer, a worker, and two jobs that were accepted for queues of their own.
// The worker's FETCH of its own queue, sent before, is in flight.
func ownScene(t *testing.T, failShare float64) (s *scene, w *conn) {
	t.Helper()
	load := consumers(1)
	load.QueuePerJob, load.JobLimit, load.FailShare = 1, 2, failShare
	s = play(t, load)
	s.connect()
	s.start()
	p, w := &s.shard.producers[0].conn, &s.shard.workers[0].conns[0].conn
	assert.Equal(t, "FETCH fwpbench-run-0\r\n", s.said(w))
	for range 2 {
		s.data(p, ok)
	}
	return s, w
}

func (s *scene) fetchOf(ks ...int64) string {
	line := "FETCH"
	for _, k := range ks {
		line += " " + s.jid(k)
	}
	return line + "\r\n"
}

// Before the drain a FETCH names one queue of a single job, in which the job must be. If it
// is not, the queue is asked again in the drain.
func TestQueuesOfSingleJobsAreAskedOnce(t *testing.T) {
	t.Parallel()
	s, w := ownScene(t, 0)
	s.data(w, nothing)
	assert.Equal(t, s.fetchOf(0), s.said(w))
	s.data(w, s.body(0))
	assert.Contains(t, s.said(w), "ACK")
	s.data(w, ok)
	assert.Equal(t, s.fetchOf(1), s.said(w))
	s.data(w, nothing)
	assert.Equal(t, "FETCH fwpbench-run-0\r\n", s.said(w))
	assert.True(t, s.shard.ownLeft())
}

// A drain asks for many such queues at a time, and in turns for those of the worker. It is
// over when all of them were seen empty by a FETCH that was sent since it began.
func TestTheDrainAsksQueuesOfSingleJobs(t *testing.T) {
	t.Parallel()
	s, w := ownScene(t, 0)
	s.data(w, nothing)
	assert.Equal(t, s.fetchOf(0), s.said(w))
	s.pass(time.Millisecond)
	s.do(func() { s.shard.StopPushing(); s.shard.Drain(s.now) })
	s.pass(time.Millisecond)
	s.data(w, nothing) // it was sent before the drain, so that it proves nothing
	assert.Equal(t, "FETCH fwpbench-run-0\r\n", s.said(w))
	s.data(w, nothing)
	assert.Equal(t, s.fetchOf(1, 0), s.said(w))
	assert.False(t, s.shard.Status().Drained)
	s.data(w, s.body(0))
	s.said(w)
	s.data(w, ok)
	assert.Equal(t, s.fetchOf(1), s.said(w), "its own queue was seen empty")
	assert.False(t, s.shard.Status().Drained)
	s.data(w, nothing)
	assert.True(t, s.shard.Status().Drained)
	assert.Empty(t, s.said(w))
	assert.EqualValues(t, 1, s.ledger.Count(true).Lost)
}

// A job that failed comes back to its own queue, which is asked as long as it may.
func TestAFailedJobIsExpectedInItsOwnQueue(t *testing.T) {
	t.Parallel()
	s, w := ownScene(t, 0.999)
	s.data(w, nothing)
	s.data(w, s.body(0))
	assert.Contains(t, s.said(w), "FAIL")
	s.do(func() { s.shard.StopPushing(); s.shard.Drain(s.now) })
	s.data(w, ok)
	asked := s.said(w)
	for range 4 {
		s.data(w, nothing)
		asked += s.said(w)
	}
	assert.Contains(t, asked, s.jid(0))
	assert.False(t, s.shard.ownLeft(), "seen empty, and asked all the same")
	s.data(w, nothing)
	asked = s.said(w)
	s.data(w, nothing)
	asked += s.said(w)
	assert.Contains(t, asked, s.jid(0))
}

// A job that comes from the own queue of another one is a finding.
func TestAJobFromTheWrongOwnQueue(t *testing.T) {
	t.Parallel()
	s, w := ownScene(t, 0)
	s.data(w, nothing)
	assert.Equal(t, s.fetchOf(0), s.said(w))
	s.data(w, s.body(1))
	assert.EqualValues(t, 1, s.ledger.Count(false).Flawed[ledger.WrongQueue])
}
