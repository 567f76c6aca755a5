package law

import "time"

// Clock is what the times that a server writes show of its clock. The zero value knows nothing. Only that the times
// agree is judged: the clock of a server may be wrong by any amount.
type Clock struct {
	least, most time.Duration // by which it is ahead of ours
	known       bool
}

// granularity is how coarse the times of a server may be, and drift by how much two clocks may part during a play.
const (
	granularity = time.Second
	drift       = 2 * time.Second
)

// Agrees reports whether a server can have written a time between two moments of our clock, after the other times that
// it has written. What agrees narrows what is known.
func (c *Clock) Agrees(written, from, to time.Time) bool {
	least, most := written.Sub(to), written.Add(granularity).Sub(from)
	if !c.known {
		c.least, c.most, c.known = least, most, true
		return true
	}
	if least > c.most+drift || most < c.least-drift {
		return false
	}
	if least <= c.most && most >= c.least {
		c.least, c.most = max(c.least, least), min(c.most, most)
	}
	return true
}

// Between returns the times that a server can write between two moments of our clock; false if its clock is not known.
func (c *Clock) Between(from, to time.Time) (earliest, latest time.Time, known bool) {
	return from.Add(c.least - drift), to.Add(c.most + drift), c.known
}
