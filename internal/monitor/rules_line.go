package monitor

import (
	"github.com/fwpsuite/fwp/fwp"
)

// lineRules are about the bytes that a client sends.
func lineRules() []Rule {
	return []Rule{
		syntaxRule(LineEnd, FaultEnd),
		syntaxRule(LineForm, FaultForm),
		syntaxRule(LineSyntax, FaultSyntax),
		syntaxRule(LineUTF8, FaultUTF8),
		{
			Breach: CommandInFlight, Goal: "a client sent a second command on a connection",
			on: on(Line), check: checkInFlight,
		},
	}
}

func syntaxRule(breach string, fault Fault) Rule {
	return Rule{Breach: breach, Goal: "a client sent a line", on: on(Line), check: func(l *look) judgement {
		switch {
		case l.Unread:
			return aside()
		case l.Wrong == nil || l.Wrong.Fault != fault:
			return right()
		}
		return wrong(nil, "%s", l.Wrong.Text)
	}}
}

// checkInFlight: a client reads the reply before it sends the next command. END needs no reply, and what follows it is
// another rule's.
func checkInFlight(l *look) judgement {
	c := l.conn
	if c == nil || c.lines == 0 || c.unjudged || c.end != nil {
		return aside()
	}
	if len(c.inFlight) == 0 {
		return right()
	}
	before := c.inFlight[0]
	if before.verb == fwp.HELLO && c.greeting == nil {
		return aside() // before-greeting has it
	}
	return wrong([]Moment{before.shown}, "%s was sent before the reply to %s", nameOf(l.verb()), nameOf(before.verb))
}

func nameOf(verb string) string {
	if fwp.Identified.Allows(verb) {
		return verb
	}
	return "a line"
}
