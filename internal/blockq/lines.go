// Package blockq is a small second protocol with a server of its own, and the skeleton of docs/adding-a-protocol.md. It
// exists for tests only: scripts, exploring and load are carried through it to show that their engines know no
// protocol. No program imports it.
//
// It is a line protocol with counted blocks, and unlike FWP in what matters to an engine: the client speaks first,
// there is no greeting and no heartbeat, a command may carry a block whose size its line announces, and a reply has a
// word in front instead of a type's sign. Lines end with CRLF, words are separated by one space:
//
//	join NAME            OK                      first, and only once
//	put QUEUE ID SIZE    OK                      a block of SIZE bytes and CRLF follow the line
//	take QUEUE           JOB ID SIZE | NONE      a block of SIZE bytes and CRLF follow a JOB line
//	done ID              OK                      of a job that was taken, by whichever client
//	count QUEUE          COUNT N                 jobs that wait in the queue
//	ping                 OK
//	bye                                          the server closes the connection
//
// Any command but bye may be answered "ERR reason" instead: "join first" to all but join, ping and bye before a join,
// "joined already", "duplicate" for the id of a job that waits or is taken, "unknown" for the id of a job that is not
// taken, and "malformed". The connection stays open after an error, except after one that leaves the beginning of the
// next command unknown: a put with an invalid size, a block without its CRLF, a line that is too long. A job that was
// taken stays so until it is done, whatever becomes of the connection.
package blockq

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/session"
)

// Line is a command or a reply.
type Line struct {
	Words []string // without the size of a block
	Block []byte   // of put and JOB
}

// maxLine bounds a line without its CRLF, in bytes.
const maxLine = 256

// grammar has the lines without their CRLF: names have 64 bytes of printable ASCII at most, numbers six digits, and a
// number behind a put and a JOB is the size of a block.
var grammar = regexp.MustCompile(strings.NewReplacer("NAME", "[!-~]{1,64}", "NUMBER", `(?:0|[1-9]\d{0,5})`).Replace(
	`(?s)^(?:(?:join|take|done|count) NAME|put(?: NAME){2} NUMBER|ping|bye|` +
		`OK|NONE|JOB NAME NUMBER|COUNT NUMBER|ERR .*)$`))

// Append appends a line as it is sent. It checks nothing.
func Append(out []byte, l Line) []byte {
	out = append(out, strings.Join(l.Words, " ")...)
	if l.hasBlock() {
		return appendBlock(out, len(l.Block), l.Block)
	}
	return append(out, "\r\n"...)
}

// appendBlock appends the size that ends a line, and the block that follows it.
func appendBlock(out []byte, size int, block []byte) []byte {
	out = strconv.AppendInt(append(out, ' '), int64(size), 10)
	return slices.Concat(out, []byte("\r\n"), block, []byte("\r\n"))
}

func (l Line) hasBlock() bool { return l.Words[0] == "put" || l.Words[0] == "JOB" }

// Parse reads the first line in b, with its block, and returns how many bytes it takes. The line keeps no part of b.
// The error is [session.ErrShort] while b is the beginning of a line, and a *[session.SyntaxError] if it is wrong: then
// n is the length of the line, or 0 if it is unknown where the next one begins.
func Parse(b []byte) (l Line, n int, err error) {
	l.Words = []string{""}
	end := bytes.Index(b[:min(len(b), maxLine+2)], []byte("\r\n"))
	switch {
	case end < 0 && len(b) < maxLine+2:
		return l, 0, session.ErrShort
	case end < 0:
		return l, 0, wrong(b, 0, "a shorter line")
	}
	l.Words, n = strings.Split(string(b[:end]), " "), end+2
	switch fits := grammar.Match(b[:end]); {
	case !fits && l.hasBlock():
		return l, 0, wrong(b, 0, "a line of the protocol with the size of a block")
	case !fits:
		return l, n, wrong(b, 0, "a line of the protocol")
	case !l.hasBlock():
		return l, n, nil
	}
	last := len(l.Words) - 1
	size, _ := strconv.Atoi(l.Words[last]) // the grammar has checked it
	l.Words = l.Words[:last]
	switch rest := b[n:]; {
	case len(rest) > size && rest[size] != '\r', len(rest) > size+1 && rest[size+1] != '\n':
		return l, 0, wrong(b, n+size, "the end of the block")
	case len(rest) < size+2:
		return l, 0, session.ErrShort
	}
	l.Block = slices.Clone(b[n : n+size])
	return l, n + size + 2, nil
}

// Rule is the rule of the grammar, of which there is one.
const Rule = "grammar"

// wrong returns the error for bytes of which those from an offset on are not what is expected.
func wrong(b []byte, offset int, expected string) error {
	got := strconv.QuoteToASCII(string(b[offset:min(len(b), offset+16)]))
	return &session.SyntaxError{Rule: Rule, Offset: int64(offset), Expected: expected, Got: got}
}
