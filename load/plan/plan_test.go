package plan_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/plan"
)

type stages = []plan.Stage

// plans are the shapes that every property is held against; a function, because a
// plan is not copied.
func plans() map[string]*plan.Plan {
	plans := map[string]*plan.Plan{}
	for name, s := range map[string]stages{
		"nothing":      nil,
		"zero rate":    {{time.Second, 0, 0}},
		"constant":     {{2 * time.Second, 1000, 1000}},
		"ramp up":      {{3 * time.Second, 0, 1000}},
		"ramp down":    {{3 * time.Second, 1000, 0}},
		"gentle slope": {{time.Second, 1000, 1000.0001}, {time.Second, 100, 99.9999}},
		"spike": {{2 * time.Second, 100, 100}, {100 * time.Millisecond, 20000, 20000},
			{2 * time.Second, 100, 100}},
		"pause":            {{time.Second, 500, 0}, {3 * time.Second, 0, 0}, {time.Second, 0, 500}},
		"starts later":     {{time.Second, 0, 0}, {time.Second, 300, 300}},
		"tenths":           {{100 * time.Millisecond, 1, 1}, {100 * time.Millisecond, 1, 1}, {300 * time.Millisecond, 1, 1}},
		"slow":             {{10 * time.Hour, 1.0 / 60, 1.0 / 30}},
		"fast":             {{time.Millisecond, 0, 2e6}, {time.Millisecond, 2e6, 0}},
		"odd numbers":      {{123456789, 3333.3, 7777.7}, {7654321, 9.9, 123.4}, {1, 5, 5}},
		"what is no stage": {{-time.Second, 5, 5}, {time.Second, -5, math.NaN()}, {time.Second, math.Inf(1), 100}},
	} {
		plans[name] = &plan.Plan{Stages: s}
		plans[name+", bursts"] = &plan.Plan{Stages: s, Burst: 7}
		plans[name+", Poisson"] = &plan.Plan{Stages: s, Poisson: true, Seed: 42}
		plans[name+", Poisson bursts"] = &plan.Plan{Stages: s, Poisson: true, Burst: 3, Seed: 43}
		plans[name+", limited"] = &plan.Plan{Stages: s, Poisson: true, MaxArrivals: 100}
	}
	return plans
}

func forEach(t *testing.T, check func(t *testing.T, p *plan.Plan)) {
	t.Helper()
	for name, p := range plans() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, p)
		})
	}
}

// instants are all arrivals of a plan, by At.
func instants(t *testing.T, p *plan.Plan) []time.Duration {
	t.Helper()
	all := make([]time.Duration, p.Total())
	for k := range all {
		at, ok := p.At(int64(k))
		if !ok {
			require.Fail(t, "no arrival", "%d of %d", k, len(all)) // an assertion for each would take longer than the plan
		}
		all[k] = at
	}
	_, ok := p.At(p.Total())
	require.False(t, ok, "an arrival after the last")
	_, ok = p.At(-1)
	require.False(t, ok, "an arrival before the first")
	return all
}

func TestInstants(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		plan *plan.Plan
		want []time.Duration
	}{
		{"constant", &plan.Plan{Stages: stages{{500 * ms, 10, 10}}},
			[]time.Duration{0, 100 * ms, 200 * ms, 300 * ms, 400 * ms}},
		{"ramp up", &plan.Plan{Stages: stages{{time.Second, 0, 8}}}, []time.Duration{0, 500 * ms, 707106781, 866025403}},
		{"ramp down", &plan.Plan{Stages: stages{{time.Second, 8, 0}}},
			[]time.Duration{0, 133974596, 292893218, 500 * ms}},
		{"bursts", &plan.Plan{Stages: stages{{time.Second, 5, 5}}, Burst: 2},
			[]time.Duration{0, 0, 400 * ms, 400 * ms, 800 * ms}},
		{"pause", &plan.Plan{Stages: stages{{time.Second, 2, 2}, {time.Second, 0, 0}, {time.Second, 1, 1}}},
			[]time.Duration{0, 500 * ms, 2 * time.Second}},
		{"limit", &plan.Plan{Stages: stages{{time.Second, 10, 10}}, MaxArrivals: 2}, []time.Duration{0, 100 * ms}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, instants(t, c.plan))
		})
	}
}

