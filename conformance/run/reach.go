package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// show notes that a play has shown that the server keeps a clause: a line about it got the first of its replies, or a
// wrong reply would have broken a rule of the law about it. The other replies of a line are for servers with which its
// situation does not come about.
func (v *verdicts) show(clause string) {
	for _, r := range v.evidence.Results {
		is := func(m scenarios.Mark) bool { return m.Clause == clause }
		if r.Outcome == play.Matched && !r.Aside && slices.ContainsFunc(r.Marks, is) {
			v.state.shown[clause] = true
			return
		}
	}
	for name, rule := range v.protocol().Law.Rules {
		if rule.Names(clause) && v.evidence.Tally.Rules[name].Kept > 0 {
			v.state.shown[clause] = true
			return
		}
	}
	v.state.unshown[v.check.ID] = v.evidence.Conversation
}

// leaveUnshown makes clauses inconclusive that checks have passed, and none has shown.
func (s *runState) leaveUnshown(all []reports.Check) {
	for i := range all {
		c := &all[i]
		for k := range c.Clauses {
			talk, some := s.unshown[c.ID]
			if cv := &c.Clauses[k]; some && cv.Verdict == reports.Pass && !s.shown[cv.ID] {
				cv.Verdict = reports.Inconclusive
				cause{reason: reports.ReasonSetUp, words: notShown, halted: true}.leave(cv)
				c.Verdict, c.Conversation = reports.Worst(c.Verdict, cv.Verdict), talk
			}
		}
	}
}

const notShown = "no line about it got the reply that it has first, and no rule about it could have been broken"

// answers is how a server has answered a verb in the scripts of a run.
type answers struct {
	served  bool
	refused map[string]bool // the checks in which it was refused
}

// answered takes how the commands of a play were answered.
func (s *runState) answered(check string, verbs map[string]law.Answered) {
	for verb, n := range verbs {
		a := s.verbs[verb]
		if a == nil {
			a = &answers{refused: map[string]bool{}}
			s.verbs[verb] = a
		}
		if a.served = a.served || n.Served > 0; n.Refused > 0 {
			a.refused[check] = true
		}
	}
}

// refusedAlways is in how many checks a verb was refused, and in none served, that a server serves never.
const refusedAlways = 3

// unserved makes one finding of all refusals of a verb that the server never serves. It is about the clause that says
// what answers the verb; the clauses that a check has found broken by that refusal are undecided.
func (s *runState) unserved(all []reports.Check) {
	for i := range all {
		c := &all[i]
		var kept []reports.Finding
		for _, f := range c.Findings {
			clause := s.runner.Protocol.ClauseOf(session.ForeignReply + f.Refused)
			a := s.verbs[f.Refused]
			if a != nil && !a.served && len(a.refused) >= refusedAlways && f.Clause != "" && clause != "" {
				s.blame(c, &f, clause, f.Refused+" was always refused")
			}
			same := func(k reports.Finding) bool { return f.Refused != "" && k.Refused == f.Refused && k.Clause == f.Clause }
			if !slices.ContainsFunc(kept, same) {
				kept = append(kept, f)
			}
		}
		c.Findings = kept
	}
}

// follow has a finding be about the clause of its own command, or about one on which it rests, where another finding
// shows that broken for certain: what came before is no likelier reason then, and what follows from the same departure
// is no finding of its own.
func (s *runState) follow(all []reports.Check) {
	var certain []reports.Finding
	for _, c := range all {
		certain = append(certain, slices.DeleteFunc(slices.Clone(c.Findings),
			func(f reports.Finding) bool { return f.Own != "" || f.Clause == "" })...)
	}
	for i := range all {
		c := &all[i]
		c.Findings = slices.Clone(c.Findings)
		for n := range c.Findings {
			f := &c.Findings[n]
			at := slices.IndexFunc(certain, func(k reports.Finding) bool {
				return f.Own != "" && (k.Clause == f.Own || f.Refused != "" && k.Refused == f.Refused) ||
					slices.Contains(f.Premises, k.Clause)
			})
			if at >= 0 {
				s.blame(c, f, certain[at].Clause, "it is a consequence of the finding about "+certain[at].Clause)
			}
		}
	}
}

// blame has a finding of a check be about another clause, and leaves open what it was about.
func (s *runState) blame(c *reports.Check, f *reports.Finding, clause, why string) {
	if f.Clause == clause {
		return
	}
	m := scenarios.Mark{Clause: clause}
	verdict, level := s.runner.Protocol.MismatchVerdict(m), s.runner.Protocol.LevelOf(m)
	cv := reports.ClauseVerdict{ID: clause, Level: level, Verdict: verdict, Why: f.Actual}
	c.Clauses = slices.Clone(c.Clauses)
	at := func(id string) int {
		return slices.IndexFunc(c.Clauses, func(cv reports.ClauseVerdict) bool { return cv.ID == id })
	}
	if i := at(f.Clause); i >= 0 {
		open := &c.Clauses[i]
		open.Verdict = reports.Inconclusive
		otherwise(0, why).leave(open)
	}
	if i := at(clause); i >= 0 {
		c.Clauses[i] = cv
	} else {
		c.Clauses = append(c.Clauses, cv)
	}
	about, _ := s.runner.Protocol.ClauseByID(clause)
	f.Clause, f.Level, f.Statement, f.Verdict = clause, level, about.Statement, verdict
	c.Verdict = reports.Worst(c.Verdict, verdict)
}

// premise makes what was found undecided, but for crashes, if the server does otherwise what the checks take for
// granted and the specification leaves open: then the server need not do what they expect.
func (s *runState) premise(ctx context.Context, all []reports.Check) {
	found := func(v reports.Verdict) bool { return v.Breach() && v != reports.Crash }
	if s.runner.Protocol.Premise == nil || len(s.runner.Servers) == 0 || ctx.Err() != nil ||
		!slices.ContainsFunc(all, func(c reports.Check) bool { return found(c.Verdict) }) {
		return
	}
	err := s.runner.Protocol.Premise(ctx, s.runner.Servers[0].Target)
	if err == nil {
		return
	}
	for i := range all {
		c := &all[i]
		if !found(c.Verdict) {
			continue
		}
		c.Verdict, c.Why, c.Findings = reports.Inconclusive, err.Error(), nil
		for j := range c.Clauses {
			if cv := &c.Clauses[j]; found(cv.Verdict) {
				cv.Verdict, cv.Why = reports.Inconclusive, err.Error()
			}
		}
	}
}

func (s *runState) bug(err error) { s.err = cmp.Or(s.err, err) }
