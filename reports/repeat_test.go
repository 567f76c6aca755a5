package reports

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// repeated returns a report of checks that were run ten times each: one is always red, one sometimes, one names no
// clause, one is steady.
func repeated() *Report {
	r := well()
	r.Repeat = 10
	r.Checks[0].Runs = CountVerdicts(Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass, Pass)
	always, sometimes := padded(), rejected()
	always.Runs = []Count{{Warn, 10}}
	sometimes.Runs = []Count{{Fail, 2}, {Inconclusive, 1}, {Pass, 7}}
	sometimes.Clauses[0].Runs = sometimes.Runs
	sometimes.Clauses = append(sometimes.Clauses,
		ClauseVerdict{ID: "FWP-HI-01", Level: LevelPlain, Verdict: Pass, Runs: []Count{{Pass, 10}}})
	bare := Check{ID: "my-bug.fwp", File: "my-bug.fwp", Verdict: Fail, Runs: []Count{{Fail, 9}, {NotRun, 1}},
		Findings: []Finding{{Verdict: Fail, Evidence: Evidence{
			Line: 3, Source: "S: +OK", Expected: "the simple string OK", Actual: "no reply",
		}}}}
	r.Checks = append(r.Checks, always, sometimes, bare)
	return r
}

func TestCountVerdicts(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []Count{{Crash, 1}, {Inconclusive, 2}, {Pass, 1}},
		CountVerdicts(Inconclusive, Pass, Crash, Inconclusive))
	assert.Empty(t, CountVerdicts())
}

func TestSeen(t *testing.T) {
	t.Parallel()
	c := Check{Runs: CountVerdicts(Fail, Fail, Pass),
		Clauses: []ClauseVerdict{{ID: "A", Runs: CountVerdicts(Fail)}, {ID: "B"}}}
	assert.Equal(t, "in 2 of 3 runs", c.seen(Fail, ""))
	assert.Equal(t, "in 1 of 3 runs", c.seen(Fail, "A"), "a clause that the other runs said nothing about")
	assert.Equal(t, "in 2 of 3 runs", c.seen(Fail, "B"))
	assert.Empty(t, c.seen(Crash, ""))
	assert.Empty(t, (&Check{}).seen(Fail, ""))
	assert.True(t, c.steady(nil))
	assert.False(t, c.steady(c.Clauses[0].Runs))
}
