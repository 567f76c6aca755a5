package workq

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/workq"
)

// Point is a step of the server at which the hook is called, before the step happens.
type Point uint8

// The points. At those marked "locked" the hook must return at once and must not call the server; at the others it runs
// on the goroutine of a connection. Skip suppresses the step.
const (
	// Accepted: a connection was accepted. Skip: it is closed.
	Accepted Point = iota + 1

	// Unfinished: Bytes are a command in which the connection ends. It runs on a goroutine of its own.
	Unfinished

	// Parsed: Command was read; Err is why it is refused, or nil. Skip: it has no effect, and Reply is its answer.
	Parsed

	// Adding: Job is about to be put into its queue or into the schedule, and may be changed. Skip: it is lost.
	Adding

	// Choosing: Names are those of a lease, in the order in which the queues are looked at.
	Choosing

	// Leased (locked): Job is given to a worker, which holds it until Until. Skip: it is not held.
	Leased

	// Expired (locked): the lease of Job is over. Skip: nothing happens then.
	Expired

	// ComingDue (locked): Job leaves the schedule; a later Until puts it back. Skip: it is lost.
	ComingDue

	// Failed: a worker failed Job for the Fails-th time; Retry says whether it is tried again.
	Failed

	// Finished: Job has ended, with Success and Result. Skip: its command has no effect.
	Finished

	// Evicted: the time to live of Job is over. Skip: it stays.
	Evicted

	// Inspected: Records are what inspect shows.
	Inspected

	// Ran: Reply is the answer to Command. Skip: it is not sent.
	Ran

	// Writing: Bytes are the answer to Command. Skip: they are not sent.
	Writing
)

// Event is what the hook sees and may change: the fields that are named at the point.
type Event struct {
	Point   Point
	Conn    int // the number of the connection, from 1; 0 if there is none
	Count   int // the number of the command on it, from 1
	Command workq.Command
	Err     error
	Job     *Job
	Names   []string
	Until   time.Time
	Fails   uint64
	Retry   bool
	Success bool
	Result  []byte
	Records []workq.Record
	Reply   workq.Reply
	Bytes   []byte
	Chunk   int           // the bytes are sent in pieces of so many; 0: in one
	Pause   time.Duration // between two of them
	Skip    bool
	Close   bool // the connection is closed behind the answer; at Ran and Writing
}

// ask calls the hook, and returns the event as it has changed it.
func (s *Server) ask(e Event) *Event {
	if s.config.Hook != nil {
		s.config.Hook(&e)
	}
	return &e
}
