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
	// askAgain makes the taker ask once more.
	askAgain(now time.Duration)
	// connection is the taker's connection.
	connection() *conn
}

type mode uint8

const (
	modeIdle    mode = iota // nothing is pushed
	modeClosed              // the next push when the reply has come
	modePlanned             // as the plan says
)

// dispatcher hands out arrivals. Those that wait are not kept anywhere: they are
// what the plan has up to now and no taker has taken, so that a server which hangs costs
// no memory.
type dispatcher struct {
	engine.Link
	shard        *Shard
	mode         mode
	overload     Overload
	isAborted    bool
	waitCount    int64 // arrivals that found no taker free
	peak         int64 // the most of them at a time
	hasThinkTime bool  // a closed loop with time to think

	start    time.Duration // of the plan, or of the closed loop
	plan     *plan.Cursor
	shards   int   // shards that share the arrivals: those that have takers
	base     int64 // the number of the first job of this mode
	jobLimit int64 // of the whole run's jobs in this mode; 0 is none
	count    int64 // numbers given out, closed loop

	backlogLimit int64 // closed loop: jobs that may wait in the queues; 0 is any number
	isLooking    bool  // a wake was asked for, because producers are held

	nextArrival   arrival // the next of the plan
	hasNext       bool    // there is one
	nextIndex     int64   // arrivals before it
	dueCounter    dueCounter
	isAsleep      bool // the next arrival is due, and waits for a taker to ask: no wake is set
	returns       queue[arrival]
	freeTakers    queue[taker]
	batchProducer *producer // was given an arrival, and has room for more in the same command
	assignments   int       // arrivals that are neither booked nor returned
}

// begin starts a mode. Jobs are counted from base, and takers over all shards.
func (d *dispatcher) begin(m mode, start time.Duration, base, limit int64, takers int) {
	d.mode, d.start, d.base, d.jobLimit, d.count = m, start, base, limit, 0
	d.shards = min(d.shard.shards, takers)
	d.hasNext = d.shard.index < d.shards
	if m == modePlanned && d.hasNext {
		d.plan = d.arrivals()
		d.nextIndex = -1
		d.advance()
		d.dueCounter = dueCounter{plan: d.arrivals(), dueCount: -1}
		d.dueCounter.next()
	}
	d.shard.loop.Poke(d)
	if m == modeClosed {
		d.askAllAgain(start)
	}
}

// arrivals returns a cursor on this shard's share of the arrivals of its segment.
func (d *dispatcher) arrivals() *plan.Cursor {
	parts := d.shard.segment.Parts()
	return d.shard.plan.Cursor(int(d.shard.segment.Number(int64(d.shard.index))), parts*d.shards)
}

// askAllAgain makes all takers that wait ask again.
func (d *dispatcher) askAllAgain(now time.Duration) {
	for range d.freeTakers.len() {
		t, _ := d.freeTakers.pop()
		t.connection().isListed = false
		t.askAgain(now)
	}
}

// stop ends the pushing. What the plan had up to now and no taker has taken is given up.
func (d *dispatcher) stop(now time.Duration) {
	for d.returns.len() > 0 {
		a, _ := d.returns.pop()
		d.giveUp(now, a)
	}
	for d.mode == modePlanned && d.hasNext && d.nextArrival.intended <= now {
		d.giveUp(now, d.nextArrival)
		d.advance()
	}
	d.mode, d.hasNext = modeIdle, false
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
	d.shard.recorder.RecordUnserved(op, a.intended, now)
}

// hasDue reports whether there are arrivals left that no taker has taken.
func (d *dispatcher) hasDue() bool { return d.returns.len() > 0 || d.mode != modeIdle && d.hasNext }

// advance goes on to the next arrival of the plan.
func (d *dispatcher) advance() {
	k, at, ok := d.plan.Next()
	d.nextArrival, d.hasNext = arrival{d.base + k, d.start + at}, ok
	d.nextIndex++
}

// backlog returns how many arrivals are due that no client has taken.
func (d *dispatcher) backlog(now time.Duration) int64 {
	if d.mode != modePlanned || !d.hasNext {
		return 0
	}
	return max(0, d.dueCounter.count(now-d.start)-d.nextIndex)
}

// dueCounter counts the arrivals that are due, whether they were taken or not.
type dueCounter struct {
	plan     *plan.Cursor
	at       time.Duration // of the next
	hasNext  bool
	dueCount int64 // before it
}

