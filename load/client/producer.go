package client

import (
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
)

// producer is a connection that pushes what the dispatcher gives it.
type producer struct {
	conn
	index      int // in the whole run
	arrival    arrival
	batch      []arrival // that the same command pushes
	hasArrival bool      // arrival is to be pushed, or in flight

	mustThink bool // it has pushed arrival, and thinks before its next push
}

func (p *producer) connection() *conn { return &p.conn }

// give implements taker.
func (p *producer) give(_ time.Duration, a arrival) bool {
	if p.hasArrival || !p.poke() {
		return false
	}
	p.arrival, p.hasArrival = a, true
	if p.shard.work.Batch > 1 {
		p.shard.dispatcher.batchProducer = p
	}
	return true
}

// fill takes one more arrival for the command that is to be sent; false if there is no room.
func (p *producer) fill(a arrival) bool {
	room := len(p.batch)+1 < p.shard.work.Batch
	if room {
		p.batch = append(p.batch, a)
	}
	return room
}

// askAgain implements taker.
func (p *producer) askAgain(time.Duration) { p.poke() }

func (p *producer) needsConn(time.Duration) bool {
	if p.shard.isStopping {
		p.retire()
		return false
	}
	return true
}

func (p *producer) next(now time.Duration, out []byte) []byte {
	d := &p.shard.dispatcher
	if !p.hasArrival {
		if p.shard.isStopping || p.shard.isFilled && p.shard.share.producersOnlyPrefill {
			return p.leave(now, out)
		}
		ready := p.readyAt()
		if ready > now {
			p.nextAsk = ready
			return out
		}
		if p.arrival, p.hasArrival = d.ask(now, p, ready); !p.hasArrival {
			return out
		}
	}
	if p.shard.work.Batch > 1 {
		return p.pushAll(now, out)
	}
	p.begin(now, measure.Push, p.arrival.intended)
	return p.shard.push(now, out, p.speaker, p.arrival, p.index)
}

// pushAll pushes what is due in one command, as far as there is room.
func (p *producer) pushAll(now time.Duration, out []byte) []byte {
	d, c := &p.shard.dispatcher, p.shard
	if d.batchProducer == p {
		d.batchProducer = nil
	}
	for len(p.batch)+1 < c.work.Batch {
		a, ok := d.nextWaiting(now, p.arrival.intended)
		if !ok {
			break
		}
		d.assignments++
		p.batch = append(p.batch, a)
	}
	p.begin(now, measure.Push, p.arrival.intended)
	c.batch = append(c.batch[:0], c.bookSent(now, p.arrival, p.index))
	for _, a := range p.batch {
		c.batch = append(c.batch, c.bookSent(now, a, p.index))
	}
	return p.speaker.(wire.Batcher).PushAll(out, c.batch) //nolint:forcetypeassert // of a protocol that has batches
}

// readyAt is the instant from which the producer may take its next arrival: at once in
// an open loop, after the time to think in a closed one.
func (p *producer) readyAt() time.Duration {
	d := &p.shard.dispatcher
	if d.mode != modeClosed {
		p.pausedUntil = 0 // the plan does not wait for the server
		return 0
	}
	at := p.readySince
	if d.hasThinkTime && p.mustThink {
		at += p.shard.jobs.Think(p.arrival.k)
	}
	return max(at, p.pausedUntil, d.start+time.Duration(p.index)*StartInterval)
}

// StartInterval is the time between the first pushes of two producers of a closed loop: all at one instant would be a
// burst that no server sees otherwise.
const StartInterval = 100 * time.Microsecond

func (p *producer) handleReply(now time.Duration, e *wire.Event) outcome {
	result := p.bookReply(now, p.arrival, e)
	for _, a := range p.batch {
		if other := p.bookReply(now, a, e); other.err != nil {
			p.shard.bookError(other.op, measure.Rejected, other.err)
			continue
		}
		p.shard.recorder.Command(measure.Push, measure.Timing{
			Intended: a.intended, Free: p.command.free, Sent: p.command.sent, Replied: now,
		})
	}
	if e.Err != nil {
		p.slowDown(now)
	}
	p.hasArrival, p.mustThink, p.batch = false, true, p.batch[:0]
	return result
}

// bookReply books the reply to the push of an arrival.
func (p *producer) bookReply(now time.Duration, a arrival, e *wire.Event) outcome {
	err := e.Err
	if len(e.Refusals) > 0 {
		if reason, isRefused := e.Refusals[p.shard.jid(a.k)]; isRefused {
			err = &wire.RefusedError{Text: reason}
		}
	}
	if err != nil {
		p.shard.dispatcher.removeWaiting(now)
	}
	p.notePush(a.k, outcomeOf(err))
	p.shard.dispatcher.assignments--
	return p.shard.bookPushReply(a, err)
}

func (p *producer) handleLoss(now time.Duration, hasCommand bool) {
	for _, a := range append(p.batch, p.arrival) {
		if hasCommand {
			p.notePush(a.k, history.NoReply)
		}
		p.shard.bookPushLoss(a, p.hasArrival, hasCommand)
		if hasCommand {
			p.shard.dispatcher.removeWaiting(now)
		}
	}
	if d := &p.shard.dispatcher; d.batchProducer == p {
		d.batchProducer = nil
	}
	p.hasArrival, p.mustThink, p.batch = false, false, p.batch[:0]
	p.reopen(now)
}

func (p *producer) handleLeave(time.Duration) { p.retire() }

// push appends the push of an arrival and books it.
func (c *Shard) push(now time.Duration, out []byte, s wire.Speaker, a arrival, producer int) []byte {
	c.pushJob = c.bookSent(now, a, producer)
	return s.Push(out, &c.pushJob)
}

// bookSent books the push of an arrival, and returns its job.
func (c *Shard) bookSent(now time.Duration, a arrival, producer int) plan.Push {
	c.ledger.BookSent(a.k, now)
	return plan.Push{
		Jobs: c.jobs, Number: a.k, Producer: producer, Intended: max(0, a.intended-c.loadStart), Now: c.engineStart.Add(now),
	}
}

// bookPushReply books the reply to the push of an arrival, which belongs to the window in which it was due. It was
// refused if there is an error.
func (c *Shard) bookPushReply(a arrival, err error) outcome {
	if err != nil {
		c.ledger.BookRefusal(a.k)
	} else {
		c.ledger.BookPush(a.k)
		c.recorder.CountCarried(a.intended)
	}
	return outcome{measure.Push, err}
}

// bookPushLoss books that a connection is gone which had an arrival, sent or not.
func (c *Shard) bookPushLoss(a arrival, hasArrival, isSent bool) {
	switch {
	case isSent:
		c.ledger.BookDoubt(a.k)
		c.dispatcher.assignments--
	case hasArrival:
		c.dispatcher.giveBack(a)
	}
}
