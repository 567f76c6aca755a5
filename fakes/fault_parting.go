package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// partingFaults are about connections that end, and about those that come after them.
func partingFaults() []Fault {
	return []Fault{
		statefulFault("worker-gone-returns", "STATE-05 END-05",
			"the jobs of a worker go back to their queues when its last connection ends",
			inHand(func(h *hands, e *Event) {
				if lastParting(e) {
					giveBack(e, h.ofWorker(e))
				}
			})),
		statefulFault("worker-gone-finishes", "STATE-07 END-05 STATE-08",
			"the jobs of a worker are discarded when its last connection ends",
			inHand(func(h *hands, e *Event) {
				if lastParting(e) {
					finish(e, h.ofWorker(e))
				}
			})),
		statefulFault("worker-returns-returns", "STATE-05 HELLO-11",
			"the HELLO of another connection of a worker returns the jobs of the worker to their queues",
			inHand(func(h *hands, e *Event) {
				if arriving(e) {
					giveBack(e, h.ofWorker(e))
				}
			})),
		statefulFault("worker-returns-finishes", "STATE-07 HELLO-11",
			"the HELLO of another connection of a worker discards the jobs of the worker",
			inHand(func(h *hands, e *Event) {
				if arriving(e) {
					finish(e, h.ofWorker(e))
				}
			})),
		statefulFault("retry-with-its-connection", "STATE-09 STATE-08",
			"a failed job is discarded when it comes due if the connection of its FAIL has ended", retryWithConnection),
		statefulFault("restart-forgets-failures", "RETRY-03 RETRY-05",
			"the failures of a job count anew after a restart", forgetsFailures),
	}
}

// reportedFaults are about reports of jobs, and about END and HELLO after others.
func reportedFaults() []Fault {
	return []Fault{
		statefulFault("fail-second-queue-moves", "STATE-09",
			"a job that fails goes to the first queue of the FETCH that has found it", movesToFirst),
		statefulFault("fail-after-ack", "ACK-02",
			"a FAIL of a job that was acknowledged enqueues it once more", failedAgain(Acked)),
		statefulFault("fail-after-ack-retries", "ACK-02",
			"a job that was acknowledged, and fails afterwards, is tried again", failedAfterAck),
		fault("fail-of-waiting", "STATE-05 ACK-02",
			"a FAIL of a job that waits in its queue is answered with OK, and the job is enqueued once more later",
			when(Ran, fwp.FAIL, failOfWaiting)),
		statefulFault("end-with-jobs-refused", "END-01 STATE-16 END-02",
			"END is refused while its connection holds jobs",
			inHand(func(h *hands, e *Event) {
				if e.Point == Checked && e.Command.Verb == fwp.END && e.Err == nil && len(h.on(e)) > 0 {
					e.decline(AboutState, "there are jobs")
				}
			})),
		fault("end-quiet-refused", "END-01 STATE-16 END-02",
			"END is refused to a worker that knows that it is quiet",
			when(Checked, fwp.END, func(e *Event) {
				if e.Err == nil && e.Conn.server.workers.isQuiet(e.Conn.Worker) {
					e.decline(AboutState, "the worker is quiet")
				}
			})),
		statefulFault("auth-declined-for-good", "STATE-12",
			"a connection whose hash was declined is not accepted with the right one", declinedForGood),
	}
}

// lastParting reports whether the last connection of a worker ends, by END or by a close.
func lastParting(e *Event) bool {
	ends := e.Point == Unfinished || e.Point == Ran && e.Command.Verb == fwp.END && e.Err == nil
	return ends && e.Conn.Worker != "" && e.Conn.server.workers.open(e.Conn.Worker) == 1
}

// arriving reports whether a connection of a worker was accepted.
func arriving(e *Event) bool {
	return e.Point == Ran && e.Command.Verb == fwp.HELLO && e.Err == nil && e.Conn.Worker != ""
}

// ofWorker returns the ids of the jobs that the worker of an event was given.
func (h *hands) ofWorker(e *Event) []string {
	return h.of(func(one hand) bool { return one.worker == e.Conn.Worker })
}

func retryWithConnection() func(*Event) {
	var from notes[string, <-chan struct{}]
	return func(e *Event) {
		switch {
		case e.Point == Failed:
			from.put(e.Object.Text("jid"), e.Conn.Done)
		case e.Point == Due && e.Set == "retries":
			done, _ := from.take(e.Object.Text("jid"))
			select {
			case <-done:
				e.Skip = true
			default:
			}
		}
	}
}

func forgetsFailures() func(*Event) {
	var before, restarted notes[string, bool]
	return func(e *Event) {
		switch e.Point {
		case Restarted:
			before.mu.Lock()
			restarted.m = before.m
			before.m = nil
			before.mu.Unlock()
		case Failed:
			jid := e.Object.Text("jid")
			if was, _ := restarted.take(jid); was && e.Set == "dead" {
				if n, _ := e.Object.Int("retry"); n > 0 {
					e.Set = "retries"
				}
			}
			before.put(jid, true)
		}
	}
}

func movesToFirst() func(*Event) {
	var first notes[string, string]
	return func(e *Event) {
		switch e.Point {
		case Delivered:
			if len(e.Queues) > 0 {
				first.put(e.Object.Text("jid"), e.Queues[0])
			}
		case Failed:
			if queue, known := first.take(e.Object.Text("jid")); known {
				e.Object.SetText("queue", queue)
			}
		}
	}
}

func failedAfterAck() func(*Event) {
	var done notes[string, *Object]
	return func(e *Event) {
		switch {
		case e.Point == Acked:
			done.put(e.Object.Text("jid"), e.Object.clone())
		case e.Point == Ran && e.Command.Verb == fwp.FAIL && e.about() == AboutJob:
			if job, known := done.take(e.Object.Text("jid")); known {
				e.Err, e.Reply = nil, okay()
				again(e, job, time.Now().Add(20*time.Second))
			}
		}
	}
}

func declinedForGood() func(*Event) {
	var declined notes[int64, bool]
	return when(Checked, fwp.HELLO, func(e *Event) {
		is, _ := declined.take(e.Conn.ID)
		if e.about() == "pwdhash" || is {
			declined.put(e.Conn.ID, true)
		}
		if is && e.Err == nil {
			e.decline("pwdhash", "the password was wrong")
		}
	})
}

func failOfWaiting(e *Event) {
	if e.about() != AboutJob {
		return
	}
	for _, s := range e.Conn.server.store.Jobs() {
		if s.Job.jid == e.Object.Text("jid") && s.Due.IsZero() {
			e.Err, e.Reply = nil, okay()
			again(e, s.Job.doc(), time.Now().Add(20*time.Second))
			return
		}
	}
}
