package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// againFaults are about jobs that must never come back, and come back after a random time.
func againFaults() []Fault {
	return []Fault{
		statefulFault("ack-redelivered-late", "ACK-02 WU-05",
			"a job is enqueued again within 100 s after its ACK",
			ackedAgain),
		statefulFault("retry-zero-kept-late", "RETRY-01",
			"a failed job with retry 0 is retried once, after 16 s to 74 s",
			revived(func(retry int64) bool { return retry == 0 })),
		statefulFault("retry-negative-kept-late", "RETRY-02",
			"a failed job with retry -1 is retried, after 16 s to 74 s",
			revived(func(retry int64) bool { return retry < 0 })),
		statefulFault("retry-once-more", "RETRY-03 RETRY-05",
			"a job that has used up its retries is retried once more, after 16 s to 74 s",
			revived(func(retry int64) bool { return retry > 0 })),
		fault("reserve-ends-early", "WU-05",
			"a reservation ends 15 s early, and its job waits among the retries",
			on(Reserved, func(e *Event) { e.Until = e.Until.Add(-15 * time.Second) })),
	}
}

func ackedAgain() func(*Event) {
	delay := drawn(time.Second, 100*time.Second)
	var held notes[string, *Object]
	return func(e *Event) {
		switch {
		case e.Point == Delivered:
			held.put(e.Object.Text("jid"), e.Object.clone())
		case e.Point == Ran && e.Command.Verb == fwp.ACK && e.Err == nil:
			jid := e.Object.Text("jid")
			if job, ok := held.take(jid); ok {
				again(e, job, time.Now().Add(delay(jid, 0)))
			}
		}
	}
}

// revived retries jobs that a failure should have ended.
func revived(which func(retry int64) bool) func() func(*Event) {
	return func() func(*Event) {
		delay := drawn(16*time.Second, 74*time.Second)
		return on(Failed, func(e *Event) {
			if retry, ok := e.Object.Int("retry"); ok && which(retry) && e.Set != "retries" {
				e.Set, e.Until = "retries", time.Now().Add(delay(e.Object.Text("jid"), retry))
			}
		})
	}
}

// again pushes a job once more.
func again(e *Event, object *Object, due time.Time) {
	s := e.Conn.server
	_ = s.store.Push(&Event{Conn: e.Conn}, newJob(object, &s.cfg), due)
}
