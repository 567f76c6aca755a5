package arrivals

import (
	"math"
	"slices"
	"sort"
)

// A Poisson process of rate one, cut into blocks of blockSize units. Given how many
// points a block holds, their places in it are independent and uniform; so number and
// places together are drawn from the seed and the block's number alone.
const (
	blockSize = 256
	// widest is more points than a block can hold: the tables end 12 standard
	// deviations above the mean, beyond which the probability is below 10^-27.
	widest = blockSize + 12*16
	// stride is how many blocks lie between two entries of the index: memory
	// against the time that Plan.At takes.
	stride = 16
)

// counts draws the number of points of a block by inverting its distribution.
type counts struct {
	least      int
	thresholds []uint64 // thresholds[i]: up to this random number there are least+i points
}

// newCounts computes the distribution outwards from its mode, by multiplication and
// division only, which round the same way everywhere.
func newCounts() *counts {
	least := blockSize - 12*16
	weights := make([]float64, widest-least)
	sum := 0.0
	for i, up := blockSize, 1.0; i < widest; i++ {
		weights[i-least] = up
		up *= blockSize / float64(i+1)
	}
	for i, down := blockSize, 1.0; i > least; i-- {
		down *= float64(i) / blockSize
		weights[i-1-least] = down
	}
	for _, w := range weights {
		sum += w
	}
	c := &counts{least: least, thresholds: make([]uint64, len(weights))}
	running := 0.0
	for i, w := range weights {
		running += w
		c.thresholds[i] = fraction(running / sum)
	}
	c.thresholds[len(weights)-1] = math.MaxUint64
	return c
}

// fraction scales a part of one to 64 bits.
func fraction(part float64) uint64 {
	if part >= 1 {
		return math.MaxUint64
	}
	return uint64(part * (1 << 64))
}

// number is how many points block b of the process has.
func (c *counts) number(seed uint64, b int64) int {
	r := Mix(seed, uint64(b))
	return c.least + sort.Search(len(c.thresholds), func(i int) bool { return r <= c.thresholds[i] })
}

// points draws block b into buffer: the places of its points within the block,
// ascending, as parts of 2^64.
func (c *counts) points(buffer *[widest]uint64, seed uint64, b int64) []uint64 {
	points := buffer[:c.number(seed, b)]
	own := Mix(seed^golden, uint64(b)) // apart from the numbers that decide the counts
	for i := range points {
		points[i] = Mix(own, uint64(i))
	}
	slices.Sort(points)
	return points
}

// place is where a point of block b lies in unit-rate time, in arrivals of the plan:
// with bursts each point stands for many.
func (p *Plan) place(b int64, point uint64) float64 {
	const unit = float64(blockSize) / (1 << 53)
	u := float64(b*blockSize) + float64(float64(point>>11)*unit)
	return float64(u * float64(p.burst()))
}

// index finds the block of a point: points before every stride-th block.
type index struct {
	before []int64
	total  int64
}

// count walks through all blocks of the plan; it reads the places of the last ones
// only, which the end of the plan may cut.
func (p *Plan) count() index {
	var x index
	var buffer [widest]uint64
	for b := int64(0); p.place(b, 0) < p.expected; b++ {
		if b%stride == 0 {
			x.before = append(x.before, x.total)
		}
		if p.place(b+1, 0) < p.expected {
			x.total += int64(p.counts.number(p.Seed, b))
			continue
		}
		for _, point := range p.counts.points(&buffer, p.Seed, b) {
			if p.place(b, point) < p.expected {
				x.total++
			}
		}
	}
	return x
}

// place is where point g of the process lies, in arrivals of the plan.
func (x *index) place(p *Plan, g int64) float64 {
	entry := sort.Search(len(x.before), func(i int) bool { return x.before[i] > g }) - 1
	b, rest := int64(entry)*stride, int(g-x.before[entry])
	for {
		n := p.counts.number(p.Seed, b)
		if rest < n {
			break
		}
		b, rest = b+1, rest-n
	}
	var buffer [widest]uint64
	return p.place(b, p.counts.points(&buffer, p.Seed, b)[rest])
}
