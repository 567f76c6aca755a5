package bugs

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// wakeBugs are about which FETCH that waits is woken by a PUSH. The one that is not gets its job when its wait is over.
var wakeBugs = []fakes.Bug{
	bug("wake-longest-of-all",
		lateIf(func(w *waits, _ *event, f *wait) bool { return w.fetches[0].queue != f.queue })),
	bug("wake-latest-of-all",
		lateIf(func(w *waits, _ *event, f *wait) bool { return w.fetches[len(w.fetches)-1].queue != f.queue })),
	bug("wake-second-none", lateIf(func(w *waits, _ *event, f *wait) bool {
		return time.Since(w.wakeTimes[f.queue]) < 100*time.Millisecond
	})),
	bug("wake-one-that-left",
		lateIf(func(w *waits, _ *event, f *wait) bool { return w.takeStale(w.abandoned, f.queue) })),
	bug("wake-one-that-timed-out",
		lateIf(func(w *waits, _ *event, f *wait) bool { return w.takeStale(w.timedOut, f.queue) })),
	bug("wake-after-refusal-none", lateIf(func(w *waits, _ *event, _ *wait) bool { return w.wasRefused })),
	bug("wake-after-flush-none", lateIf(func(w *waits, _ *event, f *wait) bool { return f.since.Before(w.flushTime) })),
	bug("wake-after-close-none", lateIf(func(w *waits, _ *event, f *wait) bool { return f.since.Before(w.closeTime) })),
	bug("wake-quiet-first", lateIf(func(w *waits, e *event, f *wait) bool {
		return slices.ContainsFunc(w.fetches, func(o *wait) bool {
			return o.queue == f.queue && e.Conn.Server().Worker(o.worker).IsQuiet()
		})
	})),
	bug("wake-one-queue-only", lateIf(func(_ *waits, _ *event, f *wait) bool { return f.queues > 1 })),
	bug("wake-one-of-a-worker", lateIf(func(w *waits, _ *event, f *wait) bool {
		return slices.ContainsFunc(w.fetches, func(o *wait) bool { return o != f && o.worker == f.worker })
	})),
	bug("wake-by-producers-only", lateIf(func(_ *waits, e *event, _ *wait) bool { return e.Conn.Worker != "" })),
}

// waits is what a hook knows of the FETCHes that wait.
type waits struct {
	fetches             []*wait              // the longest first
	abandoned, timedOut map[string]bool      // queues
	wakeTimes           map[string]time.Time // of the last wake, by queue
	lateJobs            map[string]*wait
	wasRefused          bool // the last PUSH but the present one was
	flushTime           time.Time
	closeTime           time.Time // of a connection
}

// wait is one FETCH.
type wait struct {
	conn          int64
	worker, queue string // the first one
	queues        int
	since         time.Time
}

// takeStale reports whether a queue has an entry, which is gone then.
func (*waits) takeStale(entries map[string]bool, queue string) bool {
	defer delete(entries, queue)
	return entries[queue]
}

// lateIf returns hooks of a server where a job that is pushed for a FETCH gets there when the wait is over, if that is
// missed.
func lateIf(isMissed func(w *waits, e *event, f *wait) bool) func() func(*event) {
	isPush := anyOf(isDone(fwp.PUSH), isRefused(fwp.PUSH))
	events := anyOf(isValid(fwp.FETCH), atRan(fwp.FETCH), isEndOfWait, at(fakes.Delivered), isPush, isDone(fwp.FLUSH),
		isEnd, at(fakes.Unfinished, fakes.Disconnected))
	return withMemory(events, func(w *waits, e *event) {
		switch {
		case e.Point == fakes.Reserved:
			w.wake(e, isMissed)
		case e.Point == fakes.Delivered:
			if f := w.lateJobs[jid(e)]; f != nil {
				e.Delay = time.Until(f.since.Add(2 * time.Second))
				delete(w.lateJobs, jid(e))
			}
		case e.Command.Verb == fwp.FETCH:
			w.follow(e)
		case e.Command.Verb == fwp.PUSH && e.Point == fakes.Ran:
			w.wasRefused = e.Err != nil
		case isDone(fwp.FLUSH)(e):
			w.flushTime = time.Now()
		default:
			w.closeTime = time.Now()
		}
	})
}

// wake decides whether the FETCH that gets a job is missed.
func (w *waits) wake(e *event, isMissed func(w *waits, e *event, f *wait) bool) {
	queue := e.Object.Text("queue")
	i := slices.IndexFunc(w.fetches, func(f *wait) bool { return f.queue == queue && !w.isServed(f) })
	if i < 0 {
		return
	}
	if w.lateJobs == nil {
		w.lateJobs, w.wakeTimes = map[string]*wait{}, map[string]time.Time{}
	}
	f := w.fetches[i]
	if isMissed(w, e, f) {
		w.lateJobs[jid(e)] = f
	}
	w.wakeTimes[queue] = time.Now()
}

// isServed reports whether a job is on its way to a FETCH.
func (w *waits) isServed(f *wait) bool {
	for _, other := range w.lateJobs {
		if other == f {
			return true
		}
	}
	return false
}

// follow records the beginning and the end of a FETCH.
func (w *waits) follow(e *event) {
	if e.Point == fakes.Checked {
		queues := queuesOf(e.Command)
		w.fetches = append(w.fetches, &wait{e.Conn.ID, e.Conn.Worker, queues[0], len(queues), time.Now()})
		return
	}
	i := slices.IndexFunc(w.fetches, func(f *wait) bool { return f.conn == e.Conn.ID })
	if i < 0 {
		return
	}
	if w.abandoned == nil {
		w.abandoned, w.timedOut = map[string]bool{}, map[string]bool{}
	}
	queue := w.fetches[i].queue
	switch {
	case e.Point == fakes.Disconnected:
		w.abandoned[queue] = true
	case hasNoJob(e) && !w.abandoned[queue]:
		w.timedOut[queue] = true
	}
	if e.Point == fakes.Ran {
		w.fetches = slices.Delete(w.fetches, i, i+1)
	}
}
