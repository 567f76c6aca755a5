package load_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// segments runs a workload in so many segments, each in a virtual time of its own, and joins the results.
func segments(t *testing.T, w workload.Workload, of int) *load.Result {
	t.Helper()
	var parts []load.Part
	for i := range of {
		s := workload.Segment{Index: i, Of: of}
		part, err := w.Segment(s)
		require.NoError(t, err)
		l := bench{load: part, change: func(c *load.Config) {
			c.Segment, c.Run, c.Loops = s, fmt.Sprintf("part%d", i), 1+i%2
		}}.run(t)
		parts = append(parts, load.Part{Agent: results.LoadAgent{Name: fmt.Sprintf("agent%d", i)}, Report: l})
	}
	joined, err := load.Join(parts)
	require.NoError(t, err)
	return joined
}

// histograms returns the buckets of the series of a set, and what is counted beside them.
func histograms(t *testing.T, l *results.Load, of ...measure.Op) map[string]any {
	t.Helper()
	set, err := measure.NewLogReader("report", strings.NewReader(l.Histograms)).Next()
	require.NoError(t, err)
	all := map[string]any{}
	for _, op := range of {
		for _, m := range []measure.Measure{measure.Lateness, measure.Service, measure.Response} {
			series := measure.SeriesOf(op, m)
			h := set.Histogram(series)
			require.NotNil(t, h, series)
			buckets := map[int64]int64{}
			for _, bar := range h.Distribution() {
				if bar.Count > 0 {
					buckets[bar.From] = bar.Count
				}
			}
			all[series.String()] = buckets
		}
		all[string(op)+" aside"] = set.Aside(op)
	}
	return all
}

// brief is steady with few jobs.
func brief() workload.Workload {
	w := steady()
	w.Rate, w.Duration = 50, workload.Duration(2*second)
	return w
}

// Segments that are joined are what one process does, bucket for bucket and job for job: the same arrivals at the same
// moments, each in one segment.
func TestSegmentsAreOneLoad(t *testing.T) {
	t.Parallel()
	slow.NotRacing(t)
	even := steady()
	even.Duration = workload.Duration(slow.Pick(2*second, 5*second))
	poisson := even
	poisson.Poisson, poisson.Warmup = true, workload.Duration(second)
	poisson.Producers = 90 // enough that no arrival waits for one, however they are shared
	closed := steady()
	closed.Rate, closed.Duration, closed.JobLimit, closed.Prefill = 0, 0, slow.Pick[int64](200, 1000), 77
	churn := workload.Workload{
		Connections: 20, Churn: true, Rate: 100, Duration: workload.Duration(2 * second), Payload: workload.Constant(10),
	}
	for name, w := range map[string]workload.Workload{"even": even, "poisson": poisson, "closed": closed, "churn": churn} {
		for _, of := range slow.Pick([]int{3}, []int{2, 3, 5}) {
			t.Run(fmt.Sprintf("%s in %d", name, of), func(t *testing.T) {
				t.Parallel()
				one := bench{load: w}.run(t)
				joined := segments(t, w, of).Report
				well(t, joined)
				assert.Len(t, joined.Agents, of)
				assert.Equal(t, one.Jobs.Pushed, joined.Jobs.Pushed)
				assert.Equal(t, one.Jobs.Acked, joined.Jobs.Acked)
				assert.Equal(t, one.Connections.Planned, joined.Connections.Planned)
				if name == "closed" { // how fast it goes depends on how many take part
					assert.Equal(t, pushes(t, one).Count, pushes(t, joined).Count)
					return
				}
				assert.Equal(t, one.Rate.Planned, joined.Rate.Planned)
				assert.InDelta(t, one.Rate.Done, joined.Rate.Done, float64(of), "the last replies may be in the window or not")
				assert.Equal(t, histograms(t, one, measure.Push), histograms(t, joined, measure.Push))
			})
		}
	}
}

