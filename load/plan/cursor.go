package plan

import "time"

// Cursor goes through a share of a plan. It is not safe for concurrent use.
type Cursor struct {
	plan    *Plan
	k, step int64
	segment int // of the latest arrival: instants never decrease
	block   block
}

// block is the position of a cursor in a Poisson process.
type block struct {
	number       int64
	pointsBefore int64 // points in all blocks before
	points       []uint64
	buffer       [maxBlockPoints]uint64
}

// Cursor returns a cursor on the arrivals k with k%parts == index, in order. parts below 1
// is 1. An index that is not within 0 and parts-1 has no arrivals. The cursor takes about
// 4 KiB.
func (p *Plan) Cursor(index, parts int) *Cursor {
	p.prepare()
	parts = max(1, parts)
	c := &Cursor{plan: p, k: int64(index), step: int64(parts)}
	if index < 0 || index >= parts || len(p.segments) == 0 && p.Instants == nil {
		c.k = -1
	}
	if p.counts != nil && c.k >= 0 {
		c.block.points = p.counts.points(&c.block.buffer, p.Seed, 0)
	}
	return c
}

// Next returns the number and the instant of the next arrival of the share, as
// [Plan.At] has them, and false when there are no more. It does not allocate.
func (c *Cursor) Next() (k int64, at time.Duration, ok bool) {
	p := c.plan
	if c.k < 0 || (p.MaxArrivals > 0 && c.k >= p.MaxArrivals) {
		return 0, 0, false
	}
	if p.Instants != nil {
		if c.k >= int64(len(p.Instants)) {
			return 0, 0, false
		}
		k, c.k = c.k, c.k+c.step
		return k, p.Instants[k], true
	}
	u := float64(c.k)
	if p.Poisson {
		u = c.place(c.k / p.burst())
	} else if u < p.expected && p.burst() > 1 {
		u = float64(c.k / p.burst() * p.burst())
	}
	if u >= p.expected {
		c.k = -1
		return 0, 0, false
	}
	last := len(p.segments) - 1
	for c.segment < last && p.segments[c.segment].endCount <= u {
		c.segment++
	}
	k, c.k = c.k, c.k+c.step
	return k, p.segments[c.segment].instant(u), true
}

// place returns the place of point g of the process, and moves to its block. Beyond the
// end of the plan it returns any place beyond the end.
func (c *Cursor) place(g int64) float64 {
	b, p := &c.block, c.plan
	for g >= b.pointsBefore+int64(len(b.points)) {
		b.pointsBefore += int64(len(b.points))
		b.number++
		if start := p.place(b.number, 0); start >= p.expected {
			return start
		}
		b.points = p.counts.points(&b.buffer, p.Seed, b.number)
	}
	return p.place(b.number, b.points[g-b.pointsBefore])
}
