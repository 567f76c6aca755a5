package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
)

// phaseOf is the phase of a connection whose command of this kind is in flight.
var phaseOf = map[measure.Op]plan.Phase{
	measure.Push: plan.AtPush, measure.Fetch: plan.AtFetch, measure.Ack: plan.AtAck,
	measure.Fail: plan.AtFail, measure.Beat: plan.AtBeat, measure.Info: plan.AtInfo,
}

// quit is how a client ends its connection by itself, without goodbye.
type quit struct {
	isDecided    bool
	isHalfClosed bool // its half is closed: it awaits the reply, or the end
	ending       plan.Ending
	at           time.Duration // unless the reply comes first
	draws        int64         // decisions so far
}

// decideQuit decides whether the client ends its connection in the phase that it enters.
func (c *conn) decideQuit(now time.Duration, at plan.Phase) {
	if c.shard.disconnects && !c.shard.isStopping {
		c.draw(now, at)
	}
}

func (c *conn) draw(now time.Duration, at plan.Phase) {
	d, isEnding := c.shard.jobs.Disconnect(int(c.number), c.quit.draws, at)
	c.quit.draws++
	if isEnding {
		c.quit.isDecided, c.quit.ending, c.quit.at = true, d.Ending, now+d.After
	}
}

// disconnect ends the connection when the time for that has come: next is what would come
// otherwise. The role books a command in flight as one without a reply.
func (c *conn) disconnect(now time.Duration, next engine.Next) engine.Next {
	q := &c.quit
	switch {
	case c.phase == phaseShut || c.phase == phaseRetired: // it has ended otherwise
		return next
	case !c.awaitsMessage():
	case now < q.at:
		if next.Wake == 0 || q.at < next.Wake {
			next.Wake = q.at
		}
		return next
	case q.ending == plan.HalfClose:
		if next.CloseWrite = !q.isHalfClosed; next.CloseWrite {
			c.shard.status.DisconnectedAt = now
		}
		q.isHalfClosed = true
		return next
	}
	reset := q.ending == plan.Reset
	c.shard.status.Disconnects++
	c.shard.status.DisconnectedAt = now
	c.drop(now)
	return engine.Next{Close: true, Reset: reset}
}

// reconnectDelay returns how long the client waits before it connects again: not at all if it ended the connection
// itself.
func (c *conn) reconnectDelay() time.Duration {
	if c.quit.isDecided {
		return 0
	}
	return c.delay(firstDelay, longestDelay)
}
