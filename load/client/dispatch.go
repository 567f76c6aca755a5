package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/engine"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
)

// Overload is what happens to an arrival that finds all producers busy.
type Overload uint8

// The ways to treat an overload.
const (
	Queue Overload = iota // it waits for the first that is free
	Drop                  // it is dropped and counted
	Abort                 // it ends the run
)

// arrival is a push that is due.
type arrival struct {
	k        int64
	intended time.Duration
}

// taker takes arrivals: a producer, or a short-lived connection.
type taker interface {
	// give hands over an arrival, unless the taker is not free any more.
	give(now time.Duration, a arrival) bool
	// again makes the taker ask once more.
	again(now time.Duration)
	// self is the taker's connection.
	self() *conn
}

type mode uint8

const (
	resting mode = iota // nothing is pushed
	closed              // the next push when the reply has come
	planned             // as the plan says
)

// dispatcher hands out arrivals. Those that wait are not kept anywhere: they are
// what the plan has up to now and no taker has taken, so that a server which hangs costs
// no memory.
type dispatcher struct {
	engine.Link
	shard    *Shard
	mode     mode
	overload Overload
	aborted  bool
	waited   int64 // arrivals that found no taker free
	peak     int64 // the most of them at a time
	thinks   bool  // a closed loop with time to think

	start time.Duration // of the plan, or of the closed loop
	plan  *plan.Cursor
	of    int   // shards that share the arrivals: those that have takers
	base  int64 // the number of the first job of this mode
	limit int64 // of the whole run's jobs in this mode; 0 is none
	count int64 // numbers given out, closed loop

	most    int64 // closed loop: jobs that may wait in the queues; 0 is any number
	looking bool  // a wake was asked for, because producers are held

	head     arrival // the next of the plan
	more     bool    // there is one
	passed   int64   // arrivals before it
	ahead    lookout
	asleep   bool // no wake was asked for although there is one
	returned queue[arrival]
	free     queue[taker]
	filling  *producer // was given an arrival, and has room for more in the same command
	taken    int       // arrivals that are neither booked nor returned
}

// begin starts a mode. Jobs are counted from base, and takers over all shards.
func (d *dispatcher) begin(m mode, start time.Duration, base, limit int64, takers int) {
	d.mode, d.start, d.base, d.limit, d.count = m, start, base, limit, 0
	d.of = min(d.shard.of, takers)
	d.more = d.shard.index < d.of
	if m == planned && d.more {
		d.plan = d.arrivals()
		d.passed = -1
		d.advance()
		d.ahead = lookout{plan: d.arrivals(), due: -1}
		d.ahead.next()
	}
	d.shard.loop.Poke(d)
	if m == closed {
		d.callAll(start)
	}
}

// arrivals returns a cursor on this shard's share of the arrivals of its segment.
func (d *dispatcher) arrivals() *plan.Cursor {
	parts := d.shard.segment.Parts()
	return d.shard.plan.Share(int(d.shard.segment.Number(int64(d.shard.index))), parts*d.of)
}

// callAll makes all takers that wait ask again.
func (d *dispatcher) callAll(now time.Duration) {
	for range d.free.len() {
		t, _ := d.free.pop()
		t.self().listed = false
		t.again(now)
	}
}

// stop ends the pushing. What the plan had up to now and no taker has taken is given up.
func (d *dispatcher) stop(now time.Duration) {
	for d.returned.len() > 0 {
		a, _ := d.returned.pop()
		d.giveUp(now, a)
	}
	for d.mode == planned && d.more && d.head.intended <= now {
		d.giveUp(now, d.head)
		d.advance()
	}
	d.mode, d.more = resting, false
}

// giveUp records an arrival that is never sent: one that was waiting for a connection is unserved.
func (d *dispatcher) giveUp(now time.Duration, a arrival) {
	if d.shard.plan == nil || d.overload != Queue {
		d.shard.recorder.Drop(1)
		return
	}
	op := measure.Push
	if d.shard.work.Churn {
		op = measure.Connect
	}
	d.shard.recorder.Unserved(op, a.intended, now)
}

// due reports whether there are arrivals left that no taker has taken.
func (d *dispatcher) due() bool { return d.returned.len() > 0 || d.mode != resting && d.more }

// advance goes on to the next arrival of the plan.
func (d *dispatcher) advance() {
	k, at, ok := d.plan.Next()
	d.head, d.more = arrival{d.base + k, d.start + at}, ok
	d.passed++
}

