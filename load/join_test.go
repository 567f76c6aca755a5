package load_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// segments runs a workload in so many segments, each in a virtual time of its own, and joins the results.
func segments(t *testing.T, w plan.Workload, count int) *results.Load {
	t.Helper()
	var parts []load.Part
	for i := range count {
		s := plan.Segment{Index: i, Count: count}
		part, err := w.Segment(s)
		require.NoError(t, err)
		l := bench{load: part, change: func(c *load.Config) {
			c.Segment, c.Run, c.Loops = s, fmt.Sprintf("part%d", i), 1+i%2
		}}.run(t)
		parts = append(parts, load.Part{Name: fmt.Sprintf("%d.json", i+1), Report: l})
	}
	joined, err := load.Join(parts)
	require.NoError(t, err)
	return joined
}

// histograms returns the buckets of the series of a set, and what is counted beside them.
func histograms(t *testing.T, l *results.Load, ops ...measure.Op) map[string]any {
	t.Helper()
	log, err := measure.ReadLog("report", strings.NewReader(l.Histograms))
	require.NoError(t, err)
	set := log.Total
	all := map[string]any{}
	for _, op := range ops {
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
		all[string(op)+" aside"] = set.OutsideWindow(op)
	}
	return all
}

// briefLoad is steady with few jobs.
func briefLoad() plan.Workload {
	w := steadyLoad()
	w.Rate, w.Duration = 50, plan.Duration(2*second)
	return w
}

// Segments that are joined are what one process does, bucket for bucket and job for job: the same arrivals at the same
// moments, each in one segment.
func TestSegmentsAreOneLoad(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	even := steadyLoad()
	even.Duration = plan.Duration(golden.Sample(2*second, 5*second))
	poisson := even
	poisson.Poisson, poisson.Warmup = true, plan.Duration(second)
	poisson.Producers = 90 // enough that no arrival waits for one, however they are shared
	closed := steadyLoad()
	closed.Rate, closed.Duration, closed.JobLimit, closed.Prefill = 0, 0, golden.Sample[int64](200, 1000), 77
	churn := plan.Workload{
		Connections: 20, Churn: true, Rate: 100, Duration: plan.Duration(2 * second), Payload: plan.Constant(10),
	}
	for name, w := range map[string]plan.Workload{"even": even, "poisson": poisson, "closed": closed, "churn": churn} {
		for _, count := range golden.Sample([]int{4}, []int{2, 4, 5}) {
			t.Run(fmt.Sprintf("%s in %d", name, count), func(t *testing.T) {
				t.Parallel()
				single := bench{load: w}.run(t)
				joined := segments(t, w, count)
				requireSound(t, joined)
				assert.Len(t, joined.Parts, count)
				assert.Equal(t, single.Jobs.Pushed, joined.Jobs.Pushed)
				assert.Equal(t, single.Jobs.Acked, joined.Jobs.Acked)
				assert.Equal(t, single.Connections.Planned, joined.Connections.Planned)
				if name == "closed" { // how fast it goes depends on how many take part
					assert.Equal(t, pushes(t, single).Count, pushes(t, joined).Count)
					return
				}
				assert.Equal(t, single.Rate.Planned, joined.Rate.Planned)
				assert.InDelta(t, single.Rate.Done, joined.Rate.Done, float64(count), "the last replies may be in the window or not")
				assert.Equal(t, histograms(t, single, measure.Push), histograms(t, joined, measure.Push))
				sameAccount(t, single, joined)
			})
		}
	}
}

// A segment says what it is, and a report of all of them does not.
func TestSegmentsInReports(t *testing.T) {
	t.Parallel()
	joined := segments(t, briefLoad(), 2)
	assert.Equal(t, "1/2", joined.Parts[0].Segment)
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
	for i := range joined.Parts {
		assert.InDelta(t, 25, joined.Parts[i].Rate.Target, 1)
	}
}

// sameAccount asserts that two loads have the same account of jobs, count by count, and the same percentiles of pushes.
func sameAccount(t *testing.T, single, joined *results.Load) {
	t.Helper()
	counts := func(l *results.Load) map[string]int64 {
		all := maps.Collect(l.Jobs.Counts())
		delete(all, "taken_at_end") // by whom, chance decides
		delete(all, "out_of_order")
		return all
	}
	assert.Equal(t, counts(single), counts(joined))
	assert.Equal(t, pushes(t, single).Response, pushes(t, joined).Response)
}

