package measure

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A hundred pushes of 1 to 100 ms, of which the last ones were unserved: each had waited for a tenth of its time.
func unserved(count int) *Set {
	r := NewRecorder()
	for i := 1; i <= 100; i++ {
		whole := time.Duration(i) * time.Millisecond
		if i > 100-count {
			r.Unserved(Push, 0, whole/10)
			continue
		}
		r.Command(Push, Timing{Replied: whole})
		r.Job(ToFetched, 0, whole)
	}
	return r.Take(1)
}

func TestUnservedArrivalsAreLowerBounds(t *testing.T) {
	t.Parallel()
	const never = math.MaxInt64
	response := SeriesOf(Push, Response)
	cases := []struct {
		unserved int
		p        float64
		least    int64 // ms
		most     int64
	}{
		{0, 50, 50, 50}, {0, 100, 100, 100},
		{1, 1, 1, 1}, {1, 50, 49, 50}, {1, 99, 98, 99}, {1, 100, 99, never},
		{40, 99, 59, never}, {40, 60, 20, 60}, {40, 50, 10, 50},
		{100, 50, 5, never}, {100, 100, 10, never},
	}
	for _, test := range cases {
		for _, series := range []Series{response, FlowSeries(ToFetched)} {
			times := unserved(test.unserved).Times(series)
			least, most := times.Percentile(test.p)
			assert.InEpsilon(t, test.least, least.Milliseconds(), 0.1, test)
			assert.InEpsilon(t, min(test.most, Forever.Milliseconds()), most.Milliseconds(), 0.02, test)
			assert.Equal(t, int64(100), times.Count())
			assert.Equal(t, int64(test.unserved), times.Unserved())
			longest, _ := times.Percentile(100)
			shortest, _ := times.Min()
			assert.GreaterOrEqual(t, longest, times.Mean())
			assert.GreaterOrEqual(t, times.Mean(), shortest)
		}
	}
	assert.Equal(t, int64(60), unserved(40).Times(SeriesOf(Push, Service)).Count(), "only what has no end is missing")
}

// One unserved arrival among very many does not change what is known of the others.
func TestAFewUnservedArrivalsLeaveTheMedianExact(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	for range 100_000 {
		r.Command(Push, Timing{Replied: time.Millisecond})
	}
	r.Unserved(Push, 0, time.Microsecond)
	r.SetWindow(Window{From: time.Second})
	r.Unserved(Push, 0, time.Hour) // of the warm-up
	times := r.Take(1).Times(SeriesOf(Push, Response))
	for p, want := range map[float64]bool{50: true, 99.9: true, 100: false} {
		least, most := times.Percentile(p)
		assert.Equal(t, want, least == most, p)
	}
	assert.Equal(t, int64(1), times.Unserved())
}

func TestNoTimes(t *testing.T) {
	t.Parallel()
	var none Times
	least, most := none.Percentile(50)
	shortest, _ := none.Min()
	assert.Zero(t, least+most+shortest+none.Mean())
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
	r.Unanswered(Push, Timing{Intended: s, Free: 2 * s, Sent: 3 * s, Replied: 7 * s})
	r.Unanswered(Push, Timing{Replied: 9 * s}) // of the warm-up
	r.JobUnanswered(ToFetched, s, 7*s)
	r.JobUnanswered(ToFetched, 0, 7*s)
	set := r.Take(10 * s)
	for series, want := range map[Series]time.Duration{
		SeriesOf(Push, Service): 4 * s, SeriesOf(Push, Response): 6 * s, FlowSeries(ToFetched): 6 * s,
	} {
		times := set.Times(series)
		least, most := times.Percentile(100)
		assert.InEpsilon(t, want, least, 0.001, series)
		assert.Equal(t, Forever, most, series)
		assert.Equal(t, int64(1), times.Unanswered(), series)
		assert.Zero(t, times.Unserved(), series)
		assert.Equal(t, int64(1), set.Count(series.Unanswered()), series)
	}
	late := set.Times(SeriesOf(Push, Lateness))
	least, most := late.Percentile(100)
	assert.InEpsilon(t, s, least, 0.001)
	assert.Equal(t, least, most)
	assert.Equal(t, int64(2), late.Count())
	assert.Equal(t, int64(1), set.Done(Push))
}
