package worker

import (
	"bytes"
	"errors"
	"net"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// lineBugs are about what is written and read.
var lineBugs = []Bug{
	// These are wrong lines, and wrong ends of connections. (Client Protocol Sender; END)
	bug("command-after-end", actOnSend(fwp.END, func(e *Event) {
		e.Line = append(e.Line, "BEAT {\"wid\":\""+e.Worker.cfg.WID+"\"}\r\n"...)
	})),
	bug("end-missing", actAt(Ending, skip)),
	bug("end-while-working", catalogue.ActIf(isOrdered("terminate"), func(e *Event) { e.Worker.endAll() })),
	lineBug("end-with-space", fwp.END, replace("\r\n", " \r\n")),
	lineBug("line-lf", "", replace("\r\n", "\n")),
	bug("pipelined", actOnSend(fwp.ACK, func(e *Event) { e.ExtraLines = []byte("INFO\r\n") })),
	// These are replies that are not understood. (Server Protocol Sender and Client Protocol Receiver)
	bug("resp-counts-characters", actOnReply(fwp.FETCH, func(e *Event) {
		e.Close = e.Reply.Kind == fwp.BulkString && len(e.Reply.Text) != len(bytes.Runes(e.Reply.Text))
	})),
	setting("resp-whole-reads", readFully),
}

// lineBug returns a bug of the lines of a verb, of all lines if it is empty.
func lineBug(name, verb string, change func(line []byte) []byte) Bug {
	return bug(name, actOnSend(verb, func(e *Event) { e.Line = change(e.Line) }))
}

// replace returns a function that replaces the first of a text in a line.
func replace(old, replacement string) func([]byte) []byte {
	return func(line []byte) []byte { return bytes.Replace(line, []byte(old), []byte(replacement), 1) }
}

// exitAt returns a hook that ends the worker at a reply of a kind.
func exitAt(verb string, kind fwp.Kind) func(*Event) {
	return actOnReply(verb, func(e *Event) { e.Exit = e.Reply.Kind == kind })
}

// readFully takes what one read returns for a whole reply.
func readFully(c *Config) { c.Wrap = func(nc net.Conn) net.Conn { return fullReader{nc} } }

// fullReader is a connection that fails where a read ends inside a line.
type fullReader struct{ net.Conn }

func (c fullReader) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && p[n-1] != '\n' {
		return 0, errors.New("half a reply")
	}
	return n, err
}
