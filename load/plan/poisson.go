package plan

import (
	"math"
	"slices"
	"sort"
)

// A Poisson process of rate one, in blocks of blockSize units. Given the number of
// points in a block, their places in it are independent and uniform; so number and
// places are drawn from the seed and the block's number alone.
const (
	blockSize = 256
	// maxBlockPoints is more than the points of any block: the tables end 12 standard
	// deviations above the mean, beyond which the probability is below 10^-27.
	maxBlockPoints = blockSize + 12*16
	// stride is the number of blocks between two entries of the index: more take
	// less memory, and Plan.At takes longer.
	stride = 16
)

// counts draws the number of points of a block by inverting its distribution.
type counts struct {
	lowest     int
	thresholds []uint64 // thresholds[i]: for random numbers up to this there are lowest+i points
}

// newCounts computes the distribution outwards from its mode, by multiplication and
// division only, whose rounding is the same on every machine.
func newCounts() *counts {
	lowest := blockSize - 12*16
	weights := make([]float64, maxBlockPoints-lowest)
	sum := 0.0
	for i, up := blockSize, 1.0; i < maxBlockPoints; i++ {
		weights[i-lowest] = up
		up *= blockSize / float64(i+1)
	}
	for i, down := blockSize, 1.0; i > lowest; i-- {
		down *= float64(i) / blockSize
		weights[i-1-lowest] = down
	}
	for _, w := range weights {
		sum += w
	}
	c := &counts{lowest: lowest, thresholds: make([]uint64, len(weights))}
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

// number returns how many points block b of the process has.
func (c *counts) number(seed uint64, b int64) int {
	r := Mix(seed, uint64(b))
	return c.lowest + sort.Search(len(c.thresholds), func(i int) bool { return r <= c.thresholds[i] })
}

// points draws block b into buffer: the places of its points within the block,
// ascending, as parts of 2^64.
func (c *counts) points(buffer *[maxBlockPoints]uint64, seed uint64, b int64) []uint64 {
	points := buffer[:c.number(seed, b)]
	blockSeed := Mix(seed^golden, uint64(b)) // unrelated to the random numbers of the counts
	for i := range points {
		points[i] = Mix(blockSeed, uint64(i))
	}
	slices.Sort(points)
	return points
}

// place returns the place of a point of block b, in arrivals of the plan: with bursts
// each point stands for many.
func (p *Plan) place(b int64, point uint64) float64 {
	const unit = float64(blockSize) / (1 << 53)
	u := float64(b*blockSize) + float64(float64(point>>11)*unit)
	return float64(u * float64(p.burst()))
}

// index finds the block of a point: points before every stride-th block.
type index struct {
	blockStarts []int64
	total       int64
}

// count counts the points of all blocks of the plan. It needs the places only of the last
// block, which may be partly beyond the end of the plan.
func (p *Plan) count() index {
	var x index
	var buffer [maxBlockPoints]uint64
	for b := int64(0); p.place(b, 0) < p.expected; b++ {
		if b%stride == 0 {
			x.blockStarts = append(x.blockStarts, x.total)
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

// place returns the place of point g of the process, in arrivals of the plan.
func (x *index) place(p *Plan, g int64) float64 {
	entry := sort.Search(len(x.blockStarts), func(i int) bool { return x.blockStarts[i] > g }) - 1
	b, rest := int64(entry)*stride, int(g-x.blockStarts[entry])
	for {
		n := p.counts.number(p.Seed, b)
		if rest < n {
			break
		}
		b, rest = b+1, rest-n
	}
	var buffer [maxBlockPoints]uint64
	return p.place(b, p.counts.points(&buffer, p.Seed, b)[rest])
}
