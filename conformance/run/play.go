package run

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// play plays a check once. It is the only part of a run that runs outside its loop.
func (s *runState) play(ctx context.Context, t *task) {
	defer func() { // an internal error must not lose the results of other checks
		if p := recover(); p != nil {
			t.err = fmt.Errorf("check %s: %v\n%s", t.description.ID, p, debug.Stack())
		}
	}()
	if t.revives {
		if t.reviveErr = s.restart(ctx, t.host); t.reviveErr != nil {
			return
		}
	}
	if t.refusedTries > 0 {
		machine.Sleep(ctx, play.CloseLatency)
	}
	release, err := s.occupy(t)
	if err != nil {
		t.err = fmt.Errorf("check %s: %w", t.description.ID, err)
		return
	}
	defer release()
	setup := s.setup(t)
	evidence := t.check.Play(ctx, setup)
	s.sweepOwn(ctx, t, &evidence)
	if t.wreck != nil {
		machine.Sleep(ctx, wreckDelay)
	}
	if t.description.Hostile && evidence.Err == nil {
		s.ask(ctx, t.server, &evidence, setup.HasEnded)
	}
	ending, died := t.server.ending()
	if addEnding(&evidence, ending); evidence.Ending != "" {
		evidence.ShortEnding = died
	}
	if evidence.DeadReason == "" && !evidence.Passed() && t.server.forwarded().IsGone(ctx) {
		evidence.DeadReason = "nothing accepts connections at the address of the target any longer"
	}
	addPrinted(&evidence, t.server.Printed)
	doubtLateReplies(&evidence, t.evidence)
	s.take(ctx, t, &evidence)
}

// take takes the evidence of a try. At a server that it had for itself the looks are taken at once.
func (s *runState) take(ctx context.Context, t *task, e *conformance.Evidence) {
	if t.refusedTries > 0 && t.evidence != nil { // the same server
		e.Looks.Old = max(e.Looks.Old, t.evidence.Looks.Old)
	}
	if t.evidence = e; t.host == nil {
		s.lookAtRefusal(ctx, t.server, t)
		s.lookAtDead(ctx, t.server, t)
	}
}

// occupy gives a try its server: the one that it shares, or one for itself until it is released.
func (s *runState) occupy(t *task) (release func(), err error) {
	if t.server = t.host; t.server != nil {
		return func() {}, nil
	}
	if t.server, err = t.hostModel.borrow(t.lends() && t.wreck == nil); err != nil {
		return nil, err
	}
	return func() {
		t.hostModel.release(t.server, t, t.lends() && t.evidence != nil && t.evidence.DeadReason == "")
	}, nil
}

// ask finds out behind a hostile check, whose connections are closed, whether its server serves: where some were open
// when it did not, it had too few.
func (s *runState) ask(ctx context.Context, h *host, e *conformance.Evidence, hasEnded func() bool) {
	if e.DeadReason != "" && e.OpenConns == 0 {
		return
	}
	if e.Refusal != nil { // it may not have noticed yet that they were closed
		machine.Sleep(ctx, play.CloseLatency)
	}
	before := e.DeadReason
	if e.DeadReason = s.asker(h, hasEnded).DeadReason(ctx, s.runner.Suite.Dialect); e.DeadReason == "" && before != "" {
		e.Refusal = &play.Refusal{Got: before, OwnConns: e.OpenConns, AllConns: e.OpenConns}
	}
}

// doubtLateReplies makes a late reply inconclusive until a second play has a late reply too: on a busy machine the
// processes of a server may wait for a CPU while the timers of the suite fire in time. What the second play does not
// confirm is unsteady.
func doubtLateReplies(e, before *conformance.Evidence) {
	if before != nil && before.IsUnproven {
		leaveUnsteady(e, before)
		return
	}
	for i := range e.Results {
		if r := &e.Results[i]; r.IsLate {
			r.Outcome, r.Reason, r.IsTransient = play.Unsure, play.Lag, true
			r.Cause += unconfirmedNote
			e.IsUnproven = true
		}
	}
}

const unconfirmedNote = "; no second play confirmed it yet"

// leaveUnsteady makes lines inconclusive that a play has met, and the one before it too late. Both conversations show
// it.
func leaveUnsteady(e, before *conformance.Evidence) {
	unsteady := false
	for i := range e.Results {
		r := &e.Results[i]
		at := slices.IndexFunc(before.Results, func(b play.Result) bool { return b.IsLate && b.Pos == r.Pos })
		if at >= 0 && r.Outcome == play.Matched {
			words, _ := strings.CutSuffix(before.Results[at].Cause, unconfirmedNote)
			r.Outcome, r.IsAssumed, r.Reason = play.Unsure, true, play.Reason(reports.ReasonUnsteady)
			r.Cause, unsteady = words+"; in a second play, alone, it was in time", true
		}
	}
	if unsteady {
		e.Conversation = bothPlays(before.Conversation, e.Conversation)
	}
}

