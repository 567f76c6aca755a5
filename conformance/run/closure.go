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

// sameEnd is how far apart connections end that end for the same reason.
const sameEnd = time.Second

// closure is a try in which the server closed the connection of a worker while other checks used it: it may have ended,
// or been restarted, for their sake.
type closure struct {
	check    reports.Check
	evidence *conformance.Evidence
	ends     []time.Time // of connections
}

// shows reports whether a play has shown that the server closed the connection of a worker: a line of its script, or
// the law, which sees what the suite sends as well.
func shows(t *task, check *reports.Check, clause string) bool {
	broken := func(c reports.ClauseVerdict) bool { return c.ID == clause && c.Verdict == reports.Fail }
	found := func(v law.Seen) bool { return v.Clause == clause }
	return clause != "" && (slices.ContainsFunc(check.Clauses, broken) || slices.ContainsFunc(t.evidence.Law, found))
}

// closedBesideOthers reports whether the server closed the connection of a worker in the first try of a check, while
// others used it. What else the law has found there counts only if the server had not ended.
func (s *runState) closedBesideOthers(t *task, check *reports.Check) bool {
	return t.closed == nil && t.together && t.host != nil && shows(t, check, closedClause(s.runner.Protocol))
}

// closes has a check tried again, alone, in which the server closed the connection of a worker beside other checks, and
// reports whether it did. What does not happen again counts nevertheless, unless the server had ended: a crash breaks
// no clause of those who only see it. If it closed connections of several checks at a time, it may have ended unseen.
func (s *runState) closes(t *task, check *reports.Check) (again bool) {
	first, clause := t.closed, closedClause(s.runner.Protocol)
	if first == nil {
		if !s.closedBesideOthers(t, check) {
			return false
		}
		t.closed, t.apart = &closure{*check, t.evidence, endsIn(t.evidence)}, true
		t.host.closed = append(t.host.closed, t.closed)
		s.again = append(s.again, t)
		return true
	}
	if shows(t, check, clause) || check.Verdict == reports.Crash || t.host.crashes > 0 {
		return false
	}
	if slices.ContainsFunc(t.host.closed, first.isAlso) {
		s.leaveOpen(check, clause, reports.ReasonNotServing,
			"connections of several checks ended at the same time, and none when this check was played alone")
		return false
	}
	attempts := check.Attempts
	*check = first.check
	check.Attempts = attempts
	s.law.take(t.about, first.evidence, s.meter.Lag(first.evidence.Began))
	return false
}

// passes has a check tried again, alone, in which the server did what it may do now and then, and reports whether it
// did: it closed the connection of a producer, or declined one client more. If the second try decides nothing, the
// first one counts.
func (s *runState) passes(t *task, check *reports.Check) (again bool) {
	passing := func(r play.Result) bool { return r.Passing && r.Outcome == play.Mismatched }
	if t.passing != nil && undecided(t.about, check) {
		attempts := check.Attempts
		*check = *t.passing
		check.Attempts = attempts
	}
	if t.passing != nil || t.evidence.Dead != "" || check.Verdict == reports.Pass ||
		!slices.ContainsFunc(t.evidence.Results, passing) {
		return false
	}
	first := *check
	t.passing, t.apart = &first, t.host != nil
	s.again = append(s.again, t)
	return true
}

// undecided reports whether a play has decided none of the clauses that its check is about.
func undecided(about conformance.Description, check *reports.Check) bool {
	decided := func(c reports.ClauseVerdict) bool {
		return c.Verdict != reports.Inconclusive && slices.ContainsFunc(about.Marks, func(m scenarios.Mark) bool {
			return m.Clause == c.ID
		})
	}
	return check.Verdict == reports.Inconclusive || len(about.Marks) > 0 && !slices.ContainsFunc(check.Clauses, decided)
}

// isAlso reports whether connections of another try ended at the same time.
func (c *closure) isAlso(other *closure) bool {
	return other != c && slices.ContainsFunc(other.ends, func(at time.Time) bool {
		return slices.ContainsFunc(c.ends, func(own time.Time) bool { return at.Sub(own).Abs() < sameEnd })
	})
}

// endsIn returns when the server ended connections of a play.
func endsIn(e *conformance.Evidence) (ends []time.Time) {
	for _, l := range e.Conversation {
		if l.Ended && l.From == reports.FromServer {
			ends = append(ends, e.Began.Add(l.At))
		}
	}
	return ends
}

// leaveOpen makes a clause inconclusive in what a check found when it was played alone.
func (s *runState) leaveOpen(check *reports.Check, clause string, reason reports.ReasonCode, why string) {
	c, _ := s.runner.Protocol.ClauseByID(clause)
	open := reports.ClauseVerdict{ID: c.ID, Level: c.Level, Verdict: reports.Inconclusive, Reason: reason, Why: why}
	at := slices.IndexFunc(check.Clauses, func(c reports.ClauseVerdict) bool { return c.ID == clause })
	if at < 0 {
		at, check.Clauses = len(check.Clauses), append(check.Clauses, open)
	}
	check.Clauses[at] = open
	check.Verdict = reports.Worst(check.Verdict, open.Verdict)
}

// limitedBesideOthers returns the clauses that errors have broken in the first try of a check, if others used the
// server meanwhile and it refused a command that a limit may be for: of jobs, of queues or of clients.
func (s *runState) limitedBesideOthers(t *task, check *reports.Check) (clauses []string) {
	if t.overLimit != nil || !t.together || t.host == nil ||
		t.about.File != "" && !s.refuses(t.evidence.Conversation) {
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
	asked := map[string]bool{} // by connection
	return slices.ContainsFunc(all, func(l reports.Line) bool {
		if l.From == reports.FromClient {
			verb, _, _ := strings.Cut(strings.TrimPrefix(l.Text, `"`), " ")
			asked[l.Conn] = slices.Contains(s.runner.Protocol.Limited, verb)
		}
		return l.From == reports.FromServer && asked[l.Conn] && strings.HasPrefix(l.Text, "-")
	})
}

// limits has a check tried again, alone, in which errors have broken clauses beside other checks, and reports whether
// it did. A clause that is not broken again stays open.
func (s *runState) limits(t *task, check *reports.Check) (again bool) {
	const why = "an error came while other checks used the server, and none when this check was played alone"
	if clauses := s.limitedBesideOthers(t, check); clauses != nil {
		t.overLimit, t.apart = clauses, true
		*check = s.withoutResult(t.about, reports.Inconclusive, cause{reason: reports.ReasonConnections, words: why}, "")
		s.again = append(s.again, t)
		return true
	}
	for _, clause := range t.overLimit {
		if clause != "" && !shows(t, check, clause) && check.Verdict != reports.Crash {
			s.leaveOpen(check, clause, reports.ReasonConnections, why)
		}
	}
	return false
}

// closedClause returns the clause that forbids a server to close the connection of a worker; empty if none does.
func closedClause(p *conformance.Protocol) string {
	return p.ClauseOf(scenarios.Breach{Kind: scenarios.ConsumerClosed}.Name())
}
