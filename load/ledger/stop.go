package ledger

import (
	"iter"
	"math"
	"sync/atomic"
)

// stops is what the server may have forgotten because it was stopped. The jobs in question are those up to a number,
// because numbers grow with time.
type stops struct {
	latest, kills       atomic.Int64 // the greatest number, -1 before the first stop; all of them while it is stopped
	duplicates, returns atomic.Int64 // deliveries that are excused
	noReservations      atomic.Bool
}

// Stop is how a server was stopped after a job was pushed.
type Stop uint8

const (
	// NoStop stands for no stop since.
	NoStop Stop = iota
	// Restart stands for stops in good order.
	Restart
	// Kill stands for at least one stop without warning.
	Kill
)

// BookStop books that the server is about to be stopped, in good order or without warning. Of the jobs that are sent
// until BookRestart it may forget what it has confirmed: that there is such a job, that a worker has it, or that it is
// settled. A delivery of such a job that would be a Duplicate or DeliveryAfterEnd is counted apart from then on, and is
// no finding; so are the losses, which [Counts] tells apart.
func (l *Ledger) BookStop(isKill bool) {
	l.stops.latest.Store(math.MaxInt64)
	if isKill {
		l.stops.kills.Store(math.MaxInt64)
	}
}

// BookRestart books that a server that was stopped serves again.
func (l *Ledger) BookRestart() {
	last := l.last.Load()
	l.stops.latest.CompareAndSwap(math.MaxInt64, last)
	l.stops.kills.CompareAndSwap(math.MaxInt64, last)
}

// EndReservations books that every reservation has ended whose fetch has no reply, and that its job was delivered again
// if it had one: no fetch excuses a missing job any more.
func (l *Ledger) EndReservations() { l.stops.noReservations.Store(true) }

// NotReturned goes through the jobs of which a report was refused, that may be delivered again and were not, in
// ascending order. Those before a stop of the server are left out. When their reservations have been waited for, none
// may be left.
func (l *Ledger) NotReturned() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i, c := range *l.chunks.Load() {
			if c == nil || c.denials.Load() == nil {
				continue
			}
			for n := range int64(chunkJobs) {
				k := int64(i)*chunkJobs + n
				isMissing := c.denials.Load().has(n) && c.state(n) == stateReturnable && l.StoppedAfter(k) == NoStop
				if isMissing && !yield(k) {
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
		return Kill
	case k <= l.stops.latest.Load():
		return Restart
	}
	return NoStop
}

// excuses reports whether a stop excuses a delivery of job k, and counts it then.
func (s *stops) excuses(k int64, count *atomic.Int64) bool {
	if k > s.latest.Load() {
		return false
	}
	count.Add(1)
	return true
}

// losses counts the jobs that are lost, by what excuses them. Fetches without a reply excuse those first that nothing
// else does.
func (l *Ledger) losses(c *Counts) {
	c.LostJobs = c.Missing
	if l.stops.latest.Load() >= 0 {
		c.LostJobs = 0
		counts := [...]*int64{NoStop: &c.LostJobs, Restart: &c.LostByRestart, Kill: &c.LostByKill}
		for k := range l.Missing() {
			*counts[l.StoppedAfter(k)]++
		}
	}
	excuses := c.FetchesLost
	if l.stops.noReservations.Load() {
		excuses = 0
	}
	for _, n := range [...]*int64{&c.LostJobs, &c.LostByRestart, &c.LostByKill} {
		share := min(*n, excuses)
		*n -= share
		excuses -= share
	}
}
