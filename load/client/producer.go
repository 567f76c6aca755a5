package client

import (
	"time"

	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workload"
)

// producer is a connection that pushes what the dispatcher gives it.
type producer struct {
	conn
	index int // in the whole run
	todo  arrival
	has   bool // todo is to be pushed, or in flight

	thinks bool // before its next push, as it has pushed todo
}

func (p *producer) self() *conn { return &p.conn }

// give implements taker.
func (p *producer) give(_ time.Duration, a arrival) bool {
	if p.has || !p.call() {
		return false
	}
	p.todo, p.has = a, true
	return true
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
	p.begin(now, measure.Push, p.todo.intended)
	return p.shard.push(now, out, p.speaker, p.todo, p.index)
}

// ready is the instant from which the producer may take its next arrival: at once in
// an open loop, after the time to think in a closed one.
func (p *producer) ready() time.Duration {
	d := &p.shard.dispatcher
	if d.mode != closed {
		p.pause = 0 // the plan does not wait for the server
		return 0
	}
	ready := p.free
	if d.thinks && p.thinks {
		ready += p.shard.jobs.Think(p.todo.k)
	}
	return max(ready, p.pause, d.start)
}

func (p *producer) answered(now time.Duration, e *protocol.Event) outcome {
	got := p.shard.pushed(p.todo.k, e.Err)
	if e.Err != nil {
		p.shard.dispatcher.gone(now)
	}
	p.notePush(p.todo.k, replied(e.Err))
	if e.Err != nil {
		p.slow(now)
	}
	p.has, p.thinks = false, true
	p.shard.dispatcher.taken--
	return got
}

func (p *producer) lost(now time.Duration, asked bool) {
	if asked {
		p.notePush(p.todo.k, history.Open)
	}
	p.shard.unpushed(p.todo, p.has, asked)
	if asked {
		p.shard.dispatcher.gone(now)
	}
	p.has, p.thinks = false, false
	p.reopen(now)
}

func (p *producer) left(time.Duration) { p.retire() }

// push appends the push of an arrival and books it.
func (c *Shard) push(now time.Duration, out []byte, s protocol.Speaker, a arrival, producer int) []byte {
	c.ledger.Sent(a.k, now)
	c.pushing = workload.Push{
		Jobs: c.jobs, K: a.k, Producer: producer, Intended: max(0, a.intended-c.loadFrom), Now: c.began.Add(now),
	}
	return s.Push(out, &c.pushing)
}

// pushed books the reply to a push, which was refused if there is an error.
func (c *Shard) pushed(k int64, refused error) outcome {
	if refused != nil {
		c.ledger.Refused(k)
	} else {
		c.ledger.Pushed(k)
		c.expectOwn(k, true)
	}
	return outcome{measure.Push, refused}
}

// unpushed books that a connection is gone which had an arrival, sent or not.
func (c *Shard) unpushed(a arrival, has, sent bool) {
	switch {
	case sent:
		c.ledger.Doubtful(a.k)
		c.expectOwn(a.k, false)
		c.dispatcher.taken--
	case has:
		c.dispatcher.giveBack(a)
	}
}