// partsOf returns the reports of the segments of brief, each a copy of one run that the caller may change.
func partsOf(t *testing.T, count int) []load.Part {
	t.Helper()
	good := bench{load: briefLoad(), change: func(c *load.Config) { c.StartAt = time.Now().Add(5 * second) }}.run(t)
	var parts []load.Part
	for i := range count {
		l, name := *good, fmt.Sprintf("%d.json", i+1)
		l.Plan.Segment = plan.Segment{Index: i, Count: count}.String()
		l.Run, l.Histograms = name, strings.Replace(good.Histograms, "run test", "run "+name, 1)
		parts = append(parts, load.Part{Name: name, Report: &l})
	}
	return parts
}

// Thresholds are judged on the whole: a rate on the sum, times on all of them. What else a part has found alone counts.
func TestThresholdsAreThoseOfTheWhole(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		partLimits []string // of the parts
		sumLimits  string   // of the sum
		wrong      func(*results.Load)
		code       int
		words      string
	}{
		"missed by all":        {partLimits: []string{"push.response.p50<1us"}, code: reports.ExitFindings, words: "p50<1us"},
		"met by the sum":       {partLimits: []string{"rate>=90/s"}, code: reports.ExitWell, words: "accounted for"},
		"another percentile":   {partLimits: []string{"push.response.p95<1us"}, code: reports.ExitFindings, words: "p95<1us, actual"},
		"of the sum":           {sumLimits: "rate>=1000/s", code: reports.ExitFindings, words: "rate>=1000/s"},
		"met by parts and sum": {partLimits: []string{"rate>=40/s"}, sumLimits: "lost==0", code: reports.ExitWell, words: "accounted for"},
		"a part that was dead": {wrong: func(l *results.Load) {
			l.FailedSpans = []results.FailedSpan{{Op: "push", Until: l.Measured}}
		}, code: reports.ExitFindings, words: "part 1.json: every PUSH failed"},
	} {
		parts := partsOf(t, 2)
		limits := func(sources ...string) (all []validity.Threshold) {
			for _, source := range sources {
				limit, err := validity.ParseThreshold(source, load.Ops()...)
				require.NoError(t, err)
				all = append(all, limit)
			}
			return all
		}
		if test.wrong != nil {
			test.wrong(parts[0].Report)
		}
		for _, p := range parts {
			require.NoError(t, load.AddPercentiles(p.Report, load.ExtraPercentiles(limits(test.partLimits...), nil)...))
			validity.Evaluate(p.Report, limits(test.partLimits...)...)
		}
		var extra []validity.Threshold
		if test.sumLimits != "" {
			extra = limits(test.sumLimits)
		}
		joined, err := load.Join(parts, extra...)
		require.NoError(t, err, name)
		outcome(t, joined, test.code, test.words)
		assert.Len(t, joined.Thresholds, len(test.partLimits)+len(extra), name)
	}
}

