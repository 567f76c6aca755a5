package workers

import (
	"bytes"

	"github.com/fwpsuite/fwp/fwp"
)

// lineRules are about the bytes that a client sends.
func lineRules() []Rule {
	return []Rule{
		{LineEnd, "a client sent a line", 0, on(Line, Closed), checkLineEnd},
		syntaxRule(LineForm, FaultForm),
		syntaxRule(LineSyntax, FaultSyntax),
		syntaxRule(LineUTF8, FaultUTF8),
		{CommandInFlight, "a client sent a second command on a connection", 0, on(Line), checkInFlight},
	}
}

// checkLineEnd judges the end of a line by itself: a client all of whose lines end with LF is judged by what else is in
// them.
func checkLineEnd(l *look) judgement {
	switch {
	case l.Kind == Closed && l.Unended != "" && !l.isKilled():
		return broken(nil, "the client closed the connection behind %s, which had no line end", l.Unended)
	case l.Kind == Closed || l.Unread:
		return notApplicable()
	}
	return keptIf(bytes.HasSuffix(l.Raw, []byte("\r\n")), "the line ends with LF alone, and CRLF was expected")
}

func syntaxRule(breach string, fault Fault) Rule {
	return Rule{breach, "a client sent a line", 0, on(Line), func(l *look) judgement {
		for _, wrong := range l.Wrong {
			if wrong.Fault == fault {
				return broken(nil, "%s", wrong.Text)
			}
		}
		return keptWhere(!l.Unread)
	}}
}

// checkInFlight judges a line that is sent before the reply to the last one. END needs no reply, and what follows END
// is the subject of another rule.
func checkInFlight(l *look) judgement {
	c := l.conn
	if c == nil || c.lines == 0 || c.unmatched || c.end != nil {
		return notApplicable()
	}
	if len(c.inFlight) == 0 {
		return kept()
	}
	before := c.inFlight[0]
	if before.verb == fwp.HELLO && c.greeting == nil {
		return notApplicable() // before-greeting has it
	}
	return broken(moments(&before.shown), "%s was sent before the reply to %s", lineName(l.verb()), lineName(before.verb))
}

func lineName(verb string) string {
	if fwp.Identified.Allows(verb) {
		return verb
	}
	return "a line"
}
