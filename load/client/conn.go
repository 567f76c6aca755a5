package client

import (
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
)

// conn is one connection: how it opens, then one command at a time, and its end. Once it is identified, its role
// chooses the commands.
//
// The shard's opener opens it, because a session that closes its connection is not woken any more.
type conn struct {
	engine.Link
	shard    *Shard
	role     role
	workerID string       // the worker's id; empty for a client that only pushes
	speaker  wire.Speaker // of the present connection
	tap      Tap          // the same; nil if nothing gets its bytes

	phase    phase
	failures uint8 // since the last command that was replied to
	listed   bool  // among the producers that wait for an arrival
	called   bool  // poked, and not yet stepped
	doomed   bool  // to be cut in the next step
	fresh    bool  // identified, and no command was sent since
	number   int32 // of the connection, in the run

	history *history.Client // of its calls; nil if there is no history

	kept      []byte     // the beginning of a reply whose rest has not come; borrowed from the shard
	preparing *preparing // what the speaker has to do aside: under way or done; nil if there is nothing
	asked     command    // in flight; in the phases that wait for a reply
	quit      quit       // by the client's own choice

	planned time.Duration // when it was to be opened
	opened  time.Duration // when it was, plus what the password's hash took
	free    time.Duration // since when no command is in flight
	since   time.Duration // the same, less the time in which it was lost: but the pauses of the client are not counted
	lost    time.Duration // when it was, and is to be opened again; 0: it is not, or the client has ended it
	tried   time.Duration // when it was lost, or the latest attempt to open it failed
	replied time.Duration // when the latest reply to a command came, on this connection or one before
	pause   time.Duration // no command before this, after one that was refused
	due     time.Duration // the role wants to be asked again; 0 never
	alarm   time.Duration // when it is looked whether a reply is overdue; 0 never
}

// command is what is known of a command in flight.
type command struct {
	op                   measure.Op
	intended, free, sent time.Duration
}

// role chooses the commands of a connection. Its methods are called in the connection's steps.
type role interface {
	// open reports whether the connection is needed, when the time to open it has come.
	open(now time.Duration) bool
	// next appends the next command, after begin or leave was called for it; or it
	// appends nothing and sets due, or waits to be poked.
	next(now time.Duration, out []byte) []byte
	// answered handles the reply to the command in flight.
	answered(now time.Duration, e *wire.Event) outcome
	// lost handles the loss of the connection, and calls reopen if it is still needed. asked is whether a command
	// was in flight, which has no reply.
	lost(now time.Duration, asked bool)
	// left is called when the connection has ended in order, after goodbye.
	left(now time.Duration)
}

// outcome is the kind of command that a reply belongs to, and the error in the reply; nil if the command succeeded.
type outcome struct {
	op  measure.Op
	err error
}

// phase is where a connection stands.
type phase uint8

const (
	shut     phase = iota // there is none; the opener may have it on its list
	dialing               // it is being opened
	greeting              // the greeting is awaited
	greeted               // the client sends hello as soon as it is prepared
	hello                 // the reply to what opens the connection is awaited
	idle                  // identified, and nothing in flight
	busy                  // a command is in flight
	leaving               // goodbye was sent
	over                  // never to be opened again
)

// waits reports whether a message of the server is due.
func (c *conn) waits() bool {
	return c.phase == greeting || c.phase == hello || c.phase == busy || c.phase == leaving
}

// hears reports whether the speaker is asked what a message of the server means.
func (c *conn) hears() bool {
	return c.waits() || c.shard.times.Pushes && (c.phase == idle || c.phase == greeted)
}

// Step implements engine.Session.
func (c *conn) Step(now time.Duration, ev engine.Event, out []byte) ([]byte, engine.Next) {
	c.called = false
	before := len(out)
	switch ev.Kind {
	case engine.Opened:
		c.connected(now)
	case engine.Data:
		out = c.receive(now, ev.In, out)
	case engine.Failed:
		c.lose(now, opening(ev.Err), ev.Err)
	case engine.Ended:
		c.ended(now, ev.Err)
	case engine.Woken:
		c.look(now)
	}
	out = c.send(now, out)
	if c.tap != nil && len(out) > before {
		c.tap.Sent(out[before:], time.Now())
	}
	next := c.rest()
	if c.quit.decided {
		next = c.disconnect(now, next)
	}
	return out, next
}

