package faults

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// failFaults are about FAIL.
var failFaults = []fakes.Fault{
	// These refuse a FAIL for what it says, or fail a job by one that is refused.
	fault("fail-message-refused", "FAIL-01", "a FAIL whose message has more than 255 bytes is refused",
		do(declineRange("message"), checked(fwp.FAIL), text("message", longer(255)))).
		Also("fail-class-refused", "fail-lines-refused", "fail-message-empty-refused"),
	fault("fail-order", "FAIL-01", "a FAIL whose first field is not jid is refused",
		do(declineForm, valid(fwp.FAIL), not(begins("jid")))),
	fault("fail-refused-ends", "FAIL-02 ACK-01 FAIL-01", "a FAIL that is refused ends the jobs that its connection holds",
		inHand(refused(fwp.FAIL), ownJobs, finish)).Also("fail-refused-fails"),
	// These accept a FAIL that is not right.
	fault("fail-field-types", "FAIL-02", "a FAIL is accepted whatever the types of errtype, message and backtrace are",
		do(accept, checked(fwp.FAIL), about("errtype", "message", "backtrace"))),
	fault("fail-last-comma", "FAIL-02", "a comma behind the last field of a FAIL is ignored",
		do(rearranges(",}", "}"), parsed(fwp.FAIL))),
	fault("fail-malformed-counts", "FAIL-02", "a FAIL that is refused fails the job nevertheless",
		do(func(e *event) { e.Skip = jid(e) == "" }, checked(fwp.FAIL), wrong,
			func(e *event) bool { return e.Conn.Identified })),
	fault("fail-malformed-ok", "FAIL-02 RESP-02", "a FAIL without a jid is answered with OK",
		do(pretend, checked(fwp.FAIL), about("jid"))),
	// About FAILs of jobs that are not held.
	fault("fail-after-ack", "ACK-02", "a FAIL of a job that was acknowledged enqueues it once more",
		withJob(at(fakes.Acked), notHeld, okayPush(pushAnew))).Also("fail-after-ack-retries"),
	fault("fail-of-waiting", "STATE-05 ACK-02",
		"a FAIL of a job that waits in its queue is answered with OK, and the job is enqueued once more later",
		do(func(e *event) {
			if waits := stored(e, func(j fakes.StoredJob) bool { return j.JID == jid(e) }); len(waits) > 0 {
				okayPush(pushIn(20*time.Second))(e, unit(waits[0]))
			}
		}, notHeld)),
	fault("fail-twice-enqueues", "STATE-05", "a second FAIL of a job enqueues it once more",
		withJob(at(fakes.Failed), notHeld, okayPush(pushAnew))).Also("fail-late-enqueues"),
	// About what a FAIL does to its job.
	fault("fail-backtrace-follows", "WU-13", "a job whose FAIL has no lines of backtrace gets those of the FAIL before",
		follows(server, fwp.FAIL, "backtrace", "[]")).Also("fail-message-follows"),
	fault("fail-ignored", "STATE-06 STATE-09 FAIL-01", "a job stays held after its FAIL", do(skip, at(fakes.Failed))),
	fault("fail-message-line", "FAIL-06", "of a message only the first line is kept",
		do(change("message", func(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }),
			valid(fwp.FAIL), has("message"), text("message", with("\n")))),
	fault("fail-other-answer", "FAIL-01", "an accepted FAIL is answered with a number",
		answer(fwp.FAIL, fakes.Integer(1))),
	fault("fail-second-queue-moves", "STATE-09",
		"a job that fails goes to the first queue of the FETCH that has found it",
		recall(jid, both(at(fakes.Delivered), some), firstQueue, at(fakes.Failed),
			func(first string, e *event) { e.Object.SetText("queue", first) })),
	fault("fail-slow-lost", "STATE-09",
		"a FAIL that comes more than 5 s after the FETCH is answered with OK and has no effect", slow(fwp.FAIL)),
	fault("fail-unicode-ignored", "STATE-09 STATE-06",
		"a FAIL with characters that are not ASCII is answered with OK and has no effect",
		do(skip, valid(fwp.FAIL), func(e *event) bool {
			return len(e.Command.Args) != utf8.RuneCount(e.Command.Args)
		})),
}

// pushAnew pushes a job as its producer did.
func pushAnew(e *event, job *object) { _ = e.Conn.Server().Push(job.Append(nil)) } // lost beyond a limit
