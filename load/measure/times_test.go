package measure

import (
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
	response := SeriesOf(Push, Response)
	cases := []struct {
		unserved int
		p        float64
		least    int64 // ms
		exact    bool
	}{
		{0, 50, 50, true}, {0, 100, 100, true},
		{1, 1, 1, true}, {1, 50, 49, false}, {1, 100, 99, false},
		{40, 99, 59, false}, {40, 60, 20, false}, {40, 50, 10, false},
		{100, 50, 5, false}, {100, 100, 10, false},
	}
	for _, test := range cases {
		for _, series := range []Series{response, FlowSeries(ToFetched)} {
			times := unserved(test.unserved).Times(series)
			d, exact := times.Percentile(test.p)
			assert.InEpsilon(t, test.least, d.Milliseconds(), 0.1, test)
			assert.Equal(t, test.exact, exact, test)
			assert.Equal(t, int64(100), times.Count())
			assert.Equal(t, int64(test.unserved), times.Unserved())
			assert.GreaterOrEqual(t, times.Max(), times.Mean())
			assert.GreaterOrEqual(t, times.Mean(), times.Min())
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
		_, exact := times.Percentile(p)
		assert.Equal(t, want, exact, p)
	}
	assert.Equal(t, int64(1), times.Unserved())
}

func TestNoTimes(t *testing.T) {
	t.Parallel()
	var none Times
	d, exact := none.Percentile(50)
	assert.Zero(t, d+none.Min()+none.Mean()+none.Max())
	assert.True(t, exact)
	assert.Zero(t, none.Count())
}
