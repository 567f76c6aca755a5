package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// unheldFaults are about FAILs of jobs that are not held.
func unheldFaults() []Fault {
	return []Fault{
		statefulFault("fail-twice-enqueues", "STATE-05",
			"a second FAIL of a job enqueues it once more", failedAgain(Failed, enqueueAnew)),
		statefulFault("fail-late-enqueues", "STATE-05",
			"a FAIL of a job whose reservation ran out enqueues it once more", failedAgain(Expired, enqueueAnew)),
		statefulFault("fail-after-ack", "ACK-02",
			"a FAIL of a job that was acknowledged enqueues it once more", failedAgain(Acked, enqueueAnew)),
		statefulFault("fail-after-ack-retries", "ACK-02",
			"a job that was acknowledged, and fails afterwards, is tried again",
			failedAgain(Acked, func(e *Event, job *Object) { again(e, job, time.Now().Add(20*time.Second)) })),
		fault("fail-of-waiting", "STATE-05 ACK-02",
			"a FAIL of a job that waits in its queue is answered with OK, and the job is enqueued once more later",
			failOfWaiting(false)),
	}
}

// failedAgain returns hooks that accept a FAIL of a job that is not held any more since an event, and enqueue the job.
func failedAgain(since Point, enqueue func(e *Event, job *Object)) func() func(*Event) {
	return func() func(*Event) {
		var jobs notes[string, *Object]
		return func(e *Event) {
			switch {
			case e.Point == since:
				jobs.put(e.Object.Text("jid"), e.Object.clone())
			case e.Point == Ran && e.Command.Verb == fwp.FAIL && e.about() == AboutJob:
				if job, known := jobs.take(e.Object.Text("jid")); known {
					e.Err, e.Reply = nil, okay()
					enqueue(e, job)
				}
			}
		}
	}
}

// enqueueAnew pushes a job as its producer did.
func enqueueAnew(e *Event, job *Object) { _ = e.Conn.server.Push(job.text()) }

// failOfWaiting returns a hook that accepts a FAIL of a job that is in its queue. The job is enqueued 20 s later: once
// more, or, if it is moved, for the first time.
func failOfWaiting(moved bool) func(*Event) {
	return when(Ran, fwp.FAIL, func(e *Event) {
		if e.about() != AboutJob {
			return
		}
		jid := e.Object.Text("jid")
		if job := inQueue(e, jid); job != nil && (!moved || e.Conn.server.store.Purge(jid)) {
			e.Err, e.Reply = nil, okay()
			again(e, job.doc(), time.Now().Add(20*time.Second))
		}
	})
}

// inQueue returns the job with a jid if it is in its queue, and nil otherwise.
func inQueue(e *Event, jid string) *job {
	for _, s := range e.Conn.server.store.Jobs() {
		if s.Job.jid == jid && s.Due.IsZero() {
			return s.Job
		}
	}
	return nil
}
