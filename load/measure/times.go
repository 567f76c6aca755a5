package measure

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Times holds the times of a series together with those of what had no reply, which counts with the time that it had
// waited. Its figures are therefore either exact or lower bounds. (In statistics these values are right-censored.) The
// zero value has no times.
type Times struct {
	exactTimes *hdrhistogram.Histogram // nil: none
	all        *hdrhistogram.Histogram // with those without a reply; the same as exactTimes if there are none
	unserved   int64
}

// Forever is a time that has no bound.
const Forever time.Duration = math.MaxInt64

// Times returns the times of the series, with what is unanswered of it.
func (s *Set) Times(series Series) Times {
	t := s.read(series)
	return t.toTimes()
}

// toTimes returns the times of a series. They are those of t until it changes.
func (t *seriesData) toTimes() Times {
	sum := Times{exactTimes: t.histogram, all: t.histogram, unserved: t.unserved}
	if countOf(t.waits) > 0 {
		sum.all = sumOf(sumOf(nil, t.histogram), t.waits)
	}
	return sum
}

// Count returns how many times there are, those without a reply included.
func (t Times) Count() int64 { return countOf(t.all) }

// Unserved returns how many of them are those of arrivals that were not sent.
func (t Times) Unserved() int64 { return t.unserved }

// Unanswered returns how many of them are those of commands that were sent and had no reply.
func (t Times) Unanswered() int64 { return t.Count() - countOf(t.exactTimes) - t.unserved }

// Min returns the shortest time, 0 without times, and what it would be had what had no reply waited for ever.
func (t Times) Min() (lower, upper time.Duration) {
	if t.Count() == 0 {
		return 0, 0
	}
	lower, upper = time.Duration(t.all.Min()), Forever
	if countOf(t.exactTimes) > 0 {
		upper = time.Duration(t.exactTimes.Min())
	}
	return lower, upper
}

// Mean returns the mean, 0 without times. It is a lower bound if something had no reply.
func (t Times) Mean() time.Duration {
	if t.Count() == 0 {
		return 0
	}
	return time.Duration(t.all.Mean())
}

// Percentile returns the least time such that p percent (0 to 100) of all are not longer, as the greatest value of its
// bucket, and what it would be had what had no reply waited for ever. Both are 0 without times; that of 100 is the
// longest time.
func (t Times) Percentile(p float64) (lower, upper time.Duration) {
	n := t.Count()
	if n == 0 {
		return 0, 0
	}
	rank := rankOf(p, n)
	lower = valueAt(t.all, rank)
	switch {
	case t.exactTimes == t.all:
		return lower, lower
	case rank > countOf(t.exactTimes):
		return lower, Forever
	}
	return lower, valueAt(t.exactTimes, rank)
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
	rows, length := make([]int64, len(edges)), 0
	row := 0
	for _, bar := range t.all.Distribution() {
		if bar.Count == 0 {
			continue
		}
		for row < len(edges)-1 && bar.From > int64(edges[row]) {
			row++
		}
		rows[row] += bar.Count
		length = row + 1
	}
	return rows[:length]
}
