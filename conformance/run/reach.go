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
func (v *resultBuilder) show(clause string) {
	for _, r := range v.evidence.Results {
		isClause := func(m scenarios.ClauseMark) bool { return m.Clause == clause }
		if r.Outcome == play.Matched && !r.IsAlternative && slices.ContainsFunc(r.Marks, isClause) {
			v.state.shownClauses[clause] = true
			return
		}
	}
	for name, rule := range v.suite().Law.Rules {
		if rule.MayBreak(clause) && v.evidence.Tally.Rules[name].Passes > 0 {
			v.state.shownClauses[clause] = true
			return
		}
	}
	v.state.unshownLines[v.check.ID] = v.evidence.Conversation
}

// leaveUnshown makes clauses inconclusive that checks have passed, and none has shown.
func (s *runState) leaveUnshown(all []reports.Check) {
	for i := range all {
		c := &all[i]
		for k := range c.Clauses {
			talk, ok := s.unshownLines[c.ID]
			if cv := &c.Clauses[k]; ok && cv.Verdict == reports.Pass && !s.shownClauses[cv.ID] {
				cv.Verdict = reports.Inconclusive
				cause{reason: reports.ReasonSetUp, words: notShownReason, isHalted: true}.applyTo(cv)
				c.Verdict, c.Conversation = reports.Worst(c.Verdict, cv.Verdict), talk
			}
		}
	}
}

const notShownReason = "no line about it got the reply that it has first, and no rule about it could have been broken"

// answers is how a server has answered a verb in the scripts of a run.
type answers struct {
	isServed       bool
	refusingChecks map[string]bool // the checks in which it was refused
}

// countAnswers takes how the commands of a play were answered.
func (s *runState) countAnswers(check string, verbs map[string]law.AnswerCount) {
	for verb, n := range verbs {
		a := s.verbs[verb]
		if a == nil {
			a = &answers{refusingChecks: map[string]bool{}}
			s.verbs[verb] = a
		}
		if a.isServed = a.isServed || n.Replies > 0; n.Refusals > 0 {
			a.refusingChecks[check] = true
		}
	}
}

// minRefusals is in how many checks a verb was refused, and in none served, that a server serves never.
const minRefusals = 3

// foldRefusals makes one finding of all refusals of a verb that the server never serves. It is about the clause that
// says what answers the verb; the clauses that a check has found broken by that refusal are undecided.
func (s *runState) foldRefusals(all []reports.Check) {
	for i := range all {
		c := &all[i]
		var findings []reports.Finding
		for _, f := range c.Findings {
			clause := s.runner.Suite.ClauseOf(session.ImpossibleReply + f.RefusedVerb)
			a := s.verbs[f.RefusedVerb]
			if a != nil && !a.isServed && len(a.refusingChecks) >= minRefusals && f.Clause != "" && clause != "" {
				s.blame(c, &f, clause, f.RefusedVerb+" was always refused")
			}
			same := func(k reports.Finding) bool {
				return f.RefusedVerb != "" && k.RefusedVerb == f.RefusedVerb && k.Clause == f.Clause
			}
			if !slices.ContainsFunc(findings, same) {
				findings = append(findings, f)
			}
		}
		c.Findings = findings
	}
}

// follow has a finding be about the clause of its own command, or about one on which it rests, where another finding
// shows that broken for certain: what came before is no likelier reason then, and what follows from the same departure
// is no finding of its own.
func (s *runState) follow(all []reports.Check) {
	var findings []reports.Finding
	for _, c := range all {
		findings = append(findings, slices.DeleteFunc(slices.Clone(c.Findings),
			func(f reports.Finding) bool { return f.CommandClause != "" || f.Clause == "" })...)
	}
	for i := range all {
		c := &all[i]
		c.Findings = slices.Clone(c.Findings)
		for n := range c.Findings {
			f := &c.Findings[n]
			at := slices.IndexFunc(findings, func(k reports.Finding) bool {
				return f.CommandClause != "" && (k.Clause == f.CommandClause || f.RefusedVerb != "" &&
					k.RefusedVerb == f.RefusedVerb) ||
					slices.Contains(f.Premises, k.Clause)
			})
			if at >= 0 {
				s.blame(c, f, findings[at].Clause, "it is a consequence of the finding about "+findings[at].Clause)
			}
		}
	}
}

// blame has a finding of a check be about another clause, and leaves open what it was about.
func (s *runState) blame(c *reports.Check, f *reports.Finding, clause, reason string) {
	if f.Clause == clause {
		return
	}
	m := scenarios.ClauseMark{Clause: clause}
	verdict, level := s.runner.Suite.MismatchVerdict(m), s.runner.Suite.LevelOf(m)
	cv := reports.ClauseVerdict{ID: clause, Level: level, Verdict: verdict, Cause: f.Actual}
	c.Clauses = slices.Clone(c.Clauses)
	at := func(id string) int {
		return slices.IndexFunc(c.Clauses, func(cv reports.ClauseVerdict) bool { return cv.ID == id })
	}
	if i := at(f.Clause); i >= 0 {
		entry := &c.Clauses[i]
		entry.Verdict = reports.Inconclusive
		otherClauseCause(0, reason).applyTo(entry)
	}
	if i := at(clause); i >= 0 {
		c.Clauses[i] = cv
	} else {
		c.Clauses = append(c.Clauses, cv)
	}
	statement, _ := s.runner.Suite.ClauseByID(clause)
	f.Clause, f.Level, f.Statement, f.Verdict = clause, level, statement.Statement, verdict
	c.Verdict = reports.Worst(c.Verdict, verdict)
}

// applyPremise makes what was found undecided, but for crashes, if the server does otherwise what the checks take for
// granted and the specification leaves open: then the server need not do what they expect.
func (s *runState) applyPremise(ctx context.Context, all []reports.Check) {
	isBreach := func(v reports.Verdict) bool { return v.IsBreach() && v != reports.Crash }
	if s.runner.Suite.Premise == nil || len(s.runner.Servers) == 0 || ctx.Err() != nil ||
		!slices.ContainsFunc(all, func(c reports.Check) bool { return isBreach(c.Verdict) }) {
		return
	}
	err := s.runner.Suite.Premise(ctx, s.runner.Servers[0].Target)
	if err == nil {
		return
	}
	for i := range all {
		c := &all[i]
		if !isBreach(c.Verdict) {
			continue
		}
		c.Verdict, c.Cause, c.Findings = reports.Inconclusive, err.Error(), nil
		for j := range c.Clauses {
			if cv := &c.Clauses[j]; isBreach(cv.Verdict) {
				cv.Verdict, cv.Cause = reports.Inconclusive, err.Error()
			}
		}
	}
}

func (s *runState) noteInternalError(err error) { s.err = cmp.Or(s.err, err) }
