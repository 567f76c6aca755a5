package conformance

import (
	"slices"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// property adds one finding of a property.
func (v *verdicts) property(f Finding) {
	m := scenarios.Mark{Clause: f.Clause}
	if f.Should {
		m.Level = string(reports.LevelShould)
	}
	verdict := reports.Fail
	if _, known := v.protocol().ClauseByID(f.Clause); known {
		verdict = v.protocol().mismatchVerdict(m)
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
	cv := reports.ClauseVerdict{ID: f.Clause, Level: v.protocol().levelOf(m), Verdict: verdict, Why: got}
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
	v.finding(verdict, m, scenarios.Result{Expected: f.Expected, Got: f.Got, Cause: f.What})
	last := &v.check.Findings[len(v.check.Findings)-1]
	last.Actual, last.Script = join(f.Got, f.What), f.Script
}

// join joins the reply and what is wrong with it.
func join(got, what string) string {
	if got == "" || what == "" {
		return got + what
	}
	return got + "; " + what
}
