package scenarios

import (
	"net"

	"github.com/fwpsuite/fwp/internal/session"
)

// Dialect is the protocol of a script: what its lines mean, how a client
// introduces itself, and what the engine may ask by itself. It is safe for
// concurrent use.
type Dialect interface {
	session.Codec

	// Grammar returns what scripts may write; it never changes.
	Grammar() *Grammar

	// Hello returns the line with which a client in a role introduces itself, as a
	// script would write it: words that may contain names, and the fields of the object
	// behind them; no words if nothing has to be sent. It returns false if the first
	// message of the server is not a greeting; then it returns a line that any server
	// may answer.
	Hello(role Role, s session.State) (h Hello, ok bool)

	// Probe returns a command that every introduced client in the role is served
	// and that changes nothing. Where [Timing].KeepAlive is set, it also
	// keeps a consumer's connection from expiring.
	Probe(role Role, s session.State) string

	// IsImpossible reports whether a message is not an answer that the command can have.
	// command is as it was sent, empty for the greeting.
	IsImpossible(command []byte, m session.Message) bool

	// Check returns the rule that a client in a role breaks with a line, empty if it
	// breaks none, and advice about what is allowed.
	Check(role Role, s session.State, line []byte) (bug string, advice []Advice)

	// Sample returns the state of a conversation with a server that asks for a
	// password, before or after the client has introduced itself.
	Sample(introduced bool) session.State

	// NewLedger returns the ledger of a new play.
	NewLedger() Ledger
}

// Mender is a Dialect whose answers say what they are about.
type Mender interface {
	// Mend returns a message as it would be if it were about what the command asks about, and what it is about; "" if
	// nothing is wrong with that.
	Mend(command []byte, m session.Message) (mended session.Message, was string)
}

// Sweeper is a Dialect whose consumers can ask many queues for a job with one command, which names them in the order in
// which the server looks into them.
type Sweeper interface {
	// Mark returns the line that puts a job into a queue.
	Mark(jid, queue string) string
	// Sweep takes one job from queues, ends it if it is one's own, and gives it back otherwise. It returns its jid, "" if
	// nothing came. do is that of [Ledger].Cleanup; ok: another line is worth trying.
	Sweep(queues []string, isOwn func(jid string) bool, do func(line string) (session.Message, bool)) (jid string, ok bool)
}

// Hello is how a client introduces itself.
type Hello struct {
	Words  string
	Fields []Field
	Locked bool // the server asks for a password
}

// Advice is about a line that breaks no rule.
type Advice struct{ Message, Help string }

// Ledger lists the jobs that a play has put on the server and that, by the answers,
// are still there, so that they can be removed. It judges nothing: that is the law's. It is safe for concurrent use.
type Ledger interface {
	// Answered records the answer to a command, which is given as it was sent.
	Answered(command []byte, m session.Message)

	// MayEnd reports whether the server may end the connection of a consumer in a state, because it has ordered its
	// client, on this connection or another one, to finish its work.
	MayEnd(s session.State) bool

	// Orders reports whether a reply orders a client to finish its work, which a server may do at any time.
	Orders(m session.Message) bool

	// Leftover names the jobs that are still there.
	Leftover() []string

	// Queues lists those that the play has put jobs into and that a [Sweeper] can name, in a fixed order.
	Queues() []string

	// Owns reports whether the play has put a job on the server, whatever became of it.
	Owns(jid string) bool

	// Removable reports whether Cleanup can remove any of them.
	Removable() bool

	// Cleanup removes them with commands of a consumer of its own. It keeps
	// no job that the play did not put there: it gives such a job back. do sends a line,
	// records its answer by Answered and returns it; false if no other line is worth
	// trying.
	Cleanup(do func(line string) (session.Message, bool))
}

// NoLedger is the [Ledger] of a protocol whose jobs cannot be removed and whose servers end no connections. A ledger
// embeds it for what it does not have.
type NoLedger struct{}

// Answered does nothing.
func (NoLedger) Answered([]byte, session.Message) {}

// MayEnd returns false.
func (NoLedger) MayEnd(session.State) bool { return false }

// Orders returns false.
func (NoLedger) Orders(session.Message) bool { return false }

// Leftover returns nothing.
func (NoLedger) Leftover() []string { return nil }

// Queues returns nothing.
func (NoLedger) Queues() []string { return nil }

// Owns returns false.
func (NoLedger) Owns(string) bool { return false }

// Removable returns false.
func (NoLedger) Removable() bool { return false }

// Cleanup does nothing.
func (NoLedger) Cleanup(func(line string) (session.Message, bool)) {}

// Opener is a [Dialect] that does something with a connection before scripts use it.
type Opener interface {
	// Open takes over a new connection of a client in a role, with the fields of its connect line as JSON. It may send
	// what no script writes, and returns the connection and the protocol for the conversation on it.
	Open(nc net.Conn, role Role, fields []byte) (net.Conn, session.Codec, error)

	// Backend reports whether a connection is one to the port of workers, where they have one of their own.
	Backend(role Role, fields []byte) bool
}
