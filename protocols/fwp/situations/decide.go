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

// holds decides a clause by what the situation itself has seen. Got says what it was, whether it held or not.
func (t *trial) holds(clause string, ok bool, expected, got string) {
	d := conformance.Decision{Clause: t.clauseID(clause), Outcome: play.Matched, Got: got}
	if !ok {
		d.Outcome, d.Expected = play.Mismatched, expected
	}
	t.decisions = append(t.decisions, d)
}

// clauseID returns the id of a clause of which the prefix is left out.
func (t *trial) clauseID(clause string) string { return t.harness.protocol().Prefix + clause }

// kept decides that a clause held, unless a rule has found it broken.
func (t *trial) kept(clause string) { t.holds(clause, true, "", "") }

// shownBy names the event that shows the latest decision. Nothing happens without an event.
func (t *trial) shownBy(e *clientrules.Event) {
	if e == nil || len(t.decisions) == 0 {
		return
	}
	if l, is := lineOf(*e); is {
		last := &t.decisions[len(t.decisions)-1]
		last.Conn, last.At = l.Conn, l.At
	}
}

// open leaves a clause open, for a reason that is one sentence without a full stop.
func (t *trial) open(clause, why string) {
	t.decisions = append(t.decisions, undecided(t.clauseID(clause), why))
}

func undecided(clause, why string) conformance.Decision {
	return conformance.Decision{Clause: clause, Outcome: play.Unsure, Cause: why}
}

// evidence returns what the play comes to.
func (t *trial) evidence() conformance.Evidence {
	t.mu.Lock()
	t.builder.End(t.now())
	t.rules.End(t.now())
	results := t.rules.Results()
	e := conformance.Evidence{
		Began: t.began, Took: time.Since(t.began), Err: t.ctx.Err(), Conversation: slices.Clone(t.lines), Served: true,
	}
	t.mu.Unlock()
	if e.Skipped = t.lacks; e.Skipped != "" {
		e.Reason = t.lacking
		return e
	}
	all, sure := t.decidedByRules(results)
	all = append(all, t.decisions...)
	e.Decisions = t.complete(t.consequences(all, results), results)
	e.Printed = t.printed()
	t.confirm(&e, sure)
	return e
}

// decidedByRules returns what the rules decide: of the clauses that the situation is about whether they held, and of
// all what was broken. Sure has the clauses of breaches that no lag of this machine can
// explain: all others are findings only if another play shows them again.
func (t *trial) decidedByRules(results []clientrules.Result) (all []conformance.Decision, sure map[string]bool) {
	own, sure := t.situation.clauseIDs(t.harness.protocol().Prefix), map[string]bool{}
	maps.Copy(sure, t.certain)
	t.byRules = map[string]time.Duration{}
	for _, r := range results {
		clause := fwpsuite.ClauseOf(r.Rule.Breach)
		switch {
		case clause == "" || !t.binds(clause) || t.isUnjudged(r),
			t.situation.setup.untimed && clientrules.IsTimed(r.Rule.Breach):
		case r.State() == clientrules.Broke:
			all = append(all, decisionOf(clause, r.Examples[0]))
			t.byRules[clause] = r.Examples[0].At
			sure[clause] = sure[clause] || !clientrules.IsTimed(r.Rule.Breach)
		case r.State() == clientrules.Held && slices.Contains(own, clause):
			all = append(all, conformance.Decision{Clause: clause, Outcome: play.Matched})
		}
	}
	return all, sure
}

// isUnjudged reports whether what a rule has found broken is none, since the process was to end at once, or has broken
// down in the middle of a line.
func (t *trial) isUnjudged(r clientrules.Result) bool {
	return r.State() == clientrules.Broke && (slices.Contains(t.unjudged, r.Rule.Breach) ||
		r.Rule.Breach == clientrules.LineUnfinished && !slices.ContainsFunc(r.Examples, t.ranOn))
}

// ranOn reports whether the process of a breach ran on behind it, or ended with exit code 0.
func (t *trial) ranOn(b clientrules.Breach) bool {
	return !t.has(func(e *clientrules.Event) bool {
		return e.Kind == clientrules.Exited && e.Process == b.Process && e.Code != 0 && e.At <= b.At+timeToAct
	})
}

// decisionOf returns the decision that a clause is broken, where the last event is that shows it.
func decisionOf(clause string, b clientrules.Breach) conformance.Decision {
	d := conformance.Decision{Clause: clause, Outcome: play.Mismatched, Got: b.Text, At: b.At}
	if len(b.Shown) > 0 {
		shown := b.Shown[len(b.Shown)-1]
		l, _ := lineOf(clientrules.Event{At: shown.At, Conn: shown.Conn, Kind: clientrules.Opened})
		d.At, d.Conn = l.At, l.Conn
	}
	return d
}

// binds reports whether a clause binds the program: a producer that presents itself as a worker is none.
func (t *trial) binds(clause string) bool {
	c, known := t.harness.protocol().ClauseByID(clause)
	return !known || !t.harness.Producer || c.Binds("C") || c.Binds("P")
}

// complete adds an open decision about each clause of the situation that nothing has decided. Where the situation did
// not come about, nothing has held. The rules wait longer on a machine that is late, so that what a play is about may
// be over before they have seen it.
func (t *trial) complete(all []conformance.Decision, results []clientrules.Result) []conformance.Decision {
	if t.stop != "" {
		all = slices.DeleteFunc(all, func(d conformance.Decision) bool { return d.Outcome != play.Mismatched })
	}
	for _, clause := range t.situation.clauseIDs(t.harness.protocol().Prefix) {
		if slices.ContainsFunc(all, func(d conformance.Decision) bool { return d.Clause == clause }) {
			continue
		}
		goal := goalOf(clause, results)
		open := undecided(clause, cmp.Or(t.stop, goal, "the situation does not test it"))
		if t.stop != "" {
			open.Reason = t.reason
		}
		if t.stop == "" && goal != "" && t.lag(t.began) >= machine.Room {
			open.Reason = reports.ReasonLag
		}
		all = append(all, open)
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
