package clientrules

import (
	"bytes"
	"fmt"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// lineRules are about the bytes that a client sends.
func lineRules() []Rule {
	return []Rule{
		{LineEnd, "a client sent a line", 0, on(Line), checkLineEnd},
		{LineUnfinished, "a client ended a connection", 0, on(Closed), checkUnfinished},
		{LineStalled, "a client ended a connection", 0, on(Closed, Unfinished), checkStalled},
		syntaxRule(LineForm, MistakeForm),
		syntaxRule(LineSyntax, MistakeSyntax),
		syntaxRule(LineUTF8, MistakeUTF8),
		{CommandInFlight, "a client sent a second command on a connection", 0, on(Line), checkInFlight},
	}
}

// checkLineEnd judges the end of a line by itself: a client all of whose lines end with LF is judged by what else is in
// them.
func checkLineEnd(l *look) judgement {
	if l.Unread {
		return notApplicable()
	}
	return keptIf(bytes.HasSuffix(l.Raw, []byte("\r\n")), "the line ends with LF, expected CRLF")
}

// checkUnfinished judges a client that closes a connection in the middle of a line. A server may have kept one waiting
// that was sending it for long: it has given up.
func checkUnfinished(l *look) judgement {
	switch waited := longWait + l.world.lag(); {
	case l.By != Client || l.isKilled():
		return notApplicable()
	case l.Size == 0:
		return keptWhere(!l.Reset)
	case l.Sent > waited:
		return notApplicable() // line-stalled has it, or nothing
	}
	return broken(nil, "the client closed the connection in the middle of a line, %s", l.unfinished())
}

// checkStalled judges a client that sends no more of a line, though it is waited for.
func checkStalled(l *look) judgement {
	switch waited := longWait + l.world.lag(); {
	case l.Kind == Closed && l.By != Client || l.isKilled():
		return notApplicable()
	case l.Idle > waited:
		return broken(nil, "the client sent no more of a line for %.0f s, %s", l.Idle.Seconds(), l.unfinished())
	}
	return keptWhere(l.Size == 0 && !l.Reset)
}

// unfinished names what was sent of a line.
func (e *Event) unfinished() string {
	const most = 100
	what := text.Printable(string(e.Raw[:min(len(e.Raw), most)]))
	if e.Size > most {
		what += "..."
	}
	return fmt.Sprintf("after %s: %s", text.Count(e.Size, "byte"), what)
}

func syntaxRule(breach string, mistake Mistake) Rule {
	return Rule{breach, "a client sent a line", 0, on(Line), func(l *look) judgement {
		for _, wrong := range l.Wrong {
			if wrong.Mistake == mistake {
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
	if c == nil || c.lines == 0 || c.end != nil {
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
