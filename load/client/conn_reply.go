package client

import (
	"cmp"
	"errors"
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
)

// receive reads bytes, which may be a part of a reply, or too much. It returns out with the answers to messages that
// the server sent unasked.
func (c *conn) receive(now time.Duration, in, out []byte) []byte {
	if !c.hears() {
		c.surprised(now, in, unasked(in))
		return out
	}
	was := c.phase
	b := in
	if len(c.kept) > 0 {
		c.keep(in)
		b = c.kept
	}
	for more := true; more; more = len(b) > 0 && c.shard.times.Pushes && c.hears() {
		n, err := c.hear(b)
		if err != nil {
			c.unheard(now, b, err)
			return out
		}
		out = c.heard(now, out)
		b = b[n:]
	}
	c.release()
	if len(b) > 0 && c.phase != shut && c.phase != over {
		c.surprised(now, b, surplus(c.verb(was), b))
	}
	return out
}

// hear has the speaker read the first message of b.
func (c *conn) hear(b []byte) (int, error) {
	c.shard.event = wire.Event{}
	n, err := c.speaker.Hear(b, &c.shard.event)
	if c.tap != nil && n > 0 {
		c.tap.Received(b[:n], time.Now())
	}
	return n, err
}

// heard handles a message, and returns out with the answer to it.
func (c *conn) heard(now time.Duration, out []byte) []byte {
	e := &c.shard.event
	out = append(out, e.Answer...)
	if e.Kind != wire.Beside {
		c.book(now, e)
	}
	return out
}

// unheard handles bytes in which the speaker could read no message: it is incomplete, or wrong.
func (c *conn) unheard(now time.Duration, b []byte, err error) {
	switch {
	case errors.Is(err, wire.ErrTooLong): // a limit of ours, and of no clause
		c.lose(now, measure.TooLong, err)
	case !errors.Is(err, wire.ErrShort):
		c.lose(now, measure.Malformed, err)
	case len(c.kept) == 0:
		c.keep(b)
	default: // b is its end
		c.shard.shared.unfinished.Add(int64(len(b) - len(c.kept)))
		c.kept = append(c.kept[:0], b...)
	}
	if c.shard.shared.unfinished.Load() > c.shard.mostUnfinished && len(c.kept) > 0 {
		c.lose(now, measure.TooLong, errEndless)
	}
}

// keep keeps the beginning of a reply.
func (c *conn) keep(in []byte) {
	if c.kept == nil {
		c.kept = c.shard.borrow()
	}
	c.kept = append(c.kept, in...)
	c.shard.shared.unfinished.Add(int64(len(in)))
}

// surprised handles bytes that no command asked for. They break the protocol, except that an error before the first
// command is a server which refuses the client later than it could: it may have a limit of connections. (AMB-14)
func (c *conn) surprised(now time.Duration, in []byte, breach *wire.BreachError) {
	if c.fresh {
		if _, err := c.hear(in); err == nil && c.shard.event.Err != nil {
			c.lose(now, measure.Rejected, c.shard.event.Err)
			return
		}
	}
	c.lose(now, measure.Malformed, breach)
}

// verb returns the verb of the command in flight, in a phase that waits for a reply; empty for
// the greeting.
func (c *conn) verb(p phase) string {
	if p == greeting {
		return ""
	}
	return c.shard.verb(c.asked.op)
}

// release gives the memory of a reply back.
func (c *conn) release() {
	if c.kept != nil {
		c.shard.shared.unfinished.Add(-int64(len(c.kept)))
		c.shard.giveBack(c.kept)
		c.kept = nil
	}
}

// book handles the reply that was awaited.
func (c *conn) book(now time.Duration, e *wire.Event) {
	switch c.phase {
	case greeting:
		c.greeted(now, e)
	case hello:
		c.identified(now, e)
	case leaving:
		c.bye(now, e)
	default:
		c.answered(now, e)
	}
}

