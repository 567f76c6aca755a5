package situations

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// finding names a clause that was found broken in a situation.
type finding struct{ situation, clause string }

// findingState is what the plays of a situation have found about a clause.
type findingState struct {
	plays    int       // that had the finding, where it may depend on time
	got      string    // the latest had
	ruleTime time.Time // when a rule has found it, the latest; zero if none has
}

// longWaitRoom is by how much this machine may be late without being the reason for what did not come within ten
// seconds or more: the wait was longer by many times as much.
const longWaitRoom = 4 * machine.Room

// minDistance is how far from each other in time two situations have to find the same, so that no stall of this machine
// is the reason of both.
const minDistance = time.Second

// noGreeting stands for a program that did not greet.
const noGreeting = "did not greet"

// unconfirmedReason is why a finding is open that a second play has not shown.
const unconfirmedReason = "one play found it broken, and another one did not"

// confirm keeps findings that a lag of this machine may explain until another play has shown them as well, and has what
// was not seen because of a lag played again.
func (t *trial) confirm(e *conformance.Evidence, isCertain map[string]bool) {
	if t.stopReason != "" && t.isTransient && !t.repeatsFinding(noGreeting) {
		e.OpenCause, e.IsTransient = t.stopReason, true
	}
	doubts := t.doubts(e.Decisions, isCertain)
	lag := t.lag(t.startTime)
	isDoubted := func(clause string) bool { // the rules know the lag, and widen their limits by it
		_, byRule := t.brokenAt[clause]
		room := machine.Room
		if t.isAwaited[clause] {
			room = longWaitRoom
		}
		return !isCertain[clause] && !byRule && lag >= room
	}
	isUnseen := func(d conformance.Decision) bool { return d.Reason == reports.ReasonLag }
	if slices.ContainsFunc(doubts, isDoubted) || slices.ContainsFunc(e.Decisions, isUnseen) {
		e.Reason, e.IsTransient = reports.ReasonLag, true
		e.OpenCause = "this machine was too busy to tell: it was late by " + lag.Round(time.Millisecond).String()
		reopen(e.Decisions, reports.ReasonLag, e.OpenCause, isDoubted)
		if doubts = slices.DeleteFunc(doubts, isDoubted); len(doubts) == 0 {
			return
		}
	}
	t.remember(e.Decisions)
	t.admitDoubt(e)
	if newDoubts := slices.DeleteFunc(doubts, t.repeatsFinding); len(newDoubts) > 0 {
		e.OpenCause, e.IsTransient, e.IsUnproven = reports.ReasonUnsteady.Words(), true, true
		reopen(e.Decisions, reports.ReasonUnsteady, e.OpenCause,
			func(clause string) bool { return slices.Contains(newDoubts, clause) })
	}
}

// reopen leaves the findings of some clauses open.
func reopen(all []conformance.Decision, reason reports.ReasonCode, cause string, matches func(clause string) bool) {
	for i, d := range all {
		if d.Outcome == play.Mismatched && matches(d.Clause) {
			all[i] = openDecision(d.Clause, reasonWith(cause, d.Got))
			all[i].Reason = reason
		}
	}
}

// reasonWith returns a reason with what was found, by which a file of known findings tells it from others.
func reasonWith(reason, got string) string {
	if got == "" {
		return reason
	}
	return reason + ": " + got
}

// doubts returns the clauses that were found broken by what may depend on time.
func (t *trial) doubts(all []conformance.Decision, isCertain map[string]bool) []string {
	var clauses []string
	for _, d := range all {
		isDoubtful := d.Outcome == play.Mismatched && !isCertain[d.Clause] && t.isFinding(d.Clause)
		if isDoubtful && !slices.Contains(clauses, d.Clause) {
			clauses = append(clauses, d.Clause)
		}
	}
	return clauses
}

// isFinding reports whether a breach of a clause is a finding.
func (t *trial) isFinding(clause string) bool {
	c, ok := t.harness.protocol().ClauseByID(clause)
	return !ok || c.BreachVerdict().IsBreach()
}

// admitDoubt leaves the clauses open that an earlier play has found broken and this one has not.
func (t *trial) admitDoubt(e *conformance.Evidence) {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	isBroken := func(clause string) bool {
		return slices.ContainsFunc(e.Decisions, func(d conformance.Decision) bool {
			return d.Clause == clause && d.Outcome == play.Mismatched
		})
	}
	for key, f := range t.harness.findings {
		if key.situation == t.situation.id && f.plays == 1 && key.clause != noGreeting && !isBroken(key.clause) {
			decision := openDecision(key.clause, reasonWith(unconfirmedReason, f.got))
			decision.Reason = reports.ReasonUnsteady
			e.Decisions = append(e.Decisions, decision)
		}
	}
}

// stateOf returns what is known of a finding. The lock is held.
func (h *Harness) stateOf(key finding) *findingState {
	if h.findings[key] == nil {
		h.findings[key] = new(findingState)
	}
	return h.findings[key]
}

// remember keeps what was found.
func (t *trial) remember(all []conformance.Decision) {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	for _, d := range all {
		if d.Outcome == play.Mismatched {
			t.harness.stateOf(finding{t.situation.id, d.Clause}).got = d.Got
		}
	}
}

// repeatsFinding counts a finding, and reports whether an earlier play had it: one of this situation or, where a rule
// has found it, one of another situation at another time.
func (t *trial) repeatsFinding(clause string) bool {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	state := t.harness.stateOf(finding{t.situation.id, clause})
	state.plays++
	if at, ok := t.brokenAt[clause]; ok {
		state.ruleTime = t.recording.start.Add(at)
	}
	for key, f := range t.harness.findings {
		if key.clause == clause && !state.ruleTime.IsZero() && !f.ruleTime.IsZero() &&
			f.ruleTime.Sub(state.ruleTime).Abs() >= minDistance {
			state.plays, f.plays = max(state.plays, 2), max(f.plays, 2)
		}
	}
	return state.plays > 1
}
