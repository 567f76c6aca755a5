package workload

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// below scales a random number to one below n, without the bias that matters.
func below(random, n uint64) uint64 {
	high, _ := bits.Mul64(random, n)
	return high
}

// unit scales a random number to one between 0 and 1, both excluded.
func unit(random uint64) float64 { return (float64(random>>12) + 0.5) / (1 << 52) }

// picker draws an index by weight, through a table of the inverse distribution.
type picker []uint64 // up to this random number it is this index

// newPicker takes weights of which at least one is above 0.
func newPicker(weights []float64) picker {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	p := make(picker, len(weights))
	running, last := 0.0, 0
	for i, w := range weights {
		running += w
		part := running / sum * (1 << 64)
		if part >= 1<<64 {
			p[i] = math.MaxUint64
		} else {
			p[i] = uint64(part)
		}
		if w > 0 {
			last = i
		}
	}
	for i := last; i < len(p); i++ {
		p[i] = math.MaxUint64 // what rounding left over belongs to the last that can be drawn
	}
	return p
}

func (p picker) at(random uint64) int {
	if len(p) == 1 {
		return 0
	}
	return sort.Search(len(p), func(i int) bool { return random < p[i] || p[i] == math.MaxUint64 })
}

// picker is how a job gets its queue. The queues in priority order are filled evenly:
// their order matters to workers only.
func (q Queues) picker() picker {
	weights := slices.Repeat([]float64{1}, q.Number)
	switch q.Pick {
	case Weighted:
		weights = q.Weights
	case Zipf:
		for i := range weights {
			weights[i] = math.Pow(float64(i+1), -q.Skew)
		}
	}
	return newPicker(weights)
}
