package results

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A rate of few arrivals has its interval beside it; that of one is 0.03 to 5.57 of them.
func TestAnAchievedRateInWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		rate   LoadRate
		length time.Duration
		want   string
	}{
		{LoadRate{Target: 5000, Achieved: 5000, Planned: 50_000, Done: 50_000}, 10 * time.Second,
			"achieved the target rate of 5,000 /s"},
		{LoadRate{Target: 0.1, Achieved: 1.0 / 6, Planned: 1, Done: 1}, 6 * time.Second,
			"achieved the target rate of 0.1 /s (1 arrival in 6 s)"},
		{LoadRate{Target: 2, Achieved: 2, Planned: 20, Done: 20}, 10 * time.Second, "achieved the target rate of 2 /s"},
		{LoadRate{Target: 2, Achieved: 1, Planned: 20, Done: 10, Unserved: 10}, 10 * time.Second,
			"below target: achieved 1 of 2 /s (10 arrivals unserved)"},
		{LoadRate{Target: 100, Achieved: 98, Planned: 1000, Done: 980}, 10 * time.Second, "achieved 98 of 100 /s"},
		{LoadRate{Op: "push", Achieved: 1, Done: 10}, 10 * time.Second,
			"achieved 1 /s (jobs pushed; 95 % interval of 10 arrivals: 0.48 to 1.84 /s)"},
		{LoadRate{Op: "push", Achieved: 10, Done: 100}, 10 * time.Second, "achieved 10 /s (jobs pushed)"},
		{LoadRate{Op: "push"}, time.Second, ""},
	} {
		assert.Equal(t, test.want, test.rate.words(test.length))
	}
	assert.Equal(t, "95 % interval of 1 arrival: 0.026 to 5.57 /s", (&LoadRate{Done: 1}).interval(time.Second))
}

// What happened in the course of a run is told in sentences: silence, and a time that changed at once and stayed.
func TestWhatIsTold(t *testing.T) {
	t.Parallel()
	const s, ms = time.Second, time.Millisecond
	gap := func(from, until time.Duration) Gap { return Gap{From: from, Until: until} }
	for name, test := range map[string]struct {
		gaps    []Gap
		medians []time.Duration // of push to fetch, in each second
		change  func(*Load)
		want    []string
	}{
		"nothing": {medians: []time.Duration{ms, ms, 2 * ms, ms, ms, 3 * ms, ms}},
		"a gap":   {gaps: []Gap{gap(4*s, 6900*ms)}, want: []string{"Nothing was answered from 4.0 s to 6.9 s."}},
		"four gaps": {
			gaps: []Gap{gap(s, 2*s), gap(4*s, 6900*ms), gap(8*s, 9*s), gap(11*s, 12*s)},
			want: []string{"Nothing was answered 4 times, for 5.9 s in total: the longest time from 4.0 s to 6.9 s."},
		},
		"as slow as always": {
			gaps: []Gap{gap(4*s, 6900*ms)}, change: func(l *Load) { l.Ops = []LoadOp{{Op: "push", Service: Latency{P50: s}}} },
		},
		"few arrivals":     {gaps: []Gap{gap(4*s, 6900*ms)}, change: func(l *Load) { l.Rate.Target = 0.9 }},
		"it is known":      {gaps: []Gap{gap(4*s, 6900*ms)}, change: func(l *Load) { l.GoneReason = "connection refused" }},
		"done on purpose":  {gaps: []Gap{gap(4*s, 6900*ms)}, change: func(l *Load) { l.Disruptions = new(LoadDisruptions) }},
		"no load to judge": {medians: step(5, ms, 5, 10*s), change: func(l *Load) { l.Validity.IsValid = false }},
		"a step": {medians: step(15, 3*ms, 5, 10*s), want: []string{"From 6 s on, push to fetch is 10 s " +
			"instead of 3 ms."}},
		"a step for 2 s":    {medians: step(15, 3*ms, 2, 10*s)},
		"a step of 80 ms":   {medians: step(15, 3*ms, 5, 83*ms)},
		"a backlog grows":   {medians: []time.Duration{ms, ms, ms, ms, s, 2 * s, 3 * s, 4 * s, 5 * s, 6 * s}},
		"one slow second":   {medians: []time.Duration{ms, ms, ms, ms, 10 * s, ms, ms, ms, ms}},
		"it becomes faster": {medians: step(5, 10*s, 5, ms)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &Load{Rate: LoadRate{Op: "push", Target: 100}, Plan: LoadPlan{IsOpenLoop: true}, Gaps: test.gaps}
			l.Validity.IsValid = true
			for i, p50 := range test.medians {
				l.Series = append(l.Series, Second{
					At: time.Duration(i) * s, Length: s, Flows: []SecondFlow{{Flow: "job.fetched", Count: 100, P50: p50}},
				})
			}
			if test.change != nil {
				test.change(l)
			}
			assert.Equal(t, test.want, l.Anomalies())
		})
	}
}

// step returns some medians of one time, and then some of another.
func step(n int, before time.Duration, m int, after time.Duration) []time.Duration {
	return append(slices.Repeat([]time.Duration{before}, n), slices.Repeat([]time.Duration{after}, m)...)
}

func TestSpansInWhichACommandOnlyFailed(t *testing.T) {
	t.Parallel()
	second := func(done, errors int64) Second {
		return Second{Length: time.Second, Phase: "measure", Ops: []SecondOp{{Op: "push", Count: done, Errors: errors}}}
	}
	numbered := func(all ...Second) []Second {
		for i := range all {
			all[i].At = time.Duration(i) * time.Second
		}
		return all
	}
	span := func(from, until float64) []FailedSpan {
		at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
		return []FailedSpan{{Op: "push", From: at(from), Until: at(until)}}
	}
	drain := second(0, 9)
	drain.Phase = "drain"
	for name, test := range map[string]struct {
		seconds []Second
		want    []FailedSpan
	}{
		"none":                     {numbered(second(9, 0), second(9, 1)), nil},
		"from the start":           {numbered(second(0, 9), second(0, 9), second(9, 0)), span(0, 2)},
		"in the middle of one":     {numbered(second(100, 0), second(25, 5), second(0, 9), second(0, 9)), span(1.25, 4)},
		"after one that was whole": {numbered(second(100, 0), second(99, 0), second(0, 9)), span(2, 3)},
		"few failures":             {numbered(second(9, 0), second(0, 1), second(0, 1)), nil},
		"a pause of the clients":   {numbered(second(0, 2), second(0, 0), second(0, 2), second(9, 0)), span(0, 3)},
		"nothing more to do":       {numbered(second(0, 9), second(0, 0), second(0, 0), second(0, 0)), span(0, 1)},
		"not measured":             {numbered(second(9, 0), drain), nil},
	} {
		assert.Equal(t, test.want, FailedSpans(test.seconds), name)
	}
}
