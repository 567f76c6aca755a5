package ledger

import (
	"math"
	"sync/atomic"
	"time"
)

// Clock is how far the clock of a server is ahead of that of this machine, as the times show that it writes into jobs:
// at least and at most. The zero value knows nothing.
type Clock struct {
	Known       bool
	Least, Most time.Duration
}

// agreeing is how far such times may contradict each other: the clocks of two machines drift.
const agreeing = time.Second

// Agrees reports whether the server's times agree about its clock.
func (c Clock) Agrees() bool { return c.Known && c.Least <= c.Most+agreeing }

// Ahead returns the least difference of the two clocks that explains the server's times, negative if its clock is
// behind: 0 if they need none, or do not agree.
func (c Clock) Ahead() time.Duration {
	switch {
	case !c.Agrees():
		return 0
	case c.Least > 0:
		return c.Least
	}
	return min(0, c.Most)
}

// bounds are those of a Clock, in nanoseconds.
type bounds struct{ least, most atomic.Int64 }

func (b *bounds) reset() {
	b.least.Store(math.MinInt64)
	b.most.Store(math.MaxInt64)
}

// Stamped books that a time which the server wrote into a job shows its clock to be ahead by at least and at most so
// much.
func (l *Ledger) Stamped(least, most time.Duration) {
	raise(&l.clock.least, int64(least))
	for {
		old := l.clock.most.Load()
		if old <= int64(most) || l.clock.most.CompareAndSwap(old, int64(most)) {
			return
		}
	}
}

// Clock returns what was booked by Stamped.
func (l *Ledger) Clock() Clock {
	c := Clock{Least: time.Duration(l.clock.least.Load()), Most: time.Duration(l.clock.most.Load())}
	if c.Known = c.Least != math.MinInt64; !c.Known {
		return Clock{}
	}
	return c
}
