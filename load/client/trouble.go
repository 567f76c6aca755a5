package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/load/measure"
)

// What a server did not do, or did too early.
var (
	errSilent = errors.New("the server did not reply in time")
	errClosed = errors.New("the server closed the connection")
)

// Names of breaches. The verb, or the rule of the grammar, follows the colon; the greeting has no verb.
const (
	Unasked       = "unasked"     // bytes while no reply is due
	ExtraReply    = "extra-reply" // bytes after a whole reply
	ForeignReply  = "foreign-reply:"
	BrokenGrammar = "grammar:"
)

// BreachError is a breach of the protocol on a connection.
type BreachError struct {
	// Verb is the command that was in flight; empty for the greeting, and where nothing
	// was asked.
	Verb string
	// Breach names what was broken: one of the constants of this package, with what follows it.
	Breach string
	// What describes the bytes, and what was due instead.
	What string
}

// Error returns What.
func (e *BreachError) Error() string { return e.What }

// WrongReply is the breach of a reply that the command does not have; the empty verb
// is the greeting.
func WrongReply(verb string, r fwp.Reply) *BreachError {
	to := "the server greeted"
	if verb != "" {
		to = verb + " was answered"
	}
	return &BreachError{verb, ForeignReply + verb, to + " with " + shown(r)}
}

// shown names a reply in words, shortened.
func shown(r fwp.Reply) string {
	switch r.Kind {
	case fwp.Integer:
		return fmt.Sprintf("the integer %d", r.Int)
	case fwp.NullBulk:
		return "the null bulk string"
	case fwp.Array:
		return fmt.Sprintf("an array of %d", len(r.Array))
	}
	return "the " + r.Kind.String() + " " + quoted(r.Text)
}

// quoted quotes what came, or its beginning.
func quoted(text []byte) string {
	const most = 60
	if len(text) > most {
		return strconv.Quote(string(text[:most])) + fmt.Sprintf(" (%d bytes in all)", len(text))
	}
	return strconv.Quote(string(text))
}

// unasked is the breach of bytes that came while nothing was asked.
func unasked(in []byte) *BreachError {
	return &BreachError{"", Unasked, "the server sent " + quoted(in) + ", and nothing was asked"}
}

// surplus is the breach of bytes that follow on a whole reply.
func surplus(verb string, in []byte) *BreachError {
	if verb == "" {
		return &BreachError{"", Unasked, "after its greeting the server sent " + quoted(in) + ", and nothing was asked"}
	}
	return &BreachError{verb, ExtraReply, "after the reply to " + verb + " the server sent " + quoted(in)}
}

// NoRESP is the breach of bytes that are no reply, of which Decode has said err.
func NoRESP(verb string, err error) *BreachError {
	breach := BrokenGrammar
	if syntax, ok := errors.AsType[*fwp.SyntaxError](err); ok {
		breach += syntax.Rule.String()
	}
	to := "the greeting"
	if verb != "" {
		to = "the reply to " + verb
	}
	return &BreachError{verb, breach, to + " is no RESP: " + err.Error()}
}

// verbOf is the verb of a kind of command.
func verbOf(op measure.Op) string {
	switch op {
	case measure.Hello:
		return fwp.HELLO
	case measure.Push:
		return fwp.PUSH
	case measure.Fetch, measure.FetchFound, measure.FetchWaited, measure.FetchEmpty:
		return fwp.FETCH
	case measure.Ack:
		return fwp.ACK
	case measure.Fail:
		return fwp.FAIL
	case measure.Beat:
		return fwp.BEAT
	case measure.Info:
		return fwp.INFO
	case measure.End:
		return fwp.END
	}
	return ""
}

// What Windows calls a shortage; other systems have no numbers that high.
const (
	wsaManyFiles   = syscall.Errno(10024)
	wsaInUse       = syscall.Errno(10048) // connect says so when no local port is left
	wsaUnavailable = syscall.Errno(10049)
	wsaReset       = syscall.Errno(10054)
	wsaNoBuffers   = syscall.Errno(10055)
	wsaRefused     = syscall.Errno(10061)
)

// opening sorts the ways in which a connection cannot be opened.
func opening(err error) measure.ErrorKind {
	is := func(numbers ...syscall.Errno) bool {
		for _, number := range numbers {
			if errors.Is(err, number) {
				return true
			}
		}
		return false
	}
	late, ok := errors.AsType[net.Error](err)
	switch {
	case is(syscall.ECONNREFUSED, wsaRefused):
		return measure.Refused
	case is(syscall.EMFILE, syscall.ENFILE, wsaManyFiles):
		return measure.OutOfFiles
	case is(syscall.EADDRNOTAVAIL, wsaInUse, wsaUnavailable):
		return measure.OutOfPorts
	case is(syscall.ENOBUFS, syscall.ENOMEM, wsaNoBuffers):
		return measure.OutOfMemory
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), ok && late.Timeout():
		return measure.Timeout
	case is(syscall.ECONNRESET, wsaReset):
		return measure.Reset
	}
	return measure.Other
}

// ending sorts the ways in which a connection ends that nobody ended; nil is a close
// in good order.
func ending(err error) (measure.ErrorKind, error) {
	if err == nil {
		return measure.Closed, errClosed
	}
	return measure.Reset, err
}
