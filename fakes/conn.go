package fakes

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// conn is a connection. One goroutine serves it from the greeting to its end.
type conn struct {
	Conn
	s           *Server
	raw         net.Conn
	nc          net.Conn // raw, or TLS over it
	in          *bufio.Reader
	event       Event
	out         []byte
	waiter      *store.Waiter[*job]
	unsentJob   *store.TimedJob[*job] // the job in the reply that is not written yet
	workerID    string                // the wid that the connection counts for
	isOverLimit bool                  // beyond the connection limit

	// Memory that commands use again.
	argument  Object
	queues    []string
	queueArgs string // the arguments of FETCH that queues was read from, "" if none

	writing           sync.Mutex
	delayedWriteTimer *time.Timer
	done              chan struct{}
	endOnce           sync.Once
}

func newConn(s *Server, raw net.Conn, id int64) *conn {
	c := &conn{s: s, raw: raw, nc: raw, done: make(chan struct{})}
	if s.cfg.TLS != nil {
		c.nc = tls.Server(raw, s.cfg.TLS)
	}
	c.Conn = Conn{ID: id, Done: c.done, server: s}
	c.in = bufio.NewReader(&tap{c: c})
	c.waiter = store.NewWaiter[*job](func() { c.nc.SetReadDeadline(pastDeadline()) })
	return c
}

// pastDeadline is a deadline that ends every read at once.
func pastDeadline() time.Time { return time.Unix(1, 0) }

// end closes the connection, which ends everything that its goroutine waits on.
func (c *conn) end(reset bool) {
	c.endOnce.Do(func() {
		close(c.done)
		if !reset {
			c.nc.Close()
			return
		}
		if l, ok := c.raw.(interface{ SetLinger(sec int) error }); ok {
			_ = l.SetLinger(0) // fails on a closed connection only
		}
		c.raw.Close()
	})
}

func (c *conn) serve() {
	defer c.leave()
	if !c.greet() {
		return
	}
	for {
		line, refusal, err := c.readLine()
		if errors.Is(err, io.EOF) {
			c.handleUnfinished(line)
		}
		if err != nil || !c.serveCommand(line, refusal) {
			return
		}
	}
}

// handleUnfinished discards the begin of a line whose end the client did not send.
func (c *conn) handleUnfinished(line []byte) {
	e := &c.event
	*e = Event{Conn: &c.Conn, Line: line, Skip: true}
	c.s.runHooks(Unfinished, e)
	if !e.Skip {
		c.serveCommand(e.Line, nil)
	}
}

func (c *conn) leave() {
	c.cancelDelayedWrite()
	c.end(false)
	if c.unsentJob != nil {
		c.s.store.GiveBack(&c.event, c.unsentJob)
	}
	if c.workerID != "" {
		c.s.workers.exit(c.workerID)
	}
	c.s.forget(c)
}

// greet sends HI. (Not Identified State)
func (c *conn) greet() bool {
	if c.s.cfg.HelloTimeout > 0 {
		c.nc.SetReadDeadline(time.Now().Add(c.s.cfg.HelloTimeout))
	}
	e := &c.event
	*e = Event{Conn: &c.Conn}
	if c.isOverLimit {
		e.Reply, e.Close = ErrorReply("too many connections"), true
		return c.write(e)
	}
	c.s.runHooks(Accepted, e)
	if !c.delay(e) || e.Skip {
		return false
	}
	c.drawSalt()
	e.Reply = c.Hi()
	c.s.runHooks(Greeting, e)
	return c.delay(e) && (e.Skip || c.write(e))
}

// serveCommand answers one command. It reports whether the connection goes on.
// (Commands and Responses)
func (c *conn) serveCommand(line []byte, refusal *Refusal) bool {
	c.cancelDelayedWrite()
	c.s.commands.Add(1)
	c.Commands++
	e := &c.event
	*e = Event{Conn: &c.Conn, Line: line}
	if refusal != nil {
		e.Err = refusal
	}
	if c.s.isLeaving.Load() {
		e.Err, e.Close = refuse(AboutLimit, "shutdown in progress"), true
	}
	c.s.runHooks(LineRead, e)
	if !c.delay(e) {
		return false
	}
	e.Command = fwp.SplitCommand(e.Line)
	c.s.runHooks(Parsed, e)
	if !c.delay(e) {
		c.s.runHooks(Ran, e)
		return false
	}
	e.Reply = c.answer(e)
	c.s.runHooks(Ran, e)
	return c.delay(e) && c.write(e)
}

// answer runs the command, or refuses it.
func (c *conn) answer(e *Event) fwp.Reply {
	if refusal := c.check(e); refusal != nil && e.Err == nil {
		e.Err = refusal
	}
	e.Skip = e.Err != nil
	c.s.runHooks(Checked, e)
	reply := skippedReply(e.Command.Verb)
	if c.delay(e) && !e.Skip {
		var err error
		if reply, err = c.run(e); e.Err == nil {
			e.Err = err
		}
	}
	if e.Err != nil {
		return ErrorReply(e.Err)
	}
	return reply
}

// delay waits for the event's Delay. It reports whether the connection is still open.
func (c *conn) delay(e *Event) bool {
	d := e.Delay
	e.Delay = 0
	return machine.Wait(c.done, d)
}
