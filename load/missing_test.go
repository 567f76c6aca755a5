package load_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
)

// straggling has every 40th job be fetched no sooner than 9 s after its OK.
var straggling = eachNth(fakes.Defaulted, 40, func(e *fakes.Event) { e.Object.SetTime("at", time.Now().Add(9*second)) })

// setDelay has jobs that are due 3 s after their push.
func setDelay(w *plan.Workload) { w.Delay = plan.Range{Min: 3 * second, Max: 3 * second} }

func serverVariant(t *testing.T, name string) (server fakes.Config) {
	t.Helper()
	v, ok := variations.Lookup(name)
	assert.True(t, ok, name)
	v.Configure(&server)
	return server
}

// A server may deliver a job late. The drain goes on while one is missing, and no such job is lost.
func TestLateJobsAreAwaited(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		server fakes.Config
		hooks  []func(*fakes.Event)
		change func(*plan.Workload)
	}{
		"a scheduler that looks each 5 s": {server: fakes.Config{ScanEvery: 5 * second}, change: setDelay},
		"a clock that is behind":          {server: serverVariant(t, "time-clock-behind"), change: setDelay},
		"stragglers":                      {hooks: []func(*fakes.Event){straggling}, change: func(*plan.Workload) {}},
		"pushed beforehand": {
			hooks:  []func(*fakes.Event){straggling},
			change: func(w *plan.Workload) { w.Producers, w.Prefill, w.Rate = 0, 100, 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			w.Rate, w.Duration = 40, plan.Duration(2*second)
			test.change(&w)
			l := bench{server: test.server, hooks: test.hooks, load: w}.run(t)
			outcome(t, l, reports.ExitWell, "jobs accounted for")
			assert.Equal(t, l.Jobs.Pushed, l.Jobs.Delivered)
			assert.Less(t, l.Took, 40*second, "the drain ends with the last job")
		})
	}
}

// What becomes of jobs that do not come.
func TestJobsThatAreMissing(t *testing.T) {
	t.Parallel()
	later := func(e *fakes.Event) {
		if e.Point == fakes.Scheduled {
			e.Until = e.Until.Add(time.Hour)
		}
	}
	for name, test := range map[string]struct {
		bug      string
		server   fakes.Config
		hooks    []func(*fakes.Event)
		change   func(*plan.Workload)
		wait     time.Duration // MissingWait
		lostJobs int64         // 0: not known
		reason   string
		took     time.Duration // of the drain, at least
	}{
		"due at once": {bug: "push-lost", lostJobs: 1, took: 60 * second},
		"a short drain": {bug: "push-lost", wait: 5 * second, took: 5 * second,
			reason: "1 of 80 jobs unaccounted for: not delivered within 5s after the queues were empty"},
		"with a time": {bug: "schedule-dropped", change: setDelay, lostJobs: 80, took: 60 * second},
		"with a time, and INFO is refused": {bug: "schedule-dropped", server: serverVariant(t, "info-refused"), change: setDelay,
			reason: "80 of 80 jobs unaccounted for: not delivered within 1m of their time", took: 60 * second},
		"an hour late": {hooks: []func(*fakes.Event){later}, change: setDelay, took: 60 * second,
			reason: "80 of 80 jobs unaccounted for: not delivered within 1m of their time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			w.Rate, w.Duration = 40, plan.Duration(2*second)
			if test.change != nil {
				test.change(&w)
			}
			if test.bug != "" {
				test.hooks = append(test.hooks, findBug(t, test.bug).Hook())
			}
			l := bench{server: test.server, hooks: test.hooks, load: w, change: func(c *load.Config) {
				c.MissingWait = test.wait
			}}.run(t)
			drain := l.Phases[len(l.Phases)-2]
			assert.GreaterOrEqual(t, drain.Took, test.took)
			if test.lostJobs > 0 {
				assert.Equal(t, test.lostJobs, loss(t, l, results.FindingLost).Count)
				return
			}
			outcome(t, l, reports.ExitInconclusive, "inconclusive whether all jobs were delivered; "+test.reason)
			assert.Empty(t, l.Findings)
		})
	}
}

// A server whose clock is wrong is on time by it: that explains jobs that come before or after their time by ours.
func TestTheServersClockIsKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		clock    string
		ahead    time.Duration // 0: no difference is told
		isEarly  bool
		lateness time.Duration
		remark   string
	}{
		"right":  {},
		"ahead":  {"time-clock-ahead", time.Hour, true, 0, "so scheduled jobs come that much earlier"},
		"behind": {"time-clock-behind", -20 * second, false, 20 * second, "20 s behind this machine's"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var server fakes.Config
			if test.clock != "" {
				server = serverVariant(t, test.clock)
			}
			w := steadyLoad()
			w.Rate, w.Duration = 40, plan.Duration(2*second)
			setDelay(&w)
			l := bench{server: server, load: w}.run(t)
			outcome(t, l, reports.ExitWell, "jobs accounted for")
			assert.Contains(t, strings.Join(l.Validity.Remarks, "\n"), test.remark)
			assert.InDelta(t, test.lateness, l.Flow("job.late").Time.P50, float64(second))
			if test.ahead == 0 {
				assert.Nil(t, l.ServerClock)
				return
			}
			assert.InDelta(t, test.ahead, l.ServerClock.Ahead, float64(second))
			assert.Equal(t, test.isEarly, l.ServerClock.Early > 0)
		})
	}
}

// A job is late by its own time: that of its retry, too, if the server names it.
func TestRetriesHaveATime(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Rate, w.Duration, w.FailShare = 4, plan.Duration(5*time.Minute), 0.5
	l := bench{load: w}.run(t)
	flow := l.Flow("job.late")
	if assert.NotNil(t, flow) {
		assert.InDelta(t, l.Jobs.Redelivered, flow.Time.Count, 10, "but for those of the drain")
		assert.Less(t, flow.Time.Max, 20*second)
	}
}