func TestInstantsAscendWithinSpan(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, p *plan.Plan) {
		last := time.Duration(0)
		for k, at := range instants(t, p) {
			if at < last || at > p.Span() {
				require.Fail(t, "back or outside", "arrival %d at %v, after one at %v, of %v", k, at, last, p.Span())
			}
			last = at
		}
	})
}

// TestCountIsTheIntegral: in every window from one arrival's instant, or the
// nanosecond after it, to another's there are as many as the integral says.
func TestCountIsTheIntegral(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, p *plan.Plan) {
		if p.Poisson {
			t.Skip("chance decides")
		}
		slack := float64(max(1, p.Burst)) + 3e-3 // more than a nanosecond holds at the highest rate
		low, high := 0.0, 0.0                    // how far the count lies below and above the integral
		for k, at := range instants(t, p) {
			low = min(low, float64(k)-p.Expected(at))
			high = max(high, float64(k+1)-p.Expected(at))
		}
		assert.LessOrEqual(t, high-low, slack)
		assert.InDelta(t, p.Expected(p.Span()), float64(p.Total()), slack)
	})
}

func TestSharesMakeThePlan(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, p *plan.Plan) {
		want := instants(t, p)
		for _, parts := range []int{1, 2, 3, 7, 60} {
			got := make([]time.Duration, len(want))
			count := 0
			for index := range parts {
				c := p.Cursor(index, parts)
				before := int64(index - parts)
				for k, at, ok := c.Next(); ok; k, at, ok = c.Next() {
					if k != before+int64(parts) {
						require.Equal(t, before+int64(parts), k, "share %d of %d skips", index, parts)
					}
					got[k], before = at, k
					count++
				}
				_, _, ok := c.Next()
				require.False(t, ok, "a cursor that is through stays so")
			}
			assert.Equal(t, len(want), count, "of %d", parts)
			assert.Equal(t, want, got, "of %d", parts)
		}
	})
}

func TestShareOutside(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Stages: stages{{time.Second, 10, 10}}}
	for _, c := range [][2]int{{-1, 3}, {3, 3}, {1, 0}} {
		_, _, ok := p.Cursor(c[0], c[1]).Next()
		assert.False(t, ok, "share %d of %d", c[0], c[1])
	}
	_, _, ok := p.Cursor(0, 0).Next()
	assert.True(t, ok)
}

func TestZeroRateHasNoArrivals(t *testing.T) {
	t.Parallel()
	for _, poisson := range []bool{false, true} {
		p := &plan.Plan{Stages: stages{{time.Second, 1000, 0}, {time.Hour, 0, 0}, {time.Second, 500, 1000}},
			Poisson: poisson}
		for _, at := range instants(t, p) {
			require.False(t, at > time.Second && at < time.Second+time.Hour, "arrival at %v", at)
		}
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Stages: stages{{10 * time.Second, 0, 1000}, {5 * time.Second, 50, 50}, {time.Second, 0, 0}}}
	for at, want := range map[time.Duration]float64{
		-1: 0, 0: 0, 5 * time.Second: 1250, 10 * time.Second: 5000, 12 * time.Second: 5100, 15 * time.Second: 5250,
		time.Hour: 5250,
	} {
		assert.InDelta(t, want, p.Expected(at), 1e-6, "due at %v", at)
	}
	assert.Equal(t, 16*time.Second, p.Span())
}

// TestRecordedInstants: a plan of recorded arrivals has these and no others, also in shares.
func TestRecordedInstants(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	recorded := []time.Duration{0, 0, 700 * ms, 2000 * ms, 2400 * ms}
	p := &plan.Plan{Instants: recorded}
	assert.Equal(t, recorded, instants(t, p))
	assert.Equal(t, 3000*ms, p.Span(), "the mean time between two behind the last")
	assert.Equal(t, []float64{0, 2, 3, 5}, []float64{p.Expected(0), p.Expected(1), p.Expected(2000 * ms), p.Expected(time.Hour)})
	assert.EqualValues(t, 2, p.CountBefore(700*ms))
	for _, parts := range []int{1, 2, 7} {
		var all []time.Duration
		for index := range parts {
			c := p.Cursor(index, parts)
			for k, at, ok := c.Next(); ok; k, at, ok = c.Next() {
				assert.EqualValues(t, index, k%int64(parts))
				all = append(all, at)
			}
		}
		assert.ElementsMatch(t, recorded, all, "of %d", parts)
	}
	assert.Equal(t, recorded[:2], instants(t, &plan.Plan{Instants: recorded, MaxArrivals: 2}))
	assert.Equal(t, time.Second, (&plan.Plan{Instants: []time.Duration{0}}).Span())
	assert.Zero(t, (&plan.Plan{Instants: []time.Duration{}}).Total())
}

