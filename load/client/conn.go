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

	phase       phase
	failures    uint8 // since the last command that was replied to
	isListed    bool  // among the producers that wait for an arrival
	isPoked     bool  // poked, and not yet stepped
	isAbandoned bool  // to be cut in the next step
	isFresh     bool  // identified, and no command was sent since
	number      int32 // of the connection, in the run

	history *history.Client // of its calls; nil if there is no history

	partialReply []byte       // the beginning of a reply whose rest has not come; borrowed from the shard
	preparation  *preparation // what the speaker has to do aside: under way or done; nil if there is nothing
	command      command      // in flight; in the phases that wait for a reply
	quit         quit         // by the client's own choice

	openDueAt   time.Duration // when the opening was due
	openedAt    time.Duration // when it was opened, plus what the password's hash took
	freeSince   time.Duration // since when no command is in flight
	readySince  time.Duration // the same, less the time in which it was lost: but the pauses of the client are not counted
	lostAt      time.Duration // when it was, and is to be opened again; 0: it is not, or the client has ended it
	triedAt     time.Duration // when it was lost, or the latest attempt to open it failed
	repliedAt   time.Duration // when the latest reply to a command came, on this connection or one before
	pausedUntil time.Duration // no command before this, after one that was refused
	nextAsk     time.Duration // the role wants to be asked again; 0 never
	alarm       time.Duration // when it is looked whether a reply is overdue; 0 never
}

// command is what is known of a command in flight.
type command struct {
	op                   measure.Op
	intended, free, sent time.Duration
}

// role chooses the commands of a connection. Its methods are called in the connection's steps.
type role interface {
	// needsConn reports whether the connection is needed, when the time to open it has come.
	needsConn(now time.Duration) bool
	// next appends the next command, after begin or leave was called for it; or it
	// appends nothing, and sets nextAsk or awaits a poke.
	next(now time.Duration, out []byte) []byte
	// handleReply handles the reply to the command in flight.
	handleReply(now time.Duration, e *wire.Event) outcome
	// handleLoss handles the loss of the connection, and calls reopen if it is still needed. hasCommand is set if a
	// command was in flight, without a reply.
	handleLoss(now time.Duration, hasCommand bool)
	// handleLeave is called when the connection has ended in order, after goodbye.
	handleLeave(now time.Duration)
}

// outcome is the kind of command that a reply belongs to, and the error in the reply; nil if the command succeeded.
type outcome struct {
	op  measure.Op
	err error
}

// phase is where a connection stands.
type phase uint8

const (
	phaseShut     phase = iota // there is none; the opener may have it on its list
	phaseDialing               // it is being opened
	phaseGreeting              // the greeting is awaited
	phaseGreeted               // the client sends hello as soon as it is prepared
	phaseHello                 // the reply to what opens the connection is awaited
	phaseIdle                  // identified, and nothing in flight
	phaseBusy                  // a command is in flight
	phaseLeaving               // goodbye was sent
	phaseRetired               // never to be opened again
)

// awaitsMessage reports whether a message of the server is due.
func (c *conn) awaitsMessage() bool {
	return c.phase == phaseGreeting || c.phase == phaseHello || c.phase == phaseBusy || c.phase == phaseLeaving
}

// acceptsMessage reports whether the speaker is asked what a message of the server means.
func (c *conn) acceptsMessage() bool {
	return c.awaitsMessage() || c.shard.times.SendsNotices && (c.phase == phaseIdle || c.phase == phaseGreeted)
}

// Step implements engine.Session.
func (c *conn) Step(now time.Duration, ev engine.Event, out []byte) ([]byte, engine.Next) {
	c.isPoked = false
	before := len(out)
	switch ev.Kind {
	case engine.Opened:
		c.handleConnect(now)
	case engine.Data:
		out = c.receive(now, ev.In, out)
	case engine.Failed:
		c.lose(now, openErrorKind(ev.Err), ev.Err)
	case engine.Ended:
		c.handleEnd(now, ev.Err)
	case engine.Woken:
		c.handleWake(now)
	}
	out = c.send(now, out)
	if c.tap != nil && len(out) > before {
		c.tap.RecordSent(out[before:], time.Now())
	}
	next := c.engineNext()
	if c.quit.isDecided {
		next = c.disconnect(now, next)
	}
	return out, next
}

