package play

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// expect awaits what an S: line describes.
func (th *thread) expect(ctx context.Context, e *scenarios.Expect) error {
	c, err := th.conn(ctx, e.Conn)
	if err != nil {
		return th.noConnection(ctx, e, scenarios.Raw, err)
	}
	if c.unjudged != nil {
		return th.stopUnsure(e, e.Pos, e.Marks, e.Expected(), *c.unjudged)
	}
	a := th.await(ctx, c, e)
	if ctx.Err() != nil && a.GaveUp {
		return interruptError(ctx, e)
	}
	th.noteReply(c, a)
	got := text.Shorten(a.String())
	a, mended := th.mend(c, e, a)
	res := th.judge(c, e, a)
	if res.Outcome == Matched {
		res = th.inTime(e, c, a, res)
	}
	if mended {
		res.Got = got
	}
	if mended && res.Outcome == Matched {
		res.IsAssumed, res.Cause = true, "the reply is not about the subject of the command"
	}
	if res.Outcome != Matched {
		th.checkSilent(ctx, c, e, a, &res)
	}
	goesOn := th.assume(e, a, &res)
	th.note(e, res)
	th.applyReceived(c, e, a, res)
	if !goesOn {
		return errStop
	}
	return th.probe(ctx, c, e, a)
}

// since returns when something was received, counted from the start of the play.
func (pl *play) since(a session.Received) time.Duration { return a.At.Sub(pl.rec.start) }

// await waits for the next message. If a reply is late it waits longer, so that the
// report has its time.
func (th *thread) await(ctx context.Context, c *conn, e *scenarios.Expect) session.Received {
	_, since := c.LastWrite()
	if th.grammar().Replies.Pushes && c.Status().OwedMessages == 0 && e.Window == (scenarios.Window{}) {
		since = time.Now() // what another connection was sent may be the reason for the message
	}
	a, ok := c.TakeSoon(ctx, since, th.limit(c, e))
	if ok {
		return a
	}
	if ctx.Err() != nil {
		return session.Received{At: time.Now(), GaveUp: true}
	}
	if a = c.GiveUp(ctx); a.GaveUp && a.Pending == "" {
		// the result has the same time, by which a report finds the line
		th.rec.keep(reports.Line{At: th.since(a), Conn: c.name, From: reports.FromSuite, Text: th.noReply(c, e)})
	}
	return a
}

// limit returns how long a reply is waited for: the window of the line, or what the command lets the reply take itself,
// and the timeout.
func (th *thread) limit(c *conn, e *scenarios.Expect) time.Duration {
	return cmp.Or(e.Window.To, min(th.commandWait(c), th.Patience)) + th.Timeout
}

// commandWait returns how long the reply to the last command may take because the command says so.
func (th *thread) commandWait(c *conn) time.Duration {
	if asks := th.grammar().Replies.WaitOf; asks != nil {
		return asks(c.Status().Command)
	}
	return 0
}

// isImpatient reports whether a line was waited for shorter than the command says that its reply may take.
func (th *thread) isImpatient(c *conn, e *scenarios.Expect) bool {
	return e.Window.To == 0 && th.commandWait(c) > th.Patience
}

func (th *thread) noReply(c *conn, e *scenarios.Expect) string {
	return fmt.Sprintf("no reply within %v", th.limit(c, e))
}

// judge compares a received message with the choices of a line.
func (th *thread) judge(c *conn, e *scenarios.Expect, a session.Received) Result {
	res := Result{
		Pos: e.Pos, Marks: e.Marks, Expected: e.Expected(), Got: text.Shorten(a.String()),
		Ending: c.Ending(), Conn: c.name, At: th.since(a), IsLapse: a.Message.Lapse != nil,
	}
	if reason := th.unjudgedReason(a); reason != nil {
		res.makeUnsure(*reason)
		res.IsTransient = a.IsArriving
		return res
	}
	if a.GaveUp {
		res.Outcome, res.Got = Mismatched, th.noReply(c, e)
		if th.isImpatient(c, e) {
			res.makeUnsure(doubt{"", false, fmt.Sprintf("%s; the command may take %v", res.Got, th.commandWait(c))})
		}
		return res
	}
	if th.choose(e, a, &res) {
		return res
	}
	if th.isOrder(c, e, a) {
		res.Outcome, res.Differences = Matched, nil
		return res
	}
	res.Outcome = Mismatched
	res.restsOnTime, res.sentSince = th.dependsOnTime(c, e, a)
	res.IsCommandRefused = a.IsComplete() && th.grammar().IsRefusal(a.Message)
	res.IsEmptyReply = th.isEmptyReply(a)
	if a.Ending != scenarios.Open && e.RefusesOnly() && c.Status().Phase == session.Greeting && !c.isExcused.Load() {
		res.UnrefusedVerb = c.Status().Verb
	}
	res.IsOccasional = th.isOccasional(c, e, a)
	if reason := th.otherBreach(c, e, a); reason != nil {
		res.makeUnsure(*reason)
	}
	return res
}

