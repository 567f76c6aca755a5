package client

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/load/wire"
)

// duties are what a connection of a worker is for: one does everything, or a pool
// shares the worker id.
type duties uint8

const (
	dutyFetch duties = 1 << iota
	dutyReport
	dutyBeat
	dutyObserve
)

// worker is a worker id with its connections and its places of work.
//
// A place is taken from the moment when a fetch goes out for it until the job that the
// fetch brought was reported, so that no more is fetched than can be worked on and
// reported.
type worker struct {
	shard     *Shard
	id        string // wid
	queueSet  *queueSet
	state     wire.State // as the server orders by beat
	isPassive bool       // it has no places: it only beats, or observes
	isDrained bool       // it is among the shard's DrainedWorkers

	conns      []*workerConn
	places     []place
	freePlaces []int32      // places with no job
	reports    queue[int32] // places whose job is to be reported, in the order in which the work ended
	denials    []denial

	freeSince   time.Duration // since when there is a free place
	nextBeat    time.Duration // when the next beat is due; 0 before the first connection
	latestBeat  time.Duration // when the latest beat was sent whose reply left the state as it was in the beginning
	latestEmpty time.Duration // when the latest fetch was sent that came back empty; -1 before
}

// place is where a job is worked on.
type place struct {
	stage        stage
	hasNumber    bool // k is known
	willFail     bool // the report is a fail
	willReturn   bool // after that fail the job is delivered again
	isReturnable bool // the ledger knows that it may be delivered again
	isRepeated   bool // the client did not await the reply to the report before
	duty         *workerConn
	k            int64
	jid          []byte        // as JSON has it, without the quotes
	name         string        // the jid, for the history; empty if there is none
	intended     time.Duration // of its push
	fetchSent    time.Duration // when the fetch was sent
	ends         time.Duration // when the work ends, or ended
}

type stage uint8

const (
	stageVacant stage = iota
	stageAwaited
	stageWorking
	stageWorked
	stageReported // the report is in flight
)

// holdsJob reports whether the worker has a job there.
func (p *place) holdsJob() bool { return p.stage >= stageWorking }

// denial is a job of which a report was refused: for the server the worker has it, as long as its reservation runs.
type denial struct {
	k     int64
	duty  *workerConn
	until time.Duration
}

// endDenials books that the server may deliver jobs again of which a report was refused.
func (w *worker) endDenials(isOver func(denial) bool) {
	w.denials = slices.DeleteFunc(w.denials, func(j denial) bool {
		if !isOver(j) {
			return false
		}
		w.shard.ledger.BookReturnable(j.k)
		return true
	})
}

// mayFetch reports whether one more job is wanted.
func (w *worker) mayFetch() bool {
	return w.shard.isFetching && w.state == wire.Working && len(w.freePlaces) > 0 && !w.shard.isStopping
}

// stops reports whether the worker ends its connections once it holds nothing.
func (w *worker) stops() bool { return w.shard.isStopping || w.state == wire.Terminating }

// holdsNothing reports whether no job is held and no fetch is out.
func (w *worker) holdsNothing() bool { return len(w.freePlaces) == len(w.places) }

// poke makes one idle connection with the duty look for work.
func (w *worker) poke(d duties) {
	for _, c := range w.conns {
		if c.duties&d != 0 && c.poke() {
			return
		}
	}
}

// checkAll makes all connections look for work.
func (w *worker) checkAll(now time.Duration) {
	for _, c := range w.conns {
		c.checkNeed(now)
	}
}

// take begins the work on a job that has come.
func (w *worker) take(now time.Duration, i int32) {
	p := &w.places[i]
	if len(p.jid) == 0 { // there is nothing that could be reported
		w.vacate(now, i)
		return
	}
	p.stage, p.ends = stageWorking, now
	w.shard.status.HeldJobs++
	work := time.Duration(0)
	if p.hasNumber {
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
	w.places[i].stage = stageWorked
	w.reports.push(i)
	w.poke(dutyReport)
}

// vacate makes a place free.
func (w *worker) vacate(now time.Duration, i int32) {
	p := &w.places[i]
	if p.holdsJob() {
		w.shard.status.HeldJobs--
	}
	p.stage, p.duty = stageVacant, nil
	if len(w.freePlaces) == 0 {
		w.freeSince = now
	}
	w.freePlaces = append(w.freePlaces, i)
	switch {
	case w.mayFetch():
		w.poke(dutyFetch)
	case w.stops() && w.holdsNothing():
		w.checkAll(now)
	}
}

// bookReturnable books that the server may deliver the job of a place again.
func (w *worker) bookReturnable(p *place) {
	if p.hasNumber && !p.isReturnable {
		p.isReturnable = true
		w.shard.ledger.BookReturnable(p.k)
	}
}

// enterState enters the state that the reply to a heartbeat orders. Jobs that a terminating worker has not done in time
// are reported as failed.
func (w *worker) enterState(now time.Duration, s wire.State) {
	if s <= w.state {
		return
	}
	if w.state == wire.Working {
		w.stopFetching()
	}
	w.state = s
	if s == wire.Terminating {
		w.shard.clock.add(now+w.shard.times.FailAfter, task{w, giveUpWork})
		w.shard.clock.add(now+w.shard.times.EndAfter, task{w, giveUpAll})
		w.checkAll(now)
	}
}

// giveUpWork reports as failed what is still being worked on.
func (w *worker) giveUpWork(now time.Duration) {
	for i := range w.places {
		p := &w.places[i]
		if p.stage == stageWorking {
			if !p.willFail && p.hasNumber {
				p.willReturn = w.shard.shared.attempts(p.k) < w.shard.jobs.Retry(p.k)
				w.shard.shared.fail(p.k)
			}
			p.willFail, p.ends = true, now
			w.finish(int32(i))
		}
	}
}

// giveUpAll ends every connection, replied to or not.
func (w *worker) giveUpAll() {
	for _, c := range w.conns {
		c.abandon()
	}
}
