package fakeworkq

import (
	"time"

	"github.com/fwpsuite/fwp/workq"
)

// leaseFaults are about giving jobs out.
func leaseFaults() []Fault {
	return []Fault{
		fault("lease-expires-never", "ADD-06", "a job whose time to run is over stays with its worker",
			at(Expired, func(e *Event) { e.Skip = true })),
		fault("lease-first-name", "LEASE-02 LEASE-05", "only the first name of a lease counts",
			at(Choosing, func(e *Event) { e.Names = e.Command.Names[:1] })),
		fault("lease-no-wait", "LEASE-04 LEASE-01 ADD-06 LEASE-05 SCHED-03 SCHED-04",
			"a lease does not wait", at(Parsed, func(e *Event) { e.Command.Wait = 0 }, workq.Lease)),
		fault("lease-not-held", "ADD-06", "a leased job has no time to run", at(Leased, func(e *Event) { e.Skip = true })),
		fault("lease-other-id", "LEASE-01 ADD-02 ADD-03 ADD-07 ADD-09 ADD-10 ADD-11 ADD-14 ADD-15 LEASE-02 "+
			"LEASE-05 SCHED-03 SCHED-04",
			"a leased job has another id", record(workq.Lease, func(r *workq.Record) {
				r.Head[0] = "00000000-0000-4000-8000-000000000000"
			})),
		fault("lease-other-name", "LEASE-02", "a leased job has another name",
			record(workq.Lease, func(r *workq.Record) { r.Head[1] += ".x" })),
		fault("lease-short", "LEASE-08 ADD-03 LEASE-02 RUN-05", "a lease is over after 100 ms", at(Leased, func(e *Event) {
			e.Until = time.Now().Add(100 * time.Millisecond)
		})),
		fault("lease-timeout-empty", "LEASE-01 LEASE-04", "a lease without a job is answered with no records",
			answers(workq.Lease, workq.Timeout, workq.Reply{Counted: true})),
		fault("lease-timeout-late", "LEASE-04 SCHED-02 LEASE-08", "a lease waits four times as long",
			at(Parsed, func(e *Event) { e.Command.Wait *= 4 }, workq.Lease)),
		fault("lease-ttr-seconds", "LEASE-01 ADD-07", "a lease shows the time to run in seconds",
			record(workq.Lease, func(r *workq.Record) { r.Head[2] = r.Head[2][:max(1, len(r.Head[2])-3)] })),
	}
}

// reportFaults are about complete and fail.
func reportFaults() []Fault {
	finished := func(verb string, change func(*Event)) func(*Event) { return at(Finished, change, verb) }
	cut := func(e *Event) { e.Result = e.Result[:min(len(e.Result), 1)] }
	return []Fault{
		fault("complete-is-failed", "RUN-02 INSP-04 RESULT-01 RUN-01 RUN-03", "a completed job has failed",
			finished(workq.Complete, func(e *Event) { e.Success = false })),
		fault("complete-lost", "DONE-02 DONE-03 LEASE-06 LEASE-07 RESULT-01 RESULT-02 RUN-01 RUN-02 RUN-03",
			"complete has no effect", finished(workq.Complete, func(e *Event) { e.Skip = true })),
		fault("complete-other-answer", "DONE-01", "complete is answered with a count",
			answers(workq.Complete, "", workq.Reply{Counted: true})),
		fault("complete-result-cut", "RESULT-01 DONE-03 RUN-01",
			"a result has one byte at most", finished(workq.Complete, cut)),
		fault("complete-unknown-ok", "DONE-04", "complete of an unknown id is answered with OK",
			answers(workq.Complete, workq.NotFound, workq.OK())),
		statefulFault("complete-where-leased", "LEASE-06", "only the connection that leased a job can complete it",
			func() func(*Event) {
				var leased once
				return func(e *Event) {
					switch {
					case e.Point == Ran && e.Command.Verb == workq.Lease && len(e.Reply.Records) > 0:
						leased.first(e.Reply.Records[0].Head[0], e.Conn)
					case e.Point == Parsed && e.Command.Verb == workq.Complete:
						if by, held := leased.first(e.Command.ID, e.Conn); held && by != e.Conn {
							e.Skip, e.Reply = true, workq.Reply{Error: workq.NotFound}
						}
					}
				}
			}),
		fault("fail-again-always", "ADD-22 RESULT-05 RUN-02 ADD-16",
			"a failed job is always tried again", at(Failed, func(e *Event) { e.Again = true })),
		fault("fail-again-never", "ADD-20 INSP-04",
			"a failed job is never tried again", at(Failed, func(e *Event) { e.Again = false })),
		fault("fail-is-completed", "RESULT-05 INSP-04 RUN-02",
			"a failed job is completed", finished(workq.Fail, func(e *Event) { e.Success = true })),
		fault("fail-other-answer", "FAIL-01",
			"fail is answered with a count", answers(workq.Fail, "", workq.Reply{Counted: true})),
		fault("fail-result-cut", "RESULT-05", "the result of a failed job has one byte at most", finished(workq.Fail, cut)),
		fault("fail-unknown-ok", "FAIL-02", "fail of an unknown id is answered with OK",
			answers(workq.Fail, workq.NotFound, workq.OK())),
	}
}

// waitFaults are about run and result.
func waitFaults() []Fault {
	wait := func(verb string, factor uint64) func(*Event) {
		return at(Parsed, func(e *Event) { e.Command.Wait *= factor }, verb)
	}
	return []Fault{
		fault("run-other-id", "RUN-03", "the reply to run has another id", record(workq.Run, func(r *workq.Record) {
			r.Head[0] = "00000000-0000-4000-8000-000000000000"
		})),
		fault("run-time-to-run", "RUN-05 LEASE-01", "run waits for a worker eight times as long as the job may run",
			at(Adding, func(e *Event) { e.Job.TTR *= 8 }, workq.Run)),
		fault("run-timeout-late", "RUN-04", "run waits four times as long for a worker", wait(workq.Run, 4)),
		fault("run-timeout-early", "RUN-04 LEASE-01", "run does not wait for a worker",
			// Not a wait of 0: who is first then, the end of the wait or a worker's lease, is a matter of chance.
			at(Parsed, func(e *Event) { e.Skip, e.Reply = e.Err == nil, timeout() }, workq.Run)),
		fault("result-no-wait", "RESULT-02 RESULT-03", "result does not wait", wait(workq.Result, 0)),
		fault("result-timeout-late", "RESULT-03", "result waits four times as long", wait(workq.Result, 4)),
		fault("result-unknown-timeout", "RESULT-04 ADD-08", "the result of an unknown id is answered with a timeout",
			answers(workq.Result, workq.NotFound, timeout())),
	}
}
