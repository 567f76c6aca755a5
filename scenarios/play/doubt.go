package play

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/lag"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/scenarios"
)

// recentLag is for how long a lag may show in what is received.
const recentLag = 15 * time.Second

// behind returns by how much events at the peer may have been later than a script has planned: our lines were written
// late, which their stamps show, and the peer may have been late as this machine was.
func (pl *play) behind(at time.Time) time.Duration {
	since := at.Add(-recentLag)
	if since.Before(pl.rec.start) {
		since = pl.rec.start
	}
	return pl.delay.Since(pl.rec.start) + pl.Meter.Lag(since)
}

// together is how close to each other two replies are where one has waited for the other: a server that serves one
// command at a time answers a line behind the end of a wait.
const together = 300 * time.Millisecond

// answer is a reply that waits for nothing.
type answer struct {
	at   time.Time
	took time.Duration
}

// answeredIn notes how long a reply took that waits for nothing.
func (pl *play) answeredIn(sent, at time.Time) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if took := at.Sub(sent); took >= together { // a long play has many
		pl.slow = append(pl.slow, answer{at, took})
	}
}

// slowness returns how late the server may have read the lines that were sent since a moment: as long as it took, in
// the time before a reply, for others. Those that came together with the reply may have waited for it. It is zero if
// the answers to these lines were not slow.
func (pl *play) slowness(since, at time.Time) (most time.Duration) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if !slices.ContainsFunc(pl.slow, func(a answer) bool { return !a.at.Add(-a.took).Before(since) }) {
		return 0
	}
	for _, a := range pl.slow {
		if a.at.After(at.Add(-recentLag)) && a.at.Sub(at).Abs() > together {
			most = max(most, a.took)
		}
	}
	return most
}

// lateSince returns since when lines were sent that matter for a mismatch whose premise is a span of time, if the
// server has read them late: beside a command that waits, or before the time of another reply. It is zero if none
// matters.
func (th *thread) lateSince(c *conn, e *scenarios.Expect, a session.Received) time.Time {
	wait, waits := th.grammar().Replies.Waits[th.grammar().VerbSent(a.Asked)]
	switch {
	case !waits || th.script.InTurn(e):
	case a.Message.Kind == wait.Kind:
		_, sent := c.LastWrite()
		return sent
	case th.earlier(e, a):
		return th.rec.start
	}
	return time.Time{}
}

// doubt returns a mismatch whose premise is a span of time as one that decides nothing, if the lines of the script came
// later than that leaves room for.
func (pl *play) doubt(r Result) Result {
	if r.Outcome != Mismatched || r.Refused || r.room == 0 {
		return r
	}
	at := pl.rec.start.Add(r.At)
	behind := pl.behind(at)
	if !r.since.IsZero() {
		behind += pl.slowness(r.since, at)
	}
	if behind >= r.room {
		r.leaveOpen(fmt.Sprintf(
			"%s; the server may have read the lines before it up to %v late, and from %v on that may be the reason",
			r.Got, round(behind), round(r.room)))
	}
	return r
}

// leaveOpen makes a result one that lag keeps from being decided.
func (r *Result) leaveOpen(words string) {
	r.Transient = true
	r.leave(doubt{Lag, false, words})
}

// room returns by how much our lines may have come later than planned without being the reason for an answer that a
// line does not expect; zero if their time is not the reason, however late they were.
func (th *thread) room(e *scenarios.Expect, a session.Received) time.Duration {
	grammar := th.grammar()
	wait, waits := grammar.Replies.Waits[grammar.VerbSent(a.Asked)]
	switch {
	case a.GaveUp:
		return 0
	case a.Ending != scenarios.Open: // a limit of the server: for a HELLO that does not come, for example
		return lag.Room
	case !waits && th.script.Defers():
		return lag.Room
	case !waits || grammar.Refused(a.Message):
		return 0
	}
	return th.roomOfWait(e, a, wait)
}