// A segment says what it is, and a report of all of them does not.
func TestSegmentsInReports(t *testing.T) {
	t.Parallel()
	joined := segments(t, brief(), 2).Report
	assert.Equal(t, "1/2", joined.Agents[0].Segment)
	assert.Empty(t, joined.Plan.Segment)
	assert.Equal(t, 5, joined.Plan.Producers)
	assert.Equal(t, 5, joined.Plan.Consumers)
	assert.Contains(t, joined.Plan.Words, "2 segments, the first of them: 3 producers")
	assert.Contains(t, joined.Plan.Words, "one of 2 arrivals of 50 /s")
	var settings map[string]string
	require.NoError(t, json.Unmarshal(joined.Plan.Workload, &settings))
	assert.Equal(t, "5", settings["producers"])
	assert.Equal(t, "part0+part1", joined.Run)
	assert.InDelta(t, 50, joined.Rate.Target, 1)
	assert.InDelta(t, 50, joined.Rate.Achieved, 1)
	for i := range joined.Agents {
		assert.InDelta(t, 25, joined.Agents[i].Rate.Target, 1)
	}
}

// One part that is INVALID, lost or interrupted makes the whole so.
func TestTheWorstPartDecides(t *testing.T) {
	t.Parallel()
	good := bench{load: brief()}.run(t)
	join := func(change func(*load.Part)) *results.Load {
		other := *good
		other.Run, other.Histograms = "other", strings.Replace(good.Histograms, "run test", "run other", 1)
		part := load.Part{Agent: results.LoadAgent{Name: "b"}, Report: &other}
		change(&part)
		joined, err := load.Join([]load.Part{{Agent: results.LoadAgent{Name: "a"}, Report: good}, part})
		require.NoError(t, err)
		return joined.Report
	}
	code := func(l *results.Load) int { code, _ := l.Outcome(); return code }
	assert.Equal(t, reports.ExitWell, code(join(func(*load.Part) {})))
	late := join(func(p *load.Part) {
		p.Report.Validity = results.Validity{Reasons: []results.Reason{{ID: "late", What: "push was sent late"}}}
	})
	assert.Equal(t, reports.ExitInconclusive, code(late))
	assert.Equal(t, "agent b: push was sent late", late.Validity.Reasons[0].What)
	lost := join(func(p *load.Part) { p.Agent.Lost = "no ticks" })
	assert.Equal(t, reports.ExitInconclusive, code(lost))
	assert.Equal(t, "agent b was lost: no ticks", lost.Validity.Reasons[0].What)
	assert.Equal(t, reports.ExitInterrupted, code(join(func(p *load.Part) { p.Report.Interrupted = true })))
	gone := join(func(p *load.Part) { p.Report.Gone = "reset" })
	assert.Equal(t, reports.ExitUnreachable, code(gone))
	assert.Equal(t, "agent b: reset", gone.Gone)
	undrained := join(func(p *load.Part) { p.Report.Jobs.Drained, p.Report.Jobs.NotDrained = false, "too slow" })
	assert.Equal(t, reports.ExitInconclusive, code(undrained))
	assert.False(t, undrained.Jobs.Drained)
	assert.Equal(t, "agent b: too slow", undrained.Jobs.NotDrained)
	found := join(func(p *load.Part) {
		p.Report.Findings = []results.LoadFinding{results.NewLoadFinding(results.FindingLost, 2, []string{"x", "y"})}
	})
	assert.Equal(t, reports.ExitLoss, code(found))
	_, err := load.Join(nil)
	require.Error(t, err)
	_, err = load.Join([]load.Part{{Report: good}, {Report: good}})
	require.ErrorContains(t, err, "it would count twice")
}

