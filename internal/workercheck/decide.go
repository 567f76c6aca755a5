package workercheck

import (
	"cmp"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/monitor"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// tooLate is the lag of this machine from which on only what no lag can explain is a finding.
const tooLate = 500 * time.Millisecond

// certain are the breaches that no lag of this machine can explain: what the program wrote is wrong by itself. All
// others are findings only if another play, beside those that only wait, shows them again.
var certain = []string{
	monitor.LineEnd, monitor.LineForm, monitor.LineSyntax, monitor.LineUTF8, monitor.HelloNotFirst,
	monitor.HelloVersion, monitor.WorkerFields, monitor.PasswordMissing, monitor.EndWithJobs,
	monitor.PasswordHash, monitor.FetchWithoutWid, monitor.HelloDiffers, monitor.WidShared, monitor.FetchOtherQueue,
	monitor.BeatWid, monitor.BeatState, monitor.BeatMemory, monitor.AckFields, monitor.FailFields, monitor.FailEmpty,
	monitor.AckOfFailed, monitor.PushJID, monitor.PushJobtype, monitor.PushArgs, monitor.PushOptional,
	monitor.PushReadOnly,
}

// holds decides a clause by what the situation itself has seen. Got says what it was, whether it held or not.
func (b *bed) holds(clause string, ok bool, expected, got string) {
	d := conformance.Decision{Clause: "FWP-" + clause, Outcome: scenarios.Matched, Got: got}
	if !ok {
		d.Outcome, d.Expected = scenarios.Mismatched, expected
	}
	b.decisions = append(b.decisions, d)
}

// at names the event that shows the latest decision.
func (b *bed) at(e *monitor.Event) {
	if l, is := lineOf(*e); is && len(b.decisions) > 0 {
		last := &b.decisions[len(b.decisions)-1]
		last.Conn, last.At = l.Conn, l.At
	}
}

// open leaves a clause open, for a reason that is one sentence without a full stop.
func (b *bed) open(clause, why string) {
	b.decisions = append(b.decisions,
		conformance.Decision{Clause: "FWP-" + clause, Outcome: scenarios.Unsure, Cause: why})
}

// evidence returns what the play comes to.
func (b *bed) evidence() conformance.Evidence {
	b.mu.Lock()
	b.watch.End(b.now())
	results := b.watch.Results()
	e := conformance.Evidence{
		Began: b.began, Took: time.Since(b.began), Err: b.ctx.Err(), Conversation: slices.Clone(b.lines), Served: true,
	}
	b.mu.Unlock()
	all, sure := b.monitored(results)
	all = append(all, b.decisions...)
	e.Decisions = b.complete(b.consequences(all, results), results)
	b.confirm(&e, sure)
	return e
}

// monitored returns what the monitors decide: of the clauses that the situation is about whether they held, and of all
// what was broken. Sure has the clauses of breaches that are certain.
func (b *bed) monitored(results []monitor.Result) (all []conformance.Decision, sure map[string]bool) {
	mine, sure := b.situation.clauses(), map[string]bool{}
	for _, r := range results {
		clause := conformance.ClauseOf(r.Rule.Breach)
		switch {
		case clause == "" || !b.binds(clause):
		case r.State() == monitor.Broke:
			first := r.Examples[0]
			d := conformance.Decision{Clause: clause, Outcome: scenarios.Mismatched, Got: first.Text, At: first.At}
			if len(first.Shown) > 0 {
				shown := first.Shown[len(first.Shown)-1]
				l, _ := lineOf(monitor.Event{At: shown.At, Conn: shown.Conn, Kind: monitor.Opened})
				d.At, d.Conn = l.At, l.Conn
			}
			all = append(all, d)
			sure[clause] = sure[clause] || slices.Contains(certain, r.Rule.Breach)
		case r.State() == monitor.Held && slices.Contains(mine, clause):
			all = append(all, conformance.Decision{Clause: clause, Outcome: scenarios.Matched})
		}
	}
	return all, sure
}

// binds reports whether a clause binds the program: a producer that presents itself as a worker is none.
func (b *bed) binds(clause string) bool {
	c, known := conformance.ClauseByID(clause)
	return !known || !b.harness.Producer || c.Binds("C") || c.Binds("P")
}

// complete adds an open decision about each clause of the situation that nothing has decided. Where the situation did
// not come about, nothing has held.
func (b *bed) complete(all []conformance.Decision, results []monitor.Result) []conformance.Decision {
	if b.stop != "" {
		all = slices.DeleteFunc(all, func(d conformance.Decision) bool { return d.Outcome != scenarios.Mismatched })
	}
	for _, clause := range b.situation.clauses() {
		if slices.ContainsFunc(all, func(d conformance.Decision) bool { return d.Clause == clause }) {
			continue
		}
		why := cmp.Or(b.stop, goalOf(clause, results), "the situation shows nothing about it")
		all = append(all, conformance.Decision{Clause: clause, Outcome: scenarios.Unsure, Cause: why})
	}
	return all
}

// goalOf says what was never seen that a clause is about; empty if no monitor is about it.
func goalOf(clause string, results []monitor.Result) string {
	for _, r := range results {
		if conformance.ClauseOf(r.Rule.Breach) == clause && r.Missing == 0 {
			return "it was never seen that " + r.Rule.Goal
		}
	}
	return ""
}

// confirm keeps findings that a lag of this machine may explain until another play has shown them as well.
func (b *bed) confirm(e *conformance.Evidence, sure map[string]bool) {
	if b.stop != "" && b.fleeting && !b.seenBefore(notGreeted) {
		e.Open, e.Transient = b.stop, true
	}
	doubtful := b.doubtful(e.Decisions, sure)
	doubted := func(clause string) bool { return !sure[clause] } // whatever else the play has found
	if lag := b.lag(); lag > tooLate && len(doubtful) > 0 {
		e.Reason, e.Transient = reports.ReasonLag, true
		e.Open = "this machine was too busy to tell: it was late by " + lag.Round(time.Millisecond).String()
		unsettle(e.Decisions, e.Open, doubted)
		return
	}
	b.remember(e.Decisions)
	fresh := slices.DeleteFunc(doubtful, b.seenBefore)
	again := "one play found it broken, and no other one has confirmed it yet"
	switch {
	case len(fresh) > 0 && !b.settles(e.Decisions, fresh):
		e.Open, e.Transient, e.Unproven = again, true, true
		unsettle(e.Decisions, again, doubted)
		return
	case len(fresh) > 0: // what is confirmed stands, whatever else this play has found
		unsettle(e.Decisions, again, func(clause string) bool { return slices.Contains(fresh, clause) })
	}
	b.admitDoubt(e)
}

// settles reports whether a finding stands beside those of some clauses, and an earlier play had it.
func (b *bed) settles(all []conformance.Decision, but []string) bool {
	b.harness.mu.Lock()
	defer b.harness.mu.Unlock()
	return slices.ContainsFunc(all, func(d conformance.Decision) bool {
		return d.Outcome == scenarios.Mismatched && counts(d.Clause) && !slices.Contains(but, d.Clause) &&
			b.harness.broken[finding{b.situation.ID, d.Clause}] > 1
	})
}

// unsettle leaves the findings of some clauses open.
func unsettle(all []conformance.Decision, why string, of func(clause string) bool) {
	for i, d := range all {
		if d.Outcome == scenarios.Mismatched && of(d.Clause) {
			all[i] = conformance.Decision{Clause: d.Clause, Outcome: scenarios.Unsure, Cause: reasonWith(why, d.Got)}
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
func (b *bed) doubtful(all []conformance.Decision, sure map[string]bool) []string {
	var clauses []string
	for _, d := range all {
		if d.Outcome == scenarios.Mismatched && !sure[d.Clause] && counts(d.Clause) && !slices.Contains(clauses, d.Clause) {
			clauses = append(clauses, d.Clause)
		}
	}
	return clauses
}

// counts reports whether a breach of a clause is a finding.
func counts(clause string) bool {
	c, known := conformance.ClauseByID(clause)
	return !known || c.Breach().Breach()
}

// admitDoubt leaves the clauses open that an earlier play has found broken and this one has not.
func (b *bed) admitDoubt(e *conformance.Evidence) {
	b.harness.mu.Lock()
	defer b.harness.mu.Unlock()
	broken := func(clause string) bool {
		return slices.ContainsFunc(e.Decisions, func(d conformance.Decision) bool {
			return d.Clause == clause && d.Outcome == scenarios.Mismatched
		})
	}
	for key, n := range b.harness.broken {
		if key.situation == b.situation.ID && n == 1 && key.clause != notGreeted && !broken(key.clause) {
			e.Decisions = append(e.Decisions, conformance.Decision{
				Clause: key.clause, Outcome: scenarios.Unsure,
				Cause: reasonWith("one play found it broken, and another one did not", b.harness.found[key]),
			})
		}
	}
}

// finding names a clause that was found broken in a situation.
type finding struct{ situation, clause string }

// notGreeted stands for a program that did not greet.
const notGreeted = "did not greet"

// remember keeps what was found.
func (b *bed) remember(all []conformance.Decision) {
	b.harness.mu.Lock()
	defer b.harness.mu.Unlock()
	for _, d := range all {
		if d.Outcome == scenarios.Mismatched {
			b.harness.found[finding{b.situation.ID, d.Clause}] = d.Got
		}
	}
}

// seenBefore counts a finding, and reports whether an earlier play had it.
func (b *bed) seenBefore(clause string) bool {
	b.harness.mu.Lock()
	defer b.harness.mu.Unlock()
	key := finding{b.situation.ID, clause}
	b.harness.broken[key]++
	return b.harness.broken[key] > 1
}

// lag returns by how much this machine was late during the play.
func (b *bed) lag() time.Duration {
	if b.meter == nil {
		return 0
	}
	return b.meter.Lag(b.began)
}
