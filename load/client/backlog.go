package client

import "time"

// A closed loop may hold its producers to what the workers carry: they push no more while so many jobs wait as the
// workload allows, in all shards together. A producer that is held is on the list of those that are free.
const (
	// lookAround is how often a shard looks whether others have fetched, if producers of its own are held.
	lookAround = time.Millisecond
	// forgetAfter is how long nothing is fetched by idle workers until the jobs that are missing are no longer waited
	// for: a server that loses them must not hold the producers for ever. It is longer than a fetch waits.
	forgetAfter = 3 * time.Second
)

// backlogOf returns how many jobs of a closed loop may wait, 0 for any number.
func (c *Shard) backlogOf() int64 {
	if c.work.Churn || c.work.Consumers == 0 {
		return 0
	}
	return int64(c.work.Backlog) * int64(c.work.Consumers) * int64(max(1, c.work.Topology.Concurrency))
}

// held reports whether producers have to wait for workers.
func (d *dispatcher) held() bool { return d.most > 0 && d.shard.shared.ahead.Load() >= d.most }

// gone books that a job waits no more: it was fetched, or refused, or is in doubt. A producer that is held may push.
func (d *dispatcher) gone(now time.Duration) {
	if d.most == 0 {
		return
	}
	s := d.shard.shared
	s.fetched.Store(int64(now))
	if s.ahead.Add(-1) < 0 {
		s.ahead.Add(1) // a job that was in doubt, or pushed beforehand
	}
	if d.mode == closed && d.more && !d.held() {
		d.release(now)
	}
}

// release makes the producer that was held for the longest ask again. Its push is due now.
func (d *dispatcher) release(now time.Duration) {
	if t, ok := d.free.pop(); ok {
		c := t.self()
		c.listed, c.pause = false, max(c.pause, now)
		t.again(now)
	}
}

// lookAfterHeld lets as many producers push as there is room for, and returns when to look again; 0 if none is held.
func (d *dispatcher) lookAfterHeld(now time.Duration) time.Duration {
	d.looking = false
	if d.most == 0 || !d.more || d.free.len() == 0 {
		return 0
	}
	s := d.shard.shared
	since := max(time.Duration(s.fetched.Load()), d.start)
	if d.held() && now-since >= forgetAfter && d.shard.status.Held == 0 {
		s.fetched.Store(int64(now))
		s.ahead.Store(0)
	}
	for room := d.most - s.ahead.Load(); room > 0 && d.free.len() > 0; room-- {
		d.release(now)
	}
	if d.free.len() == 0 {
		return 0
	}
	d.looking = true
	if d.of == 1 {
		return now + forgetAfter
	}
	return now + lookAround
}
