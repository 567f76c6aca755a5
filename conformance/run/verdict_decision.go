package run

import (
	"cmp"
	"slices"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// decisions adds what the play of a situation decides. Where several are about one clause the worst counts, and an
// open one keeps the clause from passing.
func (v *resultBuilder) decisions() {
	for _, d := range v.evidence.Decisions {
		m := scenarios.ClauseMark{Clause: d.Clause}
		cv := reports.ClauseVerdict{
			ID: d.Clause, Level: v.suite().LevelOf(m), Verdict: reports.Inconclusive, Cause: d.Cause, Reason: d.Reason,
			IsHalted: d.HasOtherBreach, HasOtherBreach: d.HasOtherBreach,
		}
		r := play.Result{Expected: d.Expected, Got: d.Got, Conn: d.Conn, At: d.At}
		switch {
		case d.Outcome == play.Mismatched:
			cv.Verdict, cv.Cause = v.suite().MismatchVerdict(m), d.Got
			if d.Harm != "" {
				cv.Verdict = reports.Fail
			}
		case d.Outcome == play.Matched && v.suite().MismatchVerdict(m) == reports.Observed:
			cv.Verdict, cv.Cause = reports.Observed, d.Got
		case d.Outcome == play.Matched:
			cv.Verdict, cv.Cause = reports.Pass, ""
		}
		v.decide(cv)
		if cv.Verdict.IsBreach() {
			v.addFinding(cv.Verdict, m, r)
			v.check.Findings[len(v.check.Findings)-1].Harm = d.Harm
		}
	}
}

// decide takes the verdict of a decision, unless there is a worse one about the clause already.
func (v *resultBuilder) decide(cv reports.ClauseVerdict) {
	i := slices.IndexFunc(v.check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == cv.ID })
	switch {
	case i < 0:
		v.check.Clauses = append(v.check.Clauses, cv)
	case v.check.Clauses[i].Verdict == reports.NotRun, v.check.Clauses[i].Verdict == reports.Inconclusive && v.isUnset(i):
		v.check.Clauses[i] = cv
	case reports.Worst(v.check.Clauses[i].Verdict, cv.Verdict) != v.check.Clauses[i].Verdict:
		v.check.Clauses[i] = cv
	case cv.Verdict == v.check.Clauses[i].Verdict && v.check.Clauses[i].Cause == "": // the report has what was observed
		v.check.Clauses[i] = cv
	}
}

// isUnset reports whether the verdict on a clause is that of a check without a line about it.
func (v *resultBuilder) isUnset(i int) bool { return v.check.Clauses[i].Cause == v.stop.String() }

// property adds one finding of a property.
func (v *resultBuilder) property(f conformance.Finding) {
	m := scenarios.ClauseMark{Clause: f.Clause}
	if f.IsRecommendation {
		m.Level = string(reports.LevelShould)
	}
	verdict := reports.Fail
	if _, ok := v.suite().ClauseByID(f.Clause); ok {
		verdict = v.suite().MismatchVerdict(m)
	}
	if f.Crash {
		if !v.fatal || v.lives() {
			return
		}
		verdict = reports.Crash
	}
	got := cmp.Or(f.Got, f.Detail)
	cv := reports.ClauseVerdict{ID: f.Clause, Level: v.suite().LevelOf(m), Verdict: verdict, Cause: got}
	switch i := slices.IndexFunc(v.check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == f.Clause }); {
	case f.Clause == "":
		v.check.Verdict = verdict
	case i < 0:
		v.check.Clauses = append(v.check.Clauses, cv)
	default:
		v.check.Clauses[i].Verdict = reports.Worst(v.check.Clauses[i].Verdict, verdict)
	}
	if !verdict.IsBreach() {
		return
	}
	v.addFinding(verdict, m, play.Result{Expected: f.Expected, Got: f.Got, Cause: f.Detail})
	last := &v.check.Findings[len(v.check.Findings)-1]
	last.Actual, last.Script, last.RefusedVerb = f.Observed(), f.Script, f.RefusedVerb
	last.CommandClause, last.Premises = f.CommandClause, f.Premises
	last.Conversation, last.MarkedLine = f.Conversation, len(f.Conversation)
	if f.Script == "" {
		last.NoScriptReason, last.LastSteps = cmp.Or(f.UnscriptedReason, "none was found in time"), f.Unshrunk
		if shrink := v.state.runner.Shrink; shrink != nil {
			last.Shrink = shrink(v.check.ID, "")
		}
	}
}

// leavesToLaw reports whether a clause of a line says less than what the law knows of the same message.
func (v *resultBuilder) leavesToLaw(m scenarios.ClauseMark, r play.Result) bool {
	r.Marks = []scenarios.ClauseMark{m}
	return slices.ContainsFunc(v.evidence.Law, func(s law.Occurrence) bool {
		return v.state.law.leavesToLaw(v.evidence, r,
			s)
	})
}

// isExplained reports whether the law has found a reply wrong of which a breach is the rest.
func (v *resultBuilder) isExplained(b scenarios.Breach) bool {
	return slices.ContainsFunc(v.evidence.Law, func(s law.Occurrence) bool {
		return explains(s, b,
			s.At.Sub(v.evidence.Began))
	})
}

// premises returns those of what the law has found in the message of a line.
func (v *resultBuilder) premises(r play.Result) (clauses []string) {
	for _, s := range v.evidence.Law {
		if isSameMessage(v.evidence, r, s) {
			clauses = append(clauses, s.Premises...)
		}
	}
	return clauses
}
