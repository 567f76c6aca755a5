package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/measure"
)

// hangMargin is how much longer than the protocol sets a fetch must have waited to count as one without a reply.
// Before, it may have waited for a job on an empty queue.
const hangMargin = 500 * time.Millisecond

// endWait records the command in flight, whose reply is waited for no longer: it counts with the time that it has
// waited, and so do the flows of its jobs unless these go on.
func (c *conn) endWait(now time.Duration) {
	op := c.command.op
	t := measure.Timing{Intended: c.command.intended, Free: c.command.free, Sent: c.command.sent, Replied: now}
	switch {
	case c.phase == phaseDialing:
		op = measure.Connect
		t = measure.Timing{Intended: c.openDueAt, Free: c.freeSince, Sent: c.DialedAt(), Replied: now}
	case op == measure.Hello: // see handleHelloReply
		t.Intended, t.Free, t.Sent = c.openedAt, c.openedAt, c.openedAt
	case op == measure.Fetch:
		times := &c.shard.times
		if times.Wait+times.Poll == 0 || now-t.Sent < times.Wait+hangMargin {
			return
		}
		op = measure.FetchFound
	}
	c.shard.recorder.RecordUnanswered(op, t)
	if c.phase != phaseBusy {
		return
	}
	s := c.shard.shared
	switch r := c.role.(type) {
	case *producer:
		s.addOpenJob(r.arrival.k, openJob{intended: t.Intended, until: now})
		for _, a := range r.batch {
			t.Intended = a.intended
			c.shard.recorder.RecordUnanswered(op, t)
			s.addOpenJob(a.k, openJob{intended: a.intended, until: now})
		}
	case *churner:
		if op == measure.Push {
			s.addOpenJob(r.arrival.k, openJob{intended: t.Intended, until: now})
		}
	case *workerConn:
		if op != measure.Ack { // a worker that only beats has no place
			return
		}
		if p := &r.worker.places[r.place]; p.hasNumber {
			job := openJob{intended: p.intended, until: now}
			job.isReached[measure.ToFetched] = true
			s.addOpenJob(p.k, job)
		}
	}
}

// WaitingSince returns since when a reply is due, or the connection for a command, the longest time; 0 if none is. A
// fetch may wait on an empty queue for as long as the protocol lets it. It looks at each connection.
func (c *Shard) WaitingSince(now time.Duration) (since time.Duration) {
	for _, conn := range c.conns {
		if at := conn.waitingSince(now); at > 0 && (since == 0 || at < since) {
			since = at
		}
	}
	return since
}

func (c *conn) waitingSince(now time.Duration) time.Duration {
	wait := c.shard.times.Wait
	switch {
	case c.phase == phaseBusy && c.command.op != measure.Fetch, c.phase == phaseLeaving:
		return c.command.sent
	case c.phase == phaseBusy && wait > 0 && now > c.command.sent+wait+hangMargin:
		return c.command.sent + wait
	case c.phase == phaseBusy, c.phase == phaseIdle, c.phase == phaseRetired, c.preparation != nil:
	case c.lostAt > 0:
		return c.lostAt
	case c.failures > 0:
		return max(c.repliedAt, c.shard.loadStart)
	case c.phase != phaseShut && !c.shard.isStopping:
		return c.openDueAt
	}
	return 0
}

// openJob is a job whose push, or ack, had no reply until a time: what it reaches is recorded when it does.
type openJob struct {
	intended, until time.Duration
	isReached       [measure.Flows]bool
}

// addOpenJob notes a job that may never reach the end of its flows.
func (s *SharedState) addOpenJob(k int64, job openJob) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.openJobs == nil {
		s.openJobs = make(map[int64]openJob)
	}
	if _, ok := s.openJobs[k]; !ok {
		s.openJobs[k] = job
		s.openCount.Add(1)
	}
}

// noteReached notes that a job has reached the end of a flow.
func (s *SharedState) noteReached(k int64, f measure.Flow) {
	if s.openCount.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if job, ok := s.openJobs[k]; ok {
		job.isReached[f] = true
		s.openJobs[k] = job
	}
}

// EndFlows records the jobs whose push, or ack, had no reply, and that have not reached the end of a flow otherwise. It
// is called once, for one of the shards, after Abandon for all.
func (c *Shard) EndFlows(now time.Duration) {
	c.recordUndelivered(now)
	s := c.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, job := range s.openJobs {
		for _, f := range []measure.Flow{measure.ToFetched, measure.ToAcked} {
			if !job.isReached[f] {
				c.recorder.RecordUnansweredJob(f, job.intended, job.until)
			}
		}
	}
	s.openJobs = nil
}
