package fakes

import "github.com/fwpsuite/fwp/fwp"

// partingFaults are about connections that end, and about those that come after them.
func partingFaults() []Fault {
	return []Fault{
		statefulFault("worker-gone-returns", "STATE-05 END-05",
			"the jobs of a worker go back to their queues when its last connection ends", jobsOfWorker(lastParting, giveBack)),
		statefulFault("worker-gone-finishes", "STATE-07 END-05 STATE-08",
			"the jobs of a worker are discarded when its last connection ends", jobsOfWorker(lastParting, finish)),
		statefulFault("worker-returns-returns", "STATE-05 HELLO-11",
			"the HELLO of another connection of a worker returns the jobs of the worker to their queues",
			jobsOfWorker(arriving, giveBack)),
		statefulFault("worker-returns-finishes", "STATE-07 HELLO-11",
			"the HELLO of another connection of a worker discards the jobs of the worker", jobsOfWorker(arriving, finish)),
		statefulFault("retry-with-its-connection", "STATE-09 STATE-08",
			"a failed job is discarded when it comes due if the connection of its FAIL has ended",
			ifGone(Failed, due("retries"), skip)),
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
	}
}

// lastParting reports whether the last connection of a worker ends, by END or by a close.
func lastParting(e *Event) bool {
	return (e.Point == Unfinished || ended(e)) && e.Conn.Worker != "" && e.Conn.server.workers.open(e.Conn.Worker) == 1
}

// arriving reports whether a connection of a worker was accepted.
func arriving(e *Event) bool {
	return e.Point == Ran && e.Command.Verb == fwp.HELLO && e.Err == nil && e.Conn.Worker != ""
}

// ended reports whether an END was accepted.
func ended(e *Event) bool { return e.Point == Ran && e.Command.Verb == fwp.END && e.Err == nil }
