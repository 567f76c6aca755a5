package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/standstill"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// withoutResult returns a check that has the same open verdict for all its clauses.
func (s *runState) withoutResult(d conformance.Description, v reports.Verdict, reason cause,
	provide string) reports.Check {
	c := reports.Check{
		ID: d.ID, Title: d.Title, File: d.File, Verdict: v, Cause: reason.String(), Reason: reason.reason, Provide: provide,
	}
	for _, m := range d.Clauses() {
		c.Clauses = append(c.Clauses, reports.ClauseVerdict{
			ID: m.Clause, Level: s.runner.Suite.LevelOf(m), Verdict: v, Cause: c.Cause, Reason: c.Reason, Provide: provide,
		})
	}
	return c
}

func (s *runState) skipResult(d conformance.Description, n scenarios.Need) reports.Check {
	reason := cause{reason: reports.ReasonCode("needs-" + string(n)), words: "needs " + needWords[n]}
	return s.withoutResult(d, reports.Skipped, reason, s.runner.Provide[n])
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

// verdicts returns the verdicts that follow from a play. needsReplay: lag kept it open, and another try, alone, may
// decide it. What waits for a second play gets it whatever else was found.
func (s *runState) verdicts(t *task) (check reports.Check, needsReplay bool) {
	v := &resultBuilder{state: s, description: t.description, evidence: t.evidence, fatal: t.isFatal, check: reports.Check{
		ID: t.description.ID, Title: t.description.Title, File: t.description.File, Took: t.evidence.Took,
		LeftoverJobs: t.evidence.LeftoverJobs}}
	if words := v.evidence.Lack; words != "" {
		return s.withoutResult(t.description, reports.Skipped, cause{reason: v.evidence.Reason, words: words}, ""), false
	}
	v.stop = v.stopCause()
	for _, m := range v.description.Clauses() {
		v.clause(m)
	}
	for _, b := range v.evidence.Breaches {
		v.addBreach(b)
	}
	v.decisions()
	for _, r := range v.unrefused {
		v.addBroken(v.suite().UnrefusedClause(r.UnrefusedVerb), r)
	}
	for _, f := range v.evidence.Findings {
		v.property(f)
	}
	v.decideCheck()
	v.conclude()
	if v.tooMany() {
		return v.check, false
	}
	isOpen := v.check.Verdict == reports.Inconclusive && v.stop.isTransient
	return v.check, v.evidence.Refusal == nil && (isOpen || v.evidence.IsUnproven)
}

// tooMany makes the check inconclusive if the target refused some of its connections: no
// clause requires a number of connections.
func (v *resultBuilder) tooMany() bool {
	r := v.evidence.Refusal
	if r == nil || r.OwnConns == 0 || v.evidence.DeadReason != "" || v.evidence.Passed() {
		return false
	}
	looks := v.evidence.Looks
	reason, advice := "it refused one while others were open: ", "raise the target's limit of connections"
	switch looks.Way() {
	case standstill.Full:
		reason = looks.String() + ": "
	case standstill.OneByOne: // there is no limit
		reason, advice = looks.String()+": ", ""
	}
	c := v.state.withoutResult(v.description, reports.Inconclusive, cause{
		reason: reports.ReasonConnections, words: "the target has too few connections for this check: " + reason + r.Got,
	}, advice)
	c.Took, c.LeftoverJobs, c.Conversation = v.check.Took, v.check.LeftoverJobs, v.evidence.Conversation
	if v.check = c; looks.Way() == standstill.OneByOne {
		id := v.suite().ClauseOf("no-greeting")
		v.addBroken(id, play.Result{Expected: looks.Greeting + " on each new connection", Got: looks.String()})
		v.check.Verdict = reports.Worst(v.check.Verdict, v.suite().MismatchVerdict(scenarios.ClauseMark{Clause: id}))
	}
	return true
}

// resultBuilder makes the result of one check.
type resultBuilder struct {
	state       *runState
	description conformance.Description
	evidence    *conformance.Evidence
	fatal       bool // the check ended its server
	check       reports.Check
	stop        cause // why the play did not get to its end; zero if it did

	unrefused []play.Result // where the server ended a connection instead of refusing
}

// suite returns the protocol of the run.
func (v *resultBuilder) suite() *conformance.Suite { return v.state.runner.Suite }

// gotText describes the reply, and its time if that is wrong.
func gotText(r play.Result) string {
	if r.Cause != "" {
		return r.Got + "; " + r.Cause
	}
	return r.Got
}

// clause decides one clause from the lines that are tied to it.
func (v *resultBuilder) clause(m scenarios.ClauseMark) {
	cv := reports.ClauseVerdict{ID: m.Clause, Level: v.suite().LevelOf(m), Verdict: reports.NotRun}
	all, breaches, openResults := []reports.Verdict{}, []reports.Verdict{}, []play.Result{}
	for _, r := range v.evidence.Results {
		for _, mark := range r.Marks {
			if mark.Clause != m.Clause {
				continue
			}
			verdict := v.line(mark, r, &cv)
			if all = append(all, verdict); verdict.IsBreach() {
				breaches = append(breaches, verdict)
			} else if verdict == reports.Observed {
				openResults = append(openResults, r)
			}
		}
	}
	if len(all) == 0 && v.stop.words != "" { // the connection for its only line was refused
		all = append(all, reports.Inconclusive)
	}
	if len(breaches) > 0 { // the other lines are open only because this one stopped the script
		all = breaches
	}
	cv.Verdict = reports.Worst(all...)
	if cv.Verdict == reports.Pass {
		v.show(m.Clause)
	}
	switch cv.Verdict {
	case reports.Inconclusive:
		if v.stop.words != "" {
			v.stop.applyTo(&cv)
		}
	case reports.Observed:
		cv.Cause = openReplies(openResults)
	}
	v.check.Clauses = append(v.check.Clauses, cv)
}

// line returns the verdict of one line about one clause. A line that matched does not pass
// in a script that was not played to its end: the rest may show that the server is wrong.
func (v *resultBuilder) line(m scenarios.ClauseMark, r play.Result, cv *reports.ClauseVerdict) reports.Verdict {
	switch {
	case r.Outcome == play.Mismatched:
		return v.mismatch(m, r, cv)
	case r.IsAssumed:
		cause{reason: reports.ReasonCode(r.Reason), words: r.Cause, isHalted: r.BreaksProtocol,
			hasOtherBreach: r.BreaksProtocol}.applyTo(cv)
		return reports.Inconclusive
	case r.Outcome != play.Matched || v.stop.words != "":
		return reports.Inconclusive
	case r.IsLapse && slices.Contains(v.suite().GrammarClauses, m.Clause):
		cause{reason: reports.ReasonSetUp, words: "the line matched, but the reply is malformed",
			hasOtherBreach: true}.applyTo(cv)
		return reports.Inconclusive
	case m.Record || v.suite().MismatchVerdict(m) == reports.Observed:
		return reports.Observed
	}
	return reports.Pass
}

// openReplies lists the replies where the clause leaves them open: of a single line, or of each of several.
func openReplies(lines []play.Result) string {
	const limit = 120
	var all []string
	for _, r := range lines {
		words := []rune(cmp.Or(r.Choice, r.Got))
		if len(words) > limit {
			words = append(words[:limit:limit], []rune(" …")...)
		}
		switch {
		case len(words) == 0:
		case len(lines) == 1:
			all = append(all, string(words))
		default:
			all = append(all, fmt.Sprintf("line %d: %s", r.Line, string(words)))
		}
	}
	return strings.Join(all, "; ")
}

// mismatch returns the verdict of a line that did not match.
func (v *resultBuilder) mismatch(m scenarios.ClauseMark, r play.Result, cv *reports.ClauseVerdict) reports.Verdict {
	verdict := v.suite().MismatchVerdict(m)
	switch {
	case v.evidence.DeadReason != "" && (!v.fatal || v.lives()):
		return reports.Inconclusive
	case v.evidence.DeadReason != "":
		verdict = reports.Crash
	case verdict == reports.Observed:
		return verdict
	case v.leavesToLaw(m, r):
		otherClauseCause(0, "the reply breaks another clause").applyTo(cv)
		return reports.Inconclusive
	case r.UnrefusedVerb != "" && v.isAuth([]scenarios.ClauseMark{m}):
		v.unrefused = append(v.unrefused, r)
		otherClauseCause(0, v.unrefusedWords(r)).applyTo(cv)
		return reports.Inconclusive
	}
	cv.Level, cv.Cause = v.suite().LevelOf(m), gotText(r)
	v.addFinding(verdict, m, r)
	return verdict
}

// addBreach adds a breach that no line tests.
func (v *resultBuilder) addBreach(b scenarios.Breach) {
	ended := b.Kind == scenarios.ConsumerClosed || !v.fatal && b.Kind != scenarios.ImpossibleReply
	if v.evidence.DeadReason != "" && ended || v.isExplained(b) { // the end of the server is the reason, or a wrong reply
		return
	}
	r := play.Result{Pos: b.Pos, Expected: b.Expected, Got: b.Got, Conn: b.Conn, At: b.At}
	v.addBroken(v.suite().ClauseOf(b.Name()), r)
}

// addBroken adds a clause that is broken at a line that is not about it.
func (v *resultBuilder) addBroken(id string, r play.Result) {
	m := scenarios.ClauseMark{Clause: id}
	verdict := v.suite().MismatchVerdict(m)
	cv := reports.ClauseVerdict{ID: id, Level: v.suite().LevelOf(m), Verdict: verdict, Cause: r.Got}
	i := slices.IndexFunc(v.check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == id })
	switch {
	case i < 0:
		v.check.Clauses = append(v.check.Clauses, cv)
	case v.check.Clauses[i].Verdict.IsBreach():
		return // the line has reported it
	default:
		v.check.Clauses[i] = cv
	}
	v.addFinding(verdict, m, r)
}

