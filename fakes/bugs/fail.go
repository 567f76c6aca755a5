package bugs

import (
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// failBugs are about FAIL.
var failBugs = []fakes.Bug{
	// These refuse a FAIL for what it says, or fail a job by one that is refused.
	bug("fail-refused-ends", actOnHeldJobs(isRefused(fwp.FAIL), isOfConn, finish)),
	// About FAILs of jobs that are not held.
	bug("fail-after-ack", recallJob(at(fakes.Acked), isUnheldFail, pushAfterOK(pushCopy))),
	bug("fail-twice-enqueues", recallJob(at(fakes.Failed), isUnheldFail, pushAfterOK(pushCopy))),
	// About what a FAIL does to its job.
	bug("fail-message-line",
		do(changeText("message", func(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }),
			isValid(fwp.FAIL), hasMember("message"))),
	bug("fail-second-queue-moves", recall(jid, allOf(at(fakes.Delivered), hasQueues), firstQueue, at(fakes.Failed),
		func(first string, e *event) { e.Object.SetText("queue", first) })),
}

// pushCopy pushes a job as its producer did.
func pushCopy(e *event, job *object) { _ = e.Conn.Server().Push(job.Append(nil)) } // lost beyond a limit
