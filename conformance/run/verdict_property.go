package run

import (
	"slices"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// property adds one finding of a property.
func (v *verdicts) property(f conformance.Finding) {
	m := scenarios.Mark{Clause: f.Clause}
	if f.Should {
		m.Level = string(reports.LevelShould)
	}
	verdict := reports.Fail
	if _, known := v.protocol().ClauseByID(f.Clause); known {
		verdict = v.protocol().MismatchVerdict(m)
	}
	if f.Crash {
		if !v.fatal {
			return
		}
		verdict = reports.Crash
	}
	got := f.Got
	if got == "" {
		got = f.What
	}
	cv := reports.ClauseVerdict{ID: f.Clause, Level: v.protocol().LevelOf(m), Verdict: verdict, Why: got}
	switch i := slices.IndexFunc(v.check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == f.Clause }); {
	case f.Clause == "":
		v.check.Verdict = verdict
	case i < 0:
		v.check.Clauses = append(v.check.Clauses, cv)
	default:
		v.check.Clauses[i].Verdict = reports.Worst(v.check.Clauses[i].Verdict, verdict)
	}
	if !verdict.Breach() {
		return
	}
	v.finding(verdict, m, play.Result{Expected: f.Expected, Got: f.Got, Cause: f.What})
	last := &v.check.Findings[len(v.check.Findings)-1]
	last.Actual, last.Script = f.Observed(), f.Script
}
