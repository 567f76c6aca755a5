package client

import (
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workload"
)

// preparing is what a speaker has to do outside the loop before it goes on. The connection
// may be gone by the time it is done, so it belongs to itself.
type preparing struct {
	began time.Duration
	done  atomic.Bool
}

// greeted handles the server's greeting.
func (c *conn) greeted(now time.Duration, e *protocol.Event) {
	if e.Kind == protocol.Refused {
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
		c.preparing = nil
	}
	opened, err := c.speaker.Open(out)
	switch {
	case err != nil:
		c.lose(now, measure.Other, err)
		return out
	case len(opened) == len(out):
		c.expect(greeting, command{op: measure.Hello, sent: now})
		c.mayQuit(now, workload.AtGreeting)
		return out
	}
	c.expect(hello, command{op: measure.Hello, intended: c.opened, free: c.opened, sent: now})
	c.mayQuit(now, workload.AtHello)
	return opened
}

// identified handles the reply to hello. Its time begins with the connection, so that it includes a slow greeting.
func (c *conn) identified(now time.Duration, e *protocol.Event) {
	switch e.Kind {
	case protocol.Refused:
		c.lose(now, measure.Rejected, e.Err)
		return
	case protocol.Greeted: // there is more to it
		c.greeted(now, e)
		return
	}
	c.shard.recorder.Command(measure.Hello, measure.Timing{
		Intended: c.opened, Free: c.opened, Sent: c.opened, Replied: now,
	})
	c.phase, c.free, c.pause, c.fresh = idle, now, 0, true
	c.shard.becameReady()
}
