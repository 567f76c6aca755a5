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
	fault("command-after-end", sent(fwp.END, func(e *Event) {
		e.Line = append(e.Line, "BEAT {\"wid\":\""+e.Worker.cfg.WID+"\"}\r\n"...)
	})),
	fault("end-missing", on(Ending, skip)),
	fault("end-of-beats-only", on(Ending, func(e *Event) { e.Skip = !e.Beats })),
	fault("end-while-working", catalogue.On(ordered("terminate"), func(e *Event) { e.Worker.endAll() })),
	lineFault("end-with-space", fwp.END, replace("\r\n", " \r\n")),
	lineFault("line-ends-in-space", fwp.ACK, replace("\r\n", " \r\n")),
	lineFault("line-lf", "", replace("\r\n", "\n")),
	lineFault("line-two-spaces", fwp.BEAT, replace(" ", "  ")),
	fault("pipelined", sent(fwp.ACK, func(e *Event) { e.Ahead = []byte("INFO\r\n") })),
	lineFault("verb-lower-case", fwp.ACK, replace("ACK", "ack")),
	// These are replies that are not understood. (Server Protocol Sender and Client Protocol Receiver)
	fault("null-ends", exitAt(fwp.FETCH, fwp.NullBulk)),
	fault("resp-bulk-by-line", replied(fwp.FETCH, func(e *Event) {
		e.Close = e.Reply.Kind == fwp.BulkString && bytes.ContainsAny(e.Reply.Text, "\r\n")
	})),
	fault("resp-counts-characters", replied(fwp.FETCH, func(e *Event) {
		e.Close = e.Reply.Kind == fwp.BulkString && len(e.Reply.Text) != len(bytes.Runes(e.Reply.Text))
	})),
	setting("resp-decodes-reads", func(c *Config) {
		c.Wrap = func(nc net.Conn) net.Conn { return decodedReads{nc} }
	}),
	setting("resp-whole-reads", readsWhole),
}

// lineFault returns a fault of the lines of a verb, of all lines if it is empty.
func lineFault(name, verb string, change func(line []byte) []byte) Fault {
	return fault(name, sent(verb, func(e *Event) { e.Line = change(e.Line) }))
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
