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
	"github.com/fwpsuite/fwp/reports/formats"
	"github.com/fwpsuite/fwp/reports/page"
)

// sampleCapacity is a search that has found something.
func sampleCapacity() *results.LoadCapacity {
	step := func(rate float64, result, reason string) results.CapacityStep {
		return results.CapacityStep{
			Rate: rate, Result: result, Reason: reason, Run: "k3v9q2", Took: 12 * time.Second, Achieved: rate - 1, Op: "push",
			Response: spread(int64(10*rate), time.Duration(100*rate)*time.Nanosecond),
			Lateness: spread(int64(10*rate), 9*time.Microsecond),
		}
	}
	confirmation := step(4000, results.StepHeld, "")
	confirmation.Confirms, confirmation.WorkRate, confirmation.Growth = true, 3998, -0.2
	missed := "1 of 1 threshold missed: push.response.p99<2ms, actual 4.1 ms"
	return &results.LoadCapacity{
		Head: reports.Head{
			Version: "fwpbench 0.1.0", StartTime: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Took: 90 * time.Second, Seed: 42,
		},
		Machine: soundLoad().Machine,
		Target:  results.LoadTarget{URL: "tcp://localhost:7419", Chosen: "from --url"},
		Plan:    "50 producers and 50 workers",

		Thresholds: []string{"push.response.p99<2ms"}, Precision: 0.05, Rate: 4000, IsConfirmed: true, Confirm: time.Minute,
		FailedRate: 8000, WorkersFetched: true,
		Steps: []results.CapacityStep{
			step(2000, results.StepHeld, ""), step(4000, results.StepHeld, ""), step(8000, results.StepFailed,
				missed), step(8000, results.StepFailed, missed),
			step(6000, results.StepLimited, "INVALID: push was sent late \x1b[2J"), step(4000, results.StepHeld, ""),
			confirmation,
		},
	}
}

func TestLoadCapacityGolden(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*results.LoadCapacity{"load-capacity": sampleCapacity(), "load-capacity-empty": {}} {
		var out bytes.Buffer
		out.Write(page.Text(c.Page(reports.PageOptions{}), page.TextOptions{}))
		golden.File(t, "testdata/"+name+".txt.golden", out.Bytes())
	}
	var out bytes.Buffer
	require.NoError(t, sampleCapacity().WriteJSON(&out, reports.ExitOptions{}))
	golden.File(t, "testdata/load-capacity.json.golden", out.Bytes())
	out.Reset()
	s := sampleCapacity().Suite(reports.ExitOptions{})
	junit, err := formats.JUnit(&s)
	require.NoError(t, err)
	golden.File(t, "testdata/load-capacity.junit.xml.golden", junit)
}

func TestLoadCapacityOutcome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(c *results.LoadCapacity)
		code   int
		words  string
	}{
		"found": {func(*results.LoadCapacity) {}, reports.ExitWell,
			"capacity 4,000 /s (acknowledged by workers); 8,000 /s failed: 1 of 1 threshold"},
		"producers only": {func(c *results.LoadCapacity) { c.WorkersFetched = false }, reports.ExitWell,
			"capacity 4,000 /s (accepted: no worker fetched); 8,000 /s failed"},
		"not confirmed": {func(c *results.LoadCapacity) {
			c.IsConfirmed, c.Steps[6].Result, c.Steps[6].Reason, c.Steps[6].WorkRate = false, results.StepFailed, "slow", 100
		}, reports.ExitInconclusive, "inconclusive: the server sustains 100 to 4,000 /s: 4,000 /s passed in short steps, " +
			"and not for 60 s: slow"},
		"contradictions": {func(c *results.LoadCapacity) { c.ContraryRate = 19200 }, reports.ExitInconclusive,
			"inconclusive: the server sustains 4,000 to 19,200 /s: 19,200 /s passed once, although 8,000 /s failed"},
		"all held": {func(c *results.LoadCapacity) { c.FailedRate = 0 }, reports.ExitWell,
			"at least 4,000 /s (acknowledged by workers), the highest rate"},
		"none held": {func(c *results.LoadCapacity) { c.Rate = 0 }, reports.ExitFindings,
			"no rate passed; 8,000 /s failed"},
		"the limit": {func(c *results.LoadCapacity) { c.IsGeneratorLimited = true }, reports.ExitInconclusive,
			"the generator was the limit; at least 4,000 /s"},
		"no step decided": {func(c *results.LoadCapacity) { c.Rate, c.FailedRate, c.IsGeneratorLimited = 0, 0, true },
			reports.ExitInconclusive, "inconclusive: the generator was the limit; no rate was found; at 6,000 /s INVALID"},
		"unsteady": {func(c *results.LoadCapacity) { c.IsConfirmed = false }, reports.ExitInconclusive,
			"that was not confirmed"},
		"findings": {func(c *results.LoadCapacity) { c.Steps[1].Findings = 2 }, reports.ExitLoss,
			"2 findings in the steps"},
		"interrupted": {func(c *results.LoadCapacity) { c.Interrupted = true }, reports.ExitInterrupted,
			"interrupted: at least 4,000 /s"},
		"unreachable": {func(c *results.LoadCapacity) { c.Unreachable = "x" }, reports.ExitUnreachable,
			"could not be loaded: x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sampleCapacity()
			test.change(c)
			code, words := c.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, test.code, code)
			assert.Contains(t, words, test.words)
			assert.NotEmpty(t, c.Suite(reports.ExitOptions{}).Cases)
		})
	}
}

