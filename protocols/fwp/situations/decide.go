package situations

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// decide decides a clause by what the situation itself has seen. Got says what it was, whether it held or not.
func (t *trial) decide(clause string, ok bool, expected, got string) {
	d := conformance.Decision{Clause: t.clauseID(clause), Outcome: play.Matched, Got: got}
	if !ok {
		d.Outcome, d.Expected = play.Mismatched, expected
	}
	t.decisions = append(t.decisions, d)
}

// clauseID returns the id of a clause of which the prefix is left out.
func (t *trial) clauseID(clause string) string { return t.harness.protocol().Prefix + clause }

// decideHeld decides that a clause held, unless a rule has found it broken.
func (t *trial) decideHeld(clause string) { t.decide(clause, true, "", "") }

// setEvidence names the event that shows the latest decision. Nothing happens without an event.
func (t *trial) setEvidence(e *clientrules.Event) {
	if e == nil || len(t.decisions) == 0 {
		return
	}
	if l, ok := lineOf(*e); ok {
		last := &t.decisions[len(t.decisions)-1]
		last.Conn, last.At = l.Conn, l.At
	}
}

// leaveOpen leaves a clause open, for a reason that is one sentence without a full stop.
func (t *trial) leaveOpen(clause, cause string) {
	t.decisions = append(t.decisions, openDecision(t.clauseID(clause), cause))
}

func openDecision(clause, cause string) conformance.Decision {
	return conformance.Decision{Clause: clause, Outcome: play.Unsure, Cause: cause}
}

// evidence returns what the play comes to.
func (t *trial) evidence() conformance.Evidence {
	t.mu.Lock()
	t.builder.End(t.now())
	t.rules.End(t.now())
	results := t.rules.Results()
	e := conformance.Evidence{
		Began: t.startTime, Took: time.Since(t.startTime), Err: t.ctx.Err(), Conversation: slices.Clone(t.lines),
		HasServed: true,
	}
	t.mu.Unlock()
	if e.Lack = t.lackReason; e.Lack != "" {
		e.Reason = t.lackCode
		return e
	}
	all, isCertain := t.ruleDecisions(results)
	all = append(all, t.decisions...)
	e.Decisions = t.complete(t.consequences(all, results), results)
	e.Printed = t.excerpts()
	t.confirm(&e, isCertain)
	return e
}

// ruleDecisions returns what the rules decide: of the clauses that the situation is about whether they held, and of all
// what was broken. isCertain has the clauses of breaches that no lag of this machine can explain: all others are
// findings only if another play shows them again.
func (t *trial) ruleDecisions(results []clientrules.Result) (all []conformance.Decision, isCertain map[string]bool) {
	clauses, isCertain := t.situation.clauseIDs(t.harness.protocol().Prefix), map[string]bool{}
	maps.Copy(isCertain, t.isCertain)
	t.brokenAt = map[string]time.Duration{}
	for _, r := range results {
		clause := fwpsuite.ClauseOf(r.Rule.Breach)
		switch {
		case clause == "" || !t.binds(clause) || t.isUnjudged(r),
			t.situation.setup.ignoresTimes && clientrules.IsTimed(r.Rule.Breach):
		case r.State() == clientrules.StateBroken:
			all = append(all, decisionOf(clause, r.Examples[0]))
			t.brokenAt[clause] = r.Examples[0].At
			isCertain[clause] = isCertain[clause] || !clientrules.IsTimed(r.Rule.Breach)
		case r.State() == clientrules.StateHeld && slices.Contains(clauses, clause):
			all = append(all, conformance.Decision{Clause: clause, Outcome: play.Matched})
		}
	}
	return all, isCertain
}

// isUnjudged reports whether what a rule has found broken is none, since the process was to end at once, or has broken
// down in the middle of a line.
func (t *trial) isUnjudged(r clientrules.Result) bool {
	return r.State() == clientrules.StateBroken && (slices.Contains(t.unjudgedBreaches, r.Rule.Breach) ||
		r.Rule.Breach == clientrules.LineUnfinished && !slices.ContainsFunc(r.Examples, t.survivesBreach))
}

// survivesBreach reports whether the process of a breach ran on behind it, or ended with exit code 0.
func (t *trial) survivesBreach(b clientrules.Breach) bool {
	return !t.has(func(e *clientrules.Event) bool {
		return e.Kind == clientrules.ProcessExit && e.Process == b.Process && e.Code != 0 && e.At <= b.At+timeToAct
	})
}

// decisionOf returns the decision that a clause is broken, where the last event is that shows it.
func decisionOf(clause string, b clientrules.Breach) conformance.Decision {
	d := conformance.Decision{Clause: clause, Outcome: play.Mismatched, Got: b.Text, At: b.At}
	if len(b.Evidence) > 0 {
		last := b.Evidence[len(b.Evidence)-1]
		l, _ := lineOf(clientrules.Event{At: last.At, Conn: last.Conn, Kind: clientrules.ConnOpen})
		d.At, d.Conn = l.At, l.Conn
	}
	return d
}

// binds reports whether a clause binds the program: a producer that presents itself as a worker is none.
func (t *trial) binds(clause string) bool {
	c, ok := t.harness.protocol().ClauseByID(clause)
	return !ok || !t.harness.IsProducer || c.Binds("C") || c.Binds("P")
}

// complete adds an open decision about each clause of the situation that nothing has decided. Where the situation did
// not come about, nothing has held. The rules wait longer on a machine that is late, so that what a play is about may
// be over before they have seen it.
func (t *trial) complete(all []conformance.Decision, results []clientrules.Result) []conformance.Decision {
	if t.stopReason != "" {
		all = slices.DeleteFunc(all, func(d conformance.Decision) bool { return d.Outcome != play.Mismatched })
	}
	for _, clause := range t.situation.clauseIDs(t.harness.protocol().Prefix) {
		if slices.ContainsFunc(all, func(d conformance.Decision) bool { return d.Clause == clause }) {
			continue
		}
		goal := goalOf(clause, results)
		decision := openDecision(clause, cmp.Or(t.stopReason, goal, "the situation does not test it"))
		if t.stopReason != "" {
			decision.Reason = t.stopCode
		}
		if t.stopReason == "" && goal != "" && t.lag(t.startTime) >= machine.Room {
			decision.Reason = reports.ReasonLag
		}
		all = append(all, decision)
	}
	return all
}

// goalOf says what was never seen that a clause is about; empty if no rule is about it.
func goalOf(clause string, results []clientrules.Result) string {
	for _, r := range results {
		if fwpsuite.ClauseOf(r.Rule.Breach) == clause && r.Missing == 0 {
			return "it was never seen that " + r.Rule.Goal
		}
	}
	return ""
}
