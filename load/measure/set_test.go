package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bookRandom books n made-up things, into all kinds of counts, but for three ops only: adding up is slow under the race
// detector.
func bookRandom(random *rand.Rand, n int, record func(func(*Recorder))) {
	for range n {
		op, kind := []Op{Connect, Push, End}[random.IntN(3)], ErrorKind(random.IntN(int(ErrorKinds)))
		response := time.Duration(math.Exp(random.NormFloat64()*4 + 12)) // a median of 160 µs, and some out of range
		timing := Timing{Intended: time.Duration(random.IntN(1000)), Sent: 500, Replied: 500 + response}
		drops, flow := random.Int64N(3), Flow(random.IntN(int(Flows)))
		record(func(r *Recorder) {
			r.Command(op, timing)
			r.Job(flow, timing.Intended, timing.Replied)
			if drops == 0 {
				r.CountError(op, kind)
			}
			r.Drop(drops)
			r.RecordUnserved(op, timing.Intended, timing.Replied)
			r.RecordUnanswered(op, timing)
			r.RecordUnansweredJob(flow, timing.Intended, timing.Replied)
			r.CountCarried(timing.Intended)
		})
	}
}

// requireSameSets asserts that two sets are equal bucket by bucket and count by count.
func requireSameSets(t *testing.T, want, got *Set) {
	t.Helper()
	for series := range allSeries(want, got) {
		a, b := want.Histogram(series), got.Histogram(series)
		if a == nil || b == nil {
			require.Equal(t, a == nil, b == nil, "%v", series)
			continue
		}
		require.True(t, a.Equals(b), "%v", series)
		require.Equal(t, want.Clamps(series), got.Clamps(series))
	}
	for _, op := range append(want.Ops(), got.Ops()...) {
		require.Equal(t, want.OutsideWindow(op), got.OutsideWindow(op))
		for kind := range ErrorKinds {
			require.Equal(t, want.Errors(op, kind), got.Errors(op, kind))
		}
		require.Equal(t, want.Unserved(op), got.Unserved(op))
	}
	require.Equal(t, want.dropped, got.dropped)
	require.Equal(t, want.carried, got.carried)
}

// allSeries are those that any of the sets has room for.
func allSeries(sets ...*Set) map[Series]bool {
	all := make(map[Series]bool)
	for _, s := range sets {
		for series := range s.all() {
			all[series], all[series.Unanswered()] = true, true
		}
	}
	return all
}

func TestAddIsExact(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		sumRecorder, parts := NewRecorder(), make([]*Recorder, 1+random.IntN(6))
		window := Window{From: 100, Until: 900}
		sumRecorder.SetWindow(window)
		for i := range parts {
			parts[i] = NewRecorder()
			parts[i].SetWindow(window)
		}
		sum := new(Set)
		bookRandom(random, 2000, func(book func(*Recorder)) {
			book(sumRecorder)
			part := parts[random.IntN(len(parts))]
			book(part)
			if random.IntN(500) == 0 {
				set := part.Take(1000)
				sum.Add(set)
				part.Recycle(set)
			}
		})
		for _, part := range parts {
			sum.Add(part.Take(1000))
		}
		requireSameSets(t, sumRecorder.Take(1000), sum)
		assert.NotZero(t, sum.OutsideWindow(Push))
	}
}

func TestAddWidensTheSpan(t *testing.T) {
	t.Parallel()
	set := new(Set)
	set.Add(&Set{From: 5, Until: 7})
	set.Add(&Set{})
	set.Add(&Set{From: 6, Until: 9})
	set.Add(&Set{From: 2, Until: 3})
	assert.Equal(t, Window{2, 9}, Window{set.From, set.Until})
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		values int // 1 ms, 2 ms, ...
		p      float64
		want   int // ms
	}{
		{1000, 50, 500}, {1000, 99, 990}, {1000, 99.9, 999}, {1000, 99.99, 1000}, {1000, 100, 1000}, {1000, 0, 1},
		{70, 99, 70}, {70, 98, 69}, {3, 50, 2}, {2, 50, 1}, {1, 0.1, 1}, {1, 99, 1},
	}
	for _, tt := range tests {
		r := NewRecorder()
		for i := range tt.values {
			r.Job(ToFetched, 0, time.Duration(i+1)*time.Millisecond)
		}
		got, _ := r.Take(1).Times(FlowSeries(ToFetched)).Percentile(tt.p)
		assert.InEpsilon(t, time.Duration(tt.want)*time.Millisecond, got, 0.001, "p%v of %d", tt.p, tt.values)
	}
}

func TestSeriesHaveNames(t *testing.T) {
	t.Parallel()
	tags := make(map[string]bool)
	for series := range newSet(append(Ops(), "jobs", "put.job.acked")).all() {
		tag := series.String()
		found, ok := ParseSeries(tag)
		assert.True(t, ok)
		assert.Equal(t, series, found)
		assert.False(t, tags[tag], tag)
		tags[tag], tags[series.Unanswered().String()] = true, true
		found, ok = ParseSeries(series.Unanswered().String())
		assert.True(t, ok)
		assert.Equal(t, series.Unanswered(), found)
		if op, m, ok := series.Op(); ok {
			assert.Equal(t, series, SeriesOf(op, m))
			assert.Equal(t, string(op)+"."+m.String(), tag)
		}
	}
	assert.Len(t, tags, 2*(16*3+3))
	for _, tag := range []string{"push.nothing", "push.service.unanswered.unanswered", "unanswered", "push", ".service",
		"service", "job.lost", ""} {
		_, ok := ParseSeries(tag)
		assert.False(t, ok, tag)
	}
	assert.Equal(t, "error kind 11", ErrorKinds.String())
}

func TestCountsHaveNames(t *testing.T) {
	t.Parallel()
	names := []string{
		"dropped", "put.aside", "put.rejected", "put.out-of-memory", "put.service.below", "put.service.above",
		"job.acked.above", "push.response.unserved", "carried",
	}
	for _, name := range names {
		set := new(Set)
		require.NoError(t, set.parseCounts(name+"=7"))
		assert.Equal(t, " "+name+"=7", string(set.appendCounts(nil)))
	}
	for _, name := range []string{"put", "aside", ".aside", "put.below", "put.forgotten", "put.forgotten.above", ""} {
		assert.ErrorContains(t, new(Set).parseCounts(name+"=7"), "unknown count", name)
	}
}

func TestOpsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	r := NewRecorder("join", "put", "take")
	r.CountError("done", Closed)
	r.Command("take", Timing{})
	r.SetWindow(Window{From: 1})
	r.Command("put", Timing{})
	sum := new(Set)
	sum.Add(r.Take(1))
	assert.Equal(t, []Op{"put", "take", "done"}, sum.Ops(), "those of the recorder, then the others")
	sum.Reset()
	assert.Empty(t, sum.Ops())
}

func BenchmarkAdd(b *testing.B) {
	set, sum := newFilledSet(5000), new(Set)
	for b.Loop() {
		sum.Add(set)
	}
}

// newFilledSet has n values in the nine series of a usual run.
func newFilledSet(n int) *Set {
	random, r := rand.New(rand.NewPCG(1, 2)), NewRecorder()
	for range n {
		response := time.Duration(50e3 + random.ExpFloat64()*200e3)
		for _, op := range []Op{Push, FetchFound, Ack} {
			r.Command(op, Timing{Sent: response / 9, Replied: response})
		}
	}
	return r.Take(time.Second)
}
