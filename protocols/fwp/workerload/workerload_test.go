package workerload_test

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fakeworker "github.com/fwpsuite/fwp/fakes/worker"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/protocols/fwp/workerload"
	"github.com/fwpsuite/fwp/reports"
)

// program is a worker of this process.
type program struct {
	done  chan struct{}
	code  int
	end   context.CancelFunc
	usage func() validity.Usage
}

func (p *program) Done() <-chan struct{}         { return p.done }
func (p *program) ExitStatus() string            { return "exit status " + strconv.Itoa(p.code) }
func (p *program) Output() []string              { return []string{"hello", "I am done"} }
func (p *program) Usage() (validity.Usage, bool) { return p.usage(), true }
func (p *program) Kill() {
	p.end()
	<-p.done
}

// pauseHook returns a hook with which an executor pauses before a FETCH, and works on a job for so long.
func pauseHook(idle, work time.Duration) func(*fakeworker.Event) {
	return func(e *fakeworker.Event) {
		switch {
		case e.Point != fakeworker.Sending:
		case bytes.HasPrefix(e.Line, []byte("FETCH")):
			e.Delay = idle
		case bytes.HasPrefix(e.Line, []byte("ACK")), bytes.HasPrefix(e.Line, []byte("FAIL")):
			e.Delay = work
		}
	}
}

// play has a worker work in virtual time. Its processes take 0.2 CPUs and 5 MiB.
func play(t *testing.T, c workerload.Config, change func(*fakeworker.Config)) (l *results.Load) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		began := time.Now()
		var all sync.WaitGroup
		defer all.Wait()
		c.Listen, c.Run, c.Workload.Seed = place.Listen, "test", 1
		c.Workload = workerload.ForWorker(c.Workload)
		if c.Patience == 0 {
			c.Patience = time.Minute
		}
		c.Start = func(url string, queues []string, concurrency int) (workerload.Program, error) {
			config := fakeworker.Config{
				URL: url, Queues: queues, Concurrency: concurrency, Dial: place.Network.DialContext,
			}
			change(&config)
			ctx, cancel := context.WithCancel(context.Background())
			p := &program{done: make(chan struct{}), end: cancel, usage: func() validity.Usage {
				return validity.Usage{CPU: time.Since(began) / 5, Memory: 5 << 20}
			}}
			all.Go(func() {
				p.code = fakeworker.New(config).Run(ctx)
				close(p.done)
			})
			return p, nil
		}
		l = workerload.Run(t.Context(), c).Report
	})
	return l
}

// What a worker does not finish is in the account.
func TestJobsThatAreKept(t *testing.T) {
	t.Parallel()
	l := play(t, workerload.Config{Concurrency: 3,
		Workload: plan.Workload{Duration: plan.Duration(2 * time.Second)}},
		func(c *fakeworker.Config) { c.Hook = pauseHook(0, time.Hour) })
	assert.EqualValues(t, 3, l.Jobs.HeldJobs)
}

// Each figure shows what the worker does.
func TestFigures(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		idle, work  time.Duration
		concurrency int
		inHand      float64
		rate        float64
	}{
		"idle for 5 ms":        {5 * time.Millisecond, 15 * time.Millisecond, 1, 0.75, 50},
		"three at a time":      {0, 10 * time.Millisecond, 3, 3, 300},
		"three, half the time": {10 * time.Millisecond, 10 * time.Millisecond, 3, 1.5, 150},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := play(t, workerload.Config{Concurrency: row.concurrency, Workload: plan.Workload{
				Duration: plan.Duration(10 * time.Second), Warmup: plan.Duration(time.Second),
			}}, func(c *fakeworker.Config) { c.Hook, c.BeatEvery = pauseHook(row.idle, row.work), 2*time.Second })
			require.Empty(t, l.GivenUp)
			assert.Equal(t, 10*time.Second, l.Measured)
			assert.InDelta(t, row.rate, l.Rate.Achieved, 1)
			assert.InDelta(t, row.work, l.Op("job").Response.P50, float64(row.work)/500)
			assert.InDelta(t, row.idle, l.Op("idle").Response.P99, float64(row.idle)/500+1000)
			assert.InDelta(t, row.inHand, l.Worker.InHand, 0.01)
			assert.EqualValues(t, row.concurrency, l.Worker.InHandMax)
			assert.Equal(t, row.concurrency+1, l.Worker.Connections, "and one for BEAT")
			assert.InDelta(t, 2*time.Second, l.Op("beat").Response.P50, 3e6)
			assert.InDelta(t, 2*time.Second, l.Worker.BeatGap, 1e6)
			assert.InDelta(t, 2*time.Second, l.Health.ServerCPU, 1e6, "0.2 CPUs for 10 s")
			assert.EqualValues(t, 5<<20, l.Worker.MemoryPeak)
			for _, m := range results.Metrics(nil) {
				assert.True(t, !strings.HasPrefix(m.Name, "worker.") || m.Get(l).Value > 0, "nothing fills the metric %s", m.Name)
			}
			assert.InDelta(t, 0.2, l.Series[3].Server.CPU, 0.01)
			assert.InDelta(t, row.rate, l.Series[3].Achieved, 3)
			assert.InDelta(t, row.inHand, l.Series[3].Server.InHand, 0.05)
			assert.True(t, l.Jobs.IsDrained, "jobs that were only kept ready are taken back")
			assert.Equal(t, l.Jobs.Pushed, l.Jobs.Acked)
		})
	}
}

