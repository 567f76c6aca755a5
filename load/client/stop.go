package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/measure"
)

// nudge makes a connection check whether it is still needed, at the end of a run or of a worker.
func (c *conn) nudge(now time.Duration) {
	switch c.phase {
	case shut:
		c.role.open(now)
	case dialing, greeting, greeted:
		c.shard.loop.Poke(c)
	case idle:
		c.call()
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
	}
	c.drop(now)
	c.retire()
}
