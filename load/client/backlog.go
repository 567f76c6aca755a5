package client

import "time"

// A closed loop may hold its producers to what the workers carry: they push no more while so many jobs wait as the
// workload allows, in all shards together. A producer that is held is on the list of those that are free.
const (
	// lookInterval is how often a shard looks whether others have fetched, if producers of its own are held.
	lookInterval = time.Millisecond
	// forgetDelay is how long nothing is fetched by idle workers until the jobs that are missing are no longer waited
	// for: a server that loses them must not hold the producers for ever. It is longer than a fetch waits.
	forgetDelay = 3 * time.Second
)

// backlogLimit returns how many jobs of a closed loop may wait, 0 for any number.
func (c *Shard) backlogLimit() int64 {
	if c.work.Churn || c.work.Consumers == 0 {
		return 0
	}
	return int64(c.work.Backlog) * int64(c.work.Consumers) * int64(max(1, c.work.Topology.Concurrency))
}

// isBacklogFull reports whether producers have to wait for workers.
func (d *dispatcher) isBacklogFull() bool {
	return d.backlogLimit > 0 && d.shard.shared.queuedJobs.Load() >= d.backlogLimit
}

// removeWaiting books that a job waits no more: it was fetched, or refused, or is in doubt. A producer that is held may
// push.
func (d *dispatcher) removeWaiting(now time.Duration) {
	if d.backlogLimit == 0 {
		return
	}
	s := d.shard.shared
	s.fetchedAt.Store(int64(now))
	if s.queuedJobs.Add(-1) < 0 {
		s.queuedJobs.Add(1) // a job that was in doubt, or pushed beforehand
	}
	if d.mode == modeClosed && d.hasNext && !d.isBacklogFull() {
		d.release(now)
	}
}

// release makes the producer that was held for the longest ask again. Its push is due now.
func (d *dispatcher) release(now time.Duration) {
	if t, ok := d.freeTakers.pop(); ok {
		c := t.connection()
		c.isListed, c.pausedUntil = false, max(c.pausedUntil, now)
		t.askAgain(now)
	}
}

// releaseHeld lets as many producers push as there is room for, and returns when to look again; 0 if none is held.
func (d *dispatcher) releaseHeld(now time.Duration) time.Duration {
	d.isLooking = false
	if d.backlogLimit == 0 || !d.hasNext || d.freeTakers.len() == 0 {
		return 0
	}
	s := d.shard.shared
	since := max(time.Duration(s.fetchedAt.Load()), d.start)
	if d.isBacklogFull() && now-since >= forgetDelay && d.shard.status.HeldJobs == 0 {
		s.fetchedAt.Store(int64(now))
		s.queuedJobs.Store(0)
	}
	for room := d.backlogLimit - s.queuedJobs.Load(); room > 0 && d.freeTakers.len() > 0; room-- {
		d.release(now)
	}
	if d.freeTakers.len() == 0 {
		return 0
	}
	d.isLooking = true
	if d.shards == 1 {
		return now + forgetDelay
	}
	return now + lookInterval
}
