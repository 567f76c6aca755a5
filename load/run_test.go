package load_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
	"github.com/fwpsuite/fwp/reports"
)

const (
	ms     = time.Millisecond
	second = time.Second
)

// bench is a run against a server of fakes, in virtual time.
type bench struct {
	server fakes.Config
	load   plan.Workload
	hooks  []func(*fakes.Event)
	change func(*load.Config)                        // if set
	during func(cancel func(), server *fakes.Server) // if set: beside the run
}

// slowCommand has every command take a millisecond: in virtual time a loop of commands that
// take none would never end.
func slowCommand(e *fakes.Event) {
	if e.Point == fakes.Ran {
		e.Delay += ms
	}
}

// run returns the report, when no client is connected any more. The machine that the
// test runs on has no part in it.
func (b bench) run(t *testing.T) *results.Load {
	t.Helper()
	return b.result(t).Report
}

// result is run with all that the run gives.
func (b bench) result(t *testing.T) *load.Result {
	t.Helper()
	var result *load.Result
	b.withServer(t, func(ctx context.Context, config load.Config) {
		result = load.Run(ctx, config)
		evaluateQuiet(result.Report, config.Thresholds)
	})
	return result
}

// withServer has act use a server, in virtual time, until no client is connected any more.
func (b bench) withServer(t *testing.T, act func(context.Context, load.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		b.server.Listen = place.Listen
		before := b.server.Hook
		b.server.Hook = func(e *fakes.Event) {
			if before != nil {
				before(e)
			}
			for _, hook := range b.hooks {
				hook(e)
			}
			slowCommand(e)
		}
		server := fakes.NewServer(b.server)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		config := load.Config{
			Workload: b.load, Seed: 1, Run: "test", CoarseTimers: true, Loops: 2, ClauseOf: fwpsuite.ClauseOf,
			Protocol: fwpwire.New(b.server.Password),
			Dial:     place.Dial,
		}
		if b.change != nil {
			b.change(&config)
		}
		require.NoError(t, config.Workload.Check())
		if b.during != nil {
			go b.during(cancel, server)
		}
		act(ctx, config)
		time.Sleep(time.Minute) // a FETCH that waits lets the server see later that its client has left
		synctest.Wait()
		assert.Zero(t, server.Connections())
		server.Close()
	})
}

// evaluateQuiet evaluates a report without the health of the machine: in virtual time a minute
// passes in a moment, so that the machine seems to be busy.
func evaluateQuiet(report *results.Load, thresholds []validity.Threshold) {
	report.Health = results.Health{Length: report.Health.Length, NoFiles: report.Health.NoFiles,
		NoPorts: report.Health.NoPorts, NoMemory: report.Health.NoMemory}
	validity.Evaluate(report, thresholds...)
}

// steadyLoad is an open loop of 500 jobs that the server carries easily.
func steadyLoad() plan.Workload {
	return plan.Workload{
		Producers: 5, Consumers: 5, Payload: plan.Constant(100), Rate: 100, Duration: plan.Duration(5 * second),
		Queues: plan.Queues{Number: 3},
	}
}

// pushes returns the figures of the pushes of a load, which has some.
func pushes(t *testing.T, l *results.Load) *results.LoadOp {
	t.Helper()
	push := l.Op("push")
	require.NotNil(t, push)
	return push
}

