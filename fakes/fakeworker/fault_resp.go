package fakeworker

import (
	"bytes"
	"errors"
	"net"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fwp"
)

// respFaults are replies that are not understood. (Server Protocol Sender and Client Protocol Receiver)
var respFaults = []Fault{
	fault("null-ends", "RESP-08 FETCH-11 STATE-15 FETCH-09", "It ends when a FETCH finds no job.",
		exitAt(fwp.FETCH, fwp.NullBulk)),
	fault("resp-bulk-by-line", "FETCH-09 RESP-08 STATE-15", "It takes a bulk string for one line.",
		replied(fwp.FETCH, func(e *Event) {
			e.Close = e.Reply.Kind == fwp.BulkString && bytes.ContainsAny(e.Reply.Text, "\r\n")
		})),
	fault("resp-counts-characters", "FETCH-09 RESP-08 STATE-15", "It counts the length of a bulk string in characters.",
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
