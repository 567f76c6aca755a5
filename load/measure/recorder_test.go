package measure

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onlyValue is the one value of a series, as the bucket that it is in: from and to.
func onlyValue(t *testing.T, s *Set, series Series) (from, to time.Duration) {
	t.Helper()
	h := s.Histogram(series)
	require.NotNil(t, h, series)
	require.EqualValues(t, 1, h.TotalCount(), series)
	return time.Duration(h.Min()), time.Duration(h.Max())
}

func TestCommandHasThreeTimes(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	tests := []struct {
		name                        string
		timing                      Timing
		lateness, service, response time.Duration
	}{
		{"in time", Timing{Intended: 10 * ms, Free: 3 * ms, Sent: 10 * ms, Replied: 12 * ms}, 0, 2 * ms, 2 * ms},
		{"generator late", Timing{Intended: 10 * ms, Free: 3 * ms, Sent: 14 * ms, Replied: 15 * ms}, 4 * ms, 1 * ms, 5 * ms},
		{"connection busy", Timing{Intended: 10 * ms, Free: 110 * ms, Sent: 110 * ms, Replied: 111 * ms}, 0, 1 * ms,
			101 * ms},
		{"busy, then late", Timing{Intended: 10 * ms, Free: 110 * ms, Sent: 112 * ms, Replied: 113 * ms}, 2 * ms, 1 * ms,
			103 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := NewRecorder()
			r.Command(Push, tt.timing)
			set := r.Take(time.Second)
			for m, want := range []time.Duration{tt.lateness, tt.service, tt.response} {
				from, to := onlyValue(t, set, SeriesOf(Push, Measure(m)))
				assert.LessOrEqual(t, from, want, "%v", Measure(m))
				assert.GreaterOrEqual(t, to, want, "%v", Measure(m))
				assert.LessOrEqual(t, to-from, max(512*time.Nanosecond, want/1000), "%v: a bucket is narrow", Measure(m))
				assert.Zero(t, set.Clamps(SeriesOf(Push, Measure(m))))
			}
			assert.EqualValues(t, 1, set.Done(Push))
		})
	}
}

func TestClamps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		intended, now time.Duration
		lower, upper  time.Duration
		want          Clamps
	}{
		{"nothing", 5, 5, 0, 511, Clamps{}},
		{"negative", 6, 5, 0, 511, Clamps{Underflows: 1}},
		{"an hour", 0, time.Hour, time.Hour - 4*time.Second, time.Hour + 4*time.Second, Clamps{}},
		{"more than an hour", 0, time.Hour + 1, time.Hour - 4*time.Second, time.Hour + 4*time.Second, Clamps{Overflows: 1}},
		{"far too much", 0, math.MaxInt64, time.Hour - 4*time.Second, time.Hour + 4*time.Second, Clamps{Overflows: 1}},
		{"more than a duration holds", math.MinInt64, math.MaxInt64, time.Hour - 4*time.Second, time.Hour + 4*time.Second,
			Clamps{Overflows: 1}},
		{"less than a duration holds", math.MaxInt64, math.MinInt64, 0, 511, Clamps{Underflows: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := NewRecorder()
			r.SetWindow(Window{From: math.MinInt64})
			r.Job(ToAcked, tt.intended, tt.now)
			set := r.Take(time.Second)
			from, to := onlyValue(t, set, FlowSeries(ToAcked))
			assert.GreaterOrEqual(t, from, tt.lower)
			assert.LessOrEqual(t, to, tt.upper)
			// The histogram has buckets beyond an hour, into which nothing must fall.
			assert.Equal(t, tt.want, set.Clamps(FlowSeries(ToAcked)))
		})
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	r.Command(Connect, Timing{Intended: 1, Replied: 2}) // before there is a window
	r.SetWindow(Window{From: 10, Until: 20})
	for _, intended := range []time.Duration{0, 9, 10, 19, 20, 30} {
		r.Command(Ack, Timing{Intended: intended, Sent: intended, Replied: 100})
		r.Job(ToFetched, intended, 100)
	}
	r.CountError(Ack, Reset)
	set := r.Take(time.Second)
	assert.EqualValues(t, 1, set.Done(Connect))
	assert.EqualValues(t, 2, set.Done(Ack))
	assert.EqualValues(t, 4, set.OutsideWindow(Ack))
	assert.EqualValues(t, 2, set.Count(FlowSeries(ToFetched)))
	assert.EqualValues(t, 1, set.Failed(Ack), "errors count at any time")
	assert.True(t, Window{}.Holds(1<<60), "the zero window is all time")
}

