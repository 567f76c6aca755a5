package fakes

import "github.com/fwpsuite/fwp/fwp"

// workerFaults are about the connections of one worker.
func workerFaults() []Fault {
	return []Fault{
		statefulFault("worker-ack-refused", "HELLO-11 ACK-01",
			"an ACK on another connection than that of the FETCH is refused",
			elsewhere(fwp.ACK, func(e *Event) { e.decline(AboutJob, "this connection does not hold the job") })),
		statefulFault("worker-fail-refused", "HELLO-11 FAIL-01",
			"a FAIL on another connection than that of the FETCH is refused",
			elsewhere(fwp.FAIL, func(e *Event) { e.decline(AboutJob, "this connection does not hold the job") })),
		statefulFault("worker-ack-ignored", "ACK-02",
			"an ACK on another connection than that of the FETCH is answered with OK and has no effect",
			elsewhere(fwp.ACK, func(e *Event) { e.Skip = true })),
		statefulFault("worker-fail-ignored", "STATE-09",
			"a FAIL on another connection than that of the FETCH is answered with OK and has no effect",
			elsewhere(fwp.FAIL, func(e *Event) { e.Skip = true })),
		statefulFault("worker-end-forgets", "HELLO-11",
			"after the END of one connection of a worker the BEATs of its others are refused",
			afterEnd(func(e *Event) {
				if e.Command.Verb == fwp.BEAT {
					e.decline(AboutWorker, "the worker has left")
				}
			})),
		statefulFault("worker-end-locks", "HELLO-11",
			"after the END of one connection of a worker the FETCHes of its others are refused",
			afterEnd(func(e *Event) {
				if e.Command.Verb == fwp.FETCH {
					e.decline(AboutWorker, "the worker has left")
				}
			})),
		statefulFault("worker-end-returns", "STATE-05 END-05",
			"END returns the jobs of all connections of its worker to their queues",
			jobsOfWorker(ended, giveBack)),
	}
}

// elsewhere acts on accepted reports that come on another connection than that of the FETCH.
func elsewhere(verb string, act func(*Event)) func() func(*Event) {
	return func() func(*Event) {
		var by notes[string, int64]
		return func(e *Event) {
			switch {
			case e.Point == Delivered:
				by.put(e.Object.Text("jid"), e.Conn.ID)
			case e.Point == Checked && e.Command.Verb == verb && e.Err == nil:
				if id, held := by.take(e.Object.Text("jid")); held && id != e.Conn.ID {
					act(e)
				}
			}
		}
	}
}

// afterEnd acts on commands of workers of which a connection has sent END.
func afterEnd(act func(*Event)) func() func(*Event) {
	return func() func(*Event) {
		var left notes[string, bool]
		return func(e *Event) {
			switch {
			case e.Conn == nil || e.Conn.Worker == "":
			case ended(e):
				left.put(e.Conn.Worker, true)
			case e.Point == Checked && e.Err == nil:
				if is, _ := left.take(e.Conn.Worker); is {
					left.put(e.Conn.Worker, true)
					act(e)
				}
			}
		}
	}
}
