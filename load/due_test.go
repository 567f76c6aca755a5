package load_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// Queues of a server that keeps up do not grow, whatever else makes jobs wait.
func TestQueuesThatDoNotGrow(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plan.Workload){
		"evenly spaced": func(*plan.Workload) {},
		"at random":     func(w *plan.Workload) { w.Poisson = true },
		"bursts":        func(w *plan.Workload) { w.Burst = 50 },
		"a long work":   func(w *plan.Workload) { w.Work, w.Consumers = plan.Range{Min: 10 * ms, Max: 80 * ms}, 6 },
		"delays":        func(w *plan.Workload) { w.Delay = plan.Range{Min: second, Max: 20 * second} },
		"failing":       func(w *plan.Workload) { w.FailShare = 0.2 },
		"warmed up":     func(w *plan.Workload) { w.Warmup = plan.Duration(2 * second) },
		"prefilled":     func(w *plan.Workload) { w.Prefill = 500 },
		"a closed loop": func(w *plan.Workload) { w.Rate, w.Backlog = 0, 2 },
		"many workers":  func(w *plan.Workload) { w.Consumers = 200 },
		"stages": func(w *plan.Workload) {
			w.Rate, w.Duration = 0, 0
			w.Stages = plan.Stages{{Length: 5 * second, From: 10, To: 200}, {Length: 5 * second, From: 200, To: 200}}
		},
	} {
		w := steadyLoad()
		w.Duration, w.Drain = plan.Duration(10*second), plan.Duration(600*second)
		change(&w)
		l := bench{load: w}.run(t)
		require.NotNil(t, l.JobsDue, name)
		assert.False(t, l.JobsDue.Grew(), "%s: %+v", name, l.JobsDue)
		assert.Empty(t, l.GrowthWords(), name)
		_, words := l.Outcome(reports.ExitOptions{}).Values()
		assert.NotContains(t, words, "queues grew", name)
	}
}

// A server that looks each 5 s for jobs whose time has come keeps up, wherever its waves are in a window.
func TestWavesAreNoGrowth(t *testing.T) {
	t.Parallel()
	for _, length := range []time.Duration{6 * second, 8 * second, 10 * second, 13 * second, 25 * second} {
		w := steadyLoad()
		w.Delay, w.Duration = plan.Range{Min: second, Max: 5 * second}, plan.Duration(length)
		l := bench{load: w, server: fakes.Config{ScanEvery: 5 * second}}.run(t)
		assert.False(t, l.JobsDue.Grew(), "%v: %+v", length, l.JobsDue)
		assert.Positive(t, l.JobsDue.End, "some wait for the next look")
	}
}

// What grows is told, and what was the limit: the server, or the workers.
func TestQueuesThatGrow(t *testing.T) {
	t.Parallel()
	slowFetch := func(e *fakes.Event) {
		if e.Point == fakes.Ran && e.Command.Verb == "FETCH" {
			e.Delay += 50*ms - 2*ms // and two round trips of a millisecond
		}
	}
	for name, test := range map[string]struct {
		change func(*plan.Workload)
		hook   func(*fakes.Event)
		isBusy bool
	}{
		"the server hands out 100 a second": {func(*plan.Workload) {}, slowFetch, false},
		"workers can do 100 a second": {
			func(w *plan.Workload) { w.Work = plan.Range{Min: 48 * ms, Max: 48 * ms} }, slowCommand, true},
		"at random": {func(w *plan.Workload) { w.Poisson = true }, slowFetch, false},
		"all of them later": {func(w *plan.Workload) {
			w.Delay, w.Duration = plan.Range{Min: second, Max: second}, plan.Duration(20*second)
		}, slowFetch, false},
	} {
		w := steadyLoad()
		w.Rate, w.Duration, w.Drain = 300, plan.Duration(10*second), plan.Duration(600*second)
		test.change(&w)
		l := bench{load: w, hooks: []func(*fakes.Event){test.hook}}.run(t)
		require.True(t, l.JobsDue.Grew(), "%s: %+v", name, l.JobsDue)
		assert.InDelta(t, 200, l.JobsDue.Growth, 40, name)
		assert.InDelta(t, 200*l.Measured.Seconds(), l.JobsDue.End, 300, name)
		assert.InDelta(t, 100, l.WorkRate(), 15, name) // none is due in the first second
		assert.Equal(t, test.isBusy, l.JobsDue.WorkersAreBusy, name)
		outcome(t, l, reports.ExitWell, "achieved the target rate of 300 /s, the queues grew by")
		assert.Contains(t, l.Validity.Remarks[0], "workers got", name)
		step := results.StepOf(l, 300)
		assert.Equal(t, results.StepFailed, step.Result, name)
		assert.Contains(t, step.Reason, "the limit was", name)
	}
}

// The seconds of the measurement have the jobs that are due.
func TestJobsThatAreDueInSeconds(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Work = plan.Range{Min: 100 * ms, Max: 100 * ms}
	l := bench{load: w}.run(t)
	var last int64
	for _, s := range l.Series {
		if s.Phase == "measure" {
			require.NotNil(t, s.JobsDue)
			last = *s.JobsDue
		}
	}
	assert.Equal(t, l.JobsDue.End, last)
	assert.Greater(t, last, int64(200))
}
