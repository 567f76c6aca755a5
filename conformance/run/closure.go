package run

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// maxEndGap is how far apart connections end that end for the same reason.
const maxEndGap = time.Second

// closedTry is a try in which the server closed the connection of a worker while other checks used it: it may have
// ended, or been restarted, for their sake.
type closedTry struct {
	check    reports.Check
	evidence *conformance.Evidence
	ends     []time.Time // of connections
}

// showsBreach reports whether a play has shown that the server closed the connection of a worker: a line of its script,
// or the law, which sees what the suite sends as well.
func showsBreach(t *task, check *reports.Check, clause string) bool {
	isBroken := func(c reports.ClauseVerdict) bool { return c.ID == clause && c.Verdict == reports.Fail }
	isFound := func(v law.Occurrence) bool { return v.Clause == clause }
	return clause != "" && (slices.ContainsFunc(check.Clauses, isBroken) || slices.ContainsFunc(t.evidence.Law, isFound))
}

// closedWhileShared reports whether the server closed the connection of a worker in the first try of a check, while
// others used it. What else the law has found there counts only if the server had not ended.
func (s *runState) closedWhileShared(t *task, check *reports.Check) bool {
	return t.closedTry == nil && t.isShared && t.host != nil && showsBreach(t, check, closedClause(s.runner.Suite))
}

// retryClosed has a check tried again, alone, in which the server closed the connection of a worker beside other
// checks, and reports whether it did. What does not happen again counts nevertheless, unless the server had ended: a
// crash breaks no clause of those who only see it. If it closed connections of several checks at a time, it may have
// ended unseen.
func (s *runState) retryClosed(t *task, check *reports.Check) (isQueued bool) {
	first, clause := t.closedTry, closedClause(s.runner.Suite)
	if first == nil {
		if !s.closedWhileShared(t, check) {
			return false
		}
		t.closedTry, t.isExclusive = &closedTry{*check, t.evidence, serverEnds(t.evidence)}, true
		t.host.closedTries = append(t.host.closedTries, t.closedTry)
		s.retryQueue = append(s.retryQueue, t)
		return true
	}
	if showsBreach(t, check, clause) || check.Verdict == reports.Crash || t.host.crashes > 0 {
		return false
	}
	if slices.ContainsFunc(t.host.closedTries, first.coincides) {
		s.leaveOpen(check, clause, reports.ReasonNotServing,
			"connections of several checks ended at the same time, and none when this check was played alone")
		return false
	}
	attempts := check.Attempts
	*check = first.check
	check.Attempts = attempts
	s.law.take(t.description, first.evidence, s.meter.Lag(first.evidence.Began))
	return false
}

// retryOccasional has a check tried again, alone, in which the server did what it may do now and then, and reports
// whether it did: it closed the connection of a producer, or declined one client more. If the second try decides
// nothing, the first one counts.
func (s *runState) retryOccasional(t *task, check *reports.Check) (isQueued bool) {
	isOccasional := func(r play.Result) bool { return r.IsOccasional && r.Outcome == play.Mismatched }
	if t.occasional != nil && decidesNothing(t.description, check) {
		attempts := check.Attempts
		*check = *t.occasional
		check.Attempts = attempts
	}
	if t.occasional != nil || t.evidence.DeadReason != "" || check.Verdict == reports.Pass ||
		!slices.ContainsFunc(t.evidence.Results, isOccasional) {
		return false
	}
	first := *check
	t.occasional, t.isExclusive = &first, t.host != nil
	s.retryQueue = append(s.retryQueue, t)
	return true
}

// decidesNothing reports whether a play has decided none of the clauses that its check is about.
func decidesNothing(description conformance.Description, check *reports.Check) bool {
	isDecided := func(c reports.ClauseVerdict) bool {
		return c.Verdict != reports.Inconclusive && slices.ContainsFunc(description.Marks, func(m scenarios.ClauseMark) bool {
			return m.Clause == c.ID
		})
	}
	return check.Verdict == reports.Inconclusive || len(description.Marks) > 0 &&
		!slices.ContainsFunc(check.Clauses, isDecided)
}

