package measure

import (
	"iter"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range of every histogram, in nanoseconds, and its significant digits. A value out of range is recorded as 0 or as
// highest, and counted as such.
const (
	lowest  = int64(time.Microsecond)
	highest = int64(time.Hour)
	digits  = 3
)

// Set is what was recorded in a span of time: histograms and counts. The zero value is empty. It is not safe for
// concurrent use.
type Set struct {
	// From and Until are the span, in time since the engine's start. Add widens it.
	From, Until time.Duration

	histograms [AllSeries]*hdrhistogram.Histogram
	beyond     [AllSeries]Beyond
	aside      [Ops]int64
	errors     [Ops][ErrorKinds]int64
	dropped    int64
}

// Beyond counts the values of a series that were out of range and have been recorded as its least (0) or greatest (1 h)
// value.
type Beyond struct{ Below, Above int64 }

// Histogram is the series' histogram, values in nanoseconds; nil if it has no value. It belongs to the set.
func (s *Set) Histogram(series Series) *hdrhistogram.Histogram {
	if h := s.histograms[series]; h != nil && h.TotalCount() > 0 {
		return h
	}
	return nil
}

// Histograms goes through the series that have a value, in their order.
func (s *Set) Histograms() iter.Seq2[Series, *hdrhistogram.Histogram] {
	return func(yield func(Series, *hdrhistogram.Histogram) bool) {
		for series := range AllSeries {
			if h := s.Histogram(series); h != nil && !yield(series, h) {
				return
			}
		}
	}
}

// Count is how many values the series has.
func (s *Set) Count(series Series) int64 {
	if h := s.histograms[series]; h != nil {
		return h.TotalCount()
	}
	return 0
}

// Percentile is the least value of the series such that p percent (0 to 100) of its values or more are not greater, as
// far as the buckets tell: the greatest value of the bucket. It is 0 if there are no values; see Count.
//
// That is the rule of the standard tools. The library rounds to the nearest value instead, so that of 70 values it gives
// the second greatest as the 99th percentile.
func (s *Set) Percentile(series Series, p float64) time.Duration {
	h := s.Histogram(series)
	if h == nil {
		return 0
	}
	// The next smaller number, because 99.9 % of 1,000 must not become the 1,000th value by a rounding error.
	n := float64(h.TotalCount())
	rank := math.Ceil(math.Nextafter(p, 0) / 100 * n)
	return time.Duration(h.ValueAtPercentile(rank / n * 100))
}

// Done is how many commands of the kind were recorded: replied to, without an error, and intended for the window.
func (s *Set) Done(op Op) int64 { return s.Count(SeriesOf(op, Service)) }

// Aside is how many commands were replied to, without an error, and not recorded: intended for a time outside of the
// window.
func (s *Set) Aside(op Op) int64 { return s.aside[op] }

// Errors is how many commands of the kind ended in that way, in the window or not.
func (s *Set) Errors(op Op, kind ErrorKind) int64 { return s.errors[op][kind] }

// Failed is the sum of Errors over all kinds of errors.
func (s *Set) Failed(op Op) int64 {
	var sum int64
	for _, n := range s.errors[op] {
		sum += n
	}
	return sum
}

// Dropped is how many arrivals were not sent.
func (s *Set) Dropped() int64 { return s.dropped }

// Beyond is how many of the series' values were out of range.
func (s *Set) Beyond(series Series) Beyond { return s.beyond[series] }

// Add adds what is in other, which stays as it is, bucket by bucket and count by count. The span becomes the least that
// holds both; that of an empty set with the span 0 to 0 does not count. Values are never lost: all histograms of this
// package have the same buckets.
func (s *Set) Add(other *Set) {
	s.widen(other.From, other.Until)
	for series, h := range other.Histograms() {
		s.merge(series, h)
	}
	for i, b := range other.beyond {
		s.beyond[i].Below += b.Below
		s.beyond[i].Above += b.Above
	}
	for op := range Ops {
		s.aside[op] += other.aside[op]
		for kind, n := range other.errors[op] {
			s.errors[op][kind] += n
		}
	}
	s.dropped += other.dropped
}

// Reset empties s and keeps its memory for new values.
func (s *Set) Reset() {
	histograms := s.histograms
	*s = Set{histograms: histograms}
	for _, h := range histograms {
		if h != nil && h.TotalCount() > 0 {
			h.Reset()
		}
	}
}

func (s *Set) widen(from, until time.Duration) {
	switch {
	case from == 0 && until == 0:
	case s.From == 0 && s.Until == 0:
		s.From, s.Until = from, until
	default:
		s.From, s.Until = min(s.From, from), max(s.Until, until)
	}
}

// record takes down one value, clamped to the range.
func (s *Set) record(series Series, d time.Duration) {
	v := int64(d)
	switch {
	case v < 0:
		s.beyond[series].Below++
		v = 0
	case v > highest:
		s.beyond[series].Above++
		v = highest
	}
	h := s.histograms[series]
	if h == nil {
		h = newHistogram()
		s.histograms[series] = h
	}
	if h.RecordValue(v) != nil { // only after 2^63 values: each value in the range has a bucket
		s.beyond[series].Above++
	}
}

// merge adds h, whose buckets must be those of newHistogram.
func (s *Set) merge(series Series, h *hdrhistogram.Histogram) {
	if s.histograms[series] == nil {
		s.histograms[series] = newHistogram()
	}
	// Nothing is dropped: the buckets are the same.
	s.histograms[series].Merge(h)
}

// adopt is merge for an h that nobody else uses.
func (s *Set) adopt(series Series, h *hdrhistogram.Histogram) {
	if s.histograms[series] == nil {
		s.histograms[series] = h
		return
	}
	s.histograms[series].Merge(h)
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(lowest, highest, digits) }
