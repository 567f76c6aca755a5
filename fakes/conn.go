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
	s       *Server
	raw     net.Conn
	nc      net.Conn // raw, or TLS over it
	in      *bufio.Reader
	event   Event
	out     []byte
	waiter  *store.Waiter[*job]
	held    *store.Held[*job] // the job in the reply that is not written yet
	entered string            // the wid that the connection counts for
	over    bool              // beyond the connection limit

	// Memory that commands use again.
	argument Object
	queues   []string
	asked    string // the arguments of FETCH that queues was read from, "" if none

	writing sync.Mutex
	later   *time.Timer
	done    chan struct{}
	ending  sync.Once
}

func newConn(s *Server, raw net.Conn, id int64) *conn {
	c := &conn{s: s, raw: raw, nc: raw, done: make(chan struct{})}
	if s.cfg.TLS != nil {
		c.nc = tls.Server(raw, s.cfg.TLS)
	}
	c.Conn = Conn{ID: id, Done: c.done, server: s}
	c.in = bufio.NewReader(&tap{c: c})
	c.waiter = store.NewWaiter[*job](func() { c.nc.SetReadDeadline(longAgo()) })
	return c
}

// longAgo is a deadline that ends every read at once.
func longAgo() time.Time { return time.Unix(1, 0) }

// end closes the connection, which ends everything that its goroutine waits on.
func (c *conn) end(reset bool) {
	c.ending.Do(func() {
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
		line, broken, err := c.readLine()
		if errors.Is(err, io.EOF) {
			c.unfinished(line)
		}
		if err != nil || !c.serveCommand(line, broken) {
			return
		}
	}
}

// unfinished discards the begin of a line whose end the client did not send.
func (c *conn) unfinished(line []byte) {
	e := &c.event
	*e = Event{Conn: &c.Conn, Line: line, Skip: true}
	c.s.at(Unfinished, e)
	if !e.Skip {
		c.serveCommand(e.Line, nil)
	}
}

func (c *conn) leave() {
	c.stopLater()
	c.end(false)
	if c.held != nil {
		c.s.store.GiveBack(&c.event, c.held)
	}
	if c.entered != "" {
		c.s.workers.exit(c.entered)
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
	if c.over {
		e.Reply, e.Close = ErrorReply("too many connections"), true
		return c.write(e)
	}
	c.s.at(Accepted, e)
	if !c.pause(e) || e.Skip {
		return false
	}
	c.drawSalt()
	e.Reply = c.Hi()
	c.s.at(Greeting, e)
	return c.pause(e) && (e.Skip || c.write(e))
}

// serveCommand answers one command. It reports whether the connection goes on.
// (Commands and Responses)
func (c *conn) serveCommand(line []byte, broken *Refusal) bool {
	c.stopLater()
	c.s.commands.Add(1)
	c.Commands++
	e := &c.event
	*e = Event{Conn: &c.Conn, Line: line}
	if broken != nil {
		e.Err = broken
	}
	if c.s.leaving.Load() {
		e.Err, e.Close = refuse(AboutLimit, "shutdown in progress"), true
	}
	c.s.at(LineRead, e)
	if !c.pause(e) {
		return false
	}
	e.Command = fwp.SplitCommand(e.Line)
	c.s.at(Parsed, e)
	if !c.pause(e) {
		c.s.at(Ran, e)
		return false
	}
	e.Reply = c.answer(e)
	c.s.at(Ran, e)
	return c.pause(e) && c.write(e)
}

// answer runs the command, or refuses it.
func (c *conn) answer(e *Event) fwp.Reply {
	if refusal := c.check(e); refusal != nil && e.Err == nil {
		e.Err = refusal
	}
	e.Skip = e.Err != nil
	c.s.at(Checked, e)
	reply := idle(e.Command.Verb)
	if c.pause(e) && !e.Skip {
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

// pause waits for the event's Delay. It reports whether the connection is still open.
func (c *conn) pause(e *Event) bool {
	d := e.Delay
	e.Delay = 0
	return machine.Until(c.done, d)
}
