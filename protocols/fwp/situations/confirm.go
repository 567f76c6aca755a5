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

// found is what the plays of a situation have found about a clause.
type found struct {
	plays  int       // that had the finding, where it may depend on time
	what   string    // the latest had
	byRule time.Time // when a rule has found it, the latest; zero if none has
}

// roomInAWait is by how much this machine may be late without being the reason for what did not come within ten seconds
// or more: the wait was longer by many times as much.
const roomInAWait = 4 * machine.Room

// apart is how far from each other in time two situations have to find the same, so that no stall of this machine is
// the reason of both.
const apart = time.Second

// notGreeted stands for a program that did not greet.
const notGreeted = "did not greet"

// notSeenAgain is why a finding is open that a second play has not shown.
const notSeenAgain = "one play found it broken, and another one did not"

// confirm keeps findings that a lag of this machine may explain until another play has shown them as well, and has what
// was not seen because of a lag played again.
func (t *trial) confirm(e *conformance.Evidence, sure map[string]bool) {
	if t.stop != "" && t.transient && !t.seenBefore(notGreeted) {
		e.Open, e.Transient = t.stop, true
	}
	doubts := t.doubtful(e.Decisions, sure)
	late := t.lag(t.began)
	doubted := func(clause string) bool { // the rules know the lag, and widen their limits by it
		_, byRule := t.byRules[clause]
		room := machine.Room
		if t.awaited[clause] {
			room = roomInAWait
		}
		return !sure[clause] && !byRule && late >= room
	}
	unseen := func(d conformance.Decision) bool { return d.Reason == reports.ReasonLag }
	if slices.ContainsFunc(doubts, doubted) || slices.ContainsFunc(e.Decisions, unseen) {
		e.Reason, e.Transient = reports.ReasonLag, true
		e.Open = "this machine was too busy to tell: it was late by " + late.Round(time.Millisecond).String()
		reopen(e.Decisions, reports.ReasonLag, e.Open, doubted)
		if doubts = slices.DeleteFunc(doubts, doubted); len(doubts) == 0 {
			return
		}
	}
	t.remember(e.Decisions)
	t.admitDoubt(e)
	if fresh := slices.DeleteFunc(doubts, t.seenBefore); len(fresh) > 0 {
		e.Open, e.Transient, e.Unproven = reports.ReasonUnsteady.Words(), true, true
		reopen(e.Decisions, reports.ReasonUnsteady, e.Open,
			func(clause string) bool { return slices.Contains(fresh, clause) })
	}
}

// reopen leaves the findings of some clauses open.
func reopen(all []conformance.Decision, reason reports.ReasonCode, why string, of func(clause string) bool) {
	for i, d := range all {
		if d.Outcome == play.Mismatched && of(d.Clause) {
			all[i] = undecided(d.Clause, reasonWith(why, d.Got))
			all[i].Reason = reason
		}
	}
}

// reasonWith returns a reason with what was found, by which a file of known findings tells it from others.
func reasonWith(why, found string) string {
	if found == "" {
		return why
	}
	return why + ": " + found
}

// doubtful returns the clauses that were found broken by what may depend on time.
func (t *trial) doubtful(all []conformance.Decision, sure map[string]bool) []string {
	var clauses []string
	for _, d := range all {
		isDoubtful := d.Outcome == play.Mismatched && !sure[d.Clause] && t.isFinding(d.Clause)
		if isDoubtful && !slices.Contains(clauses, d.Clause) {
			clauses = append(clauses, d.Clause)
		}
	}
	return clauses
}

// isFinding reports whether a breach of a clause is a finding.
func (t *trial) isFinding(clause string) bool {
	c, known := t.harness.protocol().ClauseByID(clause)
	return !known || c.Breach().Breach()
}

// admitDoubt leaves the clauses open that an earlier play has found broken and this one has not.
func (t *trial) admitDoubt(e *conformance.Evidence) {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	broken := func(clause string) bool {
		return slices.ContainsFunc(e.Decisions, func(d conformance.Decision) bool {
			return d.Clause == clause && d.Outcome == play.Mismatched
		})
	}
	for key, f := range t.harness.findings {
		if key.situation == t.situation.id && f.plays == 1 && key.clause != notGreeted && !broken(key.clause) {
			open := undecided(key.clause, reasonWith(notSeenAgain, f.what))
			open.Reason = reports.ReasonUnsteady
			e.Decisions = append(e.Decisions, open)
		}
	}
}

// found returns what is known of a finding. The lock is held.
func (h *Harness) found(key finding) *found {
	if h.findings[key] == nil {
		h.findings[key] = new(found)
	}
	return h.findings[key]
}

// remember keeps what was found.
func (t *trial) remember(all []conformance.Decision) {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	for _, d := range all {
		if d.Outcome == play.Mismatched {
			t.harness.found(finding{t.situation.id, d.Clause}).what = d.Got
		}
	}
}

// seenBefore counts a finding, and reports whether an earlier play had it: one of this situation or, where a rule has
// found it, one of another situation at another time.
func (t *trial) seenBefore(clause string) bool {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	own := t.harness.found(finding{t.situation.id, clause})
	own.plays++
	if at, is := t.byRules[clause]; is {
		own.byRule = t.recording.start.Add(at)
	}
	for key, f := range t.harness.findings {
		if key.clause == clause && !own.byRule.IsZero() && !f.byRule.IsZero() && f.byRule.Sub(own.byRule).Abs() >= apart {
			own.plays, f.plays = max(own.plays, 2), max(f.plays, 2)
		}
	}
	return own.plays > 1
}
