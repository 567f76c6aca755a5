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
	worst        = 20 // failures beyond it change nothing

	// probeEvery is how often one of the connections tries while none is open: the pauses of all are not the server's.
	probeEvery = 100 * time.Millisecond
)

// opener opens connections when their time has come, at a steady pace or, without a
// gap, at once. It is only a timer.
type opener struct {
	engine.Link
	shard   *Shard
	waiting timetable[*conn]
	gap     time.Duration // between two openings
	next    time.Duration // the soonest instant for the next one
	dialed  time.Duration // the latest one
	wake    time.Duration // that it has asked for
}

// add schedules the opening of c, at the instant at or as soon after it as the pace allows.
func (o *opener) add(at time.Duration, c *conn) {
	o.waiting.add(at, c)
	if o.wake == 0 || at < o.wake {
		o.shard.loop.Poke(o)
	}
}

// Step implements engine.Session.
func (o *opener) Step(now time.Duration, _ engine.Event, out []byte) ([]byte, engine.Next) {
	for o.next <= now && (o.waiting.due(now) || o.probes(now)) {
		at, c := o.waiting.take()
		if c.phase != shut || !c.role.open(now) {
			continue
		}
		at, o.dialed = min(at, now), now
		// A pace that fell behind is caught up with, but not for more than a moment.
		planned := max(at, o.next)
		o.next = max(planned, now-10*time.Millisecond) + o.gap
		c.dial(planned, planned)
	}
	o.wake = 0
	if o.waiting.len() > 0 {
		due := o.waiting.next()
		if o.shard.away && o.gap > 0 {
			due = min(due, o.dialed+probeEvery)
		}
		o.wake = max(due, o.next, 1)
	}
	return out, engine.Next{Wake: o.wake}
}

// probes reports whether a connection is to be tried although its pause is not over: the server is away.
func (o *opener) probes(now time.Duration) bool {
	return o.shard.away && o.gap > 0 && o.waiting.len() > 0 && now >= o.dialed+probeEvery
}

// follow opens the connections whose attempts have failed, since the server serves again.
func (o *opener) follow(now time.Duration) {
	waiting := o.waiting
	o.waiting = timetable[*conn]{}
	for waiting.len() > 0 {
		at, c := waiting.take()
		if c.failures > 0 {
			at = min(at, now)
		}
		o.waiting.add(at, c)
	}
	o.shard.loop.Poke(o)
}

// reopen schedules another opening of the connection, later after each failure. While the server is away those that
// have tried once are tried in turn.
func (c *conn) reopen(now time.Duration) {
	if !c.role.open(now) {
		return
	}
	if c.shard.away && c.failures > 1 {
		c.shard.opener.add(now+longestDelay, c)
		c.shard.loop.Poke(&c.shard.opener)
		return
	}
	c.shard.opener.add(now+c.reconnectDelay(), c)
}

// delay returns how long to wait after so many failures: between one half and the whole of a time that doubles, spread
// over the connections so that they do not come at the same time.
func (c *conn) delay(first, longest time.Duration) time.Duration {
	whole := longest
	if n := max(c.failures, 1) - 1; n < 12 {
		whole = min(first<<n, longest)
	}
	spread := (uint32(c.number)*2654435761 + uint32(c.failures)*40503) >> 16 % 1024
	return whole/2 + whole/2*time.Duration(spread)/1024
}

// retire ends a connection for good, whatever it was doing.
func (c *conn) retire() {
	if c.phase == over {
		return
	}
	c.release()
	c.preparing = nil
	c.phase = over
	c.shard.status.Open--
}

// preparing is what a speaker has to do outside the loop before it goes on. The connection
// may be gone by the time it is done, so it belongs to itself.
type preparing struct {
	began time.Duration
	done  atomic.Bool
}

// greeted handles the server's greeting.
func (c *conn) greeted(now time.Duration, e *wire.Event) {
	if e.Kind == wire.Refused {
		c.lose(now, measure.Rejected, e.Err)
		return
	}
	c.phase = greeted
	if e.Work == nil {
		return
	}
	p, work := &preparing{began: now}, e.Work
	c.preparing = p
	c.shard.loop.Aside(c, func() {
		work()
		p.done.Store(true)
	})
}

// identify sends what comes before the first command, once that is prepared. The time of the preparation is not the
// server's, so it is left out of the time of hello.
func (c *conn) identify(now time.Duration, out []byte) []byte {
	if p := c.preparing; p != nil {
		if !p.done.Load() {
			return out
		}
		c.opened += now - p.began
		c.tried -= now - p.began
		c.preparing = nil
	}
	opened, err := c.speaker.Open(out)
	switch {
	case err != nil:
		c.lose(now, measure.Other, err)
		return out
	case len(opened) == len(out):
		c.expect(greeting, command{op: measure.Hello, sent: now})
		c.mayQuit(now, plan.AtGreeting)
		return out
	}
	c.expect(hello, command{op: measure.Hello, intended: c.opened, free: c.opened, sent: now})
	c.mayQuit(now, plan.AtHello)
	return opened
}

// identified handles the reply to hello. Its time begins with the connection, so that it includes a slow greeting.
func (c *conn) identified(now time.Duration, e *wire.Event) {
	switch e.Kind {
	case wire.Refused:
		c.lose(now, measure.Rejected, e.Err)
		return
	case wire.Greeted: // there is more to it
		c.greeted(now, e)
		return
	}
	c.shard.recorder.Command(measure.Hello, measure.Timing{
		Intended: c.opened, Free: c.opened, Sent: c.opened, Replied: now,
	})
	c.phase, c.free, c.since, c.pause, c.fresh = idle, now, now, 0, true
	if c.lost > 0 {
		c.since = min(now, c.lost+c.Dialed()-c.tried)
	}
	c.lost = 0
	c.shard.becameReady(now)
}

// nudge makes a connection check whether it is still needed, at the end of a run or of a worker.
func (c *conn) nudge(now time.Duration) {
	switch c.phase {
	case shut:
		c.role.open(now)
	case dialing, greeting, greeted:
		c.shard.loop.Poke(c)
	case idle:
		c.call()
	case busy:
		if c.shard.settled {
			c.shard.loop.Poke(c)
		}
	}
}

// cut makes a connection end at once, without goodbye, with or without a reply.
func (c *conn) cut() {
	switch c.phase {
	case over:
	case shut:
		c.retire()
	default:
		c.doomed = true
		c.shard.loop.Poke(c)
	}
}

// fall ends a connection that was cut, in its next step.
func (c *conn) fall(now time.Duration) {
	if c.waits() {
		c.shard.trouble(c.asked.op, measure.Timeout, errSilent)
		c.endWait(now)
	}
	c.drop(now)
	c.retire()
}
