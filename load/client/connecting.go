package client

import (
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
)

// The pauses of a connection that fails again and again double from the first to the
// longest: between two openings, and before the command that follows a refused one.
const (
	firstDelay   = 50 * time.Millisecond
	longestDelay = 5 * time.Second
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
	failureLimit = 20 // failures beyond it change nothing

	// probeEvery is how often one of the connections tries while none is open: the pauses of all are not the server's.
	probeEvery = 100 * time.Millisecond
)

// opener opens connections when their time has come, at a steady pace or, without a
// gap, at once. It is only a timer.
type opener struct {
	engine.Link
	shard      *Shard
	schedule   timetable[*conn]
	gap        time.Duration // between two openings
	next       time.Duration // the soonest instant for the next one
	latestDial time.Duration // the latest one
	wake       time.Duration // that it has asked for
}

// add schedules the opening of c, at the instant at or as soon after it as the pace allows.
func (o *opener) add(at time.Duration, c *conn) {
	o.schedule.add(at, c)
	if o.wake == 0 || at < o.wake {
		o.shard.loop.Poke(o)
	}
}

// Step implements engine.Session.
func (o *opener) Step(now time.Duration, _ engine.Event, out []byte) ([]byte, engine.Next) {
	for o.next <= now && (o.schedule.isDue(now) || o.isProbeDue(now)) {
		at, c := o.schedule.take()
		if c.phase != phaseShut || !c.role.needsConn(now) {
			continue
		}
		at, o.latestDial = min(at, now), now
		// A pace that fell behind is caught up with, but not for more than a moment.
		planned := max(at, o.next)
		o.next = max(planned, now-10*time.Millisecond) + o.gap
		c.dial(planned, planned)
	}
	o.wake = 0
	if o.schedule.len() > 0 {
		dueTime := o.schedule.next()
		if o.shard.isAway && o.gap > 0 {
			dueTime = min(dueTime, o.latestDial+probeEvery)
		}
		o.wake = max(dueTime, o.next, 1)
	}
	return out, engine.Next{Wake: o.wake}
}

// isProbeDue reports whether a connection is to be tried although its pause is not over: the server is away.
func (o *opener) isProbeDue(now time.Duration) bool {
	return o.shard.isAway && o.gap > 0 && o.schedule.len() > 0 && now >= o.latestDial+probeEvery
}

// retryAll opens the connections whose attempts have failed, since the server serves again.
func (o *opener) retryAll(now time.Duration) {
	waiting := o.schedule
	o.schedule = timetable[*conn]{}
	for waiting.len() > 0 {
		at, c := waiting.take()
		if c.failures > 0 {
			at = min(at, now)
		}
		o.schedule.add(at, c)
	}
	o.shard.loop.Poke(o)
}

// reopen schedules another opening of the connection, later after each failure. While the server is away those that
// have tried once are tried in turn.
func (c *conn) reopen(now time.Duration) {
	if !c.role.needsConn(now) {
		return
	}
	if c.shard.isAway && c.failures > 1 {
		c.shard.opener.add(now+longestDelay, c)
		c.shard.loop.Poke(&c.shard.opener)
		return
	}
	c.shard.opener.add(now+c.reconnectDelay(), c)
}

// delay returns how long to wait after so many failures: between one half and the whole of a time that doubles, spread
// over the connections so that they do not come at the same time.
func (c *conn) delay(first, longest time.Duration) time.Duration {
	limit := longest
	if n := max(c.failures, 1) - 1; n < 12 {
		limit = min(first<<n, longest)
	}
	spread := (uint32(c.number)*2654435761 + uint32(c.failures)*40503) >> 16 % 1024
	return limit/2 + limit/2*time.Duration(spread)/1024
}

// retire ends a connection for good, whatever it was doing.
func (c *conn) retire() {
	if c.phase == phaseRetired {
		return
	}
	c.release()
	c.preparation = nil
	c.phase = phaseRetired
	c.shard.status.OpenConns--
}

// preparation is what a speaker has to do outside the loop before it goes on. The connection
// may be gone by the time it is done, so it belongs to itself.
type preparation struct {
	start time.Duration
	done  atomic.Bool
}

// handleGreeting handles the server's greeting.
func (c *conn) handleGreeting(now time.Duration, e *wire.Event) {
	if e.Kind == wire.Refusal {
		c.lose(now, measure.Rejected, e.Err)
		return
	}
	c.phase = phaseGreeted
	if e.Work == nil {
		return
	}
	p, work := &preparation{start: now}, e.Work
	c.preparation = p
	c.shard.loop.Offload(c, func() {
		work()
		p.done.Store(true)
	})
}

// identify sends what comes before the first command, once that is prepared. The time of the preparation is not the
// server's, so it is left out of the time of hello.
func (c *conn) identify(now time.Duration, out []byte) []byte {
	if p := c.preparation; p != nil {
		if !p.done.Load() {
			return out
		}
		c.openedAt += now - p.start
		c.triedAt -= now - p.start
		c.preparation = nil
	}
	opened, err := c.speaker.Open(out)
	switch {
	case err != nil:
		c.lose(now, measure.Other, err)
		return out
	case len(opened) == len(out):
		c.expect(phaseGreeting, command{op: measure.Hello, sent: now})
		c.decideQuit(now, plan.AtGreeting)
		return out
	}
	c.expect(phaseHello, command{op: measure.Hello, intended: c.openedAt, free: c.openedAt, sent: now})
	c.decideQuit(now, plan.AtHello)
	return opened
}

// handleHelloReply handles the reply to hello. Its time begins with the connection, so that it includes a slow
// greeting.
func (c *conn) handleHelloReply(now time.Duration, e *wire.Event) {
	switch e.Kind {
	case wire.Refusal:
		c.lose(now, measure.Rejected, e.Err)
		return
	case wire.Greeting: // there is more to it
		c.handleGreeting(now, e)
		return
	}
	c.shard.recorder.Command(measure.Hello, measure.Timing{
		Intended: c.openedAt, Free: c.openedAt, Sent: c.openedAt, Replied: now,
	})
	c.phase, c.freeSince, c.readySince, c.pausedUntil, c.isFresh = phaseIdle, now, now, 0, true
	if c.lostAt > 0 {
		c.readySince = min(now, c.lostAt+c.DialedAt()-c.triedAt)
	}
	c.lostAt = 0
	c.shard.noteReady(now)
}

// checkNeed makes a connection check whether it is still needed, at the end of a run or of a worker.
func (c *conn) checkNeed(now time.Duration) {
	switch c.phase {
	case phaseShut:
		c.role.needsConn(now)
	case phaseDialing, phaseGreeting, phaseGreeted:
		c.shard.loop.Poke(c)
	case phaseIdle:
		c.poke()
	case phaseBusy:
		if c.shard.isSettled {
			c.shard.loop.Poke(c)
		}
	}
}

// abandon makes a connection end at once, without goodbye, with or without a reply.
func (c *conn) abandon() {
	switch c.phase {
	case phaseRetired:
	case phaseShut:
		c.retire()
	default:
		c.isAbandoned = true
		c.shard.loop.Poke(c)
	}
}

// finishAbandon ends a connection that was cut, in its next step.
func (c *conn) finishAbandon(now time.Duration) {
	if c.awaitsMessage() {
		c.shard.bookError(c.command.op, measure.Timeout, errSilent)
		c.endWait(now)
	}
	c.drop(now)
	c.retire()
}