// replayNote stands between the conversations of two plays.
const replayNote = "the check was played again, alone"

// bothPlays returns the conversations of two plays as one.
func bothPlays(first, second []reports.Line) []reports.Line {
	return slices.Concat(first, []reports.Line{{From: reports.FromSuite, Text: replayNote}}, second)
}

// addEnding adds how the server's process has ended, empty if it runs or that is not known. A connection that is
// refused then is refused for that reason, and not because of a limit.
func addEnding(e *conformance.Evidence, ending string) {
	if ending != "" && e.DeadReason == "" && e.Refusal != nil && !e.Passed() {
		e.DeadReason = "the server refused a connection: " + e.Refusal.Got
	}
	if e.DeadReason != "" {
		e.Ending = ending
	}
}

// sharedNote stands below what a server printed while it may have been for another check.
const sharedNote = "(other checks used the server meanwhile)"

// addPrinted adds what the server printed from the command on behind which it was silent, or closed the connection.
func addPrinted(e *conformance.Evidence, printed func(from, to time.Time) []string) {
	at, ok := firstSilence(e)
	if printed == nil || !ok && (e.DeadReason == "" || e.Ending != "") {
		return
	}
	from := e.Began
	for _, l := range e.Conversation {
		if l.From == reports.FromClient && l.Conn == at.Conn && (at.At <= 0 || l.At <= at.At) {
			from = e.Began.Add(l.At)
		}
	}
	e.Printed = printed(from, time.Now())
}

// firstSilence returns what a play has seen first that is nothing, or the end of a connection, and whether it has.
func firstSilence(e *conformance.Evidence) (at play.Result, ok bool) {
	var all []play.Result
	for _, r := range e.Results {
		if r.Outcome == play.Mismatched {
			all = append(all, r)
		}
	}
	for _, b := range e.Breaches {
		all = append(all, play.Result{Got: b.Got, Conn: b.Conn, At: b.At})
	}
	for _, v := range e.Law {
		all = append(all, play.Result{Got: v.Got, Conn: v.Conn, At: v.At.Sub(e.Began)})
	}
	for _, f := range e.Findings {
		all = append(all, play.Result{Got: f.Got})
	}
	if i := slices.IndexFunc(all, func(r play.Result) bool { return isSilence(r.Got) }); i >= 0 {
		return all[i], true
	}
	return at, false
}

// isSilence reports whether what was received is nothing, or the end of the connection.
func isSilence(got string) bool {
	return slices.ContainsFunc([]string{"no reply", "nothing within", "nothing was answered", "the connection was "},
		func(begin string) bool { return strings.HasPrefix(got, begin) })
}

// setup returns the setup of a try.
func (s *runState) setup(t *task) conformance.Setup {
	setup := conformance.Setup{
		Target: t.server.Target, Password: t.server.Password, Alone: t.host == nil && !t.lends(), Seed: s.runner.Seed,
		NamePrefix: t.namePrefix,
		Timeout:    s.runner.Timeout, Patience: s.runner.Patience, Quick: s.runner.Quick, Meter: s.meter,
		Suite: s.runner.Suite, Peers: &t.server.peers, History: t.server.lawHistory,
		NeedsNoPassword: slices.Contains(t.server.Offers, scenarios.NeedOpen),
	}
	if t.server.Ended != nil {
		setup.HasEnded = func() bool {
			_, _, ended := t.server.Ended()
			return ended
		}
	}
	if s.runner.WatchLine != nil {
		setup.WatchLine = func(l reports.Line) { s.runner.WatchLine(t.description.ID, l) }
	}
	if startServer := t.server.StartServer; startServer != nil && !t.server.IsSlow {
		setup.StartTarget = func() (play.Target, func(), error) {
			other, end, err := startServer()
			return other.Target, end, err
		}
	}
	return setup
}

// judge returns the verdicts of a play. It needs a replay if lag made it inconclusive and another try may decide it.
func (s *runState) judge(t *task) (check reports.Check, needsReplay bool) {
	defer func() {
		if p := recover(); p != nil {
			s.noteInternalError(fmt.Errorf("check %s: %v\n%s", t.description.ID, p, debug.Stack()))
			check, needsReplay = s.withoutResult(t.description, reports.Inconclusive, internalError(), ""), false
		}
	}()
	if all := t.evidence.Printed; t.isShared && len(all) > 0 && all[len(all)-1] != sharedNote {
		t.evidence.Printed = append(slices.Clip(all), sharedNote)
	}
	return s.verdicts(t)
}
