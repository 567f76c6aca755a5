package bugs

import (
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// failBugs are about FAIL.
var failBugs = []fakes.Bug{
	// These refuse a FAIL for what it says, or fail a job by one that is refused.
	bug("fail-refused-ends", inHand(refused(fwp.FAIL), ownJobs, finish)),
	// About FAILs of jobs that are not held.
	bug("fail-after-ack", withJob(at(fakes.Acked), notHeld, okayPush(pushAnew))),
	bug("fail-twice-enqueues", withJob(at(fakes.Failed), notHeld, okayPush(pushAnew))),
	// About what a FAIL does to its job.
	bug("fail-message-line",
		do(change("message", func(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }),
			valid(fwp.FAIL), has("message"))),
	bug("fail-second-queue-moves", recall(jid, both(at(fakes.Delivered), some), firstQueue, at(fakes.Failed),
		func(first string, e *event) { e.Object.SetText("queue", first) })),
}

// pushAnew pushes a job as its producer did.
func pushAnew(e *event, job *object) { _ = e.Conn.Server().Push(job.Append(nil)) } // lost beyond a limit
