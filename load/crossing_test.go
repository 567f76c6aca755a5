package load_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
)

// crowd is a load whose jobs cross between so many runs at one server.
type crowd struct {
	bench

	of     int
	shares workload.Crossing
	change func(i int, c *load.Config) // if set
	lose   int                         // how many accounts of the last runs are lost
}

// run returns the joined result, and the parts of it.
func (c crowd) run(t *testing.T) (*results.Load, []load.Part) {
	t.Helper()
	parts := make([]load.Part, c.of)
	c.with(t, func(ctx context.Context, config load.Config) {
		require.NoError(t, c.shares.Check(&config.Workload, c.of))
		start, pushing := time.Now().Add(3*second), new(sync.WaitGroup)
		pushing.Add(c.of)
		var all sync.WaitGroup
		for i := range c.of {
			mine := config
			part, segment, err := c.shares.Segment(&config.Workload, workload.Segment{Index: i, Of: c.of})
			require.NoError(t, err)
			mine.Workload, mine.Segment, mine.Run = part, segment, fmt.Sprintf("test-%d", i+1)
			mine.Start, mine.Loops = load.StartAt(start), 1+i%2
			mine.Crossing = &load.Crossing{Run: config.Run, Pushed: func(context.Context) error {
				pushing.Done()
				pushing.Wait()
				return nil
			}}
			if c.change != nil {
				c.change(i, &mine)
			}
			all.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond) // so that their clocks differ
				result := load.Run(ctx, mine)
				quiet(result.Report, nil)
				parts[i] = load.Part{
					Agent:  results.LoadAgent{Name: mine.Run, Clock: &results.AgentClock{Bound: time.Duration(i+1) * ms}},
					Report: result.Report, Account: result.Account,
				}
			})
		}
		all.Wait()
	})
	for i := range c.lose {
		parts[c.of-1-i].Account = nil
	}
	joined, err := load.JoinCrossed(parts, load.Crossed{
		Workload: c.load, Seed: 1, Run: "test", ClauseOf: fwpsuite.ClauseOf,
	})
	require.NoError(t, err)
	return joined.Report, parts
}

// Runs between which jobs cross are one load: the same arrivals, and one account, although no run has it.
func TestRunsWhoseJobsCrossAreOneLoad(t *testing.T) {
	t.Parallel()
	even := brief()
	even.Prefill = 30
	even.Observers, even.ObserveEvery = 3, workload.Duration(100*ms)
	closed := steady()
	closed.Rate, closed.Duration, closed.JobLimit = 0, 0, 200
	delayed := brief()
	delayed.Delay = workload.Range{Min: second, Max: 2 * second}
	quick := map[string][]int{"even": {1}, "closed": {0}, "delayed": {1}}
	for name, w := range map[string]workload.Workload{"even": even, "closed": closed, "delayed": delayed} {
		for _, pushing := range slow.Pick(quick[name], []int{0, 1, 2}) {
			t.Run(fmt.Sprintf("%s %d", name, pushing), func(t *testing.T) {
				t.Parallel()
				one := bench{load: w}.run(t)
				joined, parts := crowd{bench: bench{load: w}, of: 3, shares: workload.Crossing{Pushing: pushing}}.run(t)
				well(t, joined)
				want, got := one.Jobs, joined.Jobs
				want.OutOfOrder, got.OutOfOrder, want.TakenAtEnd, got.TakenAtEnd = 0, 0, 0, 0
				assert.Equal(t, want, got)
				assert.Equal(t, one.Rate.Op, joined.Rate.Op)
				assert.Equal(t, one.Rate.Planned, joined.Rate.Planned)
				assert.Equal(t, one.Connections.Planned, joined.Connections.Planned)
				assert.Equal(t, 5*ms, joined.ClockBound)
				require.Len(t, joined.Flows, 2)
				assert.Equal(t, pushes(t, one).Count, pushes(t, joined).Count)
				assert.Equal(t, pushes(t, joined).Count, joined.Flows[0].Time.Count, "of each measured job")
				if name != "closed" { // how fast that goes depends on how many take part
					assert.Equal(t, histograms(t, one, measure.Push), histograms(t, joined, measure.Push))
				}
				crossed(t, parts, pushing)
			})
		}
	}
}