func (c *conn) answered(now time.Duration, e *wire.Event) {
	got := c.role.answered(now, e)
	c.phase, c.free, c.since, c.replied, c.shard.status.Replied = idle, now, now, now, now
	c.shard.pulse.beat(now)
	c.shard.status.InFlight--
	if got.op != measure.FetchEmpty {
		c.shard.status.Carried = now
	}
	if got.err != nil {
		c.shard.trouble(got.op, measure.Rejected, got.err)
		c.failures = min(c.failures+1, worst)
	} else {
		c.failures = 0
		if got.op != measure.Beat {
			c.shard.status.Served++
		}
		c.time(got.op, now)
	}
	c.mayQuit(now, plan.AtIdle)
}

// slow makes the role wait before its next command, longer after each refusal in a row. It is for commands that only
// their reply holds back.
func (c *conn) slow(now time.Duration) {
	longest := longestPause
	if !c.shard.shared.calm(now) {
		longest = probeEvery
	}
	c.pause = now + c.delay(firstPause, longest)
}

// time records when the command in flight was due, sent and answered. It turned out to be of kind op.
func (c *conn) time(op measure.Op, now time.Duration) {
	if op != measure.FetchEmpty && op != measure.FetchWaited && op != measure.FetchFound {
		c.shard.slowest = max(c.shard.slowest, now-c.asked.sent)
	}
	c.shard.recorder.Command(op, measure.Timing{
		Intended: c.asked.intended, Free: c.asked.free, Sent: c.asked.sent, Replied: now,
	})
}

// bye handles the reply to goodbye.
func (c *conn) bye(now time.Duration, e *wire.Event) {
	if e.Err == nil {
		c.time(measure.End, now)
	} else {
		c.shard.trouble(measure.End, measure.Rejected, e.Err)
	}
	c.finish(now)
}

// finish is the end in order.
func (c *conn) finish(now time.Duration) {
	c.release()
	c.phase, c.failures = shut, 0
	c.role.left(now)
}

// ended handles the end of the connection by the server. After goodbye that counts as OK, whether the server closes or
// resets.
func (c *conn) ended(now time.Duration, err error) {
	if c.phase == leaving {
		c.time(measure.End, now)
		c.finish(now)
		return
	}
	if d, ok := c.role.(*duty); ok && !c.quit.decided && (c.phase == idle || c.phase == busy) {
		d.closedByServer(now)
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
		c.shard.status.Disconnects++
		c.drop(now)
		return
	}
	c.noteLoss(kind, err)
	if c.endsWait(kind) {
		c.endWait(now)
	}
	if c.phase == idle || c.phase == busy {
		c.shard.lost(err)
	}
	c.drop(now)
}

// noteLoss counts what the loss of the connection has failed: the command in flight, or the connect. The end of an idle
// connection has failed no command.
func (c *conn) noteLoss(kind measure.ErrorKind, err error) {
	if c.phase == idle && (kind == measure.Closed || kind == measure.Reset) {
		c.shard.status.First = cmp.Or(c.shard.status.First, err)
		return
	}
	op := measure.Connect
	switch breach, ok := errors.AsType[*wire.BreachError](err); {
	case c.waits() || ok && breach.Verb != "":
		op = c.asked.op
	case c.phase == greeted:
		op = measure.Hello
	}
	c.shard.trouble(op, kind, err)
}

// endsWait reports whether the loss ends a wait without a reply: that of a command, or of a connect.
func (c *conn) endsWait(kind measure.ErrorKind) bool {
	if c.phase == dialing {
		return kind == measure.Timeout
	}
	return c.waits() && kind != measure.Malformed && kind != measure.Rejected
}

// drop reports to the role that the connection is gone.
func (c *conn) drop(now time.Duration) {
	c.release()
	c.preparing = nil
	if !c.quit.decided {
		c.failures = min(c.failures+1, worst)
	}
	was := c.phase
	c.phase, c.tried = shut, now
	switch was {
	case leaving:
		c.failures = 0
		c.role.left(now)
	case idle, busy:
		c.shard.unready()
		if was == busy {
			c.shard.status.InFlight--
		}
		if c.lost = now; c.quit.decided {
			c.lost = 0
		}
		if c.shard.status.Ready == 0 && !c.quit.decided {
			c.shard.away, c.shard.opener.dialed = true, now
		}
		c.role.lost(now, was == busy)
	default:
		c.role.lost(now, false)
	}
	c.quit.decided, c.quit.halved = false, false
}
