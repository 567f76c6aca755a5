package ledger

import (
	"iter"
	"math"
	"sync/atomic"
)

// stops is what the server may have forgotten because it was stopped. The jobs in question are those up to a number,
// because numbers grow with time.
type stops struct {
	any, kills      atomic.Int64 // the greatest number, -1 before the first stop; all of them while it is stopped
	twice, returned atomic.Int64 // deliveries that are excused
	waitedOut       atomic.Bool
}

// Stop is how a server was stopped after a job was pushed.
type Stop uint8

const (
	// NotStopped stands for no stop since.
	NotStopped Stop = iota
	// Restarted stands for stops in good order.
	Restarted
	// Killed stands for at least one stop without warning.
	Killed
)

// Stopping books that the server is about to be stopped, in good order or without warning. Of the jobs that are sent
// until Serving it may forget what it has confirmed: that there is such a job, that a worker has it, or that it is
// settled. Deliveries of such a job that would be Twice or Returned are counted apart from then on, and are no
// findings; so are the losses, which [Counts] tells apart.
func (l *Ledger) Stopping(killed bool) {
	l.stops.any.Store(math.MaxInt64)
	if killed {
		l.stops.kills.Store(math.MaxInt64)
	}
}

// Serving books that a server that was stopped serves again.
func (l *Ledger) Serving() {
	last := l.last.Load()
	l.stops.any.CompareAndSwap(math.MaxInt64, last)
	l.stops.kills.CompareAndSwap(math.MaxInt64, last)
}

// WaitedOut books that every reservation has ended whose fetch has no reply, and that its job was delivered again if it
// had one: no fetch excuses a missing job any more.
func (l *Ledger) WaitedOut() { l.stops.waitedOut.Store(true) }

// NotReturned goes through the jobs of which a report was refused, that may be delivered again and were not, in
// ascending order. Those before a stop of the server are left out. When their reservations have been waited for, none
// may be left.
func (l *Ledger) NotReturned() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i, c := range *l.chunks.Load() {
			if c == nil || c.denied.Load() == nil {
				continue
			}
			for n := range int64(chunkJobs) {
				k := int64(i)*chunkJobs + n
				open := c.denied.Load().has(n) && c.state(n) == mayReturn && l.StoppedAfter(k) == NotStopped
				if open && !yield(k) {
					return
				}
			}
		}
	}
}

// StoppedAfter returns how the server was stopped after job k was sent.
func (l *Ledger) StoppedAfter(k int64) Stop {
	switch {
	case k <= l.stops.kills.Load():
		return Killed
	case k <= l.stops.any.Load():
		return Restarted
	}
	return NotStopped
}

// forgave reports whether a stop excuses a delivery of job k, and counts it then.
func (s *stops) forgave(k int64, count *atomic.Int64) bool {
	if k > s.any.Load() {
		return false
	}
	count.Add(1)
	return true
}

// losses counts the jobs that are lost, by what excuses them. Fetches without a reply excuse those first that nothing
// else does.
func (l *Ledger) losses(c *Counts) {
	c.Lost = c.Missing
	if l.stops.any.Load() >= 0 {
		c.Lost = 0
		of := [...]*int64{NotStopped: &c.Lost, Restarted: &c.LostByRestart, Killed: &c.LostByKill}
		for k := range l.Missing() {
			*of[l.StoppedAfter(k)]++
		}
	}
	excused := c.FetchesLost
	if l.stops.waitedOut.Load() {
		excused = 0
	}
	for _, n := range [...]*int64{&c.Lost, &c.LostByRestart, &c.LostByKill} {
		taken := min(*n, excused)
		*n -= taken
		excused -= taken
	}
}
