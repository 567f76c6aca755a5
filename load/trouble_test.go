package load_test

import (
	"context"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/target/forward/forwardtest"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
	"github.com/fwpsuite/fwp/reports"
)

func outcome(t *testing.T, l *results.Load, code int, words ...string) {
	t.Helper()
	got, text := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, code, got, text)
	for _, w := range words {
		assert.Contains(t, text, w)
	}
}

func TestAPoolSharesWorkerIDs(t *testing.T) {
	t.Parallel()
	w := briefLoad()
	w.Topology = plan.Topology{Kind: plan.Pool, Fetchers: 2, Reporters: 2, Concurrency: 5}
	w.Work = plan.Range{Min: ms, Max: 20 * ms}
	assert.Equal(t, 5+5*5, load.Connections(&w))
	l := bench{load: w}.run(t)
	requireSound(t, l)
	assert.Equal(t, 30, l.Connections.Opened)
}

func TestAPassword(t *testing.T) {
	t.Parallel()
	server := fakes.Config{Password: "secret", Iterations: 10}
	requireSound(t, bench{server: server, load: steadyLoad()}.run(t))
	l := bench{server: server, load: steadyLoad(), change: func(c *load.Config) {
		c.Protocol = fwpwire.New("wrong")
	}}.run(t)
	outcome(t, l, reports.ExitUnreachable, "HELLO")
	assert.Empty(t, l.Phases)
}

func TestNobodyIsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := load.Run(t.Context(), load.Config{
			Workload: steadyLoad(), Run: "test", CoarseTimers: true, Protocol: fwpwire.New(""),
			Dial: memnet.NewPlace().Dial,
		}).Report
		outcome(t, l, reports.ExitUnreachable, "connection refused")
	})
}

// A limit of this machine is reported as such, and not as one of the server.
func TestShortages(t *testing.T) {
	t.Parallel()
	for number, want := range map[syscall.Errno]string{
		syscall.ENOBUFS:       "4 connections could not be opened: out of memory for sockets",
		syscall.EMFILE:        "out of file descriptors",
		syscall.EADDRNOTAVAIL: "out of local ports",
	} {
		var dials atomic.Int64
		l := bench{load: briefLoad(), change: func(c *load.Config) {
			dial := c.Dial
			c.Dial = func(ctx context.Context) (net.Conn, error) {
				if n := dials.Add(1); n > 7 && n <= 11 { // the first is not part of the load
					return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", number)}
				}
				return dial(ctx)
			}
		}}.run(t)
		outcome(t, l, reports.ExitInternal, want)
	}
}

// A server that accepts only some connections: their number is reported, and no job is
// pushed that could not be fetched.
func TestALimitOfConnections(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Producers, w.Consumers = 20, 20
	l := bench{server: fakes.Config{MaxConnections: 30}, load: w}.run(t)
	outcome(t, l, reports.ExitInconclusive, "the target accepted 30 of 40 connections", "too many connections")
	assert.Equal(t, "connect close", phases(l))
	assert.Equal(t, 40, l.Connections.Planned)
	assert.Equal(t, 30, l.Connections.Opened)
	assert.Equal(t, results.LoadJobs{IsDrained: true}, l.Jobs)
	assert.Less(t, l.Took, 10*second)
}

// The same of one that ends connections for others: how many are open goes up and down for as long as anyone waits.
func TestALimitThatEndsConnections(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Producers, w.Consumers = 20, 20
	l := bench{server: fakes.Config{MaxConnections: 30}, load: w, change: func(c *load.Config) {
		dial := c.Dial
		c.Dial = func(ctx context.Context) (net.Conn, error) {
			nc, err := dial(ctx)
			if err == nil {
				time.AfterFunc(2*time.Second, func() { _ = nc.Close() })
			}
			return nc, err
		}
	}}.run(t)
	outcome(t, l, reports.ExitInconclusive, " of 40 connections", "too many connections")
	assert.Less(t, l.Took, time.Minute)
}

// A server that dies: confirmed and doubtful jobs are reported soon.
func TestAServerThatDies(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Rate, w.Duration = 500, plan.Duration(time.Hour)
	l := bench{load: w, during: func(_ func(), server *fakes.Server) {
		time.Sleep(second + 500*time.Microsecond)
		server.Close()
	}}.run(t)
	outcome(t, l, reports.ExitUnreachable, "the target was lost", "confirmed", "without a reply")
	assert.Contains(t, l.GoneReason, "connection refused, 1 s")
	assert.Positive(t, l.Jobs.Pushed)
	assert.Positive(t, l.Jobs.Acked)
	assert.Positive(t, l.Jobs.Doubtful, "pushes were in flight")
	assert.False(t, l.Jobs.IsDrained)
	assert.Empty(t, kinds(l))
	assert.Less(t, l.Took, time.Minute)
	assert.Equal(t, int64(10), l.Connections.Losses)
}

