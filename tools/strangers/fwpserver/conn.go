package main

import (
	"net"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A conn is one client. Its reader cuts the byte stream into lines, serve answers them in order.
type conn struct {
	s      *server
	nc     net.Conn
	lines  chan line
	gone   chan struct{} // closed when the client has left
	writes sync.Mutex

	nonce      nonce
	identified bool
	declined   bool
	ending     bool
	worker     *worker
	errors     int
	fetches    int
	lastHeard  time.Time
	lastQueues []string
	lastBulk   string
	carried    map[string]rawJSON // optional fields of earlier jobs, for mutants that mix jobs up
}

func newConn(s *server, nc net.Conn) *conn {
	return &conn{
		s: s, nc: nc,
		lines:   make(chan line, 1),
		gone:    make(chan struct{}),
		carried: map[string]rawJSON{},
	}
}

func (c *conn) serve() {
	defer c.s.running.Done()
	defer c.leave()
	go c.read()
	c.s.mu.Lock()
	c.lastHeard = c.s.now()
	hi := c.greeting()
	c.s.mu.Unlock()
	c.write(hi)
	for l := range c.lines {
		c.s.mu.Lock()
		answer := c.handle(l)
		ending := c.ending
		c.s.mu.Unlock()
		c.write(answer)
		if ending {
			return
		}
	}
}

func (c *conn) hangUp() { _ = c.nc.Close() }

// leave forgets the connection, and the worker with its last connection.
func (c *conn) leave() {
	c.hangUp()
	for range c.lines {
		// The reader may still hold a line.
	}
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if c.worker != nil {
		c.worker.conns--
		if c.worker.conns == 0 || s.mutant == 26 {
			delete(s.workers, c.worker.wid)
		}
	}
	if s.mutant == 34 {
		s.forgetReservations(c)
	}
}

// handle answers one line.
func (c *conn) handle(l line) string {
	s := c.s
	s.commands++
	c.lastHeard = s.now()
	answer := c.dispatch(l)
	if strings.HasPrefix(answer, "-") {
		c.afterError()
	}
	return answer
}

func (c *conn) afterError() {
	s := c.s
	c.errors++
	switch {
	case s.mutant == 28 && c.worker != nil && c.errors >= 5:
		c.ending = true
	case s.variant == 6 && !c.identified:
		c.ending = true
	case s.variant == 7 && c.identified && c.worker == nil && c.errors >= 3:
		c.ending = true
	}
}

func (c *conn) dispatch(l line) string {
	s := c.s
	verb, arg, hasArg := strings.Cut(l.text, " ")
	switch {
	case l.tooLong:
		return s.errorf("line is too long")
	case l.bare && !(s.mutant == 5 && hasArg):
		return s.errorf("line does not end in CRLF")
	case !utf8.ValidString(l.text):
		return s.errorf("line is not UTF-8")
	case hasArg && arg == "":
		return s.errorf("argument expected after the space")
	}
	if verb == "HELLO" {
		return c.hello(arg)
	}
	if !c.identified {
		return c.tooEarly(verb, arg)
	}
	return c.command(verb, arg, hasArg)
}

func (c *conn) tooEarly(verb, arg string) string {
	if c.s.mutant == 27 && verb == "PUSH" {
		c.push(arg)
	}
	return c.s.errorf("HELLO is needed first")
}

func (c *conn) command(verb, arg string, hasArg bool) string {
	s := c.s
	switch verb {
	case "PUSH":
		return c.push(arg)
	case "FETCH":
		return c.fetch(arg, hasArg)
	case "ACK":
		return c.ack(arg)
	case "FAIL":
		return c.fail(arg)
	case "BEAT":
		return c.beat(arg)
	case "INFO", "FLUSH", "END":
		return c.plain(verb, hasArg)
	}
	return s.errorf("unknown command %q", verb)
}

// plain runs the three commands that take no argument.
func (c *conn) plain(verb string, hasArg bool) string {
	s := c.s
	if hasArg {
		if s.mutant == 70 && verb == "FLUSH" {
			s.flush()
		}
		return s.errorf("%s takes no argument", verb)
	}
	switch verb {
	case "INFO":
		return s.info()
	case "FLUSH":
		s.flush()
		if s.mutant == 71 {
			c.identified = false
		}
		return okReply
	}
	return c.end()
}
