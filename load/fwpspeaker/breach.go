package fwpspeaker

import (
	"errors"
	"fmt"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/load/protocol"
)

// WrongReply is the breach of a reply that the command does not have; the empty verb
// is the greeting.
func WrongReply(verb string, r fwp.Reply) *protocol.BreachError {
	to := "the server greeted"
	if verb != "" {
		to = verb + " was answered"
	}
	return &protocol.BreachError{Verb: verb, Breach: protocol.ForeignReply + verb, What: to + " with " + format(r)}
}

// format names a reply in words, shortened.
func format(r fwp.Reply) string {
	switch r.Kind {
	case fwp.Integer:
		return fmt.Sprintf("the integer %d", r.Int)
	case fwp.NullBulk:
		return "the null bulk string"
	case fwp.Array:
		return fmt.Sprintf("an array of %d", len(r.Array))
	}
	return "the " + r.Kind.String() + " " + protocol.Quote(r.Text)
}

// NoRESP is the breach of bytes that are no reply, of which Decode has said err.
func NoRESP(verb string, err error) *protocol.BreachError {
	breach := protocol.BrokenGrammar
	if syntax, ok := errors.AsType[*fwp.SyntaxError](err); ok {
		breach += syntax.Rule.String()
	}
	to := "the greeting"
	if verb != "" {
		to = "the reply to " + verb
	}
	return &protocol.BreachError{Verb: verb, Breach: breach, What: to + " is no RESP: " + err.Error()}
}
