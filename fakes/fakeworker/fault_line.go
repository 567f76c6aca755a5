package fakeworker

import (
	"bytes"
	"errors"
	"net"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// lineFaults are about what is written and read.
var lineFaults = []Fault{
	// These are wrong lines, and wrong ends of connections. (Client Protocol Sender; END)
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
	// These are replies that are not understood. (Server Protocol Sender and Client Protocol Receiver)
	fault("null-ends", "RESP-08 FETCH-11 STATE-15 FETCH-09", "It ends when a FETCH finds no job.",
		exitAt(fwp.FETCH, fwp.NullBulk)),
	fault("resp-bulk-by-line", "FETCH-09 RESP-08 STATE-15", "It takes a bulk string for one line.",
		replied(fwp.FETCH, func(e *Event) {
			e.Close = e.Reply.Kind == fwp.BulkString && bytes.ContainsAny(e.Reply.Text, "\r\n")
		})),
	fault("resp-counts-characters", "FETCH-09 RESP-08 STATE-15 WRK-09",
		"It counts the length of a bulk string in characters.",
		replied(fwp.FETCH, func(e *Event) {
			e.Close = e.Reply.Kind == fwp.BulkString && len(e.Reply.Text) != len(bytes.Runes(e.Reply.Text))
		})),
	setting("resp-decodes-reads", "RESP-08 FETCH-09 WRK-03 STATE-21 END-04",
		"It takes what one read returns for whole characters.", func(c *Config) {
			c.Wrap = func(nc net.Conn) net.Conn { return decodedReads{nc} }
		}),
	setting("resp-whole-reads", "RESP-08 FETCH-09 STATE-15", "It takes what one read returns for a whole reply.",
		readsWhole),
}

// lineFault returns a fault of the lines of a verb, of all lines if it is empty.
func lineFault(name, clauses, summary, verb string, change func(line []byte) []byte) Fault {
	return fault(name, clauses, summary, sent(verb, func(e *Event) { e.Line = change(e.Line) }))
}

// replace returns a function that replaces the first of a text in a line.
func replace(old, by string) func([]byte) []byte {
	return func(line []byte) []byte { return bytes.Replace(line, []byte(old), []byte(by), 1) }
}

// exitAt returns a hook that ends the worker at a reply of a kind.
func exitAt(verb string, kind fwp.Kind) func(*Event) {
	return replied(verb, func(e *Event) { e.Exit = e.Reply.Kind == kind })
}

// readsWhole takes what one read returns for a whole reply.
func readsWhole(c *Config) { c.Wrap = func(nc net.Conn) net.Conn { return wholeReads{nc} } }

// wholeReads is a connection that fails where a read ends inside a line.
type wholeReads struct{ net.Conn }

func (c wholeReads) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && p[n-1] != '\n' {
		return 0, errors.New("half a reply")
	}
	return n, err
}

// decodedReads is a connection that replaces the bytes of a character that a read does not bring whole.
type decodedReads struct{ net.Conn }

func (c decodedReads) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for i := 0; i < n; {
		r, size := utf8.DecodeRune(p[i:n])
		if r == utf8.RuneError && size == 1 {
			p[i] = '?'
		}
		i += size
	}
	return n, err
}
