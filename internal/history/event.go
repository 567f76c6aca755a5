package history

import (
	"fmt"
	"time"
)

// Op is what was asked of the server.
type Op uint8

// The commands that move jobs, and what an operator does to the server.
const (
	Push    Op = iota + 1
	Fetch      // JID is the job that it brought
	Ack        //
	Fail       //
	Flush      //
	Restart    // the server was stopped in good order and started again
	Kill       // the server was killed and started again
)

var opNames = [...]string{
	Push: "PUSH", Fetch: "FETCH", Ack: "ACK", Fail: "FAIL", Flush: "FLUSH",
	Restart: "restart", Kill: "kill",
}

// String is the verb of the command, "restart" or "kill".
func (o Op) String() string {
	if int(o) < len(opNames) && opNames[o] != "" {
		return opNames[o]
	}
	return fmt.Sprintf("op %d", uint8(o))
}

// Outcome is what came back.
type Outcome uint8

// The zero outcome is that nothing came.
const (
	Open    Outcome = iota // no reply, for ever: it may have had its effect, at any time, or none
	OK                     // done; of a FETCH: a job
	Empty                  // of a FETCH: no job
	Refused                // an error
)

var outcomeNames = [...]string{Open: "open", OK: "ok", Empty: "empty", Refused: "refused"}

// String is the outcome in one word.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// Event is one call and its reply. Times count from the beginning of the history.
type Event struct {
	// Client is the connection that the command was sent on.
	Client int `json:"client"`
	// Worker is the wid of the connection, empty if it did not greet as a consumer.
	// Connections with the same Worker hold jobs together. That a FETCH without a
	// Worker found nothing proves nothing. (FWP-FETCH-12)
	Worker string `json:"worker,omitempty"`
	// Quiet says that the worker had been told to be quiet or to terminate, so that its
	// FETCH may be answered with anything. (AMB-32)
	Quiet bool `json:"quiet,omitempty"`

	Op      Op      `json:"op"`
	Outcome Outcome `json:"outcome"`

	// JID is the job that is pushed, acknowledged or failed, or that a FETCH brought.
	JID string `json:"jid,omitempty"`
	// Queue is where a job is pushed to, "" being default. With a job that FETCH brought
	// it is the queue that the work unit names; "" is then not compared.
	Queue string `json:"queue,omitempty"`
	// Queues are those that a FETCH names, in order; none stands for default.
	Queues []string `json:"queues,omitempty"`

	// Retry and ReserveFor are fields of a pushed job, as in [fwp.Job]; nil is omitted.
	// ReserveFor counts seconds, and what is below 60 counts as 60. (AMB-17)
	Retry      *int64 `json:"retry,omitempty"`
	ReserveFor *int64 `json:"reserve_for,omitempty"`
	// At is the at of a pushed job on the clock of the history, 0 if it has none. How far
	// that may be off the clock of the server is for Limits.Early to say. (AMB-36)
	At time.Duration `json:"at,omitempty"`
	// Body stands for everything else that must come back as it was pushed, in a form
	// in which equal bodies are equal strings, such as a digest of jobtype and args. It is
	// compared where both the PUSH and the FETCH have one.
	Body string `json:"body,omitempty"`

	// Call is when the first byte was about to be sent, Return when the reply was there.
	// Return is negative, and does not count, with Open.
	Call   time.Duration `json:"call"`
	Return time.Duration `json:"return"`
}

// defaultQueue is where a job goes that names no queue, and where a FETCH looks that
// names none. (FWP-WU-04, FWP-FETCH-08)
const defaultQueue = "default"

// queue is where the job of a PUSH goes.
func (e *Event) queue() string {
	if e.Queue == "" {
		return defaultQueue
	}
	return e.Queue
}

var bareQueues = [...]string{defaultQueue}

// asked are the queues that a FETCH looks into.
func (e *Event) asked() []string {
	if len(e.Queues) == 0 {
		return bareQueues[:]
	}
	return e.Queues
}

// closed says whether a reply came.
func (e *Event) closed() bool { return e.Outcome != Open && e.Return >= e.Call }

// end is when the event was over at the latest.
func (e *Event) end() time.Duration {
	if e.closed() {
		return e.Return
	}
	return forever
}

// opened is the event without its reply.
func (e Event) opened() Event {
	e.Outcome, e.Return = Open, -1
	if e.Op == Fetch {
		e.JID, e.Queue, e.Body = "", "", ""
	}
	return e
}

// forever is later than everything.
const forever = time.Duration(1<<63 - 1)

// delivery says whether a FETCH brought a job.
func (e *Event) delivery() bool { return e.Op == Fetch && e.Outcome == OK && e.JID != "" && e.closed() }

// foundNothing says whether a FETCH proves that nothing was there to be had.
func (e *Event) foundNothing() bool {
	return e.Op == Fetch && e.Outcome == Empty && e.closed() && e.Worker != "" && !e.Quiet
}

// mayHaveTaken says whether a FETCH may have taken a job that nobody saw.
func (e *Event) mayHaveTaken() bool { return e.Op == Fetch && !e.closed() }