// A part that is not what was planned is named, the sum is INVALID, and its account says what is not known.
func TestPartsThatAreNotTheLoad(t *testing.T) {
	t.Parallel()
	type parts = []load.Part
	const unknownPart = "what segment 3/4 did is not known"
	for name, test := range map[string]struct {
		change  func(parts) parts
		pushed  int64 // of 100 each
		want    string
		unknown string
	}{
		"all": {func(p parts) parts { return p }, 400, "", ""},
		"one is missing": {func(p parts) parts { return slices.Delete(p, 2, 3) }, 300,
			"segment 3/4: its report is missing", unknownPart},
		"one was killed": {func(p parts) parts {
			p[2].Report, p[2].Problem = nil, "it has no report"
			return p
		}, 300, "part 3.json: it has no report", unknownPart},
		"one is there twice": {func(p parts) parts {
			duplicate := *p[2].Report
			duplicate.Run = "again"
			return append(p, load.Part{Name: "5.json", Report: &duplicate})
		}, 400, "part 5.json: 3.json is segment 3/4 already", "the jobs of 5.json are not counted"},
		"one has another seed": {func(p parts) parts {
			p[2].Report.Seed = 99
			return p
		}, 300, "part 3.json: it has another plan: its seed is 99, the others have 1",
			unknownPart + ", and the jobs of 3.json are not counted"},
		"one has another rate": {func(p parts) parts {
			p[0].Report.Plan.Workload = json.RawMessage(strings.Replace(string(p[0].Report.Plan.Workload), `"50/s"`, `"60/s"`,
				1))
			return p
		}, 300, "part 1.json: it has another plan: its rate is 60/s, the others have 50/s",
			"what segment 1/4 did is not known, and the jobs of 1.json are not counted"},
		"one is of more segments": {func(p parts) parts {
			p[2].Report.Plan.Segment = "3/5"
			return p
		}, 300, "its number of segments is 5, the others have 4",
			unknownPart + ", and the jobs of 3.json are not counted"},
		"one is a whole load": {func(p parts) parts {
			p[2].Report.Plan.Segment = ""
			return p
		}, 300, "part 3.json: it has another plan: it is not a segment", unknownPart + ", and the jobs of 3.json are not counted"},
		"one began late": {func(p parts) parts {
			p[2].Report.LoadFrom = p[2].Report.LoadFrom.Add(1500 * ms)
			return p
		}, 400, "part 3.json: its load began 1.5 s after the first one", ""},
		"the clock of one is wrong": {func(p parts) parts {
			p[2].Report.ServerClock = &results.ServerClock{Ahead: time.Minute}
			return p
		}, 400, "part 3.json: its load began 60 s after the first one", ""},
		"all clocks are wrong": {func(p parts) parts {
			for i := range p {
				p[i].Report.ServerClock = &results.ServerClock{Ahead: time.Minute}
			}
			return p
		}, 400, "", ""},
		"one was interrupted": {func(p parts) parts {
			p[2].Report.Interrupted = true
			return p
		}, 400, "part 3.json: it was interrupted", ""},
		"the target was not ready for one": {func(p parts) parts {
			p[2].Report = &results.Load{Run: "x",
				Head: reports.Head{Seed: 1, Version: p[0].Report.Version},
				Plan: p[2].Report.Plan}
			p[2].Report.Unreachable = "connection refused"
			return p
		}, 300, "part 3.json: its load did not begin: the target was not reached: connection refused", ""},
		"one was started too late": {func(p parts) parts {
			l := bench{load: briefLoad(), change: func(c *load.Config) { c.StartAt = time.Now().Add(-second) }}.run(t)
			l.Plan.Segment, l.Version = "3/4", p[0].Report.Version
			p[2].Report = l
			return p
		}, 300, "part 3.json: its load did not begin: it was to begin 1 s before it was started", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := load.Join(test.change(partsOf(t, 4)))
			require.NoError(t, err)
			assert.Equal(t, test.pushed, l.Jobs.Pushed)
			assert.Equal(t, test.unknown, l.Jobs.UncountedParts)
			code, words := l.Outcome(reports.ExitOptions{}).Values()
			output := strings.Join(strings.Fields(string(page.Text(l.Page(reports.PageOptions{}), page.TextOptions{}))), " ")
			if test.want == "" {
				assert.Equal(t, reports.ExitWell, code, words)
				return
			}
			assert.Equal(t, reports.ExitInconclusive, code, words)
			assert.Contains(t, words, "INVALID: ")
			assert.Contains(t, words, test.want)
			assert.Equal(t, test.unknown == "", strings.Contains(output, "The account of the jobs is still exact."))
			if test.unknown != "" {
				assert.Contains(t, words, "at least "+fmt.Sprint(test.pushed)+" jobs pushed")
				assert.Contains(t, output, "is not complete either: "+test.unknown)
			}
		})
	}
}

