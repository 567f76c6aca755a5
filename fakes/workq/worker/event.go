package worker

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/workq"
)

// Point is a step of the worker at which the hook is called, before the step happens.
type Point uint8

// The points, in the order of a job's life. The hook is called with nothing locked, on the goroutine of the executor.
const (
	// Sending: Bytes are the command that Verb names; of a report ID and Block are in them. Skip: it is not sent, and no
	// reply is awaited.
	Sending Point = iota + 1

	// Replied: Reply is the answer to Verb. Close: the connection is ended.
	Replied

	// Delivered: a job was received: ID, Name, TTR and its payload in Block. Skip: it is neither run nor reported.
	Delivered

	// Ran: the job is to be reported by Verb, with Block as its result. Skip: it is not. Repeats: so many times more.
	Ran
)

// Event describes one step. A hook changes the step by changing the fields that are named at the point.
type Event struct {
	Point        Point
	Verb         string
	Bytes        []byte
	Chunk        int // Bytes are written in pieces of so many; 0: in one
	ExtraReplies int // so many more replies are read, since Bytes have more commands
	Reply        workq.Reply

	ID    string
	Name  string
	TTR   time.Duration
	Block []byte

	AtOnce  bool // at Sending: what one read brings is taken for the whole reply
	Repeats int
	Skip    bool
	Close   bool
	Exit    bool // the worker ends
	Hang    bool // the executor does nothing more
}
