package disrupt

import (
	"sort"
	"time"
)

// ServedCounts are samples of how many commands a target had served at which time.
type ServedCounts struct {
	at     []time.Duration
	counts []int64
}

// Add adds a sample. Times and counts do not fall.
func (t *ServedCounts) Add(at time.Duration, served int64) {
	t.at, t.counts = append(t.at, at), append(t.counts, served)
}

// The rate is back when it was as high for a second as a share of the mean before the disruption.
const (
	rateWindow = time.Second
	baseWindow = 5 * time.Second
	rateShare  = 0.9
)

// Span is a disruption between two others. PreviousEnd is the end of the one before, or the begin of the load;
// NextBegin is the begin of the next one, or the end of the load.
type Span struct{ PreviousEnd, Begin, End, NextBegin time.Duration }

// Recovery returns how long after the end of a disruption the first command was served, and how long after it the rate
// was back: the next second had 90 % of the mean of the five seconds before the disruption. Both are exact to the
// distance of two samples, and negative if that did not happen in the span, or is not known.
func (t *ServedCounts) Recovery(s Span) (first, back time.Duration) {
	first, back = -1, -1
	base := t.count(s.End)
	for i := t.indexAt(s.End); i < len(t.at) && t.at[i] <= s.NextBegin; i++ {
		if t.counts[i] > base {
			first = t.at[i] - s.End
			break
		}
	}
	from := max(s.PreviousEnd, s.Begin-baseWindow)
	baseRate := t.rate(from, s.Begin)
	if baseRate <= 0 {
		return first, back
	}
	for i := t.indexAt(s.End + max(first, 0)); i < len(t.at) && t.at[i]+rateWindow <= s.NextBegin; i++ {
		if t.rate(t.at[i], t.at[i]+rateWindow) >= rateShare*baseRate {
			return first, t.at[i] - s.End
		}
	}
	return first, back
}

// rate is the mean rate a second between two times.
func (t *ServedCounts) rate(from, until time.Duration) float64 {
	if until <= from {
		return 0
	}
	return float64(t.count(until)-t.count(from)) / (until - from).Seconds()
}

// indexAt returns the first sample at a time or later.
func (t *ServedCounts) indexAt(at time.Duration) int {
	return sort.Search(len(t.at), func(i int) bool { return t.at[i] >= at })
}

// count returns how many commands had been served at a time.
func (t *ServedCounts) count(at time.Duration) int64 {
	i := sort.Search(len(t.at), func(i int) bool { return t.at[i] > at })
	if i == 0 {
		return 0
	}
	return t.counts[i-1]
}
