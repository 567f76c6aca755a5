package load_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/reports"
)

// The window and the target are what was asked for, however few arrivals the plan has.
func TestTheWindowIsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change   func(*plan.Workload)
		measured time.Duration
		target   float64
		planned  int64
	}{
		"a tenth": {func(w *plan.Workload) { w.Rate, w.Duration = 0.1, plan.Duration(6*second) }, 6 * second,
			0.1, 1},
		"a half": {func(w *plan.Workload) { w.Rate, w.Duration = 0.5, plan.Duration(300*ms) }, 300 * ms, 0.5,
			1},
		"one":          {func(w *plan.Workload) { w.Rate = 1 }, 5 * second, 1, 5},
		"a warm-up":    {func(w *plan.Workload) { w.Rate, w.Warmup = 1, plan.Duration(2*second) }, 5 * second, 1, 5},
		"bursts":       {func(w *plan.Workload) { w.Rate, w.Burst = 10, 25 }, 5 * second, 10, 50},
		"jobs":         {func(w *plan.Workload) { w.Rate, w.JobLimit, w.Duration = 10, 30, 0 }, 3 * second, 10, 30},
		"jobs, bursts": {func(w *plan.Workload) { w.Rate, w.JobLimit, w.Burst = 10, 20, 10 }, 2 * second, 10, 20},
		"a quiet end": {func(w *plan.Workload) {
			w.Rate, w.Duration = 0, 0
			w.Stages = plan.Stages{{Length: 3 * second, From: 20, To: 20}, {Length: 7 * second}}
		}, 10 * second, 6, 60},
		"by chance": {func(w *plan.Workload) { w.Rate, w.Poisson = 2, true }, 5 * second, 2, 7},
	} {
		w := steadyLoad()
		test.change(&w)
		l := bench{load: w}.run(t)
		requireSound(t, l)
		assert.Equal(t, test.measured, l.Measured, name)
		assert.InEpsilon(t, test.target, l.Rate.Target, 1e-9, name)
		assert.Equal(t, test.planned, l.Rate.Planned, name)
		assert.Equal(t, test.planned, l.Rate.Done, name)
		outcome(t, l, reports.ExitWell, "achieved the target rate of")
	}
}

// Arrivals that were sent on time and answered late are not missing, nor are those in flight at the end.
func TestSlowRepliesAreNotBelowTheTarget(t *testing.T) {
	t.Parallel()
	slow := func(e *fakes.Event) {
		if e.Point == fakes.Ran && e.Command.Verb == "PUSH" {
			e.Delay += 5 * second
		}
	}
	for name, change := range map[string]func(*plan.Workload){
		"a window":    func(w *plan.Workload) { w.Duration = plan.Duration(12 * second) },
		"jobs":        func(w *plan.Workload) { w.Duration, w.JobLimit = 0, 36 },
		"a warm-up":   func(w *plan.Workload) { w.Warmup = plan.Duration(3 * second) },
		"short-lived": func(w *plan.Workload) { w.Producers, w.Connections, w.Churn = 0, 20, true },
	} {
		w := steadyLoad()
		w.Producers, w.Rate = 20, 3
		change(&w)
		l := bench{load: w, hooks: []func(*fakes.Event){slow}}.run(t)
		requireSound(t, l)
		outcome(t, l, reports.ExitWell, "achieved the target rate of 3 /s")
		assert.Equal(t, l.Rate.Planned, l.Rate.Done, name)
		for _, remark := range l.Validity.Remarks {
			assert.NotContains(t, remark, "was the limit", name)
		}
	}
}

// Arrivals belong to the window in which they were due: what was answered late, of the warm-up, is no achievement.
func TestABacklogOfTheWarmUp(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Rate, w.Warmup = 500, plan.Duration(2*second)
	l := bench{load: w, hooks: []func(*fakes.Event){slowPush}}.run(t)
	outcome(t, l, reports.ExitWell, "below target: achieved 135 of 500 /s (1,827 arrivals unserved)")
	assert.Equal(t, l.Rate.Planned, l.Rate.Done+l.Rate.Unserved)

	w.Producers = 50 // as many as catch up with what a stall of the warm-up has left
	l = bench{load: w, hooks: []func(*fakes.Event){stallServer(0, 1900*ms)}}.run(t)
	outcome(t, l, reports.ExitWell, "achieved the target rate of 500 /s")
	assert.Equal(t, l.Rate.Planned, l.Rate.Done)
}

// The plan says what ran.
func TestThePlanSaysWhatRan(t *testing.T) {
	t.Parallel()
	read := func(preset string, change func(*plan.Workload)) string {
		w, err := plan.Preset(preset)
		require.NoError(t, err)
		change(&w)
		return load.Describe(w)
	}
	for name, test := range map[string]struct {
		preset string
		change func(*plan.Workload)
		want   []string
		not    string
	}{
		"usual": {"", func(*plan.Workload) {}, []string{"the next push follows the reply), at most 2"}, "payload"},
		"think": {"", func(w *plan.Workload) { w.Think = plan.Range{Min: 10 * ms, Max: 10 * ms} },
			[]string{"follows the reply after a pause of 10ms"}, "follows the reply)"},
		"bursts": {"", func(w *plan.Workload) { w.Rate, w.Burst = 100, 50 }, []string{"in bursts of 50"}, ""},
		"jobs": {"", func(w *plan.Workload) { w.FailShare, w.Payload, w.Batch = 0.05, plan.Constant(61440), 7 },
			[]string{"payload 61440", "fail share 0.05", "batch 7"}, ""},
		"a preset": {"scheduled", func(*plan.Workload) {}, []string{"delay 1s-5s"}, ""},
	} {
		words := read(test.preset, test.change)
		for _, want := range test.want {
			assert.Contains(t, words, want, name)
		}
		if test.not != "" {
			assert.NotContains(t, words, test.not, name)
		}
	}
}
