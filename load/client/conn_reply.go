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
	if !c.acceptsMessage() {
		c.handleExtraBytes(now, in, unaskedBreach(in))
		return out
	}
	before := c.phase
	b := in
	if len(c.partialReply) > 0 {
		c.keep(in)
		b = c.partialReply
	}
	for hasMessage := true; hasMessage; hasMessage = len(b) > 0 && c.shard.times.SendsNotices && c.acceptsMessage() {
		n, err := c.readMessage(b)
		if err != nil {
			c.handleReadError(now, b, err)
			return out
		}
		out = c.handleMessage(now, out)
		b = b[n:]
	}
	c.release()
	if len(b) > 0 && c.phase != phaseShut && c.phase != phaseRetired {
		c.handleExtraBytes(now, b, surplusBreach(c.verb(before), b))
	}
	return out
}

// readMessage has the speaker read the first message of b.
func (c *conn) readMessage(b []byte) (int, error) {
	c.shard.event = wire.Event{}
	n, err := c.speaker.Hear(b, &c.shard.event)
	if c.tap != nil && n > 0 {
		c.tap.RecordReceived(b[:n], time.Now())
	}
	return n, err
}

// handleMessage handles a message, and returns out with the answer to it.
func (c *conn) handleMessage(now time.Duration, out []byte) []byte {
	e := &c.shard.event
	out = append(out, e.Answer...)
	if e.Kind != wire.Notice {
		c.dispatchReply(now, e)
	}
	return out
}

// handleReadError handles bytes in which the speaker could read no message: it is incomplete, or wrong.
func (c *conn) handleReadError(now time.Duration, b []byte, err error) {
	switch {
	case errors.Is(err, wire.ErrTooLong): // a limit of ours, and of no clause
		c.lose(now, measure.TooLong, err)
	case !errors.Is(err, wire.ErrShort):
		c.lose(now, measure.Malformed, err)
	case len(c.partialReply) == 0:
		c.keep(b)
	default: // b is its end
		c.shard.shared.unfinishedBytes.Add(int64(len(b) - len(c.partialReply)))
		c.partialReply = append(c.partialReply[:0], b...)
	}
	if c.shard.shared.unfinishedBytes.Load() > c.shard.unfinishedLimit && len(c.partialReply) > 0 {
		c.lose(now, measure.TooLong, errEndless)
	}
}

// keep keeps the beginning of a reply.
func (c *conn) keep(in []byte) {
	if c.partialReply == nil {
		c.partialReply = c.shard.borrow()
	}
	c.partialReply = append(c.partialReply, in...)
	c.shard.shared.unfinishedBytes.Add(int64(len(in)))
}

// handleExtraBytes handles bytes that no command asked for. They break the protocol, except that an error before the
// first command is a server which refuses the client later than it could: it may have a limit of connections. (AMB-14)
func (c *conn) handleExtraBytes(now time.Duration, in []byte, breach *wire.BreachError) {
	if c.isFresh {
		if _, err := c.readMessage(in); err == nil && c.shard.event.Err != nil {
			c.lose(now, measure.Rejected, c.shard.event.Err)
			return
		}
	}
	c.lose(now, measure.Malformed, breach)
}

// verb returns the verb of the command in flight, in a phase that waits for a reply; empty for
// the greeting.
func (c *conn) verb(p phase) string {
	if p == phaseGreeting {
		return ""
	}
	return c.shard.verb(c.command.op)
}

// release gives the memory of a reply back.
func (c *conn) release() {
	if c.partialReply != nil {
		c.shard.shared.unfinishedBytes.Add(-int64(len(c.partialReply)))
		c.shard.giveBack(c.partialReply)
		c.partialReply = nil
	}
}

// dispatchReply handles the reply that was awaited.
func (c *conn) dispatchReply(now time.Duration, e *wire.Event) {
	switch c.phase {
	case phaseGreeting:
		c.handleGreeting(now, e)
	case phaseHello:
		c.handleHelloReply(now, e)
	case phaseLeaving:
		c.handleByeReply(now, e)
	default:
		c.handleReply(now, e)
	}
}

func (c *conn) handleReply(now time.Duration, e *wire.Event) {
	result := c.role.handleReply(now, e)
	c.phase, c.freeSince, c.readySince, c.repliedAt, c.shard.status.RepliedAt = phaseIdle, now, now, now, now
	c.shard.pulse.note(now)
	c.shard.status.InFlight--
	if result.op != measure.FetchEmpty {
		c.shard.status.UsefulReplyAt = now
	}
	if result.err != nil {
		c.shard.bookError(result.op, measure.Rejected, result.err)
		c.failures = min(c.failures+1, failureLimit)
	} else {
		c.failures = 0
		if result.op != measure.Beat {
			c.shard.status.ServedCommands++
		}
		c.recordTiming(result.op, now)
	}
	c.decideQuit(now, plan.AtIdle)
}