// TestLongPlans: far out, where floating point is coarse, the order still holds and
// the total is exact.
func TestLongPlans(t *testing.T) {
	t.Parallel()
	p := &plan.Plan{Stages: stages{{1000 * time.Hour, 1e5, 0}, {1000 * time.Hour, 0, 1e5}}}
	assert.Equal(t, int64(360e9), p.Total())
	last := time.Duration(0)
	for k := int64(180e9 - 1000); k < 180e9+1000; k++ {
		at, ok := p.At(k)
		require.True(t, ok)
		require.GreaterOrEqual(t, at, last, "arrival %d", k)
		last = at
	}
	at, _ := p.At(180e9)
	assert.Equal(t, 1000*time.Hour, at.Round(time.Millisecond))
}

//nolint:paralleltest // AllocsPerRun counts what the whole process allocates
func TestNextAllocatesNothing(t *testing.T) {
	for _, p := range []*plan.Plan{
		{Stages: stages{{time.Hour, 1000, 5000}}},
		{Stages: stages{{time.Hour, 1000, 5000}}, Poisson: true, Burst: 2},
	} {
		c := p.Cursor(1, 3)
		assert.Zero(t, testing.AllocsPerRun(1000, func() { c.Next() }))
	}
}

func BenchmarkNext(b *testing.B) {
	for name, p := range map[string]*plan.Plan{
		"constant": {Stages: stages{{1e6 * time.Hour, 1e5, 1e5}}},
		"ramp":     {Stages: stages{{1e6 * time.Hour, 1e5, 2e5}}},
		"poisson":  {Stages: stages{{1e6 * time.Hour, 1e5, 1e5}}, Poisson: true},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			c := p.Cursor(0, 1)
			for b.Loop() {
				c.Next()
			}
		})
	}
}

func BenchmarkAt(b *testing.B) {
	for name, poisson := range map[string]bool{"even": false, "poisson": true} {
		b.Run(name, func(b *testing.B) {
			p := &plan.Plan{Stages: stages{{1000 * time.Second, 0, 2e4}}, Poisson: poisson}
			k, total := int64(0), p.Total()
			b.ReportAllocs()
			for b.Loop() {
				p.At(k)
				k = (k + 99991) % total
			}
		})
	}
}

// Before counts what At has before a moment.
func TestBefore(t *testing.T) {
	t.Parallel()
	for _, poisson := range []bool{false, true} {
		p := &plan.Plan{
			Stages:  []plan.Stage{{Length: time.Second, From: 0, To: 100}, {Length: time.Second, From: 50, To: 50}},
			Poisson: poisson, Seed: 3, Burst: 2,
		}
		all := instants(t, p)
		for at := -time.Millisecond; at < 3*time.Second; at += 7 * time.Millisecond {
			var want int64
			for _, instant := range all {
				if instant < at {
					want++
				}
			}
			assert.Equal(t, want, p.CountBefore(at), at)
		}
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, test := range map[string]struct {
		plan *plan.Plan
		want time.Duration
	}{
		"stages":          {&plan.Plan{Stages: stages{{3 * s, 20, 20}, {7 * s, 0, 0}}}, 10 * s},
		"a limit":         {&plan.Plan{Stages: stages{{10 * s, 10, 10}}, MaxArrivals: 20}, 2 * s},
		"bursts":          {&plan.Plan{Stages: stages{{10 * s, 10, 10}}, MaxArrivals: 20, Burst: 15}, 2 * s},
		"by chance":       {&plan.Plan{Stages: stages{{10 * s, 10, 10}}, MaxArrivals: 20, Poisson: true}, 2 * s},
		"all of it":       {&plan.Plan{Stages: stages{{10 * s, 10, 10}}, MaxArrivals: 100}, 10 * s},
		"recorded":        {&plan.Plan{Instants: []time.Duration{0, s, 2 * s}}, 3 * s},
		"a part of these": {&plan.Plan{Instants: []time.Duration{0, s, 2 * s}, MaxArrivals: 2}, 2 * s},
		"nothing":         {&plan.Plan{}, 0},
	} {
		assert.Equal(t, test.want, test.plan.End(), name)
	}
}
