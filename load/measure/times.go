package measure

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Times holds the times of a series together with those of unserved arrivals, which have no end: such an arrival counts
// with the time that it had waited so far. Its figures are therefore either exact or lower bounds. (In statistics these
// values are right-censored.) The zero value has no times.
type Times struct {
	known    *hdrhistogram.Histogram // nil: none
	all      *hdrhistogram.Histogram // with the unserved; the same as known if there are none
	unserved int64
}

// Times returns the times of the series. Those of Response, and of flows, include the arrivals that were unserved.
func (s *Set) Times(series Series) Times {
	known, unserved := s.Histogram(series), s.unserved(series)
	t := Times{known: known, all: known, unserved: unserved.count()}
	if t.unserved > 0 {
		sum := times{}
		sum.add(&times{histogram: known})
		sum.add(&unserved)
		t.all = sum.histogram
	}
	return t
}

// unserved returns the arrivals that are missing from the series. A flow begins with an arrival of any kind.
func (s *Set) unserved(series Series) (sum times) {
	op, m, ok := series.Op()
	for i := range s.ops {
		if o := &s.ops[i]; !ok || m == Response && op == o.op {
			sum.add(&o.times[Unserved])
		}
	}
	return sum
}

// Count returns how many times there are, those of unserved arrivals included.
func (t Times) Count() int64 { return int64(t.figure((*hdrhistogram.Histogram).TotalCount)) }

// Unserved returns how many of them are those of unserved arrivals.
func (t Times) Unserved() int64 { return t.unserved }

// Min returns the shortest time, 0 without times.
func (t Times) Min() time.Duration { return t.figure((*hdrhistogram.Histogram).Min) }

// Mean returns the mean. It is a lower bound if there are unserved arrivals.
func (t Times) Mean() time.Duration {
	return t.figure(func(h *hdrhistogram.Histogram) int64 { return int64(h.Mean()) })
}

// Max returns the longest time. It is a lower bound if there are unserved arrivals.
func (t Times) Max() time.Duration {
	return t.figure(func(h *hdrhistogram.Histogram) int64 { return int64(valueAt(h, h.TotalCount())) })
}

// figure returns a figure of all times, 0 without times.
func (t Times) figure(of func(*hdrhistogram.Histogram) int64) time.Duration {
	if t.all == nil {
		return 0
	}
	return time.Duration(of(t.all))
}

// Percentile returns the least time such that p percent (0 to 100) of all are not longer, as the greatest value of its
// bucket, and whether it is exact: if not, it is a lower bound. It is exact if it would be the same, within 1 %, had
// the unserved arrivals waited for ever. It is 0 and exact without times.
func (t Times) Percentile(p float64) (d time.Duration, exact bool) {
	n := t.Count()
	if n == 0 {
		return 0, true
	}
	rank := rankOf(p, n)
	least := valueAt(t.all, rank)
	if t.unserved == 0 {
		return least, true
	}
	if t.known == nil || rank > t.known.TotalCount() {
		return least, false
	}
	most := valueAt(t.known, rank)
	return least, most <= least+least/100
}

// rankOf returns the place of the p-th percentile among n sorted values, from 1. The next smaller number is taken, so
// that 99.9 % of 1,000 does not become the 1,000th value by a rounding error.
func rankOf(p float64, n int64) int64 {
	return max(1, int64(math.Ceil(math.Nextafter(p, 0)/100*float64(n))))
}

// valueAt returns the value of that rank.
//
// This is the rule of other tools. The library rounds to the nearest value instead: of 70 values it returns the second
// greatest as the 99th percentile.
func valueAt(h *hdrhistogram.Histogram, rank int64) time.Duration {
	return time.Duration(h.ValueAtPercentile(float64(rank) / float64(h.TotalCount()) * 100))
}

// Rows counts the times between some edges, which ascend: those that are not greater than an edge and greater than the
// one before. The last row has what is greater, too. Rows at the end without a time are left out.
func (t Times) Rows(edges []time.Duration) []int64 {
	if t.all == nil || len(edges) == 0 {
		return nil
	}
	rows, used := make([]int64, len(edges)), 0
	row := 0
	for _, bar := range t.all.Distribution() {
		if bar.Count == 0 {
			continue
		}
		for row < len(edges)-1 && bar.From > int64(edges[row]) {
			row++
		}
		rows[row] += bar.Count
		used = row + 1
	}
	return rows[:used]
}
