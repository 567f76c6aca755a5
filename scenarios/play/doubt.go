package play

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// answerGap is how close to each other two replies are where one has waited for the other: a server that serves one
// command at a time answers a line behind the end of a wait.
const answerGap = 300 * time.Millisecond

// answer is a reply that waits for nothing.
type answer struct {
	at   time.Time
	took time.Duration
}

// noteReplyTime notes how long a reply took that waits for nothing.
func (pl *play) noteReplyTime(sent, at time.Time) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if took := at.Sub(sent); took >= answerGap { // a long play has many
		pl.slowAnswers = append(pl.slowAnswers, answer{at, took})
	}
}

// slowness returns how late the server may have read the lines that were sent since a moment, before a reply: as long
// as it took for others. Those that came together with the reply may have waited for it. It is zero if the answers to
// these lines were not slow.
func (pl *play) slowness(since, at time.Time) (longest time.Duration) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if !slices.ContainsFunc(pl.slowAnswers, func(a answer) bool { return !a.at.Add(-a.took).Before(since) }) {
		return 0
	}
	for _, a := range pl.slowAnswers {
		if a.at.Sub(at).Abs() > answerGap {
			longest = max(longest, a.took)
		}
	}
	return longest
}

// doubt returns a mismatch whose premise is a span of time as one that decides nothing, if this machine, or what the
// server takes for its replies, was late by the room that scripts leave.
func (pl *play) doubt(r Result) Result {
	if r.Outcome != Mismatched || r.LacksConn || !r.restsOnTime {
		return r
	}
	lateness := pl.Meter.Lag(pl.rec.start)
	if !r.sentSince.IsZero() {
		lateness = max(lateness, pl.slowness(r.sentSince, pl.rec.start.Add(r.At)))
	}
	if lateness >= machine.Room {
		r.leaveOpen(fmt.Sprintf("%s; the server may have read the lines before it up to %v late, which may be the reason",
			r.Got, round(lateness)))
	}
	return r
}

// leaveOpen makes a result one that lag keeps from being decided.
func (r *Result) leaveOpen(words string) {
	r.IsTransient = true
	r.makeUnsure(doubt{Lag, false, words})
}

// dependsOnTime reports whether a span of time is the premise of an answer that a line does not expect: it may have
// come because our lines were late. since is when the lines were sent that the server may have read late, beside a
// command that waited in vain; zero if none matters.
func (th *thread) dependsOnTime(c *conn, e *scenarios.Expect, a session.Received) (ok bool, since time.Time) {
	wait, waits := th.grammar().Replies.MayBeLate[th.grammar().VerbSent(a.Command)]
	switch inTurn := th.script.IsSequential(e); {
	case a.GaveUp:
		return false, since
	case a.Ending != scenarios.Open: // a limit of the server: for a HELLO that does not come, for example
		return true, since
	case !waits:
		return th.script.Defers(), since
	case th.grammar().IsRefusal(a.Message):
		return false, since
	case a.Message.Kind != wait.Kind:
		return !inTurn, since
	case !inTurn:
		_, since = c.LastWrite()
	}
	return !e.RefusesOnly(), since
}

// Reason is the code of why a line decides nothing. Lines with the same code have the same cause, whatever the words of
// their Cause.
type Reason string

// The reasons. What has none says in words alone why it decides nothing.
const (
	Lag         Reason = "lag"               // of this machine
	SetUp       Reason = "set-up"            // the script did not get to what the line is about
	Connections Reason = "needs-connections" // a connection was not let in
)

// doubt is why a line decides nothing.
type doubt struct {
	reason         Reason
	breaksProtocol bool // see [Result.BreaksProtocol]
	words          string
}

// isOrder reports whether a message orders the client to finish its work, which is as good as the reply that a line
// expects if the law allows it: a server may give such an order at any time.
func (th *thread) isOrder(c *conn, e *scenarios.Expect, a session.Received) bool {
	if !a.IsComplete() || e.RefusesOnly() || th.Observer == nil || !th.ledger.Orders(a.Message) {
		return false
	}
	clause, _ := th.Observer.BrokenClause(c.name, a.At)
	return clause == ""
}

// otherBreach returns why a message that a line did not expect decides nothing: the server may do it, or it is wrong
// whatever the line is about. It returns nil if neither is so.
func (th *thread) otherBreach(c *conn, e *scenarios.Expect, a session.Received) *doubt {
	if c.role == scenarios.Consumer && !e.RefusesOnly() && th.ledger.MayEnd(c.State()) {
		_, waits := th.grammar().Replies.MayBeLate[th.grammar().VerbSent(a.Command)]
		switch {
		case a.Ending != scenarios.Open:
			return &doubt{SetUp, false, "the server closed the connection of a client that it told to terminate, which is " +
				"allowed"}
		case waits:
			return &doubt{SetUp, false, "the server told the client to be quiet or to terminate, so it need not give it jobs"}
		}
	}
	if th.isForeign(e, a) {
		return &doubt{SetUp, true, "this is not a possible reply to the command: " + text.Shorten(a.String())}
	}
	if th.Observer == nil {
		return nil
	}
	clause, got := th.Observer.BrokenClause(c.name, a.At)
	if clause == "" || slices.ContainsFunc(e.Marks, func(m scenarios.ClauseMark) bool { return m.Clause == clause }) {
		return nil
	}
	return &doubt{SetUp, true, "the reply is wrong for any clause: " + got}
}
