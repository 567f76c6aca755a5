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
		{LineEnd, "a client sent a line", 0, occasionsOf(Line), checkLineEnd},
		{LineUnfinished, "a client ended a connection", 0, occasionsOf(ConnClose), checkLineUnfinished},
		{LineStalled, "a client ended a connection", 0, occasionsOf(ConnClose, UnfinishedLine), checkLineStalled},
		syntaxRule(LineForm, MistakeForm),
		syntaxRule(LineSyntax, MistakeSyntax),
		syntaxRule(LineUTF8, MistakeUTF8),
		{CommandInFlight, "a client sent a second command on a connection", 0, occasionsOf(Line), checkCommandInFlight},
	}
}

// checkLineEnd judges the end of a line by itself: a client all of whose lines end with LF is judged by what else is in
// them.
func checkLineEnd(l *observation) judgement {
	if l.IsUnread {
		return skip()
	}
	return passIf(bytes.HasSuffix(l.Raw, []byte("\r\n")), "the line ends with LF, expected CRLF")
}

// checkLineUnfinished judges a client that closes a connection in the middle of a line. A server may have kept one
// waiting that was sending it for long: it has given up.
func checkLineUnfinished(l *observation) judgement {
	switch limit := longWait + l.world.lag(); {
	case l.Closer != Client || l.isKilled():
		return skip()
	case l.Size == 0:
		return passWhere(!l.IsReset)
	case l.SendTime > limit:
		return skip() // line-stalled has it, or nothing
	}
	return fail(nil, "the client closed the connection in the middle of a line, %s", l.unfinishedText())
}

// checkLineStalled judges a client that sends no more of a line, though it is waited for.
func checkLineStalled(l *observation) judgement {
	switch limit := longWait + l.world.lag(); {
	case l.Kind == ConnClose && l.Closer != Client || l.isKilled():
		return skip()
	case l.IdleTime > limit:
		return fail(nil, "the client sent no more of a line for %.0f s, %s", l.IdleTime.Seconds(), l.unfinishedText())
	}
	return passWhere(l.Size == 0 && !l.IsReset)
}

// unfinishedText names what was sent of a line.
func (e *Event) unfinishedText() string {
	const limit = 100
	excerpt := text.Printable(string(e.Raw[:min(len(e.Raw), limit)]))
	if e.Size > limit {
		excerpt += "..."
	}
	return fmt.Sprintf("after %s: %s", text.Count(e.Size, "byte"), excerpt)
}

func syntaxRule(breach string, mistake Mistake) Rule {
	return Rule{breach, "a client sent a line", 0, occasionsOf(Line), func(l *observation) judgement {
		for _, found := range l.Mistakes {
			if found.Mistake == mistake {
				return fail(nil, "%s", found.Text)
			}
		}
		return passWhere(!l.IsUnread)
	}}
}

// checkCommandInFlight judges a line that is sent before the reply to the last one. END needs no reply, and what
// follows END is the subject of another rule.
func checkCommandInFlight(l *observation) judgement {
	c := l.conn
	if c == nil || c.lines == 0 || c.end != nil {
		return skip()
	}
	if len(c.inFlight) == 0 {
		return pass()
	}
	first := c.inFlight[0]
	if first.verb == fwp.HELLO && c.greeting == nil {
		return skip() // before-greeting has it
	}
	return fail(moments(&first.moment), "%s was sent before the reply to %s", lineName(l.verb()), lineName(first.verb))
}

func lineName(verb string) string {
	if fwp.Identified.Allows(verb) {
		return verb
	}
	return "a line"
}
