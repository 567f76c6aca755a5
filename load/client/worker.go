package client

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/load/wire"
)

// What a connection of a worker is for. A worker with one connection has it do
// everything; a pool shares its worker id among several.
type duties uint8

const (
	fetching duties = 1 << iota
	reporting
	beating
	observing
)

// worker is a worker id with its connections and its places of work.
//
// A place is taken from the moment when a fetch goes out for it until the job that the
// fetch brought was reported, so that no more is fetched than can be worked on and
// reported.
type worker struct {
	shard   *Shard
	id      string // wid
	asks    *asks
	state   wire.State // as the server orders by beat
	passive bool       // it has no places: it only beats, or observes
	drained bool       // it is among the shard's Emptied

	conns  []*duty
	places []place
	free   []int32      // places with no job
	done   queue[int32] // places whose job is to be reported, in the order in which the work ended
	denied []denial

	room    time.Duration // since when there is a free place
	beat    time.Duration // when the next beat is due; 0 before the first connection
	known   time.Duration // when the latest beat was sent whose reply left the state as it was in the beginning
	emptied time.Duration // when the latest fetch was sent that came back empty; -1 before
}

// place is where a job is worked on.
type place struct {
	stage      stage
	ours       bool // k is known
	fails      bool // the report is a fail
	returns    bool // after that fail the job is delivered again
	returnable bool // the ledger knows that it may be delivered again
	repeated   bool // the client did not await the reply to the report before
	by         *duty
	k          int64
	jid        []byte        // as JSON has it, without the quotes
	name       string        // the jid, for the history; empty if there is none
	intended   time.Duration // of its push
	asked      time.Duration // when the fetch was sent
	ends       time.Duration // when the work ends, or ended
}

type stage uint8

const (
	vacant stage = iota
	awaited
	working
	worked
	reported // the report is in flight
)

// jobHeld reports whether the worker has a job there.
func (p *place) jobHeld() bool { return p.stage >= working }

// denial is a job of which a report was refused: for the server the worker has it, as long as its reservation runs.
type denial struct {
	k     int64
	by    *duty
	until time.Duration
}

// endDenials books that the server may deliver jobs again of which a report was refused.
func (w *worker) endDenials(over func(denial) bool) {
	w.denied = slices.DeleteFunc(w.denied, func(j denial) bool {
		if !over(j) {
			return false
		}
		w.shard.ledger.MayReturn(j.k)
		return true
	})
}

// mayFetch reports whether one more job is wanted.
func (w *worker) mayFetch() bool {
	return w.shard.fetching && w.state == wire.Working && len(w.free) > 0 && !w.shard.stopping
}

// stops reports whether the worker ends its connections once it holds nothing.
func (w *worker) stops() bool { return w.shard.stopping || w.state == wire.Terminating }

// holdsNothing reports whether no job is held and no fetch is out.
func (w *worker) holdsNothing() bool { return len(w.free) == len(w.places) }

// call makes one idle connection with the duty look for work.
func (w *worker) call(d duties) {
	for _, c := range w.conns {
		if c.duties&d != 0 && c.call() {
			return
		}
	}
}

// callAll makes all connections look for work.
func (w *worker) callAll(now time.Duration) {
	for _, c := range w.conns {
		c.nudge(now)
	}
}

// take begins the work on a job that has come.
func (w *worker) take(now time.Duration, i int32) {
	p := &w.places[i]
	if len(p.jid) == 0 { // there is nothing that could be reported
		w.vacate(now, i)
		return
	}
	p.stage, p.ends = working, now
	w.shard.status.Held++
	work := time.Duration(0)
	if p.ours {
		work = w.shard.jobs.Work(p.k)
	}
	if work <= 0 {
		w.finish(i)
		return
	}
	p.ends = now + work
	w.shard.clock.add(p.ends, task{w, i})
}

// finish ends the work; the report is due since then.
func (w *worker) finish(i int32) {
	w.places[i].stage = worked
	w.done.push(i)
	w.call(reporting)
}

// vacate makes a place free.
func (w *worker) vacate(now time.Duration, i int32) {
	p := &w.places[i]
	if p.jobHeld() {
		w.shard.status.Held--
	}
	p.stage, p.by = vacant, nil
	if len(w.free) == 0 {
		w.room = now
	}
	w.free = append(w.free, i)
	switch {
	case w.mayFetch():
		w.call(fetching)
	case w.stops() && w.holdsNothing():
		w.callAll(now)
	}
}

// mayReturn books that the server may deliver the job of a place again.
func (w *worker) mayReturn(p *place) {
	if p.ours && !p.returnable {
		p.returnable = true
		w.shard.ledger.MayReturn(p.k)
	}
}

// order enters the state that the reply to a heartbeat orders. Jobs that a terminating worker has not done in time are
// reported as failed.
func (w *worker) order(now time.Duration, s wire.State) {
	if s <= w.state {
		return
	}
	if w.state == wire.Working {
		w.fetchesNoMore()
	}
	w.state = s
	if s == wire.Terminating {
		w.shard.clock.add(now+w.shard.times.FailAfter, task{w, giveUpWork})
		w.shard.clock.add(now+w.shard.times.EndAfter, task{w, giveUpAll})
		w.callAll(now)
	}
}

// giveUpWork reports as failed what is still being worked on.
func (w *worker) giveUpWork(now time.Duration) {
	for i := range w.places {
		p := &w.places[i]
		if p.stage == working {
			if !p.fails && p.ours {
				p.returns = w.shard.shared.attempts(p.k) < w.shard.jobs.Retry(p.k)
				w.shard.shared.fail(p.k)
			}
			p.fails, p.ends = true, now
			w.finish(int32(i))
		}
	}
}

// giveUpAll ends every connection, replied to or not.
func (w *worker) giveUpAll() {
	for _, c := range w.conns {
		c.cut()
	}
}