// decideCheck decides the check as a whole, in addition to its clauses. If it names none, its
// lines have to match.
func (v *resultBuilder) decideCheck() {
	if len(v.check.Clauses) == 0 {
		v.decideUnmarked()
	}
	switch {
	case v.evidence.OpenCause != "":
		v.inconclusive(cause{reason: v.evidence.ReasonOrDefault(), words: v.evidence.OpenCause})
	case v.setUpCause().words != "":
		v.inconclusive(v.setUpCause())
	case len(v.check.Clauses) > 0 || len(v.check.Findings) > 0:
	case v.stop.words != "":
		v.inconclusive(v.stop)
	default:
		v.check.Verdict = reports.Pass
	}
}

// setUpCause returns the cause that a set-up line has shown, if the play went on and nothing else tells it.
func (v *resultBuilder) setUpCause() cause {
	for _, r := range v.evidence.Results {
		isReported := func(s law.Occurrence) bool { return s.Conn == r.Conn && s.At.Sub(v.evidence.Began) == r.At }
		if r.IsAssumed && r.Outcome == play.Mismatched && len(r.Marks) == 0 && len(v.check.Clauses) > 0 &&
			!slices.ContainsFunc(v.evidence.Law, isReported) {
			return v.mismatchCause(r)
		}
	}
	return cause{}
}