// unjudgedReason returns why a message is compared with nothing: not all of it was received, or it is no message. It
// returns nil if it is compared.
func (th *thread) unjudgedReason(a session.Received) *doubt {
	switch {
	case a.IsArriving:
		return &doubt{"", false, a.String()}
	case isBeyondLimit(a):
		return &doubt{"", false, a.String()}
	case a.Broken != nil || a.Pending != "":
		return &doubt{SetUp, true, "the reply is not " + th.grammar().Encoding + ": " + a.String()}
	}
	return nil
}

// isEmptyReply reports whether a message is the reply of a command that has waited for something in vain.
func (th *thread) isEmptyReply(a session.Received) bool {
	wait, waits := th.grammar().Replies.MayBeLate[th.grammar().VerbSent(a.Command)]
	return a.IsComplete() && waits && a.Message.Kind == wait.Kind
}

// isOccasional reports whether what was received in place of the expected reply is something that a server may do now
// and then: it closes the connection of a producer, or declines a client while others are connected.
func (th *thread) isOccasional(c *conn, e *scenarios.Expect, a session.Received) bool {
	if e.RefusesOnly() || c.isExcused.Load() {
		return false
	}
	status := c.Status()
	if a.Ending != scenarios.Open {
		return c.role == scenarios.Producer && status.Phase == session.Serving
	}
	hello, _ := th.dialect().Hello(c.role, c.state)
	return a.IsComplete() && status.Phase == session.Greeting && status.Verb == th.grammar().VerbOf(hello.Words) &&
		th.grammar().IsRefusal(a.Message) && th.Peers.OpenConns() > 1
}

// choose looks for a choice that a received message matches. If there is none it keeps the fewest differences.
func (th *thread) choose(e *scenarios.Expect, a session.Received, res *Result) bool {
	for i := range e.Choices {
		differences := th.try(&e.Choices[i], a)
		if len(differences) == 0 {
			res.Outcome, res.IsAlternative = Matched, i > 0
			if len(e.Choices) > 1 || e.Choices[i].Any() {
				res.Choice = e.Choices[i].Chosen(a)
			}
			return true
		}
		if res.Differences == nil || len(differences) < len(res.Differences) {
			res.Differences = differences
		}
	}
	return false
}

// try compares a received message with one choice, and binds names if it matches.
func (th *thread) try(ch *scenarios.Choice, a session.Received) []scenarios.Difference {
	for {
		attempt := th.scope.ReplyAttempt()
		differences := ch.Compare(a, attempt)
		if len(differences) > 0 || attempt.Commit() {
			return differences
		}
	} // another thread has bound one of its names meanwhile: try with that value
}

// inTime checks the window of a line that matches.
func (th *thread) inTime(e *scenarios.Expect, c *conn, a session.Received, res Result) Result {
	if e.Window == (scenarios.Window{}) {
		return res
	}
	began, sent := c.LastWrite()
	if e.Window.After != "" {
		other, err := th.lastReply(e.Window.After)
		if err != nil {
			res.makeUnsure(doubt{SetUp, false, err.Error()})
			return res
		}
		began, sent = other, other
	}
	res.judgeTime(e.Window, a.At.Sub(began), a.At.Sub(sent)-th.Meter.Excuse(sent))
	res.restsOnTime = res.Outcome == Mismatched && (res.IsLate || !th.script.IsSequential(e))
	return res
}

// noteReply records when a connection has received a message last.
func (th *thread) noteReply(c *conn, a session.Received) {
	th.mu.Lock()
	defer th.mu.Unlock()
	if !a.GaveUp {
		c.replyTime = a.At
	}
}

// lastReply returns when a connection has received a message last.
func (th *thread) lastReply(conn string) (time.Time, error) {
	th.mu.Lock()
	defer th.mu.Unlock()
	c := th.conns[conn]
	if c == nil || c.replyTime.IsZero() {
		return time.Time{}, fmt.Errorf("nothing was received on the connection %s", conn)
	}
	return c.replyTime, nil
}

// judgeTime turns a match into what its time makes of it: longest is how long the reply took since its line was begun,
// and shortest since the line was written, without our own lateness and the round trip, which is part of no wait. What
// the longest is too short for was too early for certain, unless the wait has begun with another line.
func (r *Result) judgeTime(w scenarios.Window, longest, shortest time.Duration) {
	switch {
	case w.From > 0 && longest < w.From:
		r.Outcome = Mismatched
		r.Cause = fmt.Sprintf("the reply was too early: after %v, not before %v was allowed", round(longest), w.From)
	case w.To > 0 && shortest > w.To+machine.Slack:
		r.Outcome, r.IsLate = Mismatched, true
		r.Cause = fmt.Sprintf("the reply was too late: after %v, %v was allowed", round(shortest), w.To)
	}
}

// round keeps what a reader can use of a duration.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}

