package law

import "time"

// Clock is what the times that a server writes show of its clock. The zero value knows nothing. Only that the times
// agree is judged: the clock of a server may be wrong by any amount.
type Clock struct {
	minLead, maxLead time.Duration // by which it is ahead of ours
	isKnown          bool
}

// granularity is how coarse the times of a server may be, and drift by how much two clocks may part during a play.
const (
	granularity = time.Second
	drift       = 2 * time.Second
)

// Agrees reports whether a server can have written a time between two moments of our clock, after the other times that
// it has written. What agrees narrows what is known.
func (c *Clock) Agrees(stamp, from, to time.Time) bool {
	minLead, maxLead := stamp.Sub(to), stamp.Add(granularity).Sub(from)
	if !c.isKnown {
		c.minLead, c.maxLead, c.isKnown = minLead, maxLead, true
		return true
	}
	if minLead > c.maxLead+drift || maxLead < c.minLead-drift {
		return false
	}
	if minLead <= c.maxLead && maxLead >= c.minLead {
		c.minLead, c.maxLead = max(c.minLead, minLead), min(c.maxLead, maxLead)
	}
	return true
}

// Between returns the times that a server can write between two moments of our clock; false if its clock is not known.
func (c *Clock) Between(from, to time.Time) (earliest, latest time.Time, ok bool) {
	return from.Add(c.minLead - drift), to.Add(c.maxLead + drift), c.isKnown
}