// inconclusive makes the check inconclusive, unless it has a finding.
func (v *resultBuilder) inconclusive(reason cause) {
	v.check.Cause, v.check.Reason = reason.String(), reason.reason
	if !v.check.Verdict.IsBreach() {
		v.check.Verdict = reports.Inconclusive
	}
}

// decideUnmarked evaluates the lines of a script that names no clause.
func (v *resultBuilder) decideUnmarked() {
	for _, r := range v.evidence.Results {
		if r.Outcome != play.Mismatched || r.Setup {
			continue
		}
		verdict := reports.Fail
		if v.evidence.DeadReason != "" {
			if !v.fatal || v.lives() {
				continue
			}
			verdict = reports.Crash
		}
		v.check.Verdict = verdict
		v.addFinding(verdict, scenarios.ClauseMark{}, r)
	}
}

// conclude sets the verdict of the check to the worst of its clauses, and keeps the
// conversation if there are findings or it is inconclusive.
func (v *resultBuilder) conclude() {
	if v.evidence.DeadReason != "" && v.fatal && (len(v.check.Findings) == 0 || v.lives()) {
		v.check.Verdict = reports.Crash
		last := v.lastResult()
		if v.lives() {
			last.Marks, last.Got = nil, v.evidence.Looks.String()+"\n"+last.Got
		}
		v.addFinding(reports.Crash, singleMark(last), last)
	}
	all := []reports.Verdict{v.check.Verdict}
	if len(v.check.Clauses) > 0 && v.check.Verdict == reports.NotRun {
		all = nil
	}
	for _, c := range v.check.Clauses {
		all = append(all, c.Verdict)
	}
	v.check.Verdict = reports.Worst(all...)
	if v.check.Verdict.IsBreach() || v.check.Verdict == reports.Inconclusive {
		v.check.Conversation = v.evidence.Conversation
	}
}

// lives reports whether the server does not serve, and no command has ended it as far as was seen: no clause is blamed
// for the line that was played then.
func (v *resultBuilder) lives() bool { return v.evidence.Looks.Way().Lives() }

// lastResult returns the last result before the server stopped serving.
func (v *resultBuilder) lastResult() play.Result {
	last := play.Result{Pos: scenarios.Pos{Line: 1, Col: 1}}
	for _, r := range v.evidence.Results {
		if r.Outcome != play.NotReached {
			last = r
		}
	}
	last.Expected, last.Got = "a server that keeps serving", v.evidence.DeadReason
	return last
}
