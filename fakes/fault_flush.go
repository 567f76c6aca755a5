package fakes

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// flushFaults do not clear everything.
func flushFaults() []Fault {
	return []Fault{
		statefulFault("flush-keeps-schedule", "FLUSH-02",
			"FLUSH does not clear the scheduled jobs",
			kept(Scheduled, "scheduled")),
		statefulFault("flush-keeps-retries", "FLUSH-02",
			"FLUSH does not clear the jobs that wait for their retry",
			kept(Failed, "retries")),
		statefulFault("flush-revives-dead", "FLUSH-02", "FLUSH enqueues the dead jobs again", kept(Failed, "dead")),
		statefulFault("flush-keeps-default", "FLUSH-02",
			"FLUSH does not clear the queue default",
			flushKeeps(func(q string) bool { return q == defaultQueue })),
		statefulFault("flush-keeps-long-names", "FLUSH-02",
			"FLUSH does not clear queues with names of more than 40 bytes",
			flushKeeps(func(q string) bool { return len(q) > 40 })),
		statefulFault("flush-keeps-held", "FLUSH-02",
			"a job that was held before a FLUSH can fail after it, and is retried",
			failsAfterFlush),
		statefulFault("flush-once", "FLUSH-02", "only the first FLUSH clears anything", flushOnce),
		fault("flush-of-a-worker", "FLUSH-02", "the FLUSH of a worker is answered with OK and clears nothing",
			on(Flushed, func(e *Event) { e.Skip = e.Conn != nil && e.Conn.Worker != "" })),
	}
}

// kept pushes the jobs that had come to a set again after a FLUSH.
func kept(p Point, set string) func() func(*Event) {
	return func() func(*Event) {
		var mu sync.Mutex
		waiting := map[string]func(*Event){} // by jid
		flushed := func() []func(*Event) {
			mu.Lock()
			defer mu.Unlock()
			defer clear(waiting)
			return slices.Collect(maps.Values(waiting))
		}
		return func(e *Event) {
			switch {
			case e.Point == p && e.Set == set:
				object, until := e.Object.clone(), e.Until
				mu.Lock()
				defer mu.Unlock()
				waiting[e.Object.Text("jid")] = func(e *Event) { again(e, object, until) }
			case e.Point == Due:
				mu.Lock()
				defer mu.Unlock()
				delete(waiting, e.Object.Text("jid"))
			case e.Point == Ran && e.Command.Verb == fwp.FLUSH && e.Err == nil:
				for _, push := range flushed() { // which calls the hook
					push(e)
				}
			}
		}
	}
}

// failsAfterFlush accepts a FAIL of a job that only a FLUSH has taken from its worker.
func failsAfterFlush() func(*Event) {
	var held notes[string, *Object]
	return func(e *Event) {
		switch {
		case e.Point == Delivered:
			held.put(e.Object.Text("jid"), e.Object.clone())
		case e.Point == Expired, e.Point == Failed, e.Point == Acked:
			held.take(e.Object.Text("jid"))
		case e.Point == Ran && e.Command.Verb == fwp.FAIL && e.about() == AboutJob:
			if object, was := held.take(e.Object.Text("jid")); was {
				again(e, object, time.Now().Add(20*time.Second))
				e.Err, e.Reply = nil, okay()
			}
		}
	}
}

// flushKeeps pushes the jobs of some queues again after a FLUSH.
func flushKeeps(keeps func(queue string) bool) func() func(*Event) {
	return func() func(*Event) {
		var kept notes[int64, []*job]
		return func(e *Event) {
			switch {
			case e.Point == Checked && e.Command.Verb == fwp.FLUSH && e.Err == nil:
				var all []*job
				for _, s := range e.Conn.server.store.Jobs() {
					if s.Due.IsZero() && keeps(s.Job.queue) {
						all = append(all, s.Job)
					}
				}
				kept.put(e.Conn.ID, all)
			case e.Point == Ran && e.Command.Verb == fwp.FLUSH:
				all, _ := kept.take(e.Conn.ID)
				for _, j := range all {
					_ = e.Conn.server.store.Push(&Event{Conn: e.Conn}, j, time.Time{})
				}
			}
		}
	}
}

func flushOnce() func(*Event) {
	var flushed atomic.Bool
	return on(Flushed, func(e *Event) { e.Skip = flushed.Swap(true) })
}
