package law

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// Conn is one connection of a [Watch]. It implements [session.Observer].
type Conn struct {
	watch  *Watch
	name   string
	number int
	over   bool

	under    []command // commands that are not answered, the oldest first
	messages []message // that are not judged, the oldest first
}

// command is what one write sent.
type command struct {
	all     []byte
	at      time.Time
	several bool // another one was under way on the connection
}

type message struct {
	session.Message
	at time.Time
}

// Waiter is a Law that knows which messages are the consequence of a command whose own answer is not judged yet.
type Waiter interface {
	// Waits reports whether a message is to be judged only after an answer that another connection awaits.
	Waits(conn int, m session.Message) bool
}

// Splitter is a Law of a protocol whose commands need not be written one by one.
type Splitter interface {
	// Split returns the commands that are complete with what a client writes at a time.
	Split(conn int, all []byte, at time.Time) [][]byte
}

// Sent implements [session.Observer]. Of several commands under way on a connection the law gets the first one, and the
// next one when that is answered, unless commands have no answers.
func (c *Conn) Sent(all []byte, at time.Time) {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	if c.over {
		return
	}
	if c.watch.pusher != nil {
		c.watch.await(at)
		c.watch.law.Sent(c.number, slices.Clone(all), false, at)
		c.watch.next(at)
		return
	}
	commands := [][]byte{slices.Clone(all)}
	if s, is := c.watch.law.(Splitter); is {
		commands = s.Split(c.number, all, at)
	}
	for _, k := range commands {
		c.under = append(c.under, command{all: k, at: at, several: len(c.under) > 0})
		if len(c.under) == 1 {
			c.tell()
		}
	}
}

// tell passes the oldest command on to the law.
func (c *Conn) tell() {
	k := c.under[0]
	if sent := c.watch.law.Sent(c.number, k.all, false, k.at); sent.Owed != 1 {
		c.watch.give(c, "bytes that are not a single command")
	}
}

// Received implements [session.Observer].
func (c *Conn) Received(r session.Received) {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	switch {
	case c.over || r.GaveUp:
	case c.watch.open != "":
		c.watch.tally.unjudged(c.watch.open)
	case r.Whole() && c.watch.pusher != nil:
		c.watch.await(r.At)
		c.judged(message{r.Message, r.At}, false)
		c.watch.next(r.At)
	case r.Whole():
		c.messages = append(c.messages, message{r.Message, r.At})
		c.watch.settle()
	default: // bytes that are no message are judged by the player
		c.judge(true)
		c.end(r.Broken == nil, r.At)
		c.watch.settle()
	}
}

// Ended implements [session.Observer].
func (c *Conn) Ended(how session.Ending) {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	switch {
	case c.over:
	case how == session.HalfShut:
		c.watch.law.Shut(c.number)
	default:
		c.end(false, time.Now())
		c.watch.settle()
		c.watch.endedBy(c, how)
	}
}

// end ends the connection. A command that was not answered may have been carried out or not.
func (c *Conn) end(byServer bool, at time.Time) {
	if c.over {
		return
	}
	c.over = true
	if v := c.watch.law.Close(c.number, byServer, at); v != nil {
		c.watch.note(c, v, at, false)
	}
}

// judge has the law judge the messages of the connection, all if there is nothing left to wait for, and reports whether
// there were any.
func (c *Conn) judge(all bool) (some bool) {
	for len(c.messages) > 0 && !c.over && c.watch.open == "" {
		m := c.messages[0]
		if w, is := c.watch.law.(Waiter); is && !all && w.Waits(c.number, m.Message) {
			break
		}
		c.messages, some = c.messages[1:], true
		c.came(m)
	}
	return some
}

// came has the law judge a message, and passes on the next command.
func (c *Conn) came(m message) {
	if len(c.under) == 0 {
		c.watch.give(c, "a message that no command asked for")
		return
	}
	k := c.under[0]
	c.under = c.under[1:]
	if refused := c.judged(m, k.several); !refused && !k.several {
		c.watch.served(c, k.at)
	}
	if len(c.under) > 0 && !c.over {
		c.under[0].at = m.at
		c.tell()
	}
}

// judged has the law judge a message now, and reports whether it refuses a command.
func (c *Conn) judged(m message, several bool) (refused bool) {
	a := c.watch.law.Came(c.number, m.Message, m.at)
	c.watch.tally.came(a)
	switch {
	case a.Declined || a.Limit:
		c.watch.give(c, "a client that was not admitted")
	case a.Violation != nil && a.Refused && c.watch.shared:
		c.watch.hold(refusal{conn: c, violation: a.Violation, at: m.at, several: several})
	case a.Violation != nil:
		c.watch.note(c, a.Violation, m.at, several)
	}
	return a.Refused
}

var _ session.Observer = (*Conn)(nil)