func TestTakeSwapsSets(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	r.Drop(3)
	r.CountError(Push, Rejected)
	first := r.Take(time.Second)
	r.Job(ToFetched, 0, 7*time.Millisecond)
	assert.Zero(t, first.Count(FlowSeries(ToFetched)), "what was handed out is not written to")
	assert.EqualValues(t, 3, first.Dropped())
	assert.EqualValues(t, 1, first.Errors(Push, Rejected))

	second := r.Take(2500 * time.Millisecond)
	assert.Equal(t, []time.Duration{0, time.Second, time.Second, 2500 * time.Millisecond},
		[]time.Duration{first.From, first.Until, second.From, second.Until})
	assert.Zero(t, second.Dropped())
	assert.EqualValues(t, 1, second.Count(FlowSeries(ToFetched)))

	r.Recycle(second)
	third := r.Take(3 * time.Second)
	assert.Same(t, second, third, "it is used again")
	assert.Zero(t, third.Count(FlowSeries(ToFetched)))
	assert.Nil(t, third.Histogram(FlowSeries(ToFetched)))
}

//nolint:paralleltest // AllocsPerRun counts what all goroutines allocate
func TestSteadyStateAllocatesNothing(t *testing.T) {
	r := NewRecorder()
	work := func() {
		for i := range 100 {
			at := time.Duration(i) * time.Millisecond
			r.Command(Push, Timing{Intended: at, Free: at, Sent: at + 5, Replied: at * 2})
			r.Job(ToAcked, at, at*3)
			r.CountError(Fail, Timeout)
		}
		r.Recycle(r.Take(time.Second))
	}
	work()
	work()
	assert.Zero(t, testing.AllocsPerRun(100, work))
}

// TestConcurrentRecycle is for the race detector: the loop records while the set before is read and given back.
func TestConcurrentRecycle(t *testing.T) {
	t.Parallel()
	r, sets, total := NewRecorder(), make(chan *Set), new(Set)
	var reading sync.WaitGroup
	reading.Go(func() {
		for set := range sets {
			total.Add(set)
			r.Recycle(set)
		}
	})
	for i := range time.Duration(10_000) {
		r.Command(Beat, Timing{Intended: i, Sent: i, Replied: 2 * i})
		if i%100 == 99 {
			sets <- r.Take(i)
		}
	}
	close(sets)
	reading.Wait()
	assert.EqualValues(t, 10_000, total.Done(Beat))
	assert.Equal(t, Window{0, 9999}, Window{total.From, total.Until})
}

func BenchmarkCommand(b *testing.B) {
	r := NewRecorder()
	b.ReportAllocs()
	for i := time.Duration(0); b.Loop(); i += 977 {
		r.Command(Push, Timing{Intended: i, Free: i, Sent: i + 3000, Replied: i + 3000 + i%1_000_000})
	}
}

// Times of queues keep to the window, are added up, and are gone after a reset.
func TestQueueTimes(t *testing.T) {
	t.Parallel()
	r := NewRecorder()
	r.SetWindow(Window{From: time.Second})
	for i := range 3 {
		r.Queue(1, time.Second, time.Second+time.Duration(i)*time.Millisecond)
	}
	r.Queue(1, 0, time.Second)
	r.Queue(-1, time.Second, time.Second)
	r.Queue(MaxQueues, time.Second, time.Second)
	sum := new(Set)
	second := r.Take(2 * time.Second)
	sum.Add(second)
	sum.Add(second)
	assert.Equal(t, int64(6), sum.QueueTimes(1).Count())
	assert.Zero(t, sum.QueueTimes(0).Count()+sum.QueueTimes(MaxQueues).Count())
	sum.Reset()
	assert.Zero(t, sum.QueueTimes(1).Count())
}
