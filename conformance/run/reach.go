package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// reach records which clauses that a play has passed it has reached the goals of. What it has passed without its goal
// is inconclusive: the goal of another check, in another situation, does not earn it.
func (s *runState) reach(c *reports.Check, e *conformance.Evidence) {
	if len(s.runner.Parties) > 0 { // a decision about a client has its goal with it
		return
	}
	var all []conformance.Exchange
	for i := range c.Clauses {
		cv := &c.Clauses[i]
		if cv.Verdict != reports.Pass {
			continue
		}
		if all == nil {
			all = conformance.Exchanges(s.runner.Protocol.Dialect.Grammar().Greeting, e.Conversation)
		}
		switch goal, strict := s.runner.Protocol.Goal(c.ID, cv.ID); {
		case goal.Happened(all):
			s.reached[cv.ID] = true
		case strict:
			cv.Verdict, cv.Why, cv.Reason = reports.Inconclusive, neverSeen+goal.Words, reports.ReasonGoal
			if c.Verdict = reports.Worst(c.Verdict, cv.Verdict); len(c.Conversation) == 0 {
				c.Conversation = conversation(e.Conversation)
			}
		}
	}
}

const neverSeen = "it was never seen that "

// goal makes a clause inconclusive that was passed, and whose goal was never reached.
func (s *runState) goal(c *reports.Clause) {
	goal, _ := s.runner.Protocol.Goal("", c.ID)
	c.Goal, c.Reached = goal.Words, s.reached[c.ID]
	if c.Verdict == reports.Pass && !c.Reached {
		c.Verdict, c.Why, c.Reason = reports.Inconclusive, neverSeen+c.Goal, reports.ReasonGoal
	}
}

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

func (s *runState) fault(err error) { s.err = cmp.Or(s.err, err) }
