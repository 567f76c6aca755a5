package fakeworker

import (
	"strings"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// pushFaults are wrong lines of producers, and jobs that are not pushed. (Client Protocol Sender; PUSH)
var pushFaults = []Fault{
	fault("push-after-end", "END-03 FRAME-07", "It sends one more INFO behind its END.",
		sent(fwp.END, func(e *Event) { e.Line = append(e.Line, "INFO\r\n"...) })),
	fault("push-dropped-seldom", "WU-19", "It does not push every seventh job.", catalogue.Every(7, at(Pushing), skip)),
	fault("push-ends-twice", "FRAME-01", "A line break stands between the JSON of a PUSH and its CRLF.",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), "\r\n", "\n\r\n", 1)) })),
	fault("push-info-ahead", "FRAME-07", "It sends INFO behind a PUSH, before that is answered.",
		sent(fwp.PUSH, func(e *Event) { e.Ahead = []byte("INFO\r\n") })),
	fault("push-latin-1", "FRAME-09 FRAME-04 WU-03 WU-19", "Its PUSHes are written in Latin-1.",
		sent(fwp.PUSH, func(e *Event) { e.Line = latin1(e.Line) })),
	fault("push-lines-broken", "FRAME-04 FRAME-02 FRAME-01 FRAME-07 HELLO-01 RESP-08 RESP-09 WU-03 WU-19 STATE-15",
		"It writes the line breaks of arguments as they are.",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.ReplaceAll(string(e.Line), `\r\n`, "\r\n")) })),
	fault("push-twice-seldom", "WU-15", "It pushes every seventh job twice.", catalogue.Every(7, at(Pushing), again)),
	fault("push-two-spaces", "FRAME-02 FRAME-04", "Two spaces stand between PUSH and its JSON.",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), " ", "  ", 1)) })),
	fault("push-without-hello", "HELLO-01 STATE-02 RESP-08 RESP-09 WU-19 STATE-15", "It sends PUSH without a HELLO.",
		on(Introducing, skip)),
}
