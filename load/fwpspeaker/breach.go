package fwpspeaker

import (
	"fmt"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/load/protocol"
)

// foreign returns the breach of a reply that the command does not have. The empty verb is the greeting.
func foreign(verb string, r fwp.Reply) *protocol.BreachError {
	to := "the server greeted"
	if verb != "" {
		to = verb + " was answered"
	}
	return &protocol.BreachError{Verb: verb, Breach: protocol.ForeignReply + verb, What: to + " with " + format(r)}
}

// format describes a reply, shortened.
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

// invalid returns the breach of bytes that break a rule of RESP, as err describes it.
func invalid(verb, rule string, err error) *protocol.BreachError {
	to := "the greeting"
	if verb != "" {
		to = "the reply to " + verb
	}
	return &protocol.BreachError{
		Verb: verb, Breach: protocol.BrokenGrammar + rule, What: to + " is invalid RESP: " + err.Error(),
	}
}
