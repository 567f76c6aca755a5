package worker

import (
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Point is a step of the worker at which the hook is called, before the step happens.
type Point uint8

// The points, in the order of a worker's life. The hook is called with nothing locked, on the goroutine of the step.
const (
	// Dialed: a connection was opened. Skip: HELLO is sent without waiting for HI.
	Dialed Point = iota + 1

	// Introducing: Fields are those of the HELLO, Hi the greeting, and Reply as it was received. Skip: HELLO is not sent.
	// Close: the worker takes the connection for broken.
	Introducing

	// Sending: Line is written, with its CRLF. Skip: it is not, and no reply is awaited. Delay: before it.
	// ExtraLines: more lines, written with it and answered after it.
	Sending

	// Replied: Reply is the answer to Verb. Close: the worker takes the connection for broken. Exit: the worker
	// ends. Repeat: the command is sent again.
	Replied

	// Fetching: Queues are those of the next FETCH. Skip: it is not sent, and the next one is considered after Delay. Skip
	// without Delay: the worker is quiet. Close: its connection is ended, too.
	Fetching

	// Delivered: Job was received. Skip: it is neither run nor reported. Repeat: it is run and reported twice.
	Delivered

	// Ran: Job has the Outcome. Skip: it is not reported. Repeat: it is reported twice. Fields are those of the report.
	Ran

	// Beating: Fields are those of the next BEAT, Interval the time until the one after it. Skip: it is not sent.
	Beating

	// Ordered: the worker is to enter State, by a BEAT if Signal is empty, else by that signal. Skip: it stays as it is.
	// State may be "".
	Ordered

	// ConnectionLost: a connection was lost or, with Err, could not be opened. Delay: until the next dial. Skip: no other
	// one is opened for its executor. Repeat: reports without a reply are not repeated; a producer pushes the job again.
	ConnectionLost

	// Quitting: the grace of a termination begins; Interval is how long it is. Skip: what runs is not reported as failed.
	Quitting

	// Ending: END is about to be sent on an orderly end of a connection. Skip: it is closed without END.
	Ending

	// Exiting: everything has ended; Code is the exit code. Delay: before the exit.
	Exiting

	// Pushing: a producer is about to push the work unit that has these Fields; Line is the job as it was handed over.
	// Skip: it is not pushed. Repeat: it is pushed twice.
	Pushing

	// Pushed: the caller is told State, "pushed" or "refused"; Reply is that of the PUSH, of no kind if none was received.
	Pushed
)

// Event describes one step. A hook changes the step by changing the fields that are named at the point.
type Event struct {
	Point      Point
	Worker     *Worker
	Conn       int  // the number of the connection, from 1
	IsBeatConn bool // it is the one for BEAT

	Hi         fwp.Hi
	Fields     Fields
	Verb       string
	Line       []byte
	ExtraLines []byte
	Reply      fwp.Reply

	Queues  []string
	Job     *Job
	Outcome Outcome

	State  string // "quiet", "terminate"
	Signal string // "TERM", "INT", "TSTP"

	Interval time.Duration
	Delay    time.Duration
	Skip     bool
	Repeat   bool
	Close    bool
	Exit     bool
	Code     int
	Err      error
	IsOwnJID bool // the jid is the producer's own

	jid  string // as the caller of a producer knows it
	conn *conn
}

// Fields are the members of a JSON object by name. They are written in the order of their names.
type Fields map[string]any

// Outcome is how a job ended.
type Outcome uint8

// The outcomes.
const (
	Succeeded Outcome = iota
	Failed
	Abandoned // it still ran when the grace of a termination was over
)

// at calls the hook.
func (w *Worker) at(p Point, e *Event) {
	e.Point, e.Worker = p, w
	if w.cfg.Hook != nil {
		w.cfg.Hook(e)
	}
}
