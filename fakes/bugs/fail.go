package bugs

import (
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// failFaults are about FAIL.
var failFaults = []fakes.Fault{
	// These refuse a FAIL for what it says, or fail a job by one that is refused.
	fault("fail-refused-ends", inHand(refused(fwp.FAIL), ownJobs, finish)),
	// About FAILs of jobs that are not held.
	fault("fail-after-ack", withJob(at(fakes.Acked), notHeld, okayPush(pushAnew))),
	fault("fail-twice-enqueues", withJob(at(fakes.Failed), notHeld, okayPush(pushAnew))),
	// About what a FAIL does to its job.
	fault("fail-message-line",
		do(change("message", func(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }),
			valid(fwp.FAIL), has("message"))),
	fault("fail-second-queue-moves", recall(jid, both(at(fakes.Delivered), some), firstQueue, at(fakes.Failed),
		func(first string, e *event) { e.Object.SetText("queue", first) })),
}

// pushAnew pushes a job as its producer did.
func pushAnew(e *event, job *object) { _ = e.Conn.Server().Push(job.Append(nil)) } // lost beyond a limit
