package fakeworkq

import (
	"time"

	"github.com/fwpsuite/fwp/workq"
)

// leaseFaults are about giving jobs out, and waiting for them. (lease; run; result)
var leaseFaults = []Fault{
	fault("lease-eight-names", "LEASE-02", "names of a lease behind the eighth do not count",
		on(Choosing, func(e *Event) { e.Names = e.Command.Names[:min(8, len(e.Command.Names))] })),
	fault("lease-expires-never", "ADD-06", "a job whose time to run is over stays with its worker", on(Expired, skip)),
	fault("lease-first-name", "LEASE-02 LEASE-05", "only the first name of a lease counts",
		on(Choosing, func(e *Event) { e.Names = e.Command.Names[:1] })),
	fault("lease-from-add", "LEASE-08", "the time to run begins with the add", on(Leased, func(e *Event) {
		if e.Job.TTR > time.Second {
			e.Until = e.Job.Created.Add(e.Job.TTR)
		}
	})),
	fault("lease-no-wait", "LEASE-04 LEASE-01 ADD-06 LEASE-05 SCHED-03 SCHED-04", "a lease does not wait",
		waits(workq.Lease, 0)),
	fault("lease-not-held", "ADD-06", "a leased job has no time to run", on(Leased, skip)),
	fault("lease-other-id",
		"LEASE-01 ADD-02 ADD-03 ADD-07 ADD-09 ADD-10 ADD-11 ADD-14 ADD-15 LEASE-02 LEASE-05 SCHED-03 SCHED-04",
		"a leased job has another id", record(workq.Lease, otherID)),
	fault("lease-other-name", "LEASE-02", "a leased job has another name",
		record(workq.Lease, func(r *workq.Record) { r.Head[1] += ".x" })),
	fault("lease-short", "LEASE-08 ADD-03 LEASE-02 RUN-05", "a lease is over after 100 ms",
		on(Leased, func(e *Event) { e.Until = time.Now().Add(100 * time.Millisecond) })),
	fault("lease-timeout-empty", "LEASE-01 LEASE-04", "a lease without a job is answered with no records",
		answers(workq.Lease, workq.Timeout, workq.Reply{Counted: true})),
	fault("lease-timeout-late", "LEASE-04 SCHED-02 LEASE-08", "a lease waits four times as long", waits(workq.Lease, 4)),
	fault("lease-ttr-seconds", "LEASE-01 ADD-07", "a lease shows the time to run in seconds",
		record(workq.Lease, func(r *workq.Record) { r.Head[2] = r.Head[2][:max(1, len(r.Head[2])-3)] })),
	fault("result-no-wait", "RESULT-02 RESULT-03", "result does not wait", waits(workq.Result, 0)),
	fault("result-timeout-late", "RESULT-03", "result waits four times as long", waits(workq.Result, 4)),
	fault("result-unknown-timeout", "RESULT-04 ADD-08", "the result of an unknown id is answered with a timeout",
		answers(workq.Result, workq.NotFound, timeout())),
	fault("run-other-id", "RUN-03", "the reply to run has another id", record(workq.Run, otherID)),
	fault("run-time-to-run", "RUN-05 LEASE-01", "run waits for a worker eight times as long as the job may run",
		on(Adding, func(e *Event) { e.Job.TTR *= 8 }, workq.Run)),
	fault("run-timeout-early", "RUN-04 LEASE-01", "run does not wait for a worker",
		// Not a wait of 0: who is first then, the end of the wait or a worker's lease, is a matter of chance.
		on(Parsed, func(e *Event) { e.Skip, e.Reply = e.Err == nil, timeout() }, workq.Run)),
	fault("run-timeout-late", "RUN-04", "run waits four times as long for a worker", waits(workq.Run, 4)),
}

// waits returns a hook by which a command waits so many times as long as it says.
func waits(verb string, factor uint64) func(*Event) {
	return on(Parsed, func(e *Event) { e.Command.Wait *= factor }, verb)
}

func otherID(r *workq.Record) { r.Head[0] = "00000000-0000-4000-8000-000000000000" }