// applyReceived updates the state of the play after a received message: the ledger, the
// services that the server has provided, round trips, and the breaches that can show at
// any line.
func (th *thread) applyReceived(c *conn, e *scenarios.Expect, a session.Received, res Result) {
	switch {
	case a.Broken != nil || a.Pending != "" && !a.IsArriving:
		th.noteBroken(c, e.Pos, a)
	case a.GaveUp:
	case a.Ending != scenarios.Open:
		th.noteEnd(c, e.Pos, a)
	default:
		if res.Outcome == Unsure && th.isForeign(e, a) {
			th.breachOn(c, e.Pos, a,
				scenarios.Breach{Kind: scenarios.ImpossibleReply, Verb: c.Status().Verb, Expected: e.Expected()})
		}
		th.applyReply(c, e, a, res)
	}
}

// applyReply is record of a whole reply. It is certain which line the reply answers
// only if no other answer was owed.
func (th *thread) applyReply(c *conn, e *scenarios.Expect, a session.Received, res Result) {
	last := a.OwedMessages == 1
	if last {
		th.ledger.Answered(a.Command, a.Message)
	}
	if !th.grammar().IsRefusal(a.Message) { // some servers only ever refuse
		th.Peers.services.note(service(th.grammar().VerbSent(a.Command)))
		if c.Status().Phase == session.Serving {
			th.Peers.services.note(welcomeService)
		}
	}
	if last {
		th.noteTrailing(c, e.Pos, a)
	}
	_, waits := th.grammar().Replies.MayBeLate[th.grammar().VerbSent(a.Command)]
	if _, sent := c.LastWrite(); last && e.Window == (scenarios.Window{}) && res.Outcome == Matched && !waits {
		th.Meter.NoteTrip(a.At.Sub(sent))
		th.noteReplyTime(sent, a.At)
	}
}

// checkSilent checks, after a missing reply, that the server serves at all: if it does not,
// that is the finding. If it does, the missing reply is a breach, which decides nothing
// for the clauses of the line.
func (th *thread) checkSilent(ctx context.Context, c *conn, e *scenarios.Expect, a session.Received, res *Result) {
	if !a.GaveUp && a.Ending == scenarios.Open {
		return
	}
	_, serving := th.serving(ctx, nil)
	if ctx.Err() != nil {
		res.makeUnsure(doubt{"", false, "interrupted before it was known whether the server still serves"})
		return
	}
	if serving && awaitsReply(e, a) && !th.isImpatient(c, e) &&
		(c.Status().OwedMessages > 0 || !th.grammar().Replies.Pushes) {
		res.makeUnsure(doubt{SetUp, true, "no reply came"})
		th.noteUnanswered(c, e.Pos, a)
	}
}

// silence waits, and checks that nothing was received meanwhile. Consumers are kept
// alive.
func (th *thread) silence(ctx context.Context, s *scenarios.Silence) error {
	conns, err := th.silentConns(ctx, s)
	if err != nil {
		return err
	}
	until := time.Now().Add(s.For)
	if err := th.idle(ctx, until); err != nil {
		return err
	}
	res := Result{Pos: s.Pos, Marks: s.Marks, Expected: scenarios.Expectation(s), Outcome: Matched}
	hasEnded := false
	for _, c := range conns {
		a, ok := c.Poll()
		if !ok || a.At.After(until) || a.GaveUp {
			continue
		}
		// the connection of a producer may always end, and where servers push messages, an end is no message
		mayEnd := c.isExcused.Load() || c.role != scenarios.Consumer || th.grammar().Replies.Pushes
		if a.Ending != scenarios.Open && mayEnd {
			hasEnded = hasEnded || !c.isExcused.Load()
			continue
		}
		res.restsOnTime = true
		return th.noteUnasked(ctx, s, c, a, res)
	}
	th.note(s, res)
	if hasEnded { // the connection alone, or the server
		if _, serving := th.serving(ctx, nil); !serving {
			return errStop
		}
	}
	return nil
}

// noteUnasked records what was received on a connection that should be silent.
func (th *thread) noteUnasked(ctx context.Context, s *scenarios.Silence, c *conn, a session.Received,
	res Result) error {
	switch {
	case a.Broken != nil:
		th.noteBroken(c, s.Pos, a)
	case a.Ending != scenarios.Open: // no data: whether the server serving is another question
		th.noteEnd(c, s.Pos, a)
		th.serving(ctx, nil)
		return th.stopUnsure(s, s.Pos, s.Marks, res.Expected, doubt{SetUp, true, text.Shorten(a.String())})
	case th.isTurnedAway(c, a):
		return th.stopUnsure(s, s.Pos, s.Marks, res.Expected, *c.unjudged)
	case c.surplus(a) == scenarios.ExtraReply:
		th.breachOn(c, s.Pos, a, scenarios.Breach{Kind: scenarios.ExtraReply, Expected: "one reply to one command"})
		return th.stopUnsure(s, s.Pos, s.Marks, res.Expected,
			doubt{SetUp, true, "the server sent a second reply to one command"})
	}
	res.Outcome, res.Got, res.Conn, res.At = Mismatched, text.Shorten(a.String()), c.name, th.since(a)
	if c.name != "" {
		res.Got += " on " + c.name
	}
	th.note(s, res)
	return errStop
}
