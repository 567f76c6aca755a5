package client

import (
	"slices"

	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workload"
)

// ownQueues are the jobs that may wait in a queue of their own. Each is in one of the two
// lists, or among those that a fetch in flight asks for.
type ownQueues struct {
	accepted queue[int64]       // their push was confirmed, and no fetch has named their queue
	others   queue[int64]       // they may come, or come back: to be asked for in the drain
	unsure   map[int64]struct{} // of all of these: no fetch of the drain has found the queue empty
}

// mostOwn is how many queues of single jobs a fetch of the drain names.
const mostOwn = 50

// expect notes that job k may be in its own queue. If accepted, it must be there.
func (s *Shared) expect(k int64, accepted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own.unsure == nil {
		s.own.unsure = make(map[int64]struct{})
	}
	s.own.unsure[k] = struct{}{}
	if accepted {
		s.own.accepted.push(k)
	} else {
		s.own.others.push(k)
	}
}

// takeOwn appends to ks the jobs whose queues the next fetch is to name: one that is there
// or, in the drain, many that may be.
func (s *Shared) takeOwn(ks []int64, drain bool) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := 1
	if drain {
		most = mostOwn
	}
	for len(ks) < most {
		k, ok := s.own.accepted.pop()
		if !ok && drain {
			k, ok = s.own.others.pop()
		}
		if !ok {
			break
		}
		ks = append(ks, k)
	}
	return ks
}

// foundOwn notes that a fetch has brought job k from its own queue.
func (s *Shared) foundOwn(k int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.own.unsure, k)
}

// emptyOwn notes that a fetch of the drain has found the queue of job k empty. The job is
// asked for again only if it may return after a failure.
func (s *Shared) emptyOwn(k int64, returns bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.own.unsure, k)
	if returns {
		s.own.others.push(k)
	}
}

// ownLeft reports whether some queues of single jobs have not been seen empty in the drain.
func (s *Shared) ownLeft() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.own.unsure) > 0
}

// expectOwn notes that job k may be in its queue, if that is its own.
func (c *Shard) expectOwn(k int64, accepted bool) {
	if c.ownQueues && c.jobs.QueueOf(k) == workload.OwnQueue {
		c.shared.expect(k, accepted)
	}
}

// ownLeft reports whether the drain still has to ask queues of single jobs.
func (c *Shard) ownLeft() bool { return c.ownQueues && c.shared.ownLeft() }

// takeOwn takes the queues of single jobs that the next fetch is to name. In the drain
// every other fetch names those of the worker.
func (d *duty) takeOwn() {
	c, draining := d.shard, d.shard.drainFrom > 0
	last := len(d.own) > 0
	d.own = d.own[:0]
	if c.ownQueues && (!draining || !last || d.worker.drained) {
		d.own = c.shared.takeOwn(d.own, draining)
	}
}

// answeredOwn puts back what the fetch in flight has named and not brought; job k came, or
// none if k is negative. empty says that there was no job in any of the queues.
func (d *duty) answeredOwn(k int64, empty bool) {
	c := d.shard
	for _, asked := range d.own {
		switch {
		case asked == k:
			c.shared.foundOwn(asked)
		case empty && c.drainFrom > 0 && d.asked.sent >= c.drainFrom:
			c.shared.emptyOwn(asked, c.fails)
		default:
			c.shared.expect(asked, false)
		}
	}
}

// queues are those that the fetch in flight names.
func (d *duty) queues() *protocol.Queues {
	if len(d.own) == 0 {
		return &d.worker.asks.queues
	}
	names := make([]string, len(d.own))
	for i, k := range d.own {
		names[i] = d.shard.jid(k)
	}
	return &protocol.Queues{Names: names}
}

// named reports whether the fetch in flight names the queue of a job that has come.
func (d *duty) named(job workload.Delivery) bool {
	if len(d.own) == 0 {
		return d.worker.asks.hold(job.Queue)
	}
	return job.Queue == workload.OwnQueue && slices.Contains(d.own, job.K)
}
