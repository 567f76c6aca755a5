package measure

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A hundred pushes of 1 to 100 ms, of which the last ones were unserved: each had waited for a tenth of its time.
func newUnservedSet(count int) *Set {
	r := NewRecorder()
	for i := 1; i <= 100; i++ {
		response := time.Duration(i) * time.Millisecond
		if i > 100-count {
			r.RecordUnserved(Push, 0, response/10)
			continue
		}
		r.Command(Push, Timing{Replied: response})
		r.Job(ToFetched, 0, response)
	}
	return r.Take(1)
}

func TestUnservedArrivalsAreLowerBounds(t *testing.T) {
	t.Parallel()
	const forever = math.MaxInt64
	response := SeriesOf(Push, Response)
	cases := []struct {
		unserved int
		p        float64
		lower    int64 // ms
		upper    int64
	}{
		{0, 50, 50, 50}, {0, 100, 100, 100},
		{1, 1, 1, 1}, {1, 50, 49, 50}, {1, 99, 98, 99}, {1, 100, 99, forever},
		{40, 99, 59, forever}, {40, 60, 20, 60}, {40, 50, 10, 50},
		{100, 50, 5, forever}, {100, 100, 10, forever},
	}
	for _, test := range cases {
		for _, series := range []Series{response, FlowSeries(ToFetched)} {
			times := newUnservedSet(test.unserved).Times(series)
			lower, upper := times.Percentile(test.p)
			assert.InEpsilon(t, test.lower, lower.Milliseconds(), 0.1, test)
			assert.InEpsilon(t, min(test.upper, Forever.Milliseconds()), upper.Milliseconds(), 0.02, test)
			assert.Equal(t, int64(100), times.Count())
			assert.Equal(t, int64(test.unserved), times.Unserved())
			longest, _ := times.Percentile(100)
			shortest, _ := times.Min()
			assert.GreaterOrEqual(t, longest, times.Mean())
			assert.GreaterOrEqual(t, times.Mean(), shortest)
		}
	}
	assert.Equal(t, int64(60), newUnservedSet(40).Times(SeriesOf(Push, Service)).Count(), "only what has no end is missing")
}

// One unserved arrival among very many does not change what is known of the others.
func TestAFewUnservedArrivalsLeaveTheMedianExact(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	for range 100_000 {
		r.Command(Push, Timing{Replied: time.Millisecond})
	}
	r.RecordUnserved(Push, 0, time.Microsecond)
	r.SetWindow(Window{From: time.Second})
	r.RecordUnserved(Push, 0, time.Hour) // of the warm-up
	times := r.Take(1).Times(SeriesOf(Push, Response))
	for p, want := range map[float64]bool{50: true, 99.9: true, 100: false} {
		lower, upper := times.Percentile(p)
		assert.Equal(t, want, lower == upper, p)
	}
	assert.Equal(t, int64(1), times.Unserved())
}

func TestNoTimes(t *testing.T) {
	t.Parallel()
	var none Times
	lower, upper := none.Percentile(50)
	shortest, _ := none.Min()
	assert.Zero(t, lower+upper+shortest+none.Mean())
	assert.Zero(t, none.Count())
}

// A command without a reply counts with the time that it had waited in its service and response time, and its lateness
// is known. So do the flows of its job.
func TestUnansweredCommandsAreLowerBounds(t *testing.T) {
	t.Parallel()
	const s = time.Second
	r := NewRecorder()
	r.SetWindow(Window{From: s, Until: 10 * s})
	r.Command(Push, Timing{Intended: s, Free: s, Sent: s, Replied: 2 * s})
	r.RecordUnanswered(Push, Timing{Intended: s, Free: 2 * s, Sent: 3 * s, Replied: 7 * s})
	r.RecordUnanswered(Push, Timing{Replied: 9 * s}) // of the warm-up
	r.RecordUnansweredJob(ToFetched, s, 7*s)
	r.RecordUnansweredJob(ToFetched, 0, 7*s)
	set := r.Take(10 * s)
	for series, want := range map[Series]time.Duration{
		SeriesOf(Push, Service): 4 * s, SeriesOf(Push, Response): 6 * s, FlowSeries(ToFetched): 6 * s,
	} {
		times := set.Times(series)
		lower, upper := times.Percentile(100)
		assert.InEpsilon(t, want, lower, 0.001, series)
		assert.Equal(t, Forever, upper, series)
		assert.Equal(t, int64(1), times.Unanswered(), series)
		assert.Zero(t, times.Unserved(), series)
		assert.Equal(t, int64(1), set.Count(series.Unanswered()), series)
	}
	lateness := set.Times(SeriesOf(Push, Lateness))
	lower, upper := lateness.Percentile(100)
	assert.InEpsilon(t, s, lower, 0.001)
	assert.Equal(t, lower, upper)
	assert.Equal(t, int64(2), lateness.Count())
	assert.Equal(t, int64(1), set.Done(Push))
}
