package client

import "time"

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

// endTasks deals with the tasks that are due.
func (c *Shard) endTasks(now time.Duration) time.Duration {
	for c.clock.waiting.due(now) {
		at, t := c.clock.waiting.take()
		switch t.place {
		case giveUpWork:
			t.worker.giveUpWork(now)
		case giveUpAll:
			t.worker.giveUpAll()
		default:
			if p := &t.worker.places[t.place]; p.stage == working && p.ends == at {
				t.worker.finish(t.place)
			}
		}
	}
	return c.clock.waiting.next()
}

// expire marks in the ledger the jobs whose reservation is about to end, before the server delivers them again. One
// look at all places now and then costs less than a timer for every job.
func (c *Shard) expire(now time.Duration) time.Duration {
	reserve := c.jobs.ReserveFor()
	every := max(reserve/60, time.Second)
	for _, w := range c.workers {
		for i := range w.places {
			if p := &w.places[i]; p.jobHeld() && p.asked+reserve <= now+every {
				w.mayReturn(p)
			}
		}
	}
	return now + every
}