// coincides reports whether connections of another try ended at the same time.
func (c *closedTry) coincides(other *closedTry) bool {
	return other != c && slices.ContainsFunc(other.ends, func(at time.Time) bool {
		return slices.ContainsFunc(c.ends, func(end time.Time) bool { return at.Sub(end).Abs() < maxEndGap })
	})
}

// serverEnds returns when the server ended connections of a play.
func serverEnds(e *conformance.Evidence) (ends []time.Time) {
	for _, l := range e.Conversation {
		if l.IsEnd && l.From == reports.FromServer {
			ends = append(ends, e.Began.Add(l.At))
		}
	}
	return ends
}

// leaveOpen makes a clause inconclusive in what a check found when it was played alone.
func (s *runState) leaveOpen(check *reports.Check, clause string, reason reports.ReasonCode, words string) {
	c, _ := s.runner.Suite.ClauseByID(clause)
	verdict := reports.ClauseVerdict{ID: c.ID, Level: c.Level, Verdict: reports.Inconclusive, Reason: reason, Cause: words}
	at := slices.IndexFunc(check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == clause })
	if at < 0 {
		at, check.Clauses = len(check.Clauses), append(check.Clauses, verdict)
	}
	check.Clauses[at] = verdict
	check.Verdict = reports.Worst(check.Verdict, verdict.Verdict)
}

// clausesLimitedWhileShared returns the clauses that errors have broken in the first try of a check, if others used the
// server meanwhile and it refused a command that a limit may be for: of jobs, of queues or of clients.
func (s *runState) clausesLimitedWhileShared(t *task, check *reports.Check) (clauses []string) {
	if t.errorClauses != nil || !t.isShared || t.host == nil ||
		t.description.File != "" && !s.refuses(t.evidence.Conversation) {
		return nil
	}
	isError := func(got string) bool { return strings.HasPrefix(got, "-") }
	for _, f := range check.Findings {
		if isError(f.Actual) {
			clauses = append(clauses, f.Clause)
		}
	}
	for _, v := range t.evidence.Law {
		if isError(v.Got) {
			clauses = append(clauses, v.Clause)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(clauses)))
}

// refuses reports whether an error answers a command in a conversation that a limit may be for. What a property has
// sent is not known: its conversation is too long to be kept.
func (s *runState) refuses(all []reports.Line) bool {
	isLimited := map[string]bool{} // by connection
	return slices.ContainsFunc(all, func(l reports.Line) bool {
		if l.From == reports.FromClient {
			verb, _, _ := strings.Cut(strings.TrimPrefix(l.Text, `"`), " ")
			isLimited[l.Conn] = slices.Contains(s.runner.Suite.LimitedVerbs, verb)
		}
		return l.From == reports.FromServer && isLimited[l.Conn] && strings.HasPrefix(l.Text, "-")
	})
}

// retryLimited has a check tried again, alone, in which errors have broken clauses beside other checks, and reports
// whether it did. A clause that is not broken again stays open.
func (s *runState) retryLimited(t *task, check *reports.Check) (isQueued bool) {
	const words = "an error came while other checks used the server, and none when this check was played alone"
	if clauses := s.clausesLimitedWhileShared(t, check); clauses != nil {
		t.errorClauses, t.isExclusive = clauses, true
		*check = s.withoutResult(t.description, reports.Inconclusive, cause{reason: reports.ReasonConnections, words: words},
			"")
		s.retryQueue = append(s.retryQueue, t)
		return true
	}
	for _, clause := range t.errorClauses {
		if clause != "" && !showsBreach(t, check, clause) && check.Verdict != reports.Crash {
			s.leaveOpen(check, clause, reports.ReasonConnections, words)
		}
	}
	return false
}

// closedClause returns the clause that forbids a server to close the connection of a worker; empty if none does.
func closedClause(p *conformance.Suite) string {
	return p.ClauseOf(scenarios.Breach{Kind: scenarios.ConsumerClosed}.Name())
}
