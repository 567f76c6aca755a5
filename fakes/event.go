package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Point is a step of the server. The hook is called before the step happens.
type Point uint8

// The points, in the order of a job's life. At points marked "store" the store is locked while the hook runs: the hook
// must return at once and must not call the server. At other points the hook runs on the goroutine of the connection,
// without locks, and may block if it watches [Conn.Done].
//
// If the hook sets Skip, the step does not happen; the comments say what happens instead.
const (
	// Accepted: a connection was accepted. Skip: it is closed without a greeting.
	Accepted Point = iota + 1

	// Greeting: Reply is the HI. Skip: it is not sent.
	Greeting

	// Received: Bytes is the result of one read from the network.
	Received

	// LineRead: Line was received, without its end. Err is set if it is malformed.
	LineRead

	// Unfinished: the client has closed its side; Line, which may be empty, has no end. Skip, true by default: the line
	// is not a command.
	Unfinished

	// Parsed: Command is split at its first space.
	Parsed

	// Checked: Err is the reason if the command is refused, else nil; Object, Jobs, Queues, WaitQueues and Wait are its
	// arguments. Skip, true by default if there is an Err: the command has no effect.
	Checked

	// Defaulted: Object is a job that was pushed, its defaults filled in. Skip: it is
	// lost.
	Defaulted

	// Scheduled (store): a job enters Set ("scheduled" or "retries") until Until. Skip: it
	// is lost.
	Scheduled

	// ComingDue (store): a job leaves Set; a later Until puts it back. Skip: it is lost.
	ComingDue

	// Enqueued (store): a job enters its queue, at its end or at its Front. Skip: it is
	// lost.
	Enqueued

	// Reserved (store): a job is taken from its queue and reserved until Until. Skip: it is not reserved.
	Reserved

	// Delivered: Object is the job in the reply to a FETCH. Skip: the reply is null, and the job stays reserved. Requeue:
	// it stays in its queue, too.
	Delivered

	// Disconnected: a consumer ended its connection while its FETCH waited. Skip: the FETCH goes on.
	Disconnected

	// GivenBack (store): a job that could not be delivered goes back to the head of its queue. Skip: it stays reserved.
	GivenBack

	// Acked (store): a job is done. Skip: it stays reserved. Requeue: it goes back to its queue.
	Acked

	// Failed (store): a job failed and goes to Set: "retries", "dead", or "", which removes it. Skip: it stays reserved.
	Failed

	// Expired (store): a reservation ended; otherwise as Failed. Skip: the job stays reserved for ever.
	Expired

	// Notified: State is the reply to a BEAT. Skip: the reply is OK.
	Notified

	// Flushed (store): everything is cleared. Skip: it is not.
	Flushed

	// Restarted (store): the server was restarted and has no connections; Reset after a
	// Kill. Skip: everything is lost.
	Restarted

	// Ran: Reply is the reply, Err the reason if it is an error, Close whether the connection is closed after it.
	Ran

	// Writing: Bytes is written, in pieces of Chunk bytes; then Close happens; then DelayedWrite, if the client sends
	// nothing.
	Writing
)

// Event describes one step. A hook changes the step by setting the fields that are named at the [Point]; changes of
// other fields have no effect. Fields that were set at an earlier point of the same command keep their value.
//
// An event and what it refers to belong to the hook until it returns. Line and Command.Args point into a buffer that
// is overwritten when a FETCH has waited.
type Event struct {
	Point   Point
	Conn    *Conn // nil if the clock causes the step: ComingDue, Expired and their consequences
	Line    []byte
	Command fwp.Command
	Object  *Object // the JSON argument of the command, or the job; nil if there is none
	Err     error   // a *[Refusal]
	Skip    bool
	Requeue bool
	Front   bool

	Jobs       []*Object     // PUSHB: the jobs, which are checked later
	Queues     []string      // FETCH: the queues to take a job from, in this order; QUEUE: the queues that it names
	WaitQueues []string      // FETCH: the queues that it waits on
	Wait       time.Duration // FETCH: how long it waits

	Set   string    // "scheduled", "retries", "dead"
	Until time.Time // when a job is due, or its reservation ends
	State string    // "quiet", "terminate"

	Reply        fwp.Reply // a zero Kind means none
	Bytes        []byte
	Delay        time.Duration // a pause after the hook has returned; not at the points marked "store"
	Chunk        int           // bytes per write; zero means all at once
	ChunkPause   time.Duration // between two chunks
	Close        bool
	ResetsConn   bool // with Close: the connection is reset instead of closed
	DelayedWrite *DelayedWrite

	callbacks []func() // see [Event.AfterHook]
}

// DelayedWrite is a write or a close that no command causes, After a time. A line from the client cancels it.
type DelayedWrite struct {
	After time.Duration
	Bytes []byte
	Close bool
}

// Conn is a connection, for hooks. A hook may change the fields, except for ID and Done, at all points that are not
// marked "store".
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

// runHooks calls the hook: the one place where bugs and variations act.
func (s *Server) runHooks(p Point, e *Event) {
	if s.cfg.Hook == nil {
		return
	}
	e.Point = p
	s.cfg.Hook(e)
	for len(e.callbacks) > 0 {
		f := e.callbacks[0]
		e.callbacks = e.callbacks[1:]
		f()
	}
}

// ask calls the hook at a point that concerns a job, and returns Skip. The hook gets a
// copy, because jobs in the store are replaced, not changed.
func (s *Server) ask(p Point, e *Event, j *job) (skip bool) {
	if s.cfg.Hook == nil {
		return false
	}
	e.Skip, e.Requeue, e.Front, e.Object = false, false, false, nil
	if j != nil {
		e.Object = j.unit()
	}
	s.runHooks(p, e)
	return e.Skip
}

// Bug is a way in which a server breaks the specification: a hook for [Config.Hook]. Package bugs has the
// catalogue.
type Bug = catalogue.Bug[Event]

// Variation is a permitted difference between servers. Package variations has the catalogue.
type Variation = catalogue.Variation[Config]