// dial opens the connection, which must be shut. planned is when that was due, and free
// since when it could have been done.
func (c *conn) dial(planned, free time.Duration) {
	c.phase, c.openDueAt, c.freeSince = phaseDialing, planned, free
	c.shard.loop.Open(c)
}

func (c *conn) handleConnect(now time.Duration) {
	if c.phase != phaseDialing {
		return
	}
	c.shard.recorder.Command(measure.Connect, measure.Timing{
		Intended: c.openDueAt, Free: c.freeSince, Sent: c.DialedAt(), Replied: now,
	})
	c.phase, c.openedAt = phaseGreeted, now
	c.speaker = c.shard.speaker(c.workerID)
	if c.shard.tap != nil {
		c.tap = c.shard.tap(c.workerID)
	}
	if d, ok := c.role.(*workerConn); ok && d.duties&dutyFetch != 0 {
		if s, subscribes := c.speaker.(wire.Subscriber); subscribes {
			s.Subscribe(&d.worker.queueSet.queues)
		}
	}
}

// begin puts a command in flight. intended is when it was due; it was sent now.
func (c *conn) begin(now time.Duration, op measure.Op, intended time.Duration) {
	c.shard.status.InFlight++
	c.isFresh = false
	c.expect(phaseBusy, command{op: op, intended: intended, free: max(c.freeSince, c.pausedUntil), sent: now})
	if c.shard.disconnects {
		c.decideQuit(now, phaseOf[op])
	}
}

// leave ends the connection in order. Nothing may be sent after it.
func (c *conn) leave(now time.Duration, out []byte) []byte {
	c.shard.noteUnready()
	c.expect(phaseLeaving, command{op: measure.End, intended: now, free: c.freeSince, sent: now})
	return c.speaker.Bye(out)
}

// expect waits for a reply, for as long as the shard's patience. The alarm is not moved
// for each command, so that it costs nothing: when it comes too early, it is set again.
func (c *conn) expect(p phase, cmd command) {
	c.phase, c.command = p, cmd
	if c.alarm == 0 {
		c.alarm = cmd.sent + c.shard.patience
	}
}

// handleWake handles what only a wake shows: an overdue reply, or a connection that must be cut. send finds the rest.
func (c *conn) handleWake(now time.Duration) {
	if c.isAbandoned {
		c.finishAbandon(now)
		return
	}
	if c.alarm == 0 || now < c.alarm {
		return
	}
	c.alarm = 0
	if !c.awaitsMessage() {
		return
	}
	if overdue := c.command.sent + c.shard.patience; now < overdue {
		c.alarm = overdue
		return
	}
	c.bookNoReply(now)
	c.lose(now, measure.Timeout, errSilent)
}

// send appends what is due in the present phase.
func (c *conn) send(now time.Duration, out []byte) []byte {
	if c.quit.isDecided {
		return out
	}
	switch c.phase {
	case phaseDialing, phaseGreeting:
		if c.shard.isStopping && !c.role.needsConn(now) {
			c.retire()
		}
	case phaseGreeted:
		return c.identify(now, out)
	case phaseIdle:
		c.nextAsk = 0
		return c.role.next(now, out)
	case phaseBusy:
		if d, ok := c.role.(*workerConn); ok && c.shard.isSettled && d.current == dutyFetch {
			d.endFetch(now)
		}
	}
	return out
}

// engineNext returns what the loop does after a step.
func (c *conn) engineNext() engine.Next {
	if c.phase == phaseShut || c.phase == phaseRetired {
		c.alarm = 0
		return engine.Next{Close: true}
	}
	wake := c.alarm
	if c.phase == phaseIdle && c.nextAsk > 0 && (wake == 0 || c.nextAsk < wake) {
		wake = c.nextAsk
	}
	return engine.Next{Wake: wake}
}

// poke makes an idle connection ask its role again, and reports whether it was idle.
func (c *conn) poke() bool {
	if c.phase != phaseIdle || c.isPoked {
		return false
	}
	c.isPoked = true
	c.shard.loop.Poke(c)
	return true
}