func TestFindingsOfAllParts(t *testing.T) {
	t.Parallel()
	part := func(name string, n int) load.Part {
		jids := make([]string, n)
		f := results.NewLoadFinding(results.FindingLost, int64(n), jids)
		f.Notes = []string{name}
		return load.Part{Agent: results.LoadAgent{Name: name}, Report: &results.Load{Findings: []results.LoadFinding{f}}}
	}
	joined, err := load.Join([]load.Part{part("a", 700), part("b", 700)})
	require.NoError(t, err)
	require.Len(t, joined.Report.Findings, 1)
	f := joined.Report.Findings[0]
	assert.Equal(t, int64(1400), f.Count)
	assert.Len(t, f.JIDs, results.FindingsKept)
	assert.Equal(t, int64(400), f.More)
	assert.Equal(t, []string{"a", "b"}, f.Notes)
}

func TestCheckSegments(t *testing.T) {
	t.Parallel()
	part := func(segment string, seed uint64, workload string) *results.Load {
		return &results.Load{Seed: seed, Plan: results.LoadPlan{Segment: segment, Workload: json.RawMessage(workload)}}
	}
	const some, more, other = `{"producers":"3","queues":"2"}`, `{"producers":"2","queues":"2"}`, `{"queues":"3"}`
	for name, test := range map[string]struct {
		parts []*results.Load
		want  string
	}{
		"all":         {[]*results.Load{part("2/2", 1, more), part("1/2", 1, some)}, ""},
		"missing":     {[]*results.Load{part("1/3", 1, some), part("3/3", 1, some)}, "segment 2/3 is missing"},
		"twice":       {[]*results.Load{part("1/2", 1, some), part("1/2", 1, some)}, "a and b are both segment 1/2"},
		"other parts": {[]*results.Load{part("1/2", 1, some), part("2/3", 1, some)}, "they are of different loads"},
		"other seed":  {[]*results.Load{part("1/2", 1, some), part("2/2", 2, some)}, "not segments of the same load"},
		"other load":  {[]*results.Load{part("1/2", 1, some), part("2/2", 1, other)}, "not segments of the same load"},
		"no segment":  {[]*results.Load{part("", 1, some)}, "is not a valid segment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := load.CheckSegments([]string{"a", "b"}, test.parts)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
}

// The load begins when it was agreed, with all connections open; and not at all if that moment has passed, or if it is
// called off.
func TestTheStart(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) bench {
		return bench{load: brief(), change: func(c *load.Config) { c.Start = load.StartAt(time.Now().Add(d)) }}
	}
	l := in(5 * second).run(t)
	well(t, l)
	assert.Equal(t, "connect wait measure drain close", phases(l))
	assert.Equal(t, int64(100), l.Jobs.Pushed)
	assert.InDelta(t, 5*second, l.Phases[2].From, float64(100*ms))
	late := in(-second).run(t)
	code, words := late.Outcome()
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Contains(t, words, "the load did not begin: it was to begin 1")
	assert.Zero(t, late.Jobs.Pushed)
	off := bench{load: brief(), change: func(c *load.Config) {
		c.Workload.Prefill = 50
		c.Start = func(context.Context) (time.Time, error) { return time.Time{}, errors.New("called off") }
	}}.run(t)
	_, words = off.Outcome()
	assert.Contains(t, words, "the load did not begin: called off")
	assert.Equal(t, int64(50), off.Jobs.Pushed)
	assert.True(t, off.Jobs.Drained)
}

// An interrupt, and a server that is lost, end the wait for the start.
func TestTheWaitForTheStartEnds(t *testing.T) {
	t.Parallel()
	wait := func(c *load.Config) {
		c.Start = func(ctx context.Context) (time.Time, error) {
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		}
	}
	l := bench{load: brief(), change: wait, during: func(cancel func(), _ *fakes.Server) {
		time.Sleep(3 * second)
		cancel()
	}}.run(t)
	assert.True(t, l.Interrupted)
	assert.Empty(t, l.NotStarted)
	l = bench{load: brief(), change: wait, during: func(_ func(), server *fakes.Server) {
		time.Sleep(3 * second)
		server.Close()
	}}.run(t)
	assert.NotEmpty(t, l.Gone)
}
