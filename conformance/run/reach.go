package run

import (
	"context"
	"slices"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
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
				c.Conversation = conversation(e)
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
		c.Verdict, c.Why, c.Reason, c.Findings = reports.Inconclusive, err.Error(), reports.ReasonUnable, nil
		for j := range c.Clauses {
			if cv := &c.Clauses[j]; found(cv.Verdict) {
				cv.Verdict, cv.Why, cv.Reason = reports.Inconclusive, err.Error(), reports.ReasonUnable
			}
		}
	}
}
