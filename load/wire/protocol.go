// Package wire is the seam between a load and the protocol of the server. Package load/client decides when connections
// push, take and finish jobs; a [Speaker] knows the bytes for that and for the replies. One is in protocols/fwp/wire.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
)

// Protocol is what a load needs of one protocol. It is safe for concurrent use.
type Protocol interface {
	// Speaker returns the client's side of a fresh connection: of a worker with this id, or, if that is empty, of a
	// client that only pushes.
	Speaker(worker string) Speaker

	// Introduce checks, on a connection of its own, that the server speaks this protocol and accepts the client, and
	// returns what it reports about itself. The error is the reason why no load can be put on it.
	Introduce(ctx context.Context, dial Dial) (Introduction, error)
}

// Dial opens a connection to the server.
type Dial = func(context.Context) (net.Conn, error)

// Introduction is what a server reports about itself before the load, as JSON; nil where it reports nothing.
type Introduction struct {
	Greeting, Info json.RawMessage
	Breach         *BreachError // of the last reply; nil if there was none
}

// Speaker is the client's side of one connection. It is made for each connection anew, and
// sees what is sent and what comes in their order, one command at a time. It does no input
// or output, reads no clock, and keeps none of the memory that it is given.
//
// The methods that append a command return out with its bytes. They and Hear are called for
// every job, and allocate nothing as long as all goes well.
type Speaker interface {
	// Open appends what the client sends before its first command. It is called when
	// the connection is there, and again after every Greeting. If it appends nothing the
	// server must send first; otherwise OK opens the connection. An error is why the client
	// cannot continue.
	Open(out []byte) ([]byte, error)
	// Push appends the command that enqueues a job.
	Push(out []byte, job *plan.Push) []byte
	// Fetch appends the command that asks for a job of some queues.
	Fetch(out []byte, from *Queues) []byte
	// Ack appends the report that the work on a job is done, Fail that it failed. The jid
	// is as the job's body has it between its quotes.
	Ack(out, jid []byte) []byte
	Fail(out, jid []byte) []byte
	// Beat appends the heartbeat of a worker in that state, Info the question how the server
	// is, and Bye the command that ends the connection in order.
	Beat(out []byte, state State) []byte
	Info(out []byte) []byte
	Bye(out []byte) []byte

	// Hear reads the first message of in, which takes n bytes, and writes what it means to e,
	// which is empty. If the server may send messages at any time (Times), it is called while no command is in flight,
	// too. The error is [ErrShort] if in is only the beginning of a message, [ErrTooLong] if it
	// is too much of one, and a *[BreachError] if it cannot be understood, or does not belong to the command in flight:
	// then n is 0.
	Hear(in []byte, e *Event) (n int, err error)

	// Verb returns what the protocol calls a command, as in "push": empty if it has no such
	// command. It depends on nothing else.
	Verb(op measure.Op) string
	// Times returns the times that the protocol sets. They depend on nothing else.
	Times() Times
}

// Subscriber is a [Speaker] whose workers name their queues when they connect, and not each time they take a job.
type Subscriber interface {
	// Subscribe is called before the first Open, for a worker that takes jobs.
	Subscribe(to *Queues)
}

// InfoParser is a [Speaker] whose reply to Info tells how many jobs the server has.
type InfoParser interface {
	ParseInfo(info []byte) ServerJobs
}

// ServerJobs is how many jobs a server has, by its reply to Info.
type ServerJobs struct {
	// Queues has how many jobs wait in each queue; nil if the reply does not tell.
	Queues map[string]int64
	// IsComplete is set if the reply tells the numbers of all jobs. Alive are those that wait in queues, for their time or
	// for a retry, or are held by workers; Dead are those that are not tried again.
	IsComplete  bool
	Alive, Dead int64
}

// Batcher is a [Speaker] that has a command for several jobs.
type Batcher interface {
	// PushAll appends the command that enqueues some jobs. Those that the server refuses are in Event.Refusals.
	PushAll(out []byte, jobs []plan.Push) []byte
}

// Queues are the queues that a worker names to get a job: at least one, in this order.
type Queues struct {
	Names []string
	// Line is the speaker's, to keep what it sends for these queues. Speakers of one loop
	// share it.
	Line []byte
}

