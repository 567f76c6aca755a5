package play

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// isForeign reports whether a reply that a line did not expect is one that the command
// cannot have. Such a reply decides nothing for the clauses of the line, unless the line
// expects an error and nothing else: then it is about the difference.
func (th *thread) isForeign(e *scenarios.Expect, a session.Received) bool {
	return a.IsComplete() && a.OwedMessages == 1 && !e.RefusesOnly() && th.dialect().IsImpossible(a.Command, a.Message)
}

// breachOn records a breach that a received message shows. Got is the message unless b has
// another text.
func (th *thread) breachOn(c *conn, at scenarios.Pos, a session.Received, b scenarios.Breach) {
	b.Pos, b.Conn, b.At, b.Got = at, c.name, th.since(a), cmp.Or(b.Got, text.Shorten(a.String()))
	th.breach(b)
}

// noteUnanswered records that a server which serves has not answered a command, or has not
// greeted.
func (th *thread) noteUnanswered(c *conn, at scenarios.Pos, a session.Received) {
	verb := c.Status().Verb
	kind, message := scenarios.NoReply, "a reply to "+verb
	switch {
	case verb == "" && !c.HasAnswered():
		kind, message = scenarios.NoGreeting, "a greeting"
	case verb == "":
		message = "a reply to an empty line"
	}
	got := a.String()
	if c.WriteError() != nil {
		got += ": " + c.WriteError().Error()
	}
	th.breachOn(c, at, a, scenarios.Breach{Kind: kind, Verb: verb, Expected: message, Got: got})
}

// awaitsReply reports whether the wait was given up on a line that expects a reply and
// nothing else. A line with a window is about the time, and reports that itself.
func awaitsReply(e *scenarios.Expect, a session.Received) bool {
	if !a.GaveUp || a.Pending != "" || e.Window != (scenarios.Window{}) {
		return false
	}
	for i := range e.Choices {
		if e.Choices[i].Ending() != scenarios.Open {
			return false
		}
	}
	return true
}

// noteTrailing records bytes behind the only reply that was owed, and reports whether there
// were any. They would be mistaken for the reply to the next command.
func (th *thread) noteTrailing(c *conn, at scenarios.Pos, a session.Received) bool {
	if a.Trailing == 0 {
		return false
	}
	next, ok := c.Peek(context.Background(), time.Now().Add(trailingWait))
	switch {
	case ok && !th.grammar().IsRefusal(a.Message) && th.isTurnedAway(c, next): // a refused client is turned away already
		return true
	case ok && next.IsComplete() && c.state.Role(next.Message) == session.Notice:
		return false
	}
	c.unjudged = &doubt{SetUp, true, "the server sent more than one reply to one command"}
	th.breachOn(c, at, a, scenarios.Breach{Kind: scenarios.ExtraReply, Expected: "one reply to one command",
		Got: fmt.Sprintf("%d more bytes after %s", a.Trailing, text.Shorten(a.String()))})
	return true
}

// trailingWait is how long bytes that were received behind a reply may take to be read.
const trailingWait = 100 * time.Millisecond

// isTurnedAway reports whether a message is the refusal of a connection right behind the answer to its introduction,
// while others are open: the server is at its limit of connections. Nothing on such a connection is judged.
func (th *thread) isTurnedAway(c *conn, a session.Received) bool {
	hello, _ := th.dialect().Hello(c.role, c.state)
	introduced := th.grammar().VerbOf(hello.Words)
	if !a.IsComplete() || a.Role == session.Answer || !th.grammar().IsRefusal(a.Message) ||
		c.Status().Verb != introduced || !c.admission.TurnedAway(a.String()) {
		return false
	}
	c.unjudged = &doubt{
		Connections, false, "the server refused the connection after the answer to " + introduced + ": " + a.String(),
	}
	return true
}

// noteEnd records the end of a connection that the server must not end.
func (th *thread) noteEnd(c *conn, at scenarios.Pos, a session.Received) {
	if c.role == scenarios.Consumer && !c.isExcused.Load() && c.Status().Phase == session.Serving &&
		!th.ledger.MayEnd(c.State()) {
		c.isExcused.Store(true) // reported once
		b := scenarios.Breach{Kind: scenarios.ConsumerClosed, Expected: "the connection of a consumer stays open"}
		th.breachOn(c, at, a, b)
	}
}

// noteBroken records bytes that are no message, or one of a kind that cannot be the reply. A message beyond our limits
// breaks nothing by that.
func (th *thread) noteBroken(c *conn, at scenarios.Pos, a session.Received) {
	b := scenarios.Breach{
		Kind: scenarios.BrokenGrammar, Rule: a.Rule, Expected: "a whole " + th.grammar().Encoding + " reply",
		Got: a.String(),
	}
	switch {
	case isBeyondLimit(a) && c.Status().OwedMessages > 0:
		return
	case isBeyondLimit(a):
		b.Kind, b.Expected = c.surplus(a), "no data without a command"
	case a.Broken != nil:
		b = scenarios.BreachOf(a.Broken)
		b.Assumed, b.Got = false, fmt.Sprintf("%s at byte %d of the stream", a.Broken.Got, a.Broken.Offset)
	}
	th.breachOn(c, at, a, b)
}

// isBeyondLimit reports whether a message is beyond a limit of ours.
func isBeyondLimit(a session.Received) bool { return a.Broken != nil && a.Broken.IsLimit }

// noteLapse keeps the first message of the play that breaks a rule of the grammar and is read all the same: it is one
// departure, however often it comes.
func (pl *play) noteLapse(conn string, a session.Received) {
	lapse := a.Message.Lapse
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if lapse == nil || slices.Contains(pl.lapsedRules, lapse.Rule) {
		return
	}
	b := scenarios.BreachOf(lapse)
	b.Conn, b.At = conn, pl.since(a)
	if b.Kind == scenarios.BrokenGrammar {
		b.Got, _, _ = strings.Cut(lapse.Got, " after ") // what stands before it is another text in each play
	}
	pl.lapsedRules = append(pl.lapsedRules, lapse.Rule)
	pl.lapses = append(pl.lapses, b)
}

// fileLapses records such messages as breaches, at the step that has taken them. No lag can be the reason.
func (pl *play) fileLapses(at scenarios.Pos) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	for _, b := range pl.lapses {
		b.Pos = at
		pl.breaches = append(pl.breaches, b)
	}
	pl.lapses = nil
}