// One part whose figures are no results makes the sum so.
func TestTheWorstPartDecides(t *testing.T) {
	t.Parallel()
	good := partsOf(t, 2)
	join := func(change func(*results.Load)) *results.Load {
		other := *good[1].Report
		change(&other)
		joined, err := load.Join([]load.Part{good[0], {Name: "b", Report: &other}})
		require.NoError(t, err)
		return joined
	}
	code := func(l *results.Load) int { code, _ := l.Outcome(reports.ExitOptions{}).Values(); return code }
	assert.Equal(t, reports.ExitWell, code(join(func(*results.Load) {})))
	lateLoad := join(func(l *results.Load) {
		l.Validity = results.Validity{Reasons: []results.Reason{{ID: "late", Description: "push was sent late"}}}
	})
	assert.Equal(t, reports.ExitInconclusive, code(lateLoad))
	assert.Equal(t, "part b: push was sent late", lateLoad.Validity.Reasons[0].Description)
	goneLoad := join(func(l *results.Load) { l.GoneReason = "reset" })
	assert.Equal(t, reports.ExitUnreachable, code(goneLoad))
	assert.Equal(t, "part b: reset", goneLoad.GoneReason)
	undrainedLoad := join(func(l *results.Load) { l.Jobs.IsDrained, l.Jobs.DrainFailure = false, "too slow" })
	assert.Equal(t, reports.ExitInconclusive, code(undrainedLoad))
	assert.False(t, undrainedLoad.Jobs.IsDrained)
	assert.Equal(t, "part b: too slow", undrainedLoad.Jobs.DrainFailure)
	found := join(func(l *results.Load) {
		l.Findings = []results.LoadFinding{results.NewLoadFinding(results.FindingLost, 2, []string{"x", "y"})}
	})
	assert.Equal(t, reports.ExitLoss, code(found))
	for i := range good {
		l := *good[i].Report
		l.Unreachable, l.LoadFrom, good[i].Report = "refused", time.Time{}, &l
	}
	unreached, err := load.Join(good)
	require.NoError(t, err)
	assert.Equal(t, reports.ExitUnreachable, code(unreached), "no part has reached it")
	for _, none := range [][]load.Part{nil, {{Name: "a"}}, {{Name: "a", Report: new(results.Load)}}} {
		_, err = load.Join(none)
		require.ErrorContains(t, err, "none of the files is a report of a segment")
	}
}

func TestFindingsOfAllParts(t *testing.T) {
	t.Parallel()
	part := func(name, segment string, n int) load.Part {
		f := results.NewLoadFinding(results.FindingLost, int64(n), make([]string, n))
		f.Notes = []string{name}
		return load.Part{Name: name, Report: &results.Load{
			Run: name, Findings: []results.LoadFinding{f}, Plan: results.LoadPlan{Segment: segment},
			LoadFrom: time.Unix(1, 0),
		}}
	}
	joined, err := load.Join([]load.Part{part("a", "1/2", 700), part("b", "2/2", 700)})
	require.NoError(t, err)
	require.Len(t, joined.Findings, 1)
	f := joined.Findings[0]
	assert.Equal(t, int64(1400), f.Count)
	assert.Len(t, f.JIDs, results.MaxJIDs)
	assert.Equal(t, int64(400), f.MoreJIDs)
	assert.Equal(t, []string{"a", "b"}, f.Notes)
}

// The load begins when it was agreed, with all connections open; and not at all if that moment has passed.
func TestTheStart(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration, prefill int64) *results.Load {
		return bench{load: briefLoad(), change: func(c *load.Config) {
			c.StartAt, c.Workload.Prefill = time.Now().Add(d), prefill
		}}.run(t)
	}
	l := in(5*second, 0)
	requireSound(t, l)
	assert.Equal(t, "connect wait measure drain close", phases(l))
	assert.Equal(t, int64(100), l.Jobs.Pushed)
	assert.InDelta(t, 5*second, l.Phases[2].From, float64(100*ms))
	assert.WithinDuration(t, l.StartTime.Add(5*second), l.LoadFrom, 100*ms)
	for d, want := range map[time.Duration]string{
		-second: "the load did not begin: it was to begin 1 s before it was started",
		ms:      "before its connections were open",
	} {
		lateLoad := in(d, 50)
		code, words := lateLoad.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, reports.ExitInconclusive, code)
		assert.Contains(t, words, want)
		assert.Zero(t, lateLoad.LoadFrom)
		assert.Equal(t, d > 0, lateLoad.Jobs.Pushed == 50 && lateLoad.Jobs.IsDrained, "nothing is sent if it is too late at once")
	}
}

// An interrupt, and a server that is lost, end the wait for the start.
func TestTheWaitForTheStartEnds(t *testing.T) {
	t.Parallel()
	wait := func(c *load.Config) { c.StartAt = time.Now().Add(time.Hour) }
	l := bench{load: briefLoad(), change: wait, during: func(cancel func(), _ *fakes.Server) {
		time.Sleep(3 * second)
		cancel()
	}}.run(t)
	assert.True(t, l.Interrupted)
	assert.Empty(t, l.StartFailure)
	l = bench{load: briefLoad(), change: wait, during: func(_ func(), server *fakes.Server) {
		time.Sleep(3 * second)
		server.Close()
	}}.run(t)
	assert.NotEmpty(t, l.GoneReason)
}