// TestTheEndOfAForwarder: what a client did last to the transport is named, where a forwarder may be in between, and no
// clause is blamed.
func TestTheEndOfAForwarder(t *testing.T) {
	t.Parallel()
	disconnecting := steadyLoad()
	disconnecting.Disconnects = 0.05
	for name, test := range map[string]*struct {
		forwarder  forwardtest.Forwarder
		load       plan.Workload
		isExcluded bool // that there is none
		last       string
	}{
		"a reset":      {forwardtest.Forwarder{Resets: true}, disconnecting, false, "without a goodbye: a forwarder"},
		"a half-close": {forwardtest.Forwarder{HalfCloses: true}, disconnecting, false, "without a goodbye: a forwarder"},
		"the number of connections": {forwardtest.Forwarder{Connections: 7}, steadyLoad(), false,
			"refused, right after the start; last, clients opened 10 connections: a forwarder"},
		"there is none": {forwardtest.Forwarder{Resets: true}, disconnecting, true, ""},
	} {
		l := bench{load: test.load, change: func(c *load.Config) {
			test.forwarder.Server, c.MayBeForwarded = c.Dial, !test.isExcluded
			c.Dial = test.forwarder.Dial
		}}.run(t)
		assert.True(t, test.forwarder.HasEnded(), name)
		outcome(t, l, reports.ExitUnreachable, "the target was lost", test.last)
		assert.Equal(t, test.isExcluded, !strings.Contains(l.GoneReason, "forwarder"), l.GoneReason)
		assert.Empty(t, kinds(l), name)
	}
}

// One that comes back is not gone.
func TestAServerThatIsRestarted(t *testing.T) {
	t.Parallel()
	l := bench{load: steadyLoad(), during: func(_ func(), server *fakes.Server) {
		time.Sleep(2 * second)
		_ = server.Restart()
	}}.run(t)
	assert.Empty(t, l.GoneReason)
	assert.Empty(t, kinds(l))
	assert.True(t, l.Jobs.IsDrained, l.Jobs.DrainFailure)
	assert.Zero(t, l.Jobs.LostJobs)
	assert.Equal(t, l.Jobs.InDoubt, l.Jobs.Missing)
}

func TestThresholds(t *testing.T) {
	t.Parallel()
	var all []validity.Threshold
	for _, text := range []string{"push.response.p99<20ms", "lost==0", "push.response.p50<1us", "beat.response.p99<1s"} {
		threshold, err := validity.ParseThreshold(text, load.Ops()...)
		require.NoError(t, err)
		all = append(all, threshold)
	}
	with := func(list ...validity.Threshold) *results.Load {
		return bench{load: briefLoad(), change: func(c *load.Config) { c.Thresholds = list }}.run(t)
	}
	outcome(t, with(all[:2]...), reports.ExitWell)
	outcome(t, with(all[:3]...), reports.ExitFindings, "1 of 3 thresholds missed: push.response.p50<1us")
	l := with(all[3])
	outcome(t, l, reports.ExitFindings, "has no data")
	assert.True(t, l.Thresholds[0].NoData)
}

// slowPush has a PUSH take so long that the producers cannot carry the plan.
func slowPush(e *fakes.Event) {
	if e.Point == fakes.Ran && e.Command.Verb == "PUSH" {
		e.Delay += 20 * ms
	}
}

func TestOverload(t *testing.T) {
	t.Parallel()
	run := func(overload client.Overload) *results.Load {
		w := steadyLoad()
		w.Rate, w.Duration = 500, plan.Duration(2*second)
		return bench{load: w, hooks: []func(*fakes.Event){slowPush}, change: func(c *load.Config) { c.Overload = overload }}.run(t)
	}
	queued := run(client.Queue)
	outcome(t, queued, reports.ExitWell, "achieved 24", "of 500 /s")
	assert.Greater(t, pushes(t, queued).Response.Max, 800*ms)
	assert.Less(t, pushes(t, queued).Service.Max, 30*ms)
	assert.LessOrEqual(t, pushes(t, queued).Lateness.Max, ms)
	assert.Zero(t, queued.Rate.Dropped)
	assert.InDelta(t, 520, queued.Rate.Unserved, 20, "what waits at the end is not sent")
	response := pushes(t, queued).Response
	assert.Equal(t, queued.Rate.Unserved, response.Unserved)
	assert.Contains(t, response.AtLeast, "p99")
	assert.Equal(t, pushes(t, queued).Count+response.Unserved, response.Count)

	dropped := run(client.Drop)
	outcome(t, dropped, reports.ExitWell, "dropped")
	assert.Less(t, pushes(t, dropped).Response.Max, 30*ms)
	assert.InDelta(t, 520, dropped.Rate.Dropped, 80)

	aborted := run(client.Abort)
	outcome(t, aborted, reports.ExitInconclusive, "--overload abort")
	assert.Less(t, aborted.Took, 10*second)
	assert.True(t, aborted.Jobs.IsDrained)
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		after  time.Duration // 0: at the tenth PUSH
		phases string
	}{
		"connect": {3 * ms, "connect close"},
		"prefill": {0, "connect prefill drain close"},
		"warm-up": {2 * second, "connect prefill warm-up measure drain close"},
		"measure": {5 * second, "connect prefill warm-up measure drain close"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			w.Producers, w.Consumers, w.Prefill = 40, 40, golden.Sample[int64](400, 10_000)
			w.Warmup, w.Duration = plan.Duration(2*second), plan.Duration(time.Hour)
			var pushes atomic.Int64
			l := bench{load: w, hooks: []func(*fakes.Event){func(e *fakes.Event) {
				if e.Point == fakes.Ran && e.Command.Verb == fwp.PUSH {
					pushes.Add(1)
				}
			}}, during: func(cancel func(), _ *fakes.Server) {
				for time.Sleep(test.after); test.after == 0 && pushes.Load() < 10; {
					time.Sleep(ms)
				}
				cancel()
			}}.run(t)
			outcome(t, l, reports.ExitInterrupted, "interrupted: ")
			assert.True(t, l.Interrupted)
			assert.Equal(t, test.phases, phases(l))
			assert.True(t, l.Jobs.IsDrained, l.Jobs.DrainFailure)
			assert.Equal(t, l.Jobs.Pushed, l.Jobs.Acked)
			assert.Equal(t, name != "connect", l.Jobs.Pushed > 0)
			assert.Empty(t, kinds(l))
			assert.Less(t, l.Took, time.Minute)
		})
	}
}