func phases(l *results.Load) string {
	var names []string
	for _, p := range l.Phases {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

// requireSound has a run be without any bug of anybody, every job accounted for.
func requireSound(t *testing.T, l *results.Load) {
	t.Helper()
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitWell, code, words)
	assert.Empty(t, kinds(l))
	assert.Empty(t, l.Validity.Reasons)
	assert.True(t, l.Jobs.IsDrained, l.Jobs.DrainFailure)
	assert.Equal(t, l.Jobs.Pushed, l.Jobs.Delivered)
	assert.Zero(t, l.Jobs.HeldJobs+l.Jobs.Waiting+l.Jobs.Missing+l.Jobs.InDoubt+l.Jobs.Doubtful)
	for _, o := range l.Ops {
		assert.Empty(t, o.Errors, o.Op)
	}
	if l.Jobs.Pushed > 0 {
		assert.Contains(t, words, "accounted for")
	}
}

func TestASteadyRun(t *testing.T) {
	t.Parallel()
	l := bench{load: steadyLoad()}.run(t)
	requireSound(t, l)
	assert.Equal(t, "connect measure drain close", phases(l))
	assert.Equal(t, int64(500), l.Jobs.Pushed)
	assert.Equal(t, int64(500), l.Jobs.Acked)
	assert.Equal(t, results.Connections{Planned: 10, Opened: 10}, l.Connections)
	assert.InDelta(t, 100, l.Rate.Target, 1)
	assert.InDelta(t, 100, l.Rate.Achieved, 1)
	assert.InEpsilon(t, l.Rate.Achieved, pushes(t, l).Rate, 0.01, "the two ways to count agree")
	assert.NotEmpty(t, l.Target.HI)
	assert.NotEmpty(t, l.Target.Info)
	for _, s := range l.Series {
		assert.LessOrEqual(t, s.Length, second+20*ms)
	}
}

// Once every job is settled nothing waits for the end of a FETCH: neither the drain nor the close.
func TestTheEndWaitsForNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plan.Workload){
		"one queue for each worker": func(w *plan.Workload) { w.Queues.Number = 5 },
		"a pool": func(w *plan.Workload) {
			w.Topology, w.Queues.Number = plan.Topology{Kind: plan.Pool, Fetchers: 2}, 5
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			change(&w)
			l := bench{load: w}.run(t)
			requireSound(t, l)
			last := l.Phases[len(l.Phases)-2:]
			assert.Less(t, last[0].Took+last[1].Took, 500*ms)
		})
	}
}

// A closed loop with fewer workers than the usual number of queues is as fast as its workers: each queue has a worker
// that waits for its jobs. If there are more queues, the report says what limits the rate.
func TestFewWorkersWaitForAllQueues(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	w, err := plan.Preset("")
	require.NoError(t, err)
	w.Producers, w.Consumers, w.Duration = 5, 5, plan.Duration(4*second)
	usual := bench{load: w}.run(t)
	requireSound(t, usual)
	assert.Greater(t, usual.Rate.Achieved, 1000.0)
	assert.NotContains(t, strings.Join(usual.Validity.Remarks, " "), "queues")
	w.Queues.Number = 10
	starved := bench{load: w}.run(t)
	assert.Less(t, starved.Rate.Achieved, usual.Rate.Achieved/2)
	assert.Contains(t, strings.Join(starved.Validity.Remarks, " "), "10 queues, and workers wait for only 5 of them")
}

// What is pushed before the window and fetched after it is not what is measured.
func TestOnlyTheWindowIsMeasured(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Warmup, w.Prefill = plan.Duration(2*second), 300
	l := bench{load: w}.run(t)
	requireSound(t, l)
	assert.Equal(t, "connect prefill warm-up measure drain close", phases(l))
	assert.Equal(t, int64(1000), l.Jobs.Pushed)
	push := pushes(t, l)
	assert.Equal(t, int64(500), push.Count)
	assert.Equal(t, int64(500), push.Outside)
	assert.InDelta(t, 100, push.Rate, 1)
	assert.InDelta(t, 5*second, l.Measured, float64(10*ms))
}

// Without a length the run ends with its jobs, and what the drain does is not measured.
func TestANumberOfJobs(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Rate, w.Duration, w.JobLimit = 0, 0, 300
	l := bench{load: w}.run(t)
	requireSound(t, l)
	assert.Equal(t, int64(300), l.Jobs.Pushed)
	assert.Equal(t, int64(300), pushes(t, l).Count)
	assert.Zero(t, l.Sum("fetch.empty").Count)
	assert.Zero(t, l.Sum("end").Count)
	assert.InEpsilon(t, float64(300)/l.Measured.Seconds(), l.Rate.Achieved, 0.01)
}