// dial opens the connection, which must be shut. planned is when that was due, and free
// since when it could have been done.
func (c *conn) dial(planned, free time.Duration) {
	c.phase, c.planned, c.free = dialing, planned, free
	c.shard.loop.Open(c)
}

func (c *conn) connected(now time.Duration) {
	if c.phase != dialing {
		return
	}
	c.shard.recorder.Command(measure.Connect, measure.Timing{
		Intended: c.planned, Free: c.free, Sent: c.Dialed(), Replied: now,
	})
	c.phase, c.opened = greeted, now
	c.speaker = c.shard.speaker(c.workerID)
	if c.shard.tap != nil {
		c.tap = c.shard.tap(c.workerID)
	}
	if d, is := c.role.(*duty); is && d.duties&fetching != 0 {
		if s, subscribes := c.speaker.(wire.Subscriber); subscribes {
			s.Subscribe(&d.worker.asks.queues)
		}
	}
}

// begin puts a command in flight. intended is when it was due; it was sent now.
func (c *conn) begin(now time.Duration, op measure.Op, intended time.Duration) {
	c.shard.status.InFlight++
	c.fresh = false
	c.expect(busy, command{op: op, intended: intended, free: max(c.free, c.pause), sent: now})
	if c.shard.disconnects {
		c.mayQuit(now, phaseOf[op])
	}
}

// leave ends the connection in order. Nothing may be sent after it.
func (c *conn) leave(now time.Duration, out []byte) []byte {
	c.shard.unready()
	c.expect(leaving, command{op: measure.End, intended: now, free: c.free, sent: now})
	return c.speaker.Bye(out)
}

// expect waits for a reply, for as long as the shard's patience. The alarm is not moved
// for each command, so that it costs nothing: when it comes too early, it is set again.
func (c *conn) expect(p phase, asked command) {
	c.phase, c.asked = p, asked
	if c.alarm == 0 {
		c.alarm = asked.sent + c.shard.patience
	}
}

// look handles what only a wake shows: an overdue reply, or a connection that must be cut. send finds the rest.
func (c *conn) look(now time.Duration) {
	if c.doomed {
		c.fall(now)
		return
	}
	if c.alarm == 0 || now < c.alarm {
		return
	}
	c.alarm = 0
	if !c.waits() {
		return
	}
	if overdue := c.asked.sent + c.shard.patience; now < overdue {
		c.alarm = overdue
		return
	}
	c.unanswered(now)
	c.lose(now, measure.Timeout, errSilent)
}

// send appends what is due in the present phase.
func (c *conn) send(now time.Duration, out []byte) []byte {
	if c.quit.decided {
		return out
	}
	switch c.phase {
	case dialing, greeting:
		if c.shard.stopping && !c.role.open(now) {
			c.retire()
		}
	case greeted:
		return c.identify(now, out)
	case idle:
		c.due = 0
		return c.role.next(now, out)
	case busy:
		if d, is := c.role.(*duty); is && c.shard.settled && d.doing == fetching {
			d.endFetch(now)
		}
	}
	return out
}

// rest returns what the loop does after a step.
func (c *conn) rest() engine.Next {
	if c.phase == shut || c.phase == over {
		c.alarm = 0
		return engine.Next{Close: true}
	}
	wake := c.alarm
	if c.phase == idle && c.due > 0 && (wake == 0 || c.due < wake) {
		wake = c.due
	}
	return engine.Next{Wake: wake}
}

// call makes an idle connection ask its role again, and reports whether it was idle.
func (c *conn) call() bool {
	if c.phase != idle || c.called {
		return false
	}
	c.called = true
	c.shard.loop.Poke(c)
	return true
}