// A retry that never comes leaves the drain without an end in order.
func TestAJobThatIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.FailShare, w.Duration = 0.1, plan.Duration(2*second)
	l := find(t, w, "retry-lost")
	outcome(t, l, reports.ExitInconclusive, "still to be retried")
	assert.InDelta(t, 20, l.Jobs.Waiting, 10)
}

// A run that is interrupted ends within ten seconds, whatever its queues still hold and its workers still work on.
func TestAnInterruptedRunEndsSoon(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*plan.Workload){
		func(w *plan.Workload) { w.FailShare = 0.1 }, // and the server does not try again
		func(w *plan.Workload) { w.Work = plan.Range{Min: 20 * time.Minute, Max: 20 * time.Minute} },
		func(w *plan.Workload) {
			w.Delay, w.Drain = plan.Range{Min: time.Hour, Max: time.Hour}, plan.Duration(2*time.Hour)
		},
	} {
		w := steadyLoad()
		change(&w)
		for _, after := range []time.Duration{2 * second, 8 * second} { // while it measures, and in the drain
			l := bench{
				load: w, server: fakes.Config{Hook: findBug(t, "retry-lost").Hook()},
				during: func(cancel func(), _ *fakes.Server) {
					time.Sleep(after)
					cancel()
				},
			}.run(t)
			outcome(t, l, reports.ExitInterrupted, "the run was interrupted before its queues were empty")
			assert.Less(t, l.Took, after+10*second)
		}
	}
}

// A drain that is interrupted keeps the figures before it, and empties the queues.
func TestInterruptedInTheDrain(t *testing.T) {
	t.Parallel()
	l := bench{load: steadyLoad(), during: func(cancel func(), _ *fakes.Server) {
		time.Sleep(5*second + 50*ms)
		cancel()
	}}.run(t)
	outcome(t, l, reports.ExitInterrupted, "achieved the target rate of 100 /s", "all 500 jobs accounted for")
}

// A phase that was given up decides: the load is not the one that was asked for.
func TestAPhaseThatIsGivenUp(t *testing.T) {
	t.Parallel()
	silent := stallServer(3*second, 13*second) // which ends before the drain is given up, too
	for name, test := range map[string]struct {
		change func(*plan.Workload)
		words  string
	}{
		"a number of jobs": {func(w *plan.Workload) {
			w.Rate, w.Duration, w.JobLimit, w.Think = 0, 0, 2000, plan.Range{Min: 20 * ms, Max: 20 * ms}
		}, "^stopped after 3[0-9]{2} of 2,000 jobs: no reply for 10 s; achieved [^;]* /s \\(jobs pushed\\); all " +
			"3[0-9]{2} jobs accounted for$"},
		"a number of jobs at a rate": {func(w *plan.Workload) { w.Duration, w.JobLimit = 0, 2000 },
			"^stopped after 30[0-9] of 2,000 jobs: no reply for 10 s; "},
		"the prefill": {func(w *plan.Workload) { w.Prefill = 100_000 },
			"^stopped after [0-9,]* of 100,000 jobs: no reply for 10 s; all [0-9,]* jobs accounted for$"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			test.change(&w)
			missed, err := validity.ParseThreshold("rate>=1000/s", load.Ops()...)
			require.NoError(t, err)
			l := bench{load: w, hooks: []func(*fakes.Event){silent, slowPush}, change: func(c *load.Config) {
				c.Thresholds = []validity.Threshold{missed}
			}}.run(t)
			code, words := l.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, reports.ExitInconclusive, code)
			assert.Regexp(t, test.words, words)
		})
	}
}