// Queues that are not alike have a row each, whose jobs are those of the account.
func TestQueuesAreAccountedForByThemselves(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Rate, w.Queues = 0, plan.Queues{Rates: []plan.Rate{80, 15, 5}}
	l := bench{load: w}.run(t)
	requireSound(t, l)
	require.Len(t, l.Queues, 3)
	var pushed, delivered, timed int64
	for i, q := range l.Queues {
		assert.Equal(t, fmt.Sprintf("fwpbench-test-%d", i), q.Queue)
		assert.InDelta(t, []float64{0.8, 0.15, 0.05}[i], q.Share, 1e-9)
		assert.InDelta(t, q.Share*500, q.Pushed, 30)
		assert.Zero(t, q.Missing)
		pushed, delivered, timed = pushed+q.Pushed, delivered+q.Delivered, timed+q.Fetched.Count
	}
	assert.Equal(t, []int64{l.Jobs.Pushed, l.Jobs.Delivered, l.Flow("job.fetched").Time.Count},
		[]int64{pushed, delivered, timed})
	assert.Empty(t, bench{load: steadyLoad()}.run(t).Queues, "they are alike")
}

// What an observer is told is on the time axis: the jobs that wait, as the server counts them.
func TestAnObserverTellsTheSizesOfQueues(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Observers, w.ObserveEvery, w.Work.Min, w.Work.Max = 1, plan.Duration(100*ms), 60*ms, 60*ms // 83 jobs a second
	var calls atomic.Int64
	l := bench{load: w, hooks: []func(*fakes.Event){func(e *fakes.Event) {
		if e.Point == fakes.Checked && e.Command.Verb == fwp.INFO {
			calls.Add(1)
		}
	}}}.run(t)
	assert.InDelta(t, 50, calls.Load(), 3, "as long as others push")
	var sizes []int64
	for _, s := range l.Series {
		if s.Phase == "measure" && s.Length > second/2 {
			require.NotNil(t, s.Server, s.At)
			require.NotNil(t, s.Server.WaitingJobs, s.At)
			sizes = append(sizes, *s.Server.WaitingJobs)
		}
	}
	require.GreaterOrEqual(t, len(sizes), 4)
	assert.True(t, slices.IsSorted(sizes), sizes)
	assert.Greater(t, sizes[len(sizes)-1], sizes[0]+30)
	var out bytes.Buffer
	require.NoError(t, results.WriteSeriesCSV(&out, l))
	assert.Contains(t, strings.SplitN(out.String(), "\n", 2)[0], ",server_waiting_jobs,")
}

func TestEveryPresetLeavesItsQueuesEmpty(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	for _, name := range plan.Presets() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := plan.Preset(name)
			require.NoError(t, err)
			w.Duration = plan.Duration(golden.Sample(150*ms, second))
			if w.BeatOnly {
				w.Duration = plan.Duration(20 * second) // a BEAT comes every 15 s
			}
			w.Producers, w.Consumers = min(w.Producers, 5), min(w.Consumers, 5)
			w.Prefill, w.Connections = min(w.Prefill, golden.Sample[int64](500, 2000)), min(w.Connections, 20)
			var remaining int64
			server := fakes.Config{Password: "secret", Iterations: 10, RetryDelay: func(int) time.Duration { return second }}
			l := bench{server: server, load: w, hooks: []func(*fakes.Event){countJobs(&remaining)}}.run(t)
			requireSound(t, l)
			assert.Zero(t, remaining, "jobs that were not delivered")
			assert.Equal(t, name != "idle", l.Jobs.Pushed > 0)
			assert.Equal(t, name == "failing", l.Jobs.Redelivered > 0)
			want := map[string]string{"fetch": "ack", "idle": "beat", "churn": "connect"}[name]
			if want == "" {
				want = "push"
			}
			assert.Equal(t, want, l.Rate.Op)
			assert.Positive(t, l.Rate.Achieved)
		})
	}
}