// backlog returns how many arrivals are due that no client has taken.
func (d *dispatcher) backlog(now time.Duration) int64 {
	if d.mode != planned || !d.more {
		return 0
	}
	return max(0, d.ahead.count(now-d.start)-d.passed)
}

// lookout counts the arrivals that are due, whether they were taken or not.
type lookout struct {
	plan *plan.Cursor
	at   time.Duration // of the next
	more bool
	due  int64 // before it
}

func (o *lookout) next() {
	_, o.at, o.more = o.plan.Next()
	o.due++
}

func (o *lookout) count(now time.Duration) int64 {
	for o.more && o.at <= now {
		o.next()
	}
	return o.due
}

// ask is called by a taker that is free: it returns an arrival that is waiting, or puts
// the taker on the list of those that are free. In a closed loop the arrival is due at the instant ready.
func (d *dispatcher) ask(now time.Duration, t taker, ready time.Duration) (arrival, bool) {
	if a, ok := d.waiting(now, ready); ok {
		d.taken++
		return a, true
	}
	if c := t.self(); !c.listed {
		c.listed = true
		d.free.push(t)
	}
	if d.asleep {
		d.shard.loop.Poke(d)
	}
	return arrival{}, false
}

func (d *dispatcher) waiting(now, ready time.Duration) (arrival, bool) {
	if a, ok := d.returned.pop(); ok {
		return a, true
	}
	switch {
	case !d.more:
	case d.mode == closed && d.held():
		if !d.looking {
			d.shard.loop.Poke(d)
		}
	case d.mode == closed:
		return d.number(ready)
	case d.mode == planned && d.overload == Queue && d.head.intended <= now:
		if d.free.len() > 0 { // it belongs to a taker that was free before; the timer is late
			d.shard.loop.Poke(d)
			break
		}
		d.peak = max(d.peak, d.backlog(now))
		a := d.head
		d.advance()
		d.waited++
		return a, true
	}
	return arrival{}, false
}

// number is the next job of a closed loop. The shards of a segment take turns, as the segments of a load do.
func (d *dispatcher) number(ready time.Duration) (arrival, bool) {
	k := d.shard.segment.Number(int64(d.shard.index) + d.count*int64(d.of))
	if d.limit > 0 && k >= d.limit {
		d.more = false
		return arrival{}, false
	}
	d.count++
	if d.most > 0 {
		d.shard.shared.ahead.Add(1)
	}
	return arrival{d.base + k, ready}, true
}

// giveBack takes an arrival that was handed out and never sent.
func (d *dispatcher) giveBack(a arrival) {
	d.taken--
	if d.mode == resting {
		d.giveUp(d.shard.loop.Now(), a)
		return
	}
	d.returned.push(a)
	d.shard.loop.Poke(d)
}

// Step implements engine.Session.
func (d *dispatcher) Step(now time.Duration, _ engine.Event, out []byte) ([]byte, engine.Next) {
	for d.returned.len() > 0 && d.handOut(now, d.returned.ring[d.returned.first]) {
		d.returned.pop()
	}
	if d.mode == closed {
		return out, engine.Next{Wake: d.lookAfterHeld(now)}
	}
	for d.mode == planned && d.more && d.head.intended <= now {
		if !d.handOut(now, d.head) && !d.turnAway() {
			break
		}
		d.advance()
	}
	d.asleep = d.mode == planned && d.more && d.head.intended <= now
	if d.mode != planned || !d.more || d.asleep {
		return out, engine.Next{}
	}
	return out, engine.Next{Wake: d.head.intended}
}

// handOut gives an arrival to the taker that has been free the longest; false if none is.
func (d *dispatcher) handOut(now time.Duration, a arrival) bool {
	if d.filling != nil && d.filling.fill(a) {
		d.taken++
		return true
	}
	for {
		t, ok := d.free.pop()
		if !ok {
			return false
		}
		t.self().listed = false
		if t.give(now, a) {
			d.taken++
			return true
		}
	}
}

// turnAway handles an arrival that found no taker free, and reports whether it was dropped.
func (d *dispatcher) turnAway() bool {
	switch d.overload {
	case Drop:
		d.shard.recorder.Drop(1)
		return true
	case Abort:
		d.aborted = true
		d.shard.recorder.Drop(1)
		d.mode, d.more = resting, false
	}
	return false
}
