package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// withoutResult returns a check that has the same open verdict for all its clauses.
func (s *runState) withoutResult(d conformance.Description, v reports.Verdict, why cause,
	provide string) reports.Check {
	c := reports.Check{
		ID: d.ID, Title: d.Title, File: d.File, Verdict: v, Why: why.String(), Reason: why.reason, Provide: provide,
	}
	for _, m := range d.Clauses() {
		c.Clauses = append(c.Clauses, reports.ClauseVerdict{
			ID: m.Clause, Level: s.runner.Protocol.LevelOf(m), Verdict: v, Why: c.Why, Reason: c.Reason, Provide: provide,
		})
	}
	return c
}

func (s *runState) skipped(d conformance.Description, n scenarios.Need) reports.Check {
	why := cause{reason: reports.ReasonCode("needs-" + string(n)), words: "needs " + needWords[n]}
	return s.withoutResult(d, reports.Skipped, why, s.runner.Provide[n])
}

var needWords = map[scenarios.Need]string{
	scenarios.NeedOpen:     "a server without a password",
	scenarios.NeedPassword: "a password",
	scenarios.NeedSignals:  "operator signals (quiet and terminate)",
	scenarios.NeedRestart:  "a restart",
	scenarios.NeedKill:     "a kill",
	scenarios.NeedAlone:    "exclusive use",
	scenarios.NeedFlush:    "permission to delete everything",
}

// verdicts returns the verdicts that follow from the evidence of a play; again means that
// lag made it inconclusive and another try, alone, may decide it. What waits for a second play gets it whatever else
// was found.
func (s *runState) verdicts(t *task) (check reports.Check, again bool) {
	v := &verdicts{state: s, about: t.about, evidence: t.evidence, fatal: t.fatal, check: reports.Check{
		ID: t.about.ID, Title: t.about.Title, File: t.about.File, Took: t.evidence.Took, Left: t.evidence.Leftover}}
	if words := v.evidence.Skipped; words != "" {
		return s.withoutResult(t.about, reports.Skipped, cause{reason: v.evidence.Reason, words: words}, ""), false
	}
	v.stopped = v.stopCause()
	for _, m := range v.about.Clauses() {
		v.clause(m)
	}
	for _, b := range v.evidence.Breaches {
		v.breach(b)
	}
	v.decisions()
	for _, r := range v.unrefused {
		v.broken(v.protocol().Unrefused(r.Unrefused), r)
	}
	for _, f := range v.evidence.Findings {
		v.property(f)
	}
	v.whole()
	v.conclude()
	if v.tooMany() {
		return v.check, false
	}
	open := v.check.Verdict == reports.Inconclusive && v.stopped.transient
	return v.check, v.evidence.Refused == nil && (open || v.evidence.Unproven)
}

// tooMany makes the check inconclusive if the target refused some of its connections: no
// clause requires a number of connections.
func (v *verdicts) tooMany() bool {
	r := v.evidence.Refused
	if r == nil || r.Own == 0 || v.evidence.Dead != "" || v.evidence.Passed() {
		return false
	}
	why := cause{
		reason: reports.ReasonConnections,
		words:  "the target has too few connections for this check: it refused one while others were open: " + r.Got,
	}
	c := v.state.withoutResult(v.about, reports.Inconclusive, why, "raise the target's limit of connections")
	c.Took, c.Left, c.Conversation = v.check.Took, v.check.Left, v.evidence.Conversation
	v.check = c
	return true
}

// verdicts makes the result of one check.
type verdicts struct {
	state    *runState
	about    conformance.Description
	evidence *conformance.Evidence
	fatal    bool // the check ended its server
	check    reports.Check
	stopped  cause // why the play did not get to its end; zero if it did

	unrefused []play.Result // where the server ended a connection instead of refusing
}

// protocol returns the protocol of the run.
func (v *verdicts) protocol() *conformance.Protocol { return v.state.runner.Protocol }

// gotText describes the reply, and its time if that is wrong.
func gotText(r play.Result) string {
	if r.Cause != "" {
		return r.Got + "; " + r.Cause
	}
	return r.Got
}

