package fakeworker

import (
	"bytes"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// lineFaults are wrong lines, and wrong ends of connections. (Client Protocol Sender; END)
var lineFaults = []Fault{
	fault("command-after-end", "END-03 BEAT-07 FRAME-07", "It sends one more BEAT behind its END.",
		sent(fwp.END, func(e *Event) {
			e.Line = append(e.Line, "BEAT {\"wid\":\""+e.Worker.cfg.WID+"\"}\r\n"...)
		})),
	fault("end-missing", "STATE-15", "It closes its connections without END.", on(Ending, skip)),
	fault("end-of-beats-only", "STATE-15", "It sends END on its connection for BEAT only.",
		on(Ending, func(e *Event) { e.Skip = !e.Beats })),
	fault("end-while-working", "END-04 FETCH-09 FRAME-07 END-03 STATE-21 STATE-15",
		"It sends END while its jobs run, when it terminates.",
		catalogue.On(ordered("terminate"), func(e *Event) { e.Worker.endAll() })),
	lineFault("end-with-space", "FRAME-02 FRAME-04", "A space stands behind its END.", fwp.END, replace("\r\n", " \r\n")),
	lineFault("line-ends-in-space", "FRAME-04 FRAME-02", "A space stands at the end of its ACKs.", fwp.ACK,
		replace("\r\n", " \r\n")),
	lineFault("line-lf", "FRAME-01 FRAME-04", "It ends its lines with LF alone.", "", replace("\r\n", "\n")),
	lineFault("line-two-spaces", "FRAME-02 FRAME-04 BEAT-10 WRK-03", "Two spaces stand between BEAT and its JSON.",
		fwp.BEAT, replace(" ", "  ")),
	fault("pipelined", "FRAME-07", "It sends the next FETCH before the reply to its ACK has come.",
		sent(fwp.ACK, func(e *Event) { e.Ahead = []byte("INFO\r\n") })),
	lineFault("verb-lower-case", "FRAME-04 FETCH-09 END-04 STATE-21", "Its ACKs are written in lower case.", fwp.ACK,
		replace("ACK", "ack")),
}

// lineFault returns a fault of the lines of a verb, of all lines if it is empty.
func lineFault(name, clauses, summary, verb string, change func(line []byte) []byte) Fault {
	return fault(name, clauses, summary, sent(verb, func(e *Event) { e.Line = change(e.Line) }))
}

// replace returns a function that replaces the first of a text in a line.
func replace(old, by string) func([]byte) []byte {
	return func(line []byte) []byte { return bytes.Replace(line, []byte(old), []byte(by), 1) }
}
