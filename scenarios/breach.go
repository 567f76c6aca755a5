package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/internal/text"
)

// foreignTo reports whether a reply that a line did not expect is one that the command
// cannot have. Such a reply decides nothing for the clauses of the line, unless the line
// expects an error and nothing else: then it is about the difference.
func (th *thread) foreignTo(e *Expect, a session.Received) bool {
	return a.Whole() && a.Owed == 1 && !e.refusesOnly() && th.dialect().Foreign(a.Asked, a.Message)
}

// refusesOnly reports whether a line expects that a command is refused, by an error or by the end of its connection.
func (e *Expect) refusesOnly() bool {
	return !slices.ContainsFunc(e.Choices, func(ch Choice) bool {
		return ch.ending == Open && (ch.any || !ch.form.Refusal)
	})
}

// breachOn records a breach that a received message shows. Got is the message unless b has
// another text.
func (th *thread) breachOn(c *conn, at Pos, a session.Received, b Breach) {
	b.Pos, b.Conn, b.At, b.Got = at, c.name, th.since(a), cmp.Or(b.Got, text.Shorten(a.String()))
	th.breach(b)
}

// noteForeign records a reply that the command cannot have.
func (th *thread) noteForeign(c *conn, e *Expect, a session.Received) {
	th.breachOn(c, e.Pos, a, Breach{Kind: ForeignReply, Verb: c.Status().Verb, Expected: e.expected()})
}

// ledgerBreach returns the breach that a reply is by what the play has done so far.
func (th *thread) ledgerBreach(a session.Received) Breach {
	if !a.Whole() || a.Owed != 1 {
		return Breach{}
	}
	return th.ledger.Breach(a.Asked, a.Message)
}

// answered updates the ledger, and records a reply that the ledger shows to be wrong.
func (th *thread) answered(c *conn, at Pos, a session.Received) {
	if b := th.ledgerBreach(a); b.Kind != 0 {
		th.breachOn(c, at, a, b)
	}
	th.ledger.Answered(a.Asked, a.Message)
}

// unanswered records that a server which serves has not answered a command, or has not
// greeted.
func (th *thread) unanswered(c *conn, at Pos, a session.Received) {
	verb := c.Status().Verb
	kind, what := NoReply, "a reply to "+verb
	switch {
	case verb == "" && !c.Answered():
		kind, what = NoGreeting, "a greeting"
	case verb == "":
		what = "a reply to an empty line"
	}
	got := a.String()
	if c.WriteError() != nil {
		got += ": " + c.WriteError().Error()
	}
	th.breachOn(c, at, a, Breach{Kind: kind, Verb: verb, Expected: what, Got: got})
}

// awaitsReply reports whether the wait was given up on a line that expects a reply and
// nothing else. A line with a window is about the time, and reports that itself.
func (e *Expect) awaitsReply(a session.Received) bool {
	if !a.GaveUp || a.Pending != "" || e.Within != (Window{}) {
		return false
	}
	for i := range e.Choices {
		if e.Choices[i].ending != Open {
			return false
		}
	}
	return true
}

// trailed records bytes behind the only reply that was owed, and reports whether there
// were any. They would be mistaken for the reply to the next command.
func (th *thread) trailed(c *conn, at Pos, a session.Received) bool {
	if a.Trailing == 0 {
		return false
	}
	next, came := c.Peek(context.Background(), time.Now().Add(trailingWait))
	switch {
	case came && th.turnedAway(c, next):
		return true
	case came && next.Whole() && c.state.Turn(next.Message) == session.Notice:
		return false
	}
	c.unjudged = &doubt{OtherBreach, "the server sent more than one reply to one command"}
	th.breachOn(c, at, a, Breach{Kind: ExtraReply, Expected: "one reply to one command",
		Got: fmt.Sprintf("%d more bytes behind %s", a.Trailing, text.Shorten(a.String()))})
	return true
}

// trailingWait is how long bytes that were received behind a reply may take to be read.
const trailingWait = 100 * time.Millisecond

// turnedAway reports whether a message is the refusal of a connection right behind the answer to its introduction,
// while others are open: the server is at its limit of connections. Nothing on such a connection is judged.
func (th *thread) turnedAway(c *conn, a session.Received) bool {
	hello, _ := th.dialect().Hello(c.role, c.state)
	introduced := th.dialect().Grammar().verbOf(hello.Words)
	if !a.Whole() || a.Turn == session.Answer || !th.dialect().Grammar().refused(a.Message) ||
		c.Status().Verb != introduced || !c.admission.TurnedAway(a.String()) {
		return false
	}
	c.unjudged = &doubt{
		Refused, "the server refused the connection behind the answer to " + introduced + ": " + a.String(),
	}
	return true
}

// lost records the end of a connection that the server must not end.
func (th *thread) lost(c *conn, at Pos, a session.Received) {
	if c.role == Consumer && !c.excused.Load() && c.Status().Phase == session.Serving && !th.ledger.MayEnd(c.State()) {
		c.excused.Store(true) // reported once
		th.breachOn(c, at, a, Breach{Kind: ConsumerClosed, Expected: "the connection of a consumer stays open"})
	}
}

// broken records a breach of the grammar. A message beyond our limits is none.
func (th *thread) broken(c *conn, at Pos, a session.Received) {
	if a.Broken != nil && a.Broken.Limit {
		return
	}
	b := Breach{
		Kind: BrokenGrammar, Rule: a.Rule, Expected: "a whole " + th.dialect().Grammar().Encoding + " reply",
		Got: a.String(),
	}
	if a.Broken != nil {
		b.Rule = a.Broken.Rule
		b.Expected, b.Got = a.Broken.Expected, fmt.Sprintf("%s at byte %d of the stream", a.Broken.Got, a.Broken.Offset)
	}
	th.breachOn(c, at, a, b)
}
