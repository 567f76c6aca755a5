package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// Point is a step of the server at which the hook is called, before the step happens.
type Point uint8

// The points, in the order of a job's life. At those marked "store" the hook is called
// while the store is locked: it must return at once and must not call the server. At the
// others it runs on the goroutine of the connection, with nothing locked, and may block
// if it watches [Conn.Done].
//
// Skip suppresses the step.
const (
	// Accepted: a connection was accepted. Skip: it is closed without a greeting.
	Accepted Point = iota + 1

	// Greeting: Reply is the HI. Skip: it is not sent.
	Greeting

	// Received: Bytes is the result of one read from the network.
	Received

	// LineRead: Line was received, without its end; Err if it is not well-formed.
	LineRead

	// Unfinished: the client sends no more; Line, which may be empty, is the begin of one
	// without an end. Skip, which is true: it is no command.
	Unfinished

	// Parsed: Command is split at its first space.
	Parsed

	// Checked: Err is why the command is refused, or nil; Object, Jobs, Queues, Block and
	// Wait are its arguments. Skip, which is true if there is an Err: it has no effect.
	Checked

	// Defaulted: Object is a job that was pushed, its defaults filled in. Skip: it is
	// lost.
	Defaulted

	// Scheduled (store): a job enters Set ("scheduled" or "retries") until Until. Skip: it
	// is lost.
	Scheduled

	// Due (store): a job leaves Set; a later Until puts it back. Skip: it is lost.
	Due

	// Enqueued (store): a job enters its queue, at its end or at its Front. Skip: it is
	// lost.
	Enqueued

	// Reserved (store): a job is taken from its queue and held until Until. Skip: it is
	// not held.
	Reserved

	// Delivered: Object is the job that a consumer is about to get. Skip: it gets null,
	// and the job stays held. Again: its queue keeps it too.
	Delivered

	// Disconnected: a consumer ended its connection while its FETCH waited. Skip: the
	// server does not notice it.
	Disconnected

	// GivenBack (store): a job that could not be delivered goes back to the head of its
	// queue. Skip: it stays held.
	GivenBack

	// Acked (store): a job is done. Skip: it stays held. Again: it goes back to its queue.
	Acked

	// Failed (store): a job failed and goes to Set ("retries", "dead" or "", nowhere).
	// Skip: it stays held.
	Failed

	// Expired (store): a reservation ran out, the rest as with Failed. Skip: the job is
	// held for ever.
	Expired

	// Notified: State is the reply to a BEAT. Skip: the reply is OK.
	Notified

	// Flushed (store): everything is cleared. Skip: it is not.
	Flushed

	// Restarted (store): the server was restarted and has no connections; Reset after a
	// Kill. Skip: everything is lost.
	Restarted

	// Ran: Reply is the answer, Err why it is an error, Close whether the connection ends
	// with it.
	Ran

	// Writing: Bytes is what is written, in pieces of Chunk bytes; then Close; then, if
	// the client sends nothing, Later.
	Writing
)

// Event describes one step. A hook changes the step by changing the fields that are
// named at the point; changes of other fields have no effect. Fields that were set at an
// earlier point of the same command keep their value.
//
// An event and what it refers to belong to the hook until it returns. Line and
// Command.Args point into a buffer that is overwritten when a FETCH has waited.
type Event struct {
	Point   Point
	Conn    *Conn // nil for what the clock causes: Due, Expired and what follows from them
	Line    []byte
	Command fwp.Command
	Object  *Object // the JSON argument of the command, or the job; nil if there is none
	Err     error   // a *[Refusal]
	Skip    bool
	Again   bool
	Front   bool

	Jobs   []*Object     // PUSHB: the jobs, which are checked later
	Queues []string      // FETCH: the queues to take a job from, in this order; QUEUE: what it is about
	Block  []string      // FETCH: the queues that it waits on
	Wait   time.Duration // FETCH: for how long

	Set   string    // "scheduled", "retries", "dead"
	Until time.Time // when a job is due, or its reservation ends
	State string    // "quiet", "terminate"

	Reply fwp.Reply // a zero Kind means none
	Bytes []byte
	Delay time.Duration // a pause after the hook has returned; not at the points marked "store"
	Chunk int           // bytes per write; zero means all at once
	Pause time.Duration // between two chunks
	Close bool
	Reset bool // with Close: the connection is reset instead of closed
	Later *Later

	then []func() // see [Event.Then]
}

// Later is a write or a close without a command. It is cancelled if the client sends a
// line before.
type Later struct {
	After time.Duration
	Bytes []byte
	Close bool
}

// Conn is a connection as a hook sees it. Except for ID and Done, the fields may be
// changed at all points that are not marked "store".
type Conn struct {
	ID         int64           // 1 is the first that the server accepted
	Done       <-chan struct{} // closed when the server ends the connection
	Salt       string          // a pwdhash is checked with it and Iterations
	Iterations int             // zero on an open server
	Identified bool            // a HELLO was accepted
	Worker     string          // the wid of that HELLO, "" for a producer
	Commands   int             // lines received so far

	server *Server
}

// Server returns the server that accepted the connection.
func (c *Conn) Server() *Server { return c.server }

// IsProducer reports whether a HELLO without a wid was accepted.
func (c *Conn) IsProducer() bool { return c.Identified && c.Worker == "" }

// at calls the hook: the one place where faults and variations act.
func (s *Server) at(p Point, e *Event) {
	if s.cfg.Hook == nil {
		return
	}
	e.Point = p
	s.cfg.Hook(e)
	for len(e.then) > 0 {
		f := e.then[0]
		e.then = e.then[1:]
		f()
	}
}

// ask calls the hook at a point that concerns a job, and returns Skip. The hook gets a
// copy, because jobs in the store are replaced, not changed.
func (s *Server) ask(p Point, e *Event, j *job) (skip bool) {
	if s.cfg.Hook == nil {
		return false
	}
	e.Skip, e.Again, e.Front, e.Object = false, false, false, nil
	if j != nil {
		e.Object = j.doc()
	}
	s.at(p, e)
	return e.Skip
}

// Fault is a way in which a server breaks the specification. Its hook is the [Config.Hook] of a server. The catalogue
// is in package faults.
type Fault = catalogue.Fault[Event]

// Variation is a way in which a server differs from others and conforms. The catalogue is in package variations.
type Variation = catalogue.Variation[Config]