func (o *dueCounter) next() {
	_, o.at, o.hasNext = o.plan.Next()
	o.dueCount++
}

func (o *dueCounter) count(now time.Duration) int64 {
	for o.hasNext && o.at <= now {
		o.next()
	}
	return o.dueCount
}

// ask is called by a taker that is free: it returns an arrival that is waiting, or puts
// the taker on the list of those that are free. In a closed loop the arrival is due at the instant ready.
func (d *dispatcher) ask(now time.Duration, t taker, ready time.Duration) (arrival, bool) {
	if a, ok := d.nextWaiting(now, ready); ok {
		d.assignments++
		return a, true
	}
	if c := t.connection(); !c.isListed {
		c.isListed = true
		d.freeTakers.push(t)
	}
	if d.isAsleep {
		d.shard.loop.Poke(d)
	}
	return arrival{}, false
}

func (d *dispatcher) nextWaiting(now, ready time.Duration) (arrival, bool) {
	if a, ok := d.returns.pop(); ok {
		return a, true
	}
	switch {
	case !d.hasNext:
	case d.mode == modeClosed && d.isBacklogFull():
		if !d.isLooking {
			d.shard.loop.Poke(d)
		}
	case d.mode == modeClosed:
		return d.nextNumber(ready)
	case d.mode == modePlanned && d.overload == Queue && d.nextArrival.intended <= now:
		if d.freeTakers.len() > 0 { // it belongs to a taker that was free before; the timer is late
			d.shard.loop.Poke(d)
			break
		}
		d.peak = max(d.peak, d.backlog(now))
		a := d.nextArrival
		d.advance()
		d.waitCount++
		return a, true
	}
	return arrival{}, false
}

// nextNumber is the next job of a closed loop. The shards of a segment take turns, as the segments of a load do.
func (d *dispatcher) nextNumber(ready time.Duration) (arrival, bool) {
	k := d.shard.segment.Number(int64(d.shard.index) + d.count*int64(d.shards))
	if d.jobLimit > 0 && k >= d.jobLimit {
		d.hasNext = false
		return arrival{}, false
	}
	d.count++
	if d.backlogLimit > 0 {
		d.shard.shared.queuedJobs.Add(1)
	}
	return arrival{d.base + k, ready}, true
}

// giveBack takes an arrival that was handed out and never sent.
func (d *dispatcher) giveBack(a arrival) {
	d.assignments--
	if d.mode == modeIdle {
		d.giveUp(d.shard.loop.Now(), a)
		return
	}
	d.returns.push(a)
	d.shard.loop.Poke(d)
}

// Step implements engine.Session.
func (d *dispatcher) Step(now time.Duration, _ engine.Event, out []byte) ([]byte, engine.Next) {
	for d.returns.len() > 0 && d.handOut(now, d.returns.ring[d.returns.first]) {
		d.returns.pop()
	}
	if d.mode == modeClosed {
		return out, engine.Next{Wake: d.releaseHeld(now)}
	}
	for d.mode == modePlanned && d.hasNext && d.nextArrival.intended <= now {
		if !d.handOut(now, d.nextArrival) && !d.handleOverload() {
			break
		}
		d.advance()
	}
	d.isAsleep = d.mode == modePlanned && d.hasNext && d.nextArrival.intended <= now
	if d.mode != modePlanned || !d.hasNext || d.isAsleep {
		return out, engine.Next{}
	}
	return out, engine.Next{Wake: d.nextArrival.intended}
}

// handOut gives an arrival to the taker that has been free the longest; false if none is.
func (d *dispatcher) handOut(now time.Duration, a arrival) bool {
	if d.batchProducer != nil && d.batchProducer.fill(a) {
		d.assignments++
		return true
	}
	for {
		t, ok := d.freeTakers.pop()
		if !ok {
			return false
		}
		t.connection().isListed = false
		if t.give(now, a) {
			d.assignments++
			return true
		}
	}
}

// handleOverload handles an arrival that found no taker free, and reports whether it was dropped.
func (d *dispatcher) handleOverload() bool {
	switch d.overload {
	case Drop:
		d.shard.recorder.Drop(1)
		return true
	case Abort:
		d.isAborted = true
		d.shard.recorder.Drop(1)
		d.mode, d.hasNext = modeIdle, false
	}
	return false
}
