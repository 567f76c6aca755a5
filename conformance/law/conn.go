package law

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// Conn is one connection of a [Watch]. It implements [session.Observer].
type Conn struct {
	watch    *Watch
	name     string
	number   int
	hasEnded bool

	commands []command // commands that are not answered, the oldest first
	messages []message // that are not judged, the oldest first
}

// command is what one write sent.
type command struct {
	all         []byte
	at          time.Time
	isPipelined bool // another one was under way on the connection
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
	if c.hasEnded {
		return
	}
	if c.watch.pusher != nil {
		c.watch.fileMissing(at)
		c.watch.law.Sent(c.number, slices.Clone(all), false, at)
		c.watch.updateDue(at)
		return
	}
	commands := [][]byte{slices.Clone(all)}
	if s, ok := c.watch.law.(Splitter); ok {
		commands = s.Split(c.number, all, at)
	}
	for _, k := range commands {
		c.commands = append(c.commands, command{all: k, at: at, isPipelined: len(c.commands) > 0})
		if len(c.commands) == 1 {
			c.passCommand()
		}
	}
}

// passCommand passes the oldest command on to the law.
func (c *Conn) passCommand() {
	k := c.commands[0]
	if sent := c.watch.law.Sent(c.number, k.all, false, k.at); sent.DueReplies != 1 {
		c.watch.giveUp(c, "bytes that are not a single command")
	}
}

// Received implements [session.Observer].
func (c *Conn) Received(r session.Received) {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	switch {
	case c.hasEnded || r.GaveUp:
	case c.watch.openReason != "":
		c.watch.tally.addUnjudged(c.watch.openReason)
	case r.IsComplete() && c.watch.pusher != nil:
		c.watch.fileMissing(r.At)
		c.judgeNow(message{r.Message, r.At}, false)
		c.watch.updateDue(r.At)
	case r.IsComplete():
		c.messages = append(c.messages, message{r.Message, r.At})
		c.watch.settle()
	default: // bytes that are no message are judged by the player
		c.judge(true)
		c.end(r.Broken == nil, r.At)
		c.watch.settle()
	}
}

// Ended implements [session.Observer].
func (c *Conn) Ended(ending session.Ending) {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	switch {
	case c.hasEnded:
	case ending == session.HalfClosed:
		c.watch.law.HalfClose(c.number)
	default:
		c.end(false, time.Now())
		c.watch.settle()
		c.watch.noteEnding(c, ending)
	}
}

// end ends the connection. A command that was not answered may have been carried out or not.
func (c *Conn) end(byServer bool, at time.Time) {
	if c.hasEnded {
		return
	}
	c.hasEnded = true
	if v := c.watch.law.Close(c.number, byServer, at); v != nil {
		c.watch.note(c, v, at, false)
	}
}

// judge has the law judge the messages of the connection, all if there is nothing left to wait for, and reports whether
// there were any.
func (c *Conn) judge(all bool) (hasJudged bool) {
	for len(c.messages) > 0 && !c.hasEnded && c.watch.openReason == "" {
		m := c.messages[0]
		if w, ok := c.watch.law.(Waiter); ok && !all && w.Waits(c.number, m.Message) {
			break
		}
		c.messages, hasJudged = c.messages[1:], true
		c.judgeMessage(m)
	}
	return hasJudged
}

// judgeMessage has the law judge a message, and passes on the next command.
func (c *Conn) judgeMessage(m message) {
	if len(c.commands) == 0 {
		c.watch.giveUp(c, "a message that no command asked for")
		return
	}
	k := c.commands[0]
	c.commands = c.commands[1:]
	if isRefusal := c.judgeNow(m, k.isPipelined); !isRefusal && !k.isPipelined {
		c.watch.confirmRefusals(c, k.at)
	}
	if len(c.commands) > 0 && !c.hasEnded {
		c.commands[0].at = m.at
		c.passCommand()
	}
}

// judgeNow has the law judge a message now, and reports whether it refuses a command.
func (c *Conn) judgeNow(m message, isPipelined bool) (isRefusal bool) {
	a := c.watch.law.Judge(c.number, m.Message, m.at)
	c.watch.tally.addAnswer(a)
	switch {
	case a.Declined || a.Limit:
		c.watch.giveUp(c, "a client that was not admitted")
	case a.Violation != nil && a.IsRefusal && c.watch.isShared:
		c.watch.keepRefusal(refusal{conn: c, violation: a.Violation, at: m.at, isPipelined: isPipelined})
	case a.Violation != nil:
		c.watch.note(c, a.Violation, m.at, isPipelined)
	}
	return a.IsRefusal
}

var _ session.Observer = (*Conn)(nil)
