package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/engine"
)

// The pauses of a connection that fails again and again double from the first to the
// longest: between two openings, and before the command that follows a refused one.
const (
	firstDelay   = 50 * time.Millisecond
	longestDelay = 5 * time.Second
	firstPause   = 5 * time.Millisecond
	longestPause = time.Second
	worst        = 20 // failures beyond it change nothing
)

// opener opens connections when their time has come, at a steady pace or, without a
// gap, at once. It is only a timer.
type opener struct {
	engine.Link
	shard   *Shard
	waiting timetable[*conn]
	gap     time.Duration // between two openings
	next    time.Duration // the soonest instant for the next one
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
	for o.waiting.due(now) && o.next <= now {
		at, c := o.waiting.take()
		if c.phase != shut || !c.role.open(now) {
			continue
		}
		// A pace that fell behind is caught up with, but not for more than a moment.
		planned := max(at, o.next)
		o.next = max(planned, now-10*time.Millisecond) + o.gap
		c.dial(planned, planned)
	}
	o.wake = 0
	if o.waiting.len() > 0 {
		o.wake = max(o.waiting.next(), o.next, 1)
	}
	return out, engine.Next{Wake: o.wake}
}

// reopen schedules another opening of the connection, later after each failure.
func (c *conn) reopen(now time.Duration) {
	if c.role.open(now) {
		c.shard.opener.add(now+c.reconnectDelay(), c)
	}
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