// slowDown makes the role wait before its next command, longer after each refusal in a row. It is for commands that
// only their reply holds back.
func (c *conn) slowDown(now time.Duration) {
	longest := longestPause
	if !c.shard.shared.isCalm(now) {
		longest = probeEvery
	}
	c.pausedUntil = now + c.delay(firstPause, longest)
}

// recordTiming records when the command in flight was due, sent and answered. It turned out to be of kind op.
func (c *conn) recordTiming(op measure.Op, now time.Duration) {
	if op != measure.FetchEmpty && op != measure.FetchWaited && op != measure.FetchFound {
		c.shard.longestService = max(c.shard.longestService, now-c.command.sent)
	}
	c.shard.recorder.Command(op, measure.Timing{
		Intended: c.command.intended, Free: c.command.free, Sent: c.command.sent, Replied: now,
	})
}

// handleByeReply handles the reply to goodbye.
func (c *conn) handleByeReply(now time.Duration, e *wire.Event) {
	if e.Err == nil {
		c.recordTiming(measure.End, now)
	} else {
		c.shard.bookError(measure.End, measure.Rejected, e.Err)
	}
	c.finish(now)
}

// finish is the end in order.
func (c *conn) finish(now time.Duration) {
	c.release()
	c.phase, c.failures = phaseShut, 0
	c.role.handleLeave(now)
}

// handleEnd handles the end of the connection by the server. After goodbye that counts as OK, whether the server closes
// or resets.
func (c *conn) handleEnd(now time.Duration, err error) {
	if c.phase == phaseLeaving {
		c.recordTiming(measure.End, now)
		c.finish(now)
		return
	}
	if d, ok := c.role.(*workerConn); ok && !c.quit.isDecided && (c.phase == phaseIdle || c.phase == phaseBusy) {
		d.noteServerClose(now)
	}
	kind, err := endErrorKind(err)
	c.lose(now, kind, err)
}

// lose gives the connection up: it failed, ended, fell silent or broke the protocol. A
// server need not reply to a client that has closed its half.
func (c *conn) lose(now time.Duration, kind measure.ErrorKind, err error) {
	switch {
	case c.phase == phaseShut || c.phase == phaseRetired:
		return
	case c.quit.isHalfClosed && kind != measure.Malformed && kind != measure.Rejected:
		c.shard.status.Disconnects++
		c.drop(now)
		return
	}
	c.noteLoss(kind, err)
	if c.endsWait(kind) {
		c.endWait(now)
	}
	if c.phase == phaseIdle || c.phase == phaseBusy {
		c.shard.countLoss(err)
	}
	c.drop(now)
}

// noteLoss counts what the loss of the connection has failed: the command in flight, or the connect. The end of an idle
// connection has failed no command.
func (c *conn) noteLoss(kind measure.ErrorKind, err error) {
	if c.phase == phaseIdle && (kind == measure.Closed || kind == measure.Reset) {
		c.shard.status.FirstError = cmp.Or(c.shard.status.FirstError, err)
		return
	}
	op := measure.Connect
	switch breach, ok := errors.AsType[*wire.BreachError](err); {
	case c.awaitsMessage() || ok && breach.Verb != "":
		op = c.command.op
	case c.phase == phaseGreeted:
		op = measure.Hello
	}
	c.shard.bookError(op, kind, err)
}

// endsWait reports whether the loss ends a wait without a reply: that of a command, or of a connect.
func (c *conn) endsWait(kind measure.ErrorKind) bool {
	if c.phase == phaseDialing {
		return kind == measure.Timeout
	}
	return c.awaitsMessage() && kind != measure.Malformed && kind != measure.Rejected
}

// drop reports to the role that the connection is gone.
func (c *conn) drop(now time.Duration) {
	c.release()
	c.preparation = nil
	if !c.quit.isDecided {
		c.failures = min(c.failures+1, failureLimit)
	}
	before := c.phase
	c.phase, c.triedAt = phaseShut, now
	switch before {
	case phaseLeaving:
		c.failures = 0
		c.role.handleLeave(now)
	case phaseIdle, phaseBusy:
		c.shard.noteUnready()
		if before == phaseBusy {
			c.shard.status.InFlight--
		}
		if c.lostAt = now; c.quit.isDecided {
			c.lostAt = 0
		}
		if c.shard.status.ReadyConns == 0 && !c.quit.isDecided {
			c.shard.isAway, c.shard.opener.latestDial = true, now
		}
		c.role.handleLoss(now, before == phaseBusy)
	default:
		c.role.handleLoss(now, false)
	}
	c.quit.isDecided, c.quit.isHalfClosed = false, false
}