// roomOfWait is room of an answer to a command that waits for something.
func (th *thread) roomOfWait(e *scenarios.Expect, a session.Received, wait scenarios.Wait) time.Duration {
	least := wait.Least
	if asks := th.grammar().Replies.Asks; asks != nil && asks(a.Asked) > 0 {
		least = asks(a.Asked)
	}
	switch inTurn := th.script.InTurn(e); {
	case a.Message.Kind == wait.Kind && e.RefusesOnly():
		return 0
	case a.Message.Kind == wait.Kind && inTurn: // the server itself may have been late, and had all of the wait
		return max(least, lag.RoomIn(least))
	case !inTurn && th.earlier(e, a):
		return lag.Room
	case a.Message.Kind != wait.Kind && (inTurn || !th.unexpected(e, a, wait)):
		return 0
	}
	return lag.RoomIn(least)
}

// earlier reports whether all that a line does not expect are times, before those that other replies had: the server
// has those, and what was planned to be between them may not have been.
func (th *thread) earlier(e *scenarios.Expect, a session.Received) bool {
	other := func(d scenarios.Difference) bool {
		return !strings.HasPrefix(d.Want, "time($") || strings.HasPrefix(d.Want, "time($now")
	}
	return slices.ContainsFunc(e.Choices, func(ch scenarios.Choice) bool {
		differences := th.try(&ch, a)
		return len(differences) > 0 && !slices.ContainsFunc(differences, other)
	})
}

// unexpected reports whether a command that waits for something brought something where the line expects nothing, or
// another of several things.
func (th *thread) unexpected(e *scenarios.Expect, a session.Received, wait scenarios.Wait) bool {
	asks := func(kind byte) func(scenarios.Choice) bool {
		return func(ch scenarios.Choice) bool { return ch.Form() != nil && ch.Form().Kind == kind }
	}
	itself := func(ch scenarios.Choice) bool {
		return asks(a.Message.Kind)(ch) && !slices.ContainsFunc(th.try(&ch, a), th.grammar().IsName)
	}
	if !slices.ContainsFunc(e.Choices, asks(a.Message.Kind)) {
		return slices.ContainsFunc(e.Choices, asks(wait.Kind))
	}
	return !slices.ContainsFunc(e.Choices, itself)
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
	reason Reason
	broken bool // see [Result.Broken]
	words  string
}

// ordered reports whether a message orders the client to finish its work, which is as good as the reply that a line
// expects if the law allows it: a server may give such an order at any time.
func (th *thread) ordered(c *conn, e *scenarios.Expect, a session.Received) bool {
	if !a.Whole() || e.RefusesOnly() || th.Observer == nil || !th.ledger.Orders(a.Message) {
		return false
	}
	clause, _ := th.Observer.Wrong(c.name, a.At)
	return clause == ""
}

// otherBreach returns why a message that a line did not expect decides nothing: the server may do it, or it is wrong
// whatever the line is about. It returns nil if neither is so.
func (th *thread) otherBreach(c *conn, e *scenarios.Expect, a session.Received) *doubt {
	if c.role == scenarios.Consumer && !e.RefusesOnly() && th.ledger.MayEnd(c.State()) {
		_, waits := th.grammar().Replies.Waits[th.grammar().VerbSent(a.Asked)]
		switch {
		case a.Ending != scenarios.Open:
			return &doubt{SetUp, false, "the server closed the connection of a client that it told to terminate, which is " +
				"allowed"}
		case waits:
			return &doubt{SetUp, false, "the server told the client to be quiet or to terminate, so it need not give it jobs"}
		}
	}
	if th.foreignTo(e, a) {
		return &doubt{SetUp, true, "this is not a possible reply to the command: " + text.Shorten(a.String())}
	}
	if th.Observer == nil {
		return nil
	}
	clause, got := th.Observer.Wrong(c.name, a.At)
	if clause == "" || slices.ContainsFunc(e.Marks, func(m scenarios.Mark) bool { return m.Clause == clause }) {
		return nil
	}
	return &doubt{SetUp, true, "the reply is wrong for any clause: " + got}
}
