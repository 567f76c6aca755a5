package client

import (
	"errors"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/workload"
)

type reply = fwp.Reply

// hear takes bytes. They may be a part of a reply, or too much.
func (c *conn) hear(now time.Duration, in []byte) {
	if !c.waits() {
		c.lose(now, measure.Malformed, unasked(in))
		return
	}
	was := c.phase
	b := in
	if len(c.kept) > 0 {
		c.kept = append(c.kept, in...)
		b = c.kept
	}
	r, n, err := fwp.Decode(b, 0)
	switch {
	case err == nil:
		c.book(now, r)
		c.release()
		if n < len(b) && c.phase != shut && c.phase != over {
			c.lose(now, measure.Malformed, surplus(c.verb(was), b[n:]))
		}
	case !errors.Is(err, fwp.ErrShort):
		c.lose(now, measure.Malformed, NoRESP(c.verb(was), err))
	case len(c.kept) == 0:
		c.kept = append(c.crew.borrow(), in...)
	}
}

// verb is that of the command in flight, in a phase that waits for a reply; empty for
// the greeting.
func (c *conn) verb(p phase) string {
	if p == greeting {
		return ""
	}
	return verbOf(c.asked.op)
}

// release gives the memory of a reply back.
func (c *conn) release() {
	if c.kept != nil {
		c.crew.giveBack(c.kept)
		c.kept = nil
	}
}

// book takes the reply that was awaited.
func (c *conn) book(now time.Duration, r reply) {
	switch c.phase {
	case greeting:
		c.greeted(now, r)
	case hello:
		c.identified(now, r)
	case leaving:
		c.bye(now, r)
	default:
		c.answered(now, r)
	}
}

func (c *conn) answered(now time.Duration, r reply) {
	got := c.role.answered(now, r)
	if got.how == wrong {
		c.asked.op = got.op
		c.lose(now, measure.Malformed, got.err)
		return
	}
	asked := c.asked
	c.phase, c.free = idle, now
	c.crew.status.InFlight--
	switch got.how {
	case rejected:
		c.crew.trouble(got.op, measure.Rejected, got.err)
		c.failures = min(c.failures+1, worst)
	default:
		c.failures = 0
		if got.op != measure.Beat {
			c.crew.status.Served++
		}
		c.crew.recorder.Command(got.op, measure.Timing{
			Intended: asked.intended, Free: asked.free, Sent: asked.sent, Replied: now,
		})
	}
	c.mayQuit(now, workload.AtIdle)
}

// slow has the role wait before its next command, the longer the more in a row were
// refused. It is for commands that nothing but their reply holds back.
func (c *conn) slow(now time.Duration) {
	c.pause = now + c.delay(firstPause, longestPause)
}

// bye takes the reply to END.
func (c *conn) bye(now time.Duration, r reply) {
	switch {
	case isOK(r):
		c.gone(now)
	case r.Kind == fwp.ErrorReply:
		c.crew.trouble(measure.End, measure.Rejected, r.Err())
	default:
		c.crew.trouble(measure.End, measure.Malformed, WrongReply(fwp.END, r))
	}
	c.finish(now)
}

// gone times an END that came to its end in order.
func (c *conn) gone(now time.Duration) {
	c.crew.recorder.Command(measure.End, measure.Timing{
		Intended: c.asked.intended, Free: c.asked.free, Sent: c.asked.sent, Replied: now,
	})
}

// finish is the end in order.
func (c *conn) finish(now time.Duration) {
	c.release()
	c.phase, c.failures = shut, 0
	c.role.left(now)
}

// ended takes the end of the connection. After END that is as good as an OK, whether
// the server closes or resets.
func (c *conn) ended(now time.Duration, err error) {
	if c.phase == leaving {
		c.gone(now)
		c.finish(now)
		return
	}
	kind, err := ending(err)
	c.lose(now, kind, err)
}

// lose gives the connection up: it failed, ended, fell silent or broke the protocol. A
// server need not reply to a client that has closed its half.
func (c *conn) lose(now time.Duration, kind measure.ErrorKind, err error) {
	switch {
	case c.phase == shut || c.phase == over:
		return
	case c.quit.halved && kind != measure.Malformed && kind != measure.Rejected:
		c.crew.status.Disconnects++
		c.drop(now)
		return
	}
	op := measure.Connect
	if breach, ok := errors.AsType[*BreachError](err); c.waits() || ok && breach.Verb != "" {
		op = c.asked.op
	}
	c.crew.trouble(op, kind, err)
	if c.phase == idle || c.phase == busy {
		c.crew.lost(err)
	}
	c.drop(now)
}

// drop has the role know that the connection is gone.
func (c *conn) drop(now time.Duration) {
	c.release()
	c.hash = nil
	if !c.quit.decided {
		c.failures = min(c.failures+1, worst)
	}
	was := c.phase
	c.phase = shut
	switch was {
	case leaving:
		c.failures = 0
		c.role.left(now)
	case idle, busy:
		c.crew.unready()
		if was == busy {
			c.crew.status.InFlight--
		}
		c.role.lost(now, was == busy)
	default:
		c.role.lost(now, false)
	}
	c.quit.decided, c.quit.halved = false, false
}

func isOK(r reply) bool {
	return r.Kind == fwp.SimpleString && string(r.Text) == "OK"
}

// judge is the outcome of a command whose only good reply is OK.
func judge(op measure.Op, r reply) outcome {
	switch {
	case isOK(r):
		return outcome{op: op}
	case r.Kind == fwp.ErrorReply:
		return outcome{op: op, how: rejected, err: r.Err()}
	}
	return outcome{op: op, how: wrong, err: WrongReply(verbOf(op), r)}
}
