package results_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// disruptedLoad is a run whose target was disrupted, and forgot something each time that it was stopped.
func disruptedLoad() *results.Load {
	l := soundLoad()
	l.Disruptions = &results.LoadDisruptions{
		List: []results.LoadDisruption{
			{
				Action: "kill", Words: "kill for 1s", At: 15 * time.Second, Took: 1342 * time.Millisecond,
				FirstServed: 18 * time.Millisecond, RateBack: 1280 * time.Millisecond, LongestDelivery: 2 * time.Second,
			},
			{Action: "fill", Words: "fill for 10s", At: 30 * time.Second, Failure: "skipped: operation not permitted"},
			{
				Action: "restart", Words: "restart for 1s", At: 60 * time.Second, Took: 2 * time.Second, FirstServed: -1, RateBack: -1,
			},
		},
		LostByKill: 20, LostByRestart: 1, DuplicatedByStop: 2, ReturnedByStop: 3,
		PushesInDoubt: 12, PushesNotCarriedOut: 5, ReportsInDoubt: 4, FetchesInDoubt: 200, IsResolved: true,
		LongestDelivery: 75 * time.Second,
	}
	l.Jobs.LostJobs, l.Jobs.Missing, l.Jobs.Duplicated, l.Jobs.Doubtful = 21, 21, 5, 12
	l.Findings = []results.LoadFinding{newFinding(results.FindingLostByRestart, "FWP-STATE-08", 1,
		[]string{"fwpbench-k3v9q2-000007"})}
	l.Findings[0].Level = reports.LevelShould
	l.Ops[0].Errors = []results.LoadError{{Kind: "refused", Count: 100_000}}
	validity.Evaluate(l, parseThresholds("recovery.served<1s", "lost==0")...)
	return l
}

func TestDisruptedLoad(t *testing.T) {
	t.Parallel()
	l := disruptedLoad()
	assert.Len(t, l.Validity.Reasons, 2, "errors are what was to be seen, but one was not done, and another not survived")
	l.Disruptions.List = l.Disruptions.List[:1]
	validity.Evaluate(l, parseThresholds("recovery.served<1s", "lost==0")...)
	assert.True(t, l.Validity.IsValid, "errors are what was to be seen: %v", l.Validity.Reasons)
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitFindings, code, "thresholds count what no clause promises")
	assert.Contains(t, words, "20 jobs lost by kills, 2 jobs delivered twice by stops, 3 jobs returned by stops")

	l.Thresholds = nil
	code, words = l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitWell, code, words)
	assert.Contains(t, words, "1 job lost by a restart (FWP-STATE-08)")
	l.Findings[0].Level = reports.LevelMust
	code, _ = l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitLoss, code)

	l.Disruptions = &results.LoadDisruptions{}
	l.Findings, l.Jobs.LostJobs, l.Jobs.Missing, l.Jobs.Duplicated = nil, 0, 0, 0
	_, words = l.Outcome(reports.ExitOptions{}).Values()
	assert.Contains(t, words, "12 in doubt")
	l.Disruptions.IsResolved = true
	_, words = l.Outcome(reports.ExitOptions{}).Values()
	assert.Contains(t, words, "all 325,011 jobs accounted for")
}

// Jobs whose report was not confirmed may come back, until the run has waited for that.
func TestWaitingJobs(t *testing.T) {
	t.Parallel()
	l := disruptedLoad()
	l.Jobs.Waiting = 2
	for resolved, want := range map[bool]string{
		true: "not delivered again after their reservation", false: "may come back after",
	} {
		l.Disruptions.IsResolved = resolved
		var out bytes.Buffer
		out.Write(page.Text(l.Page(reports.PageOptions{}), page.TextOptions{}))
		assert.Contains(t, out.String(), want)
	}
}

func TestDisruptedLoadAsCases(t *testing.T) {
	t.Parallel()
	states := func(l *results.Load) map[string]reports.CaseState {
		all := map[string]reports.CaseState{}
		for _, c := range l.Suite(reports.ExitOptions{}).Cases {
			all[c.Name] = c.State
		}
		return all
	}
	l := disruptedLoad()
	got := states(l)
	assert.Equal(t, reports.CasePassed, got["every job is accounted for"], "stops excuse all of them")
	assert.Equal(t, reports.CasePassed, got["1 job lost by a restart"], "it is recommended only")
	l.Jobs.LostJobs++
	assert.Equal(t, reports.CaseFailed, states(l)["every job is accounted for"])
}

func TestRecoveryMetrics(t *testing.T) {
	t.Parallel()
	l := disruptedLoad()
	l.Validity.IsValid = true
	result := parseThresholds("recovery.served<1s")[0].Evaluate(l)
	assert.True(t, result.NoData, "after the restart nothing was served")
	assert.False(t, result.IsMet)
	l.Disruptions.List = l.Disruptions.List[:2]
	for metric, want := range map[string]string{"recovery.served": "18 ms", "recovery.back": "1.28 s"} {
		result = parseThresholds(metric + "<2s")[0].Evaluate(l)
		assert.True(t, result.IsMet)
		assert.Equal(t, want, result.Actual)
	}
	assert.True(t, parseThresholds("recovery.served<1s")[0].Evaluate(soundLoad()).NoData)
}

func TestDisruptedLoadGolden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	out.Write(page.Text(disruptedLoad().Page(reports.PageOptions{}), page.TextOptions{}))
	golden.File(t, "testdata/load-disrupted.txt.golden", out.Bytes())
}

// The pictures over time have the disruptions that were done.
func TestDisruptionsAreDrawn(t *testing.T) {
	t.Parallel()
	charts := 0
	for _, block := range disruptedLoad().Page(reports.PageOptions{Figures: true}).Blocks {
		figure, ok := block.(reports.Figure)
		if !ok {
			continue
		}
		if c, ok := figure.Drawing.(*reports.Chart); ok && c.Bands != nil {
			charts++
			require.Len(t, c.Marks, 2, figure.Title)
			assert.Equal(t, reports.Band{Name: "kill for 1s", From: float64(15 * time.Second),
				Until: float64(16342 * time.Millisecond)}, c.Marks[0])
		}
	}
	assert.Positive(t, charts)
}

// Jobs that are missing may have been lost by a kill: until that is known there is no figure.
func TestWhatStopsLostIsNotKnownYet(t *testing.T) {
	t.Parallel()
	l := disruptedLoad()
	l.Disruptions.LostByKill, l.Disruptions.PushesInDoubt, l.Disruptions.IsResolved = 0, 0, false
	l.Jobs.IsDrained = false
	output := string(page.Text(l.Page(reports.PageOptions{ShowInvalid: true}), page.TextOptions{}))
	assert.Regexp(t, `lost by kills +- `, output)
	assert.Regexp(t, `twice by stops +2 `, output)
	assert.Regexp(t, `pushes in doubt +0 `, output)
	assert.Regexp(t, `kill for 1s .* -\n`, output)
}

// What a stop has lost is told with since when, and plainly where that is at once.
func TestLossesOfAStop(t *testing.T) {
	t.Parallel()
	for want, window := range map[string]time.Duration{"1 just before": 0,
		"1 of the last 22.9 s": 22900 * time.Millisecond} {
		l := disruptedLoad()
		l.Disruptions.List[0].LostJobs, l.Disruptions.List[0].LossWindow = 1, window
		output := string(page.Text(l.Page(reports.PageOptions{}), page.TextOptions{}))
		assert.Contains(t, output, want)
		assert.NotContains(t, output, "1 in 0")
	}
}