// clause decides one clause from the lines that are tied to it.
func (v *verdicts) clause(m scenarios.Mark) {
	cv := reports.ClauseVerdict{ID: m.Clause, Level: v.protocol().LevelOf(m), Verdict: reports.NotRun}
	all, broken, open := []reports.Verdict{}, []reports.Verdict{}, []play.Result{}
	for _, r := range v.evidence.Results {
		for _, mark := range r.Marks {
			if mark.Clause != m.Clause {
				continue
			}
			verdict := v.line(mark, r, &cv)
			if all = append(all, verdict); verdict.Breach() {
				broken = append(broken, verdict)
			} else if verdict == reports.Observed {
				open = append(open, r)
			}
		}
	}
	if len(all) == 0 && v.stopped.words != "" { // the connection for its only line was refused
		all = append(all, reports.Inconclusive)
	}
	if len(broken) > 0 { // the other lines are open only because this one stopped the script
		all = broken
	}
	cv.Verdict = reports.Worst(all...)
	if cv.Verdict == reports.Pass {
		v.show(m.Clause)
	}
	switch cv.Verdict {
	case reports.Inconclusive:
		if v.stopped.words != "" {
			v.stopped.leave(&cv)
		}
	case reports.Observed:
		cv.Why = observed(open)
	}
	v.check.Clauses = append(v.check.Clauses, cv)
}

// line returns the verdict of one line about one clause. A line that matched does not pass
// in a script that was not played to its end: the rest may show that the server is wrong.
func (v *verdicts) line(m scenarios.Mark, r play.Result, cv *reports.ClauseVerdict) reports.Verdict {
	switch {
	case r.Outcome == play.Mismatched:
		return v.mismatch(m, r, cv)
	case r.Assumed:
		cause{reason: reports.ReasonCode(r.Reason), words: r.Cause, halted: r.Broken, beside: r.Broken}.leave(cv)
		return reports.Inconclusive
	case r.Outcome != play.Matched || v.stopped.words != "":
		return reports.Inconclusive
	case r.Lapse && slices.Contains(v.protocol().GrammarClauses, m.Clause):
		cause{reason: reports.ReasonSetUp, words: "the line matched, but the reply is malformed", beside: true}.leave(cv)
		return reports.Inconclusive
	case m.Record || v.protocol().MismatchVerdict(m) == reports.Observed:
		return reports.Observed
	}
	return reports.Pass
}

// observed lists the replies where the clause leaves them open: of a single line, or of each of several.
func observed(lines []play.Result) string {
	const most = 120
	var all []string
	for _, r := range lines {
		what := []rune(cmp.Or(r.Choice, r.Got))
		if len(what) > most {
			what = append(what[:most:most], []rune(" …")...)
		}
		switch {
		case len(what) == 0:
		case len(lines) == 1:
			all = append(all, string(what))
		default:
			all = append(all, fmt.Sprintf("line %d: %s", r.Line, string(what)))
		}
	}
	return strings.Join(all, "; ")
}

// mismatch returns the verdict of a line that did not match.
func (v *verdicts) mismatch(m scenarios.Mark, r play.Result, cv *reports.ClauseVerdict) reports.Verdict {
	verdict := v.protocol().MismatchVerdict(m)
	switch {
	case v.evidence.Dead != "" && !v.fatal:
		return reports.Inconclusive
	case v.evidence.Dead != "":
		verdict = reports.Crash
	case verdict == reports.Observed:
		return verdict
	case v.leaves(m, r):
		otherwise(0, "the reply breaks another clause").leave(cv)
		return reports.Inconclusive
	case r.Unrefused != "" && v.isAuth([]scenarios.Mark{m}):
		v.unrefused = append(v.unrefused, r)
		otherwise(0, v.unrefusedWords(r)).leave(cv)
		return reports.Inconclusive
	}
	cv.Level, cv.Why = v.protocol().LevelOf(m), gotText(r)
	v.finding(verdict, m, r)
	return verdict
}

// breach adds a breach that no line tests.
func (v *verdicts) breach(b scenarios.Breach) {
	ended := b.Kind == scenarios.ConsumerClosed || !v.fatal && b.Kind != scenarios.ForeignReply
	if v.evidence.Dead != "" && ended || v.explained(b) { // the end of the server is the reason, or a wrong reply
		return
	}
	r := play.Result{Pos: b.Pos, Expected: b.Expected, Got: b.Got, Conn: b.Conn, At: b.At}
	v.broken(v.protocol().ClauseOf(b.Name()), r)
}

