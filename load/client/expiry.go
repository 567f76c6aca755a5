package client

import (
	"time"

	"github.com/fwpsuite/fwp/load/engine"
)

// task is a place whose work ends, or what is to be given up when a worker's time to
// terminate is over.
type task struct {
	worker *worker
	place  int32
}

const (
	giveUpWork int32 = -1 - iota
	giveUpAll
)

// clock has the times at which work ends. It is only a timer.
type clock struct {
	engine.Link
	shard *Shard
	tasks timetable[task]
	wake  time.Duration // that it has asked for
}

func (k *clock) add(at time.Duration, t task) {
	k.tasks.add(at, t)
	if k.wake == 0 || at < k.wake {
		k.shard.loop.Poke(k)
	}
}

// Step implements engine.Session.
func (k *clock) Step(now time.Duration, _ engine.Event, out []byte) ([]byte, engine.Next) {
	for k.tasks.isDue(now) {
		at, t := k.tasks.take()
		switch t.place {
		case giveUpWork:
			t.worker.giveUpWork(now)
		case giveUpAll:
			t.worker.giveUpAll()
		default:
			if p := &t.worker.places[t.place]; p.stage == stageWorking && p.ends == at {
				t.worker.finish(t.place)
			}
		}
	}
	k.wake = k.tasks.next()
	return out, engine.Next{Wake: k.wake}
}

// sweeper marks in the ledger the jobs whose reservation is about to end, before the server delivers them again. It
// is only a timer.
type sweeper struct {
	engine.Link
	shard *Shard
}

// Step implements engine.Session. One look at all places now and then costs less than
// a timer for every job.
func (s *sweeper) Step(now time.Duration, _ engine.Event, out []byte) ([]byte, engine.Next) {
	reserve := s.shard.jobs.ReserveFor()
	every := max(reserve/60, time.Second)
	for _, w := range s.shard.workers {
		for i := range w.places {
			if p := &w.places[i]; p.holdsJob() && p.fetchSent+reserve <= now+every {
				w.bookReturnable(p)
			}
		}
		w.endDenials(func(j denial) bool { return j.until <= now+every })
	}
	return out, engine.Next{Wake: now + every}
}
