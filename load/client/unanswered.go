package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/measure"
)

// hungAfter is how much longer than the protocol sets a fetch must have waited to count as one without a reply. Before,
// it may have waited for a job on an empty queue.
const hungAfter = 500 * time.Millisecond

// endWait records the command in flight, whose reply is waited for no longer: it counts with the time that it has
// waited, and so do the flows of its jobs unless these go on.
func (c *conn) endWait(now time.Duration) {
	op := c.asked.op
	t := measure.Timing{Intended: c.asked.intended, Free: c.asked.free, Sent: c.asked.sent, Replied: now}
	switch {
	case c.phase == dialing:
		op = measure.Connect
		t = measure.Timing{Intended: c.planned, Free: c.free, Sent: c.Dialed(), Replied: now}
	case op == measure.Hello: // see identified
		t.Intended, t.Free, t.Sent = c.opened, c.opened, c.opened
	case op == measure.Fetch:
		times := &c.shard.times
		if times.Wait+times.Poll == 0 || now-t.Sent < times.Wait+hungAfter {
			return
		}
		op = measure.FetchFound
	}
	c.shard.recorder.Unanswered(op, t)
	if c.phase != busy {
		return
	}
	s := c.shard.shared
	switch r := c.role.(type) {
	case *producer:
		s.doubt(r.todo.k, openJob{intended: t.Intended, until: now})
		for _, a := range r.more {
			t.Intended = a.intended
			c.shard.recorder.Unanswered(op, t)
			s.doubt(a.k, openJob{intended: a.intended, until: now})
		}
	case *churner:
		if op == measure.Push {
			s.doubt(r.todo.k, openJob{intended: t.Intended, until: now})
		}
	case *duty:
		if op != measure.Ack { // a worker that only beats has no place
			return
		}
		if p := &r.worker.places[r.place]; p.ours {
			job := openJob{intended: p.intended, until: now}
			job.reached[measure.ToFetched] = true
			s.doubt(p.k, job)
		}
	}
}

// Owed returns since when a reply is due, or the connection for a command, the longest time; 0 if none is. A fetch may
// wait on an empty queue for as long as the protocol lets it. It looks at each connection.
func (c *Shard) Owed(now time.Duration) (since time.Duration) {
	for _, conn := range c.conns {
		if at := conn.owed(now); at > 0 && (since == 0 || at < since) {
			since = at
		}
	}
	return since
}

func (c *conn) owed(now time.Duration) time.Duration {
	wait := c.shard.times.Wait
	switch {
	case c.phase == busy && c.asked.op != measure.Fetch, c.phase == leaving:
		return c.asked.sent
	case c.phase == busy && wait > 0 && now > c.asked.sent+wait+hungAfter:
		return c.asked.sent + wait
	case c.phase == busy, c.phase == idle, c.phase == over, c.preparing != nil:
	case c.lost > 0:
		return c.lost
	case c.failures > 0:
		return max(c.replied, c.shard.loadFrom)
	case c.phase != shut && !c.shard.stopping:
		return c.planned
	}
	return 0
}

// openJob is a job whose push, or ack, had no reply until a time: what it reaches is recorded when it does.
type openJob struct {
	intended, until time.Duration
	reached         [measure.Flows]bool
}

// doubt notes a job that may never reach the end of its flows.
func (s *Shared) doubt(k int64, job openJob) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[int64]openJob)
	}
	if _, known := s.open[k]; !known {
		s.open[k] = job
		s.opened.Add(1)
	}
}

// reached notes that a job has reached the end of a flow.
func (s *Shared) reached(k int64, f measure.Flow) {
	if s.opened.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if job, known := s.open[k]; known {
		job.reached[f] = true
		s.open[k] = job
	}
}

// EndFlows records the jobs whose push, or ack, had no reply, and that have not reached the end of a flow otherwise. It
// is called once, for one of the shards, after Abandon for all.
func (c *Shard) EndFlows(now time.Duration) {
	c.endLate(now)
	s := c.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, job := range s.open {
		for _, f := range []measure.Flow{measure.ToFetched, measure.ToAcked} {
			if !job.reached[f] {
				c.recorder.JobUnanswered(f, job.intended, job.until)
			}
		}
	}
	s.open = nil
}
