package fakeworkq

import (
	"cmp"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/workq"
)

// completeFaults are about the reports of workers. (complete; fail)
var completeFaults = []Fault{
	fault("complete-is-failed", "RUN-02 INSP-04 RESULT-01 RUN-01 RUN-03", "a completed job has failed",
		on(Finished, func(e *Event) { e.Success = false }, workq.Complete)),
	fault("complete-late-refused", "LEASE-07", "complete of a job that waits again is answered with -NOT-FOUND",
		while(at(Expired), at(Leased), reads(workq.Complete), answer(notFound()))),
	fault("complete-lost", "DONE-02 DONE-03 LEASE-06 LEASE-07 RESULT-01 RESULT-02 RUN-01 RUN-02 RUN-03",
		"complete has no effect", on(Finished, skip, workq.Complete)),
	fault("complete-other-answer", "DONE-01", "complete is answered with a count",
		answers(workq.Complete, "", workq.Reply{Counted: true})),
	fault("complete-result-cut", "RESULT-01 DONE-03 RUN-01", "a result has one byte at most",
		on(Finished, cutResult, workq.Complete)),
	fault("complete-unknown-ok", "DONE-04", "complete of an unknown id is answered with OK",
		answers(workq.Complete, workq.NotFound, workq.OK())),
	fault("complete-where-leased", "LEASE-06", "only the connection that leased a job can complete it",
		catalogue.KeepBy(jobOf, catalogue.Any(hasLeased, reads(workq.Complete)), func(by *int, e *Event) {
			if *by = cmp.Or(*by, e.Conn); e.Point == Parsed && *by != e.Conn {
				answer(notFound())(e)
			}
		})),
	fault("fail-again-always", "ADD-22 RESULT-05 RUN-02 ADD-16", "a failed job is always tried again",
		on(Failed, func(e *Event) { e.Again = true })),
	fault("fail-again-attempts", "ADD-16", "a failed job is tried again whatever max-attempts says",
		on(Failed, func(e *Event) { e.Again = e.Fails < e.Job.MaxFails })),
	fault("fail-again-never", "ADD-20 INSP-04", "a failed job is never tried again",
		on(Failed, func(e *Event) { e.Again = false })),
	fault("fail-is-completed", "RESULT-05 INSP-04 RUN-02", "a failed job is completed",
		on(Finished, func(e *Event) { e.Success = true }, workq.Fail)),
	fault("fail-other-answer", "FAIL-01", "fail is answered with a count",
		answers(workq.Fail, "", workq.Reply{Counted: true})),
	fault("fail-result-cut", "RESULT-05", "the result of a failed job has one byte at most",
		on(Finished, cutResult, workq.Fail)),
	fault("fail-unknown-ok", "FAIL-02", "fail of an unknown id is answered with OK",
		answers(workq.Fail, workq.NotFound, workq.OK())),
}

// cutResult leaves one byte of a result.
func cutResult(e *Event) { e.Result = e.Result[:min(len(e.Result), 1)] }

// hasLeased is the condition that a lease is answered with a job.
func hasLeased(e *Event) bool {
	return e.Point == Ran && e.Command.Verb == workq.Lease && len(e.Reply.Records) > 0
}