func TestStepOf(t *testing.T) {
	t.Parallel()
	assert.Equal(t, results.StepHeld, results.StepOf(soundLoad(), 5000).Result)
	missed := soundLoad()
	validity.Evaluate(missed, parseThresholds("push.response.p50<50us")...)
	s := results.StepOf(missed, 5000)
	assert.Equal(t, results.StepFailed, s.Result)
	assert.Contains(t, s.Reason, "push.response.p50<50us")
	short := soundLoad()
	short.Rate.Done, short.Rate.Unserved = short.Rate.Planned*98/100, short.Rate.Planned
	validity.Evaluate(short)
	assert.Equal(t, results.StepFailed, results.StepOf(short, 5000).Result)
	lateLoad := soundLoad()
	lateLoad.Ops[0].Lateness = spread(lateLoad.Ops[0].Count, 20*time.Millisecond)
	for thresholds, want := range map[string]string{
		"push.response.p99<700us":  results.StepHeld,    // with the delay in it
		"push.response.p99<500us":  results.StepLimited, // it may be because of the delay
		"push.service.p99<10us":    results.StepLimited, // what delays the generator may delay the target
		"rate>99%":                 results.StepHeld,
		"push.errors<1%":           results.StepHeld,
		"lateness.p99<5ms":         results.StepLimited,
		"push.response.p99.99<10s": results.StepHeld,
	} {
		validity.Evaluate(lateLoad, parseThresholds(thresholds)...)
		require.False(t, lateLoad.Validity.IsValid)
		assert.Equal(t, want, results.StepOf(lateLoad, 5000).Result, thresholds)
	}
	validity.Evaluate(lateLoad)
	assert.Equal(t, results.StepHeld, results.StepOf(lateLoad, 5000).Result, "nothing was asked but the rate")
	lateLoad.Rate.Done, lateLoad.Rate.Unserved = lateLoad.Rate.Planned*98/100, lateLoad.Rate.Planned
	validity.Evaluate(lateLoad)
	assert.Equal(t, results.StepLimited, results.StepOf(lateLoad, 5000).Result)

	lateLoad.Health.Holes = []results.Hole{{Length: time.Second}}
	validity.Evaluate(lateLoad)
	assert.Equal(t, results.StepStill, results.StepOf(lateLoad, 5000).Result)
	lateLoad.Health.Holes = nil
	lateLoad.Rate.Done = lateLoad.Rate.Planned * 80 / 100
	validity.Evaluate(lateLoad)
	assert.Equal(t, results.StepFailed, results.StepOf(lateLoad, 5000).Result, "no connection was free")
	delayed := soundLoad()
	validity.Evaluate(delayed, parseThresholds("push.response.p99<590us")...)
	require.True(t, delayed.Validity.IsValid)
	assert.Equal(t, results.StepLimited, results.StepOf(delayed, 5000).Result,
		"600 us, of which 55 may be the generator's")
	refused := soundLoad()
	refused.Connections.Opened = 10
	validity.Evaluate(refused)
	assert.Equal(t, results.StepFailed, results.StepOf(refused, 5000).Result, "the target refused connections")
	dead := soundLoad()
	dead.FailedSpans = []results.FailedSpan{{Op: "fetch", Until: dead.Measured}}
	validity.Evaluate(dead)
	assert.Equal(t, results.StepFailed, results.StepOf(dead, 5000).Result, "a command only failed")
	undrainedLoad := soundLoad()
	undrainedLoad.Jobs.IsDrained, undrainedLoad.Jobs.DrainFailure = false, "60 s were over"
	validity.Evaluate(undrainedLoad)
	assert.Equal(t, results.StepFailed, results.StepOf(undrainedLoad, 5000).Result)
}