// A worker may report on another connection than that on which it fetches.
func TestIdleTimeOfAPool(t *testing.T) {
	t.Parallel()
	l := play(t, workerload.Config{Concurrency: 2, Workload: plan.Workload{JobLimit: 50}},
		func(c *fakeworker.Config) { c.Hook, c.MaxCommands = pauseHook(5*time.Millisecond, 0), 1 })
	require.Empty(t, l.GivenUp)
	assert.InDelta(t, 5*time.Millisecond, l.Op("idle").Response.Mean, 5e4)
	assert.EqualValues(t, 50, l.Rate.Done)
	assert.EqualValues(t, 50, l.Op("job").Count)
	assert.Greater(t, l.Connections.Opened, 100, "a connection for each command")
}

// At a rate, a worker that is too slow is below it, and that is its figure.
func TestRate(t *testing.T) {
	t.Parallel()
	at := plan.Workload{Rate: 100, Duration: plan.Duration(5 * time.Second)}
	l := play(t, workerload.Config{Concurrency: 2, Workload: at},
		func(c *fakeworker.Config) { c.Hook = pauseHook(0, 10*time.Millisecond) })
	assert.InDelta(t, 100, l.Rate.Achieved, 0.5)
	assert.InDelta(t, 100, l.Rate.Target, 0.5)
	assert.InDelta(t, 10*time.Millisecond, l.Flow("job.acked").Time.P99, 1e5)
	assert.InDelta(t, 1, l.Worker.InHand, 0.02)

	l = play(t, workerload.Config{Concurrency: 1, Workload: at},
		func(c *fakeworker.Config) { c.Hook = pauseHook(0, 20*time.Millisecond) })
	assert.InDelta(t, 50, l.Rate.Achieved, 0.5)
	assert.Greater(t, l.Flow("job.acked").Time.Max, 4*time.Second, "a job waits for those before it")
	assert.EqualValues(t, 500, l.Jobs.Acked, "the drain takes the rest")
	for _, r := range l.Validity.Reasons {
		assert.NotEqual(t, "behind", r.ID)
	}
}

// A share of the jobs fails on purpose, and a job that fails by itself is an error.
func TestFailures(t *testing.T) {
	t.Parallel()
	workload := plan.Workload{JobLimit: 1000, FailShare: 0.3}
	l := play(t, workerload.Config{Concurrency: 2, Workload: workload}, func(*fakeworker.Config) {})
	assert.InDelta(t, 300, l.Jobs.Failed, 60)
	assert.EqualValues(t, 1000, l.Jobs.Failed+l.Jobs.Acked)
	assert.Empty(t, l.Op("job").Errors)

	l = play(t, workerload.Config{Concurrency: 2, Workload: workload}, func(c *fakeworker.Config) {
		c.Hook = func(e *fakeworker.Event) {
			if e.Point == fakeworker.Ran {
				e.Verb, e.Fields["message"] = "FAIL", "no"
			}
		}
	})
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Regexp(t, `[67].* % of the jobs failed: [67].. jobs refused \(no\)`, words)
}

// What is no result says why in its first line.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	dies := func(c *fakeworker.Config) {
		jobs := 0
		c.Hook = func(e *fakeworker.Event) {
			if e.Point == fakeworker.Delivered {
				if jobs++; jobs == 20 {
					e.Worker.Exit(3)
				}
			}
		}
	}
	for name, row := range map[string]struct {
		change func(*fakeworker.Config)
		first  string
	}{
		"ends": {dies, `^stopped after [12][0-9] of 20,000 jobs: the worker ended by itself \(exit status 3\)`},
		"does not fetch": {func(c *fakeworker.Config) { c.Hook = pauseHook(time.Hour, 0) },
			`^the worker did not fetch within 1m0s`},
		"hangs": {func(c *fakeworker.Config) { c.Hook = pauseHook(0, time.Hour) },
			`^stopped after 0 of 20,000 jobs: no job was fetched or reported for 10s`},
		"cannot begin": {func(c *fakeworker.Config) { c.URL = "tcp://[" },
			`^the worker ended by itself \(exit status 2\) before it fetched a job; it printed: I am done`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := play(t, workerload.Config{Concurrency: 1, Workload: plan.Workload{JobLimit: 20_000}}, row.change)
			code, words := l.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, reports.ExitInconclusive, code)
			assert.Regexp(t, row.first, words)
			assert.Equal(t, []string{"hello", "I am done"}, l.Worker.Output)
		})
	}
}

// Where the server of the suite is the limit, the figures are not the worker's.
func TestServerIsTheLimit(t *testing.T) {
	t.Parallel()
	l := play(t, workerload.Config{Concurrency: 1, Workload: plan.Workload{JobLimit: 10}}, func(*fakeworker.Config) {})
	l.Health = results.Health{Length: time.Second, CPUShare: 0.9}
	validity.Evaluate(l)
	require.NotEmpty(t, l.Validity.Reasons)
	assert.Equal(t, "saturated", l.Validity.Reasons[0].ID)
	l.Health.CPUShare = 0.6
	validity.Evaluate(l)
	assert.Contains(t, strings.Join(l.Validity.Remarks, "\n"), "The server of fwpbench used 60 % of its CPU")
	l.Health.CPUShare = 0.4
	validity.Evaluate(l)
	assert.NotContains(t, strings.Join(l.Validity.Remarks, "\n"), "The server of fwpbench")
}