// crossed has each part be one of jobs that others have pushed or fetched.
func crossed(t *testing.T, parts []load.Part, pushing int) {
	t.Helper()
	for i, part := range parts {
		jobs := part.Report.Jobs
		assert.Zero(t, jobs.Lost+jobs.Missing+jobs.InDoubt, "that is not known to a part")
		assert.Empty(t, part.Report.Findings)
		assert.True(t, jobs.Part)
		switch {
		case pushing == 0:
			assert.Positive(t, jobs.Pushed)
			assert.Positive(t, jobs.Delivered)
		case i < pushing:
			assert.Zero(t, jobs.Delivered)
			assert.Equal(t, fmt.Sprintf("%d/%d of the producers", i+1, pushing), part.Report.Plan.Segment)
		default:
			assert.Zero(t, jobs.Pushed)
			assert.Positive(t, jobs.Delivered)
			assert.Equal(t, fmt.Sprintf("%d/%d of the workers", i-pushing+1, len(parts)-pushing), part.Report.Plan.Segment)
		}
	}
}

// What a server does wrong with a job is found if one run has pushed it and another one has it.
func TestFaultsAreFoundAcrossRuns(t *testing.T) {
	t.Parallel()
	twice := []results.FindingKind{results.FindingElsewhere, results.FindingDuplicated, results.FindingReturned}
	for _, test := range []struct {
		fault string
		kinds []results.FindingKind
		count int64
		quick []int
	}{
		{"push-lost", []results.FindingKind{results.FindingLost}, 10, []int{1}},
		{"delivered-twice", twice, 0, []int{0}},
		{"job-args-reversed", []results.FindingKind{results.FindingAltered}, 500, nil},
	} {
		for _, pushing := range slow.Pick(test.quick, []int{0, 1}) {
			t.Run(fmt.Sprintf("%s %d", test.fault, pushing), func(t *testing.T) {
				t.Parallel()
				w := brief()
				w.Rate = 250
				server := fakes.Config{Hook: faultNamed(t, test.fault).Hook()}
				l, _ := crowd{bench: bench{server: server, load: w}, of: 3, shares: workload.Crossing{Pushing: pushing}}.run(t)
				assert.Subset(t, test.kinds, kinds(l))
				f := loss(t, l, test.kinds[0])
				ours(t, f.JIDs)
				if test.count > 0 {
					assert.Equal(t, test.count, f.Count)
					assert.NotEmpty(t, f.Clause)
				}
			})
		}
	}
}

// A run whose account is lost leaves in doubt what it had: no job is taken for a lost one, or for one that was never
// pushed.
func TestAnAccountIsLost(t *testing.T) {
	t.Parallel()
	l, parts := crowd{bench: bench{load: brief()}, of: 3, lose: 1}.run(t)
	assert.Empty(t, l.Findings)
	assert.False(t, l.Jobs.Drained)
	assert.Contains(t, l.Jobs.NotDrained, "agent test-3 has sent no account")
	assert.Equal(t, int64(100), l.Jobs.Pushed, "what the lost one has said counts")
	assert.Positive(t, parts[2].Report.Jobs.Pushed)
	assert.Zero(t, l.Jobs.Lost+l.Jobs.Missing, "what it has fetched counts, too")
	_, err := load.JoinCrossed([]load.Part{{Report: parts[0].Report, Account: []byte("no account")}}, load.Crossed{})
	require.ErrorContains(t, err, "an account of jobs")
}

// No queue is drained before all have pushed their last job: the workers of a run that is done go on.
func TestWorkersWaitForTheProducersOfOthers(t *testing.T) {
	t.Parallel()
	w := brief()
	w.JobLimit, w.Rate, w.Duration = 90, 0, 0
	w.Think = workload.Range{Min: second, Max: second}
	slowest := func(i int, c *load.Config) {
		if i == 0 {
			c.Workload.Think = workload.Range{Min: 3 * second, Max: 3 * second}
		}
	}
	l, parts := crowd{bench: bench{load: w}, of: 2, change: slowest}.run(t)
	well(t, l)
	assert.InDelta(t, parts[0].Report.Measured, parts[1].Report.Measured, float64(second))
	stuck := func(_ int, c *load.Config) {
		c.Workload.Drain = workload.Duration(2 * second)
		c.Crossing.Pushed = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
	}
	timed := brief()
	l, _ = crowd{bench: bench{load: timed}, of: 2, change: stuck}.run(t)
	assert.False(t, l.Jobs.Drained)
	assert.Contains(t, l.Jobs.NotDrained, "other agents still pushed when the time for the drain was up")
	assert.Zero(t, l.Jobs.Lost)
}
