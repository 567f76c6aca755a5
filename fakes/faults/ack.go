package faults

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// ackFaults are about ACK.
var ackFaults = []fakes.Fault{
	fault("ack-again-returns", do(again, at(fakes.Acked), has("failure"))),
	fault("ack-ignored-seldom", every(40, at(fakes.Acked), skip)),
	fault("ack-malformed-ok", do(pretend, checked(fwp.ACK), about("jid"))),
	fault("ack-other-answer", answer(fwp.ACK, fakes.Integer(1))),
	fault("ack-redelivered", do(again, at(fakes.Acked))),
	fault("ack-redelivered-late", withJob(at(fakes.Delivered), done(fwp.ACK), func(e *event, job *object) {
		e.Push(job, time.Now().Add(drawn(time.Second, 100*time.Second, e, 0)))
	})),
	fault("ack-refused-deaf", next(conn, refused(fwp.ACK), at(fakes.Acked), skip)),
	fault("ack-refused-ends", inHand(refused(fwp.ACK), ownJobs, finish)),
	fault("ack-slow-lost", slow(fwp.ACK)),
	fault("ack-stays-held", do(skip, at(fakes.Acked))),
}
