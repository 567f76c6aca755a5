package disrupt

import (
	"sort"
	"time"
)

// Track is how many commands a target had served at which time.
type Track struct {
	at     []time.Duration
	served []int64
}

// Add adds a sample. Times and counts do not fall.
func (t *Track) Add(at time.Duration, served int64) {
	t.at, t.served = append(t.at, at), append(t.served, served)
}

// The rate is back when it was as high for a second as a share of the mean before the disruption.
const (
	rateOver   = time.Second
	rateBefore = 5 * time.Second
	rateShare  = 0.9
)

// Span is a disruption between two others. Since is when the one before it had ended, or the load began; Until is when
// the next one began, or the load ended.
type Span struct{ Since, Began, Ended, Until time.Duration }

// Recovery returns how long after the end of a disruption the first command was served, and how long after it the rate
// was back: the next second had 90 % of the mean of the five seconds before the disruption. Both are exact to the
// distance of two samples, and negative if that did not happen in the span, or is not known.
func (t *Track) Recovery(s Span) (first, back time.Duration) {
	first, back = -1, -1
	base := t.count(s.Ended)
	for i := t.after(s.Ended); i < len(t.at) && t.at[i] <= s.Until; i++ {
		if t.served[i] > base {
			first = t.at[i] - s.Ended
			break
		}
	}
	from := max(s.Since, s.Began-rateBefore)
	before := t.rate(from, s.Began)
	if before <= 0 {
		return first, back
	}
	for i := t.after(s.Ended + max(first, 0)); i < len(t.at) && t.at[i]+rateOver <= s.Until; i++ {
		if t.rate(t.at[i], t.at[i]+rateOver) >= rateShare*before {
			return first, t.at[i] - s.Ended
		}
	}
	return first, back
}

// rate is the mean rate a second between two times.
func (t *Track) rate(from, until time.Duration) float64 {
	if until <= from {
		return 0
	}
	return float64(t.count(until)-t.count(from)) / (until - from).Seconds()
}

// after returns the first sample at a time or later.
func (t *Track) after(at time.Duration) int {
	return sort.Search(len(t.at), func(i int) bool { return t.at[i] >= at })
}

// count returns how many commands had been served at a time.
func (t *Track) count(at time.Duration) int64 {
	i := sort.Search(len(t.at), func(i int) bool { return t.at[i] > at })
	if i == 0 {
		return 0
	}
	return t.served[i-1]
}
