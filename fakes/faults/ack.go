package faults

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// ackFaults are about the ACK of a job.
var ackFaults = []fakes.Fault{
	fault("ack-again-returns", "ACK-02", "a job that failed before is enqueued again after its ACK",
		do(again, at(fakes.Acked), has("failure"))),
	fault("ack-ignored-seldom", "ACK-02", "every 40th ACK is answered with OK and has no effect",
		every(40, at(fakes.Acked), skip)),
	fault("ack-malformed-ok", "ACK-03 RESP-02", "an ACK without a jid is answered with OK",
		do(pretend, checked(fwp.ACK), about("jid"))),
	fault("ack-other-answer", "ACK-01", "an accepted ACK is answered with a number", answer(fwp.ACK, fakes.Integer(1))),
	fault("ack-redelivered", "ACK-02 FETCH-03", "a job is enqueued again after its ACK", do(again, at(fakes.Acked))),
	fault("ack-redelivered-late", "ACK-02 WU-05", "a job is enqueued again within 100 s after its ACK",
		withJob(at(fakes.Delivered), done(fwp.ACK), func(e *event, job *object) {
			e.Push(job, time.Now().Add(drawn(time.Second, 100*time.Second, e, 0)))
		})),
	fault("ack-refused-array", "ACK-03 ACK-01", "an ACK whose jid is an array is refused and ends the jobs in it",
		do(func(e *event) {
			jids, _ := e.Object.Texts("jid")
			e.Finish(jids...)
		}, refused(fwp.ACK))),
	fault("ack-refused-ends", "ACK-03 ACK-01", "an ACK that is refused ends the jobs that its connection holds",
		inHand(refused(fwp.ACK), ownJobs, finish)),
	fault("ack-slow-lost", "WU-05 ACK-02",
		"an ACK that comes more than 5 s after the FETCH is answered with OK and has no effect", slow(fwp.ACK)),
	fault("ack-stays-held", "ACK-02", "a job stays held after its ACK", do(skip, at(fakes.Acked))),
}
