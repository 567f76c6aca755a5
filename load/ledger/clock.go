package ledger

import (
	"math"
	"sync/atomic"
	"time"
)

// Clock is how far the clock of a server is ahead of that of this machine, as the times show that it writes into jobs:
// at least and at most. The zero value knows nothing.
type Clock struct {
	IsKnown      bool
	Lower, Upper time.Duration
}

// clockTolerance is how far such times may contradict each other: the clocks of two machines drift.
const clockTolerance = time.Second

// Agrees reports whether the server's times agree about its clock.
func (c Clock) Agrees() bool { return c.IsKnown && c.Lower <= c.Upper+clockTolerance }

// Offset returns the least difference of the two clocks that explains the server's times, negative if its clock is
// behind: 0 if they need none, or do not agree.
func (c Clock) Offset() time.Duration {
	switch {
	case !c.Agrees():
		return 0
	case c.Lower > 0:
		return c.Lower
	}
	return min(0, c.Upper)
}

// bounds are those of a Clock, in nanoseconds.
type bounds struct{ lower, upper atomic.Int64 }

func (b *bounds) reset() {
	b.lower.Store(math.MinInt64)
	b.upper.Store(math.MaxInt64)
}

// BookStamp books that a time which the server wrote into a job shows its clock to be ahead by at least and at most so
// much.
func (l *Ledger) BookStamp(lower, upper time.Duration) {
	raise(&l.clock.lower, int64(lower))
	for {
		old := l.clock.upper.Load()
		if old <= int64(upper) || l.clock.upper.CompareAndSwap(old, int64(upper)) {
			return
		}
	}
}

// Clock returns what was booked by BookStamp.
func (l *Ledger) Clock() Clock {
	c := Clock{Lower: time.Duration(l.clock.lower.Load()), Upper: time.Duration(l.clock.upper.Load())}
	if c.IsKnown = c.Lower != math.MinInt64; !c.IsKnown {
		return Clock{}
	}
	return c
}
