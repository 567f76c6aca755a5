package faults

import (
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// failFaults are about FAIL.
var failFaults = []fakes.Fault{
	// These refuse a FAIL for what it says, or fail a job by one that is refused.
	fault("fail-message-refused", do(declineRange("message"), checked(fwp.FAIL), text("message", longer(255)))),
	fault("fail-refused-ends", inHand(refused(fwp.FAIL), ownJobs, finish)),
	// These accept a FAIL that is not right.
	fault("fail-field-types", do(accept, checked(fwp.FAIL), about("errtype", "message", "backtrace"))),
	fault("fail-malformed-counts", do(func(e *event) { e.Skip = jid(e) == "" }, checked(fwp.FAIL), wrong,
		func(e *event) bool { return e.Conn.Identified })),
	fault("fail-malformed-ok", do(pretend, checked(fwp.FAIL), about("jid"))),
	// About FAILs of jobs that are not held.
	fault("fail-after-ack", withJob(at(fakes.Acked), notHeld, okayPush(pushAnew))),
	fault("fail-twice-enqueues", withJob(at(fakes.Failed), notHeld, okayPush(pushAnew))),
	// About what a FAIL does to its job.
	fault("fail-ignored", do(skip, at(fakes.Failed))),
	fault("fail-message-line",
		do(change("message", func(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }),
			valid(fwp.FAIL), has("message"), text("message", with("\n")))),
	fault("fail-second-queue-moves", recall(jid, both(at(fakes.Delivered), some), firstQueue, at(fakes.Failed),
		func(first string, e *event) { e.Object.SetText("queue", first) })),
	fault("fail-slow-lost", slow(fwp.FAIL)),
}

// pushAnew pushes a job as its producer did.
func pushAnew(e *event, job *object) { _ = e.Conn.Server().Push(job.Append(nil)) } // lost beyond a limit
