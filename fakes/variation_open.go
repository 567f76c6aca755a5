package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/fwp"
)

// writtenVariations are about forms of times.
func writtenVariations() []Variation {
	rewritten := func(layout string) func(*Event) {
		return when(Defaulted, fwp.PUSH, func(e *Event) {
			if t, ok := asTime(e.Object.Get("created_at")); ok {
				e.Object.SetText("created_at", t.UTC().Format(layout))
			}
		})
	}
	return []Variation{
		variation("time-many-digits", "Work units",
			"the server writes its own times with twelve digits of a second",
			delivered(func(job *Object) {
				if t, ok := asTime(job.Get("enqueued_at")); ok {
					job.SetText("enqueued_at", t.UTC().Format("2006-01-02T15:04:05.000000000")+"000Z")
				}
			})),
		variation("time-given-milliseconds", "Work units",
			"a created_at is kept in whole milliseconds", rewritten("2006-01-02T15:04:05.000Z07:00")),
		variation("time-given-seconds", "Work units",
			"a created_at is kept in whole seconds", rewritten("2006-01-02T15:04:05Z07:00")),
	}
}

// openVariations are about what the text leaves open: when and where jobs come back, and reports about jobs that are
// not held.
func openVariations() []Variation {
	return []Variation{
		variation("retries-first", "AMB-27",
			"a job that comes back is the first of its queue",
			on(Enqueued, func(e *Event) { e.Front = e.Object.Get("failure") != nil })),
		variation("retries-at-once-nearly", "AMB-38",
			"a failed job is enqueued again after half a second",
			on(Failed, func(e *Event) {
				if e.Set == "retries" {
					e.Until = time.Now().Add(500 * time.Millisecond)
				}
			})),
		variation("worker-unknown-when-gone", "BEAT Command",
			"a BEAT with the wid of a worker whose last connection has ended is refused",
			when(Checked, fwp.BEAT, func(e *Event) {
				if e.Err == nil && e.Conn.server.workers.open(e.Object.Text("wid")) == 0 {
					e.decline(AboutWorker, "the worker has gone")
				}
			})),
		variation("accepts-acks-of-failed-jobs", "AMB-21",
			"an ACK of a job that waits for its retry removes it",
			when(Ran, fwp.ACK, func(e *Event) {
				jid := e.Object.Text("jid")
				if e.about() == AboutJob && waitsIn(e, jid, store.Retries) && e.Conn.server.store.Remove(jid) {
					e.Err, e.Reply = nil, okay()
				}
			})),
		variation("accepts-fails-of-waiting-jobs", "AMB-21",
			"a FAIL of a job that is in its queue moves it to the retries",
			failOfWaiting(true)),
	}
}

// waitsIn reports whether a job is in a set.
func waitsIn(e *Event, jid string, set store.Set) bool {
	for _, s := range e.Conn.server.store.Jobs() {
		if s.Job.jid == jid && s.Set == set && !s.Due.IsZero() {
			return true
		}
	}
	return false
}
