package monitor

import "github.com/fwpsuite/fwp/fwp"

// greetingRules are about HI and HELLO.
func greetingRules() []Rule {
	return []Rule{
		{
			Breach: BeforeGreeting, Goal: "a client sent its first line",
			on: on(Line), check: func(l *look) judgement {
				if l.conn == nil || l.conn.lines > 0 {
					return aside
				}
				return rightIf(l.conn.greeting != nil, "the client sent its first line before the server's HI")
			},
		},
		{
			Breach: HelloNotFirst, Goal: "a client sent its first line",
			on: on(Line), check: func(l *look) judgement {
				if l.conn == nil || l.conn.lines > 0 {
					return aside
				}
				return rightIf(l.verb() == fwp.HELLO, "the first line is not a HELLO")
			},
		},
	}
}
