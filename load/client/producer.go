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
	index int // in the whole run
	todo  arrival
	more  []arrival // that the same command pushes
	has   bool      // todo is to be pushed, or in flight

	thinks bool // before its next push, as it has pushed todo
}

func (p *producer) self() *conn { return &p.conn }

// give implements taker.
func (p *producer) give(_ time.Duration, a arrival) bool {
	if p.has || !p.call() {
		return false
	}
	p.todo, p.has = a, true
	if p.shard.work.Batch > 1 {
		p.shard.dispatcher.filling = p
	}
	return true
}

// fill takes one more arrival for the command that is to be sent; false if there is no room.
func (p *producer) fill(a arrival) bool {
	room := len(p.more)+1 < p.shard.work.Batch
	if room {
		p.more = append(p.more, a)
	}
	return room
}

// again implements taker.
func (p *producer) again(time.Duration) { p.call() }

func (p *producer) open(time.Duration) bool {
	if p.shard.stopping {
		p.retire()
		return false
	}
	return true
}

func (p *producer) next(now time.Duration, out []byte) []byte {
	d := &p.shard.dispatcher
	if !p.has {
		if p.shard.stopping || p.shard.filled && p.shard.share.fillOnly {
			return p.leave(now, out)
		}
		ready := p.ready()
		if ready > now {
			p.due = ready
			return out
		}
		if p.todo, p.has = d.ask(now, p, ready); !p.has {
			return out
		}
	}
	if p.shard.work.Batch > 1 {
		return p.pushAll(now, out)
	}
	p.begin(now, measure.Push, p.todo.intended)
	return p.shard.push(now, out, p.speaker, p.todo, p.index)
}

// pushAll pushes what is due in one command, as far as there is room.
func (p *producer) pushAll(now time.Duration, out []byte) []byte {
	d, c := &p.shard.dispatcher, p.shard
	if d.filling == p {
		d.filling = nil
	}
	for len(p.more)+1 < c.work.Batch {
		a, ok := d.waiting(now, p.todo.intended)
		if !ok {
			break
		}
		d.taken++
		p.more = append(p.more, a)
	}
	p.begin(now, measure.Push, p.todo.intended)
	c.batch = append(c.batch[:0], c.book(now, p.todo, p.index))
	for _, a := range p.more {
		c.batch = append(c.batch, c.book(now, a, p.index))
	}
	return p.speaker.(wire.Batcher).PushAll(out, c.batch) //nolint:forcetypeassert // of a protocol that has batches
}

// ready is the instant from which the producer may take its next arrival: at once in
// an open loop, after the time to think in a closed one.
func (p *producer) ready() time.Duration {
	d := &p.shard.dispatcher
	if d.mode != closed {
		p.pause = 0 // the plan does not wait for the server
		return 0
	}
	ready := p.since
	if d.thinks && p.thinks {
		ready += p.shard.jobs.Think(p.todo.k)
	}
	return max(ready, p.pause, d.start+time.Duration(p.index)*StartApart)
}

// StartApart is the time between the first pushes of two producers of a closed loop: all at one instant would be a
// burst that no server sees otherwise.
const StartApart = 100 * time.Microsecond

func (p *producer) answered(now time.Duration, e *wire.Event) outcome {
	got := p.done(now, p.todo, e)
	for _, a := range p.more {
		if other := p.done(now, a, e); other.err != nil {
			p.shard.trouble(other.op, measure.Rejected, other.err)
			continue
		}
		p.shard.recorder.Command(measure.Push, measure.Timing{
			Intended: a.intended, Free: p.asked.free, Sent: p.asked.sent, Replied: now,
		})
	}
	if e.Err != nil {
		p.slow(now)
	}
	p.has, p.thinks, p.more = false, true, p.more[:0]
	return got
}

// done books the reply to the push of an arrival.
func (p *producer) done(now time.Duration, a arrival, e *wire.Event) outcome {
	err := e.Err
	if len(e.Refusals) > 0 {
		if why, refused := e.Refusals[p.shard.jid(a.k)]; refused {
			err = &wire.RefusedError{Text: why}
		}
	}
	if err != nil {
		p.shard.dispatcher.gone(now)
	}
	p.notePush(a.k, replied(err))
	p.shard.dispatcher.taken--
	return p.shard.pushed(a, err)
}

func (p *producer) lost(now time.Duration, asked bool) {
	for _, a := range append(p.more, p.todo) {
		if asked {
			p.notePush(a.k, history.Open)
		}
		p.shard.unpushed(a, p.has, asked)
		if asked {
			p.shard.dispatcher.gone(now)
		}
	}
	if d := &p.shard.dispatcher; d.filling == p {
		d.filling = nil
	}
	p.has, p.thinks, p.more = false, false, p.more[:0]
	p.reopen(now)
}

func (p *producer) left(time.Duration) { p.retire() }

// push appends the push of an arrival and books it.
func (c *Shard) push(now time.Duration, out []byte, s wire.Speaker, a arrival, producer int) []byte {
	c.pushing = c.book(now, a, producer)
	return s.Push(out, &c.pushing)
}

// book books the push of an arrival, and returns its job.
func (c *Shard) book(now time.Duration, a arrival, producer int) plan.Push {
	c.ledger.Sent(a.k, now)
	return plan.Push{
		Jobs: c.jobs, K: a.k, Producer: producer, Intended: max(0, a.intended-c.loadFrom), Now: c.began.Add(now),
	}
}

// pushed books the reply to the push of an arrival, which belongs to the window in which it was due. It was refused if
// there is an error.
func (c *Shard) pushed(a arrival, refused error) outcome {
	if refused != nil {
		c.ledger.Refused(a.k)
	} else {
		c.ledger.Pushed(a.k)
		c.recorder.Carried(a.intended)
	}
	return outcome{measure.Push, refused}
}

// unpushed books that a connection is gone which had an arrival, sent or not.
func (c *Shard) unpushed(a arrival, has, sent bool) {
	switch {
	case sent:
		c.ledger.Doubtful(a.k)
		c.dispatcher.taken--
	case has:
		c.dispatcher.giveBack(a)
	}
}