// Times are what a protocol asks of its clients.
type Times struct {
	// Beat is the time between two heartbeats of a worker, 0 if there are none; BeatApart is
	// the least time between two if one is late.
	Beat, BeatApart time.Duration
	// Poll is how long a worker waits after Empty; 0 if it is the server that waits for jobs. Then Wait is the longest
	// that it does; 0 if there is no limit.
	Poll, Wait time.Duration
	// WaitsOnFirst is set if a worker that finds no job waits for one of the first of its queues only.
	WaitsOnFirst bool
	// A worker that is ordered to terminate reports as failed after FailAfter what is not done,
	// and has ended its connections after EndAfter.
	FailAfter, EndAfter time.Duration
	// KeepsJobs is set if a worker keeps its jobs when its connection ends: another may get them only when their
	// reservation is over.
	KeepsJobs bool
	// SendsNotices is set if the server sends messages that are the reply to no command: Hear gets them at any time, and
	// reports them as Notice.
	SendsNotices bool
}

// State is what a server may order a worker to be.
type State uint8

// The states. Only a later one than the present may be ordered.
const (
	Working     State = iota
	Quiet             // it takes no more jobs
	Terminating       // it finishes its jobs and ends
)

// Kind is the meaning of a message.
type Kind uint8

// The kinds of events. All but Greeting and Notice are the reply to the command in flight.
const (
	OK       Kind = iota // it was carried out
	Greeting             // the server has greeted: call Open again
	Job                  // a job arrives
	Empty                // there is no job now
	Order                // the worker is to be in another state
	Refusal              // it was answered with an error; the connection is in step
	Notice               // the message answers no command, and changes nothing for the client
)

// Event is what a message means.
type Event struct {
	Kind  Kind
	State State  // Order: the state to enter
	Body  []byte // Job: as pushed, for [plan.Jobs.Read]; reply to Info: for an InfoParser; valid until the next Hear
	Err   error  // Refusal: a *RefusedError
	// Refusals are the jobs of a PushAll that were refused, with the reasons, by their jids.
	Refusals map[string]string
	// Answer is what the client sends at once, mostly nothing; valid until the next Hear.
	Answer []byte
	// Work, with Greeting, takes its time, and is to be done aside before Open is called
	// again; nil if there is none. It may still run when the connection is gone.
	Work func()
}

// ErrShort reports that bytes are only the beginning of a message.
var ErrShort = errors.New("the message is incomplete")

// ErrTooLong reports a message that is longer than a load reads. No protocol is broken by it.
var ErrTooLong = errors.New("the server sent a message that is longer than fwpbench reads")

// RefusedError is a command that the server answered with an error. The connection is in step.
type RefusedError struct {
	Text string // of the server
}

// Error quotes the server's text.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the server answered with the error %q", e.Text)
}

// BreachError is a breach of the protocol that a connection met with.
type BreachError struct {
	// Verb is the command that was in flight; empty for the greeting, and where nothing
	// was asked.
	Verb string
	// Breach names what was broken: one of the constants of this package, with what follows
	// it. The clauses of a specification are looked up by it.
	Breach string
	// Description describes the bytes, and what was due instead.
	Description string
}

// Names of breaches. The verb, or the rule of the grammar, follows the colon; the greeting
// has no verb.
const (
	UnaskedBytes    = "unasked"     // bytes while no reply is due
	ExtraReply      = "extra-reply" // bytes after a whole reply
	NoReply         = "no-reply"
	OverdueFetch    = "fetch-overdue"   // there is no job, and that was said too late
	WorkerClosed    = "consumer-closed" // a worker's connection, which gave no cause
	ImpossibleReply = "foreign-reply:"
	BrokenGrammar   = "grammar:"
)

// Error returns Description.
func (e *BreachError) Error() string { return e.Description }

// Quote quotes bytes of a server for such a text, or their beginning.
func Quote(all []byte) string {
	const limit = 60
	if len(all) > limit {
		return strconv.Quote(string(all[:limit])) + " " + text.Size(all)
	}
	return strconv.Quote(string(all))
}