// broken adds a clause that is broken at a line that is not about it.
func (v *verdicts) broken(id string, r play.Result) {
	m := scenarios.Mark{Clause: id}
	verdict := v.protocol().MismatchVerdict(m)
	cv := reports.ClauseVerdict{ID: id, Level: v.protocol().LevelOf(m), Verdict: verdict, Why: r.Got}
	i := slices.IndexFunc(v.check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == id })
	switch {
	case i < 0:
		v.check.Clauses = append(v.check.Clauses, cv)
	case v.check.Clauses[i].Verdict.Breach():
		return // the line has reported it
	default:
		v.check.Clauses[i] = cv
	}
	v.finding(verdict, m, r)
}

// whole decides the check as a whole, in addition to its clauses. If it names none, its
// lines have to match.
func (v *verdicts) whole() {
	if len(v.check.Clauses) == 0 {
		v.ownExpectations()
	}
	switch {
	case v.evidence.Open != "":
		v.inconclusive(cause{reason: v.evidence.OpenReason(), words: v.evidence.Open})
	case v.setUp().words != "":
		v.inconclusive(v.setUp())
	case len(v.check.Clauses) > 0 || len(v.check.Findings) > 0:
	case v.stopped.words != "":
		v.inconclusive(v.stopped)
	default:
		v.check.Verdict = reports.Pass
	}
}

// setUp returns what a set-up line has shown, if the play went on and nothing else tells it.
func (v *verdicts) setUp() cause {
	for _, r := range v.evidence.Results {
		told := func(s law.Seen) bool { return s.Conn == r.Conn && s.At.Sub(v.evidence.Began) == r.At }
		if r.Assumed && r.Outcome == play.Mismatched && len(r.Marks) == 0 && len(v.check.Clauses) > 0 &&
			!slices.ContainsFunc(v.evidence.Law, told) {
			return v.mismatchCause(r)
		}
	}
	return cause{}
}

// inconclusive makes the check inconclusive, unless it has a finding.
func (v *verdicts) inconclusive(why cause) {
	v.check.Why, v.check.Reason = why.String(), why.reason
	if !v.check.Verdict.Breach() {
		v.check.Verdict = reports.Inconclusive
	}
}

// ownExpectations evaluates the lines of a script that names no clause.
func (v *verdicts) ownExpectations() {
	for _, r := range v.evidence.Results {
		if r.Outcome != play.Mismatched || r.Setup {
			continue
		}
		verdict := reports.Fail
		if v.evidence.Dead != "" {
			if !v.fatal {
				continue
			}
			verdict = reports.Crash
		}
		v.check.Verdict = verdict
		v.finding(verdict, scenarios.Mark{}, r)
	}
}

// conclude sets the verdict of the check to the worst of its clauses, and keeps the
// conversation if there are findings or it is inconclusive.
func (v *verdicts) conclude() {
	if v.evidence.Dead != "" && len(v.check.Findings) == 0 && v.fatal {
		v.check.Verdict = reports.Crash
		last := v.lastReached()
		v.finding(reports.Crash, onlyMark(last), last)
	}
	all := []reports.Verdict{v.check.Verdict}
	if len(v.check.Clauses) > 0 && v.check.Verdict == reports.NotRun {
		all = nil
	}
	for _, c := range v.check.Clauses {
		all = append(all, c.Verdict)
	}
	v.check.Verdict = reports.Worst(all...)
	if v.check.Verdict.Breach() || v.check.Verdict == reports.Inconclusive {
		v.check.Conversation = v.evidence.Conversation
	}
}

// lastReached returns the last result before the server stopped serving.
func (v *verdicts) lastReached() play.Result {
	last := play.Result{Pos: scenarios.Pos{Line: 1, Col: 1}}
	for _, r := range v.evidence.Results {
		if r.Outcome != play.NotReached {
			last = r
		}
	}
	last.Expected, last.Got = "a server that keeps serving", v.evidence.Dead
	return last
}
