package scenarios

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// BreachKind is the kind of a breach that can show at any line.
type BreachKind uint8

// The breaches.
const (
	BrokenGrammar   BreachKind = iota + 1 // bytes that are not a message of the protocol; Rule has the reason
	Unasked                               // data that no command asked for
	ExtraReply                            // more than one reply to one command
	ConsumerClosed                        // the server closed a consumer's connection on its own
	StateLost                             // after a rejected command the connection no longer serves as before
	ImpossibleReply                       // a reply that the command (Verb, empty for the greeting) does not have
	NoReply                               // none to a command (Verb), by a server that serves
	NoGreeting                            // none at all, by such a server
)

// Breach is one broken rule of the protocol.
type Breach struct {
	Pos
	Kind     BreachKind
	Rule     string // of a broken grammar: the name of the rule
	Verb     string
	Conn     string
	At       time.Duration // when it was received, since the start of the play
	Expected string
	Got      string
	Assumed  bool // the message was certain nevertheless, and the play went on
}

// BreachOf returns the breach of a message that was read on.
func BreachOf(lapse *session.SyntaxError) Breach {
	b := Breach{Kind: BrokenGrammar, Rule: lapse.Rule, Expected: lapse.Expected, Got: lapse.Got, Assumed: true}
	if verb, ok := strings.CutPrefix(lapse.Rule, session.ImpossibleReply); ok {
		b.Kind, b.Rule, b.Verb = ImpossibleReply, "", verb
	}
	return b
}

// Name returns the name of the breach, by which others find the clause that it breaks: "extra-reply",
// "foreign-reply:push", "grammar:line end".
func (b Breach) Name() string {
	switch b.Kind {
	case BrokenGrammar:
		return "grammar:" + b.Rule
	case ImpossibleReply:
		return session.ImpossibleReply + b.Verb
	}
	return [...]string{
		Unasked: "unasked", ExtraReply: "extra-reply", ConsumerClosed: "consumer-closed", StateLost: "state-lost",
		NoReply: "no-reply", NoGreeting: "no-greeting",
	}[b.Kind]
}
