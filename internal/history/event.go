package history

import (
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Op is a command, or an action of an operator.
type Op uint8

// The commands that move jobs, and what an operator does to the server.
const (
	Push    Op = iota + 1
	Fetch      // JID is the delivered job
	Ack        //
	Fail       //
	Flush      //
	Restart    // the server was stopped orderly and started again
	Kill       // the server was killed and started again
	Disrupt    // the server stood still, or its network or its disk failed; no finding depends on it
)

var opNames = text.NewEnum("operation", map[Op]string{
	Push: "PUSH", Fetch: "FETCH", Ack: "ACK", Fail: "FAIL", Flush: "FLUSH", Restart: "restart", Kill: "kill",
	Disrupt: "disruption",
})

// IsOperatorAction reports whether it is an action of an operator.
func (o Op) IsOperatorAction() bool { return o == Restart || o == Kill || o == Disrupt }

// String returns the verb of the command, or the word of the action.
func (o Op) String() string { return opNames.String(o) }

// MarshalText returns the name of String. An unknown operation is an error.
func (o Op) MarshalText() ([]byte, error) { return opNames.MarshalText(o) }

// UnmarshalText reads what MarshalText writes.
func (o *Op) UnmarshalText(name []byte) error { return opNames.UnmarshalText(name, o) }

// Outcome is the kind of a reply.
type Outcome uint8

// The zero outcome is that there is no reply.
const (
	NoReply Outcome = iota // no reply, for ever: it may have had its effect at any time, or none
	OK                     // it was done; of a FETCH: a job
	Empty                  // of a FETCH: no job
	Refused                // an error
)

var outcomeNames = text.NewEnum("outcome", map[Outcome]string{
	NoReply: "open", OK: "ok", Empty: "empty", Refused: "refused",
})

// String returns the outcome in one word.
func (o Outcome) String() string { return outcomeNames.String(o) }

// MarshalText returns the word of String. An unknown outcome is an error.
func (o Outcome) MarshalText() ([]byte, error) { return outcomeNames.MarshalText(o) }

// UnmarshalText reads what MarshalText writes.
func (o *Outcome) UnmarshalText(word []byte) error { return outcomeNames.UnmarshalText(word, o) }

// Event is one call and its reply. Times count from the beginning of the history.
type Event struct {
	// Client is the connection that the command was sent on.
	Client int `json:"client"`
	// Worker is the wid of the connection, empty if it did not greet as a consumer.
	// Connections with the same Worker hold jobs together. An empty reply to a FETCH
	// without a Worker proves nothing. (FWP-FETCH-12)
	Worker string `json:"worker,omitempty"`
	// Quiet means that the worker was asked to be quiet or to terminate, so that its
	// FETCH may have any reply. (AMB-32)
	Quiet bool `json:"quiet,omitempty"`

	Op      Op      `json:"op"`
	Outcome Outcome `json:"outcome"`

	// JID is the job that is pushed, acknowledged or failed, or that a FETCH delivered.
	JID string `json:"jid,omitempty"`
	// Queue is where a job is pushed to, "" being default. Of a delivered job it is the
	// queue that the work unit names; "" is then not compared.
	Queue string `json:"queue,omitempty"`
	// Queues are those that a FETCH names, in order; none stands for default.
	Queues []string `json:"queues,omitempty"`

	// Retry and ReserveFor are fields of a pushed job, as in [fwp.Job]; nil is omitted.
	// ReserveFor counts seconds, and what is below 60 counts as 60. (AMB-17)
	Retry      *int64 `json:"retry,omitempty"`
	ReserveFor *int64 `json:"reserve_for,omitempty"`
	// At is the at of a pushed job on the clock of the history, 0 if it has none. How far
	// that may be off the clock of the server is Limits.MaxLead. (AMB-36)
	At time.Duration `json:"at,omitempty"`
	// Body represents everything else that must be delivered as it was pushed; equal
	// bodies are equal strings, such as a digest of jobtype and args. It is compared
	// where both the PUSH and the FETCH have one.
	Body string `json:"body,omitempty"`

	// Action describes an action of an operator more closely: "partition for 5s".
	Action string `json:"action,omitempty"`

	// Call is the time before the first byte was sent, Return the time of the reply.
	// Return is negative, and does not count, with NoReply.
	Call   time.Duration `json:"call"`
	Return time.Duration `json:"return"`
}

// defaultQueue is the queue of a job that names none, and of a FETCH that names none. (FWP-WU-04, FWP-FETCH-08)
const defaultQueue = "default"

// queue returns the queue of a pushed job.
func (e *Event) queue() string {
	if e.Queue == "" {
		return defaultQueue
	}
	return e.Queue
}

var bareQueues = [...]string{defaultQueue}

// queueNames returns the queues that a FETCH names.
func (e *Event) queueNames() []string {
	if len(e.Queues) == 0 {
		return bareQueues[:]
	}
	return e.Queues
}

// hasReply reports whether there is a reply.
func (e *Event) hasReply() bool { return e.Outcome != NoReply && e.Return >= e.Call }

// end returns when the event was over at the latest.
func (e *Event) end() time.Duration {
	if e.hasReply() {
		return e.Return
	}
	return forever
}

// withoutReply returns the event without its reply.
func (e Event) withoutReply() Event {
	e.Outcome, e.Return = NoReply, -1
	if e.Op == Fetch {
		e.JID, e.Queue, e.Body = "", "", ""
	}
	return e
}

// forever is later than everything.
const forever = time.Duration(1<<63 - 1)

// isDelivery reports whether a FETCH delivered a job.
func (e *Event) isDelivery() bool {
	return e.Op == Fetch && e.Outcome == OK && e.JID != "" && e.hasReply()
}

// provesEmpty reports whether a FETCH proves that its queues were empty.
func (e *Event) provesEmpty() bool {
	return e.Op == Fetch && e.Outcome == Empty && e.hasReply() && e.Worker != "" && !e.Quiet
}

// isOpenFetch reports whether a FETCH may have taken a job without a reply.
func (e *Event) isOpenFetch() bool { return e.Op == Fetch && !e.hasReply() }
