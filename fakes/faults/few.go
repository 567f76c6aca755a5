package faults

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// fewFaults are those of the words with fewer than ten.
var fewFaults = []fakes.Fault{
	// About ACK.
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
	fault("ack-refused-ends", "ACK-03 ACK-01", "an ACK that is refused ends the jobs that its connection holds",
		inHand(refused(fwp.ACK), ownJobs, finish)).Also("ack-refused-array"),
	fault("ack-slow-lost", "WU-05 ACK-02",
		"an ACK that comes more than 5 s after the FETCH is answered with OK and has no effect", slow(fwp.ACK)),
	fault("ack-stays-held", "ACK-02", "a job stays held after its ACK", do(skip, at(fakes.Acked))),
	// About connections that end, and what they leave behind.
	fault("consumer-idle-closed", "STATE-13 BEAT-01",
		"the connection of a consumer is closed after four accepted BEATs without another command",
		keep(conn, ran(), func(beats *int, e *event) {
			if e.Command.Verb != fwp.BEAT || e.Err != nil {
				*beats = 0
				return
			}
			*beats++
			e.Close = *beats == 4
		})),
	fault("dies-of-invalid-utf8", "FRAME-09", "the server crashes at a line that is not UTF-8",
		diesOf(about(fakes.AboutUTF8))),
	fault("dies-of-strange-hello", "HELLO-05 HELLO-07 HELLO-13 AUTH-02 AUTH-04",
		"the server crashes at a HELLO without v 2, with an unknown field, or with a known wid and another pid",
		diesOf(func(e *event) bool {
			version := e.About() == "v" && e.Object.Get("pwdhash") == nil
			conflict := e.About() == "wid" && wid(e) != ""
			return e.Command.Verb == fwp.HELLO && (version || conflict || e.Object.Get("fwpcheck") != nil)
		})),
	fault("dies-of-unknown-job", "ACK-04 FAIL-03 FETCH-12 RESP-07",
		"the server crashes at an ACK or FAIL for a job that is not held", diesOf(about(fakes.AboutJob))),
	fault("gone-consumer-job-lost", "STATE-07 STATE-08",
		"a reservation that runs out after its connection has ended loses the job",
		ifGone(fakes.Reserved, at(fakes.Expired), discard)),
	fault("link-commands-close", "STATE-13 LINK-03", "a connection is closed with its 1,001st command",
		do(hangUp, ran(), commandsAbove(1000))),
	fault("link-commands-counted", "LINK-03 INFO-01", "INFO is refused from the 151st command of a connection on",
		do(decline(fakes.AboutLimit, "too many commands"), checked(fwp.INFO), commandsAbove(150))),
	fault("link-jobs-counted", "LINK-03 FETCH-04", "a connection that has pushed and fetched 95 jobs gets no more",
		keep(conn, either(at(fakes.Defaulted, fakes.Delivered), valid(fwp.FETCH)), jobsCounted)),
	fault("waiting-job-gone", "PUSH-04", "a job for a consumer that disconnected during its FETCH is lost",
		func() func(*event) {
			return catalogue.Both(do(skip, at(fakes.Disconnected, fakes.GivenBack)),
				next(jid, at(fakes.GivenBack), at(fakes.Expired), discard)())
		}),
	// About jobs that are delivered, reserved and reported.
	fault("backtrace-single", "WU-09", "a backtrace of which one line is to be kept is not kept", do(func(e *event) {
		failure, err := fakes.ParseObject(e.Object.Get("failure"))
		if err != nil {
			return
		}
		if lines, _ := failure.Texts("backtrace"); len(lines) == 1 {
			failure.Delete("backtrace")
			e.Object.Set("failure", string(failure.Append(nil)))
		}
	}, at(fakes.Failed))),
	fault("backtrace-whole", "WU-09", "all lines of a backtrace are kept if the job asks for some",
		do(set("backtrace", "30"), at(fakes.Defaulted), number("backtrace", above(0)))).
		Also("backtrace-line-short", "job-backtrace-none"),
	fault("delivered-twice", "STATE-05", "every 50th job is delivered to two consumers",
		every(50, at(fakes.Delivered), again)),
	fault("delivered-twice-rarely", "STATE-05", "every 500th job is delivered to two consumers",
		every(500, at(fakes.Delivered), again)),
	fault("failure-for-all", "WU-13",
		"a job that never failed is delivered with the failure of the job that failed last",
		lastFailure(not(has("failure")))),
	fault("failure-of-the-last", "WU-13 FAIL-06 WU-08 WU-09",
		"a job is delivered with the failure of the job that failed last", lastFailure(has("failure"))),
	fault("report-ack-all", "STATE-07 ACK-01 FAIL-01 HELLO-11", "an ACK ends all jobs that its connection holds",
		inHand(done(fwp.ACK), ownJobs, finish)),
	fault("report-ack-first", "STATE-07 ACK-02 ACK-01 FAIL-01 STATE-01",
		"an ACK ends the job that its connection fetched first, whatever its jid",
		inHand(valid(fwp.ACK), ownJobs, reportFirst)),
	fault("report-ack-last", "STATE-07 ACK-02 FAIL-01",
		"an ACK ends the job that its connection fetched last, whatever its jid",
		inHand(valid(fwp.ACK), ownJobs, reportLast)),
	fault("report-fail-all", "STATE-05", "a FAIL fails all jobs that its connection holds",
		inHand(done(fwp.FAIL), ownJobs, fail)),
	fault("report-fail-first", "STATE-05 STATE-06 STATE-07 STATE-09 FAIL-01",
		"a FAIL fails the job that its connection fetched first, whatever its jid",
		inHand(valid(fwp.FAIL), ownJobs, reportFirst)),
	fault("reservation-forgotten", "STATE-07", "a reservation never runs out", do(skip, at(fakes.Expired))),
	fault("reservation-lost", "STATE-07", "a job whose reservation ran out is discarded",
		do(discard, at(fakes.Expired))),
	// About the fields of jobs that come back, and about enqueued_at.
	fault("enqueued-at-fetched", "WU-12", "enqueued_at is the time of the FETCH",
		do(setNow("enqueued_at"), at(fakes.Delivered))),
	fault("enqueued-at-local", "WU-12", "enqueued_at is a local time, two hours behind, that is written as UTC",
		do(shift("enqueued_at", hours(-2)), at(fakes.Delivered))).Also("enqueued-at-local-ahead"),
	fault("expiry-drops-custom", "WU-11", "a job whose reservation ran out comes back without custom",
		next(jid, at(fakes.Expired), at(fakes.Delivered), drop("custom"))),
	fault("expiry-enqueued-at-stale", "WU-12",
		"a job whose reservation ran out comes back with the enqueued_at of before",
		keep(jid, at(fakes.Expired, fakes.Delivered), staleEnqueued)),
	fault("expiry-integer-rounded", "WU-03 WU-11",
		"a job whose reservation ran out comes back with its large integers rounded",
		next(jid, at(fakes.Expired), at(fakes.Delivered), rounded)),
	fault("expiry-last-lost", "STATE-07", "a job with one retry is discarded when its reservation runs out",
		do(discard, at(fakes.Expired), is("retry", "1"))),
	fault("expiry-new-created-at", "WU-10",
		"a job whose reservation ran out comes back with the time of its return in created_at",
		next(jid, at(fakes.Expired), at(fakes.Delivered), copies("created_at", "enqueued_at"))),
	fault("expiry-reverses-args", "WU-03", "a job whose reservation ran out comes back with its args in reverse order",
		next(jid, at(fakes.Expired), at(fakes.Delivered), reverseArgs)),
	fault("woken-created-at-missing", "WU-10", "a job that ends the wait of a FETCH is delivered without created_at",
		next(jid, endsWait, at(fakes.Delivered), drop("created_at"))),
	fault("woken-drops-custom", "WU-11", "a job that ends the wait of a FETCH is delivered without custom",
		next(jid, endsWait, at(fakes.Delivered), drop("custom"))),
	fault("woken-enqueued-at-missing", "WU-12", "a job that ends the wait of a FETCH is delivered without enqueued_at",
		next(jid, endsWait, at(fakes.Delivered), drop("enqueued_at"))),
	fault("woken-reverses-args", "WU-03",
		"a job that ends the wait of a FETCH is delivered with its args in reverse order",
		next(jid, endsWait, at(fakes.Delivered), reverseArgs)),
	// About INFO.
	fault("info-arguments", "INFO-03", "INFO with an argument is served",
		do(accept, checked(fwp.INFO), about(fakes.AboutArguments))),
	fault("info-null-without-jobs", "INFO-01", "INFO is null as long as there are no jobs",
		do(reply(fakes.Null()), done(fwp.INFO), func(e *event) bool {
			return len(stored(e, func(fakes.StoredJob) bool { return true })) == 0
		})),
	fault("info-refused-with-queues", "INFO-01", "INFO is answered with an error after jobs of more than 150 queues",
		keepAll(either(at(fakes.Defaulted), checked(fwp.INFO)), func(queues *[]string, e *event) {
			switch queue := e.Object.Text("queue"); {
			case e.Point == fakes.Defaulted && !slices.Contains(*queues, queue):
				*queues = append(*queues, queue)
			case e.Point == fakes.Checked && len(*queues) > 150:
				e.Decline(fakes.AboutLimit, "too many queues")
			}
		})),
	fault("info-simple", "INFO-01", "INFO is answered with a simple string",
		do(kind(fwp.SimpleString), ran(fwp.INFO), func(e *event) bool { return e.Reply.Kind == fwp.BulkString })),
}

func commandsAbove(n int) condition { return func(e *event) bool { return e.Conn.Commands > n } }

// counts are of the jobs that a connection has pushed and fetched.
type counts struct{ pushed, fetched int }

func jobsCounted(n *counts, e *event) {
	switch e.Point {
	case fakes.Defaulted:
		n.pushed++
	case fakes.Delivered:
		n.fetched++
	default:
		if min(n.pushed, n.fetched) >= 95 {
			findNone(e)
		}
	}
}

// diesOf ends the service at a deadly command, until a restart.
func diesOf(deadly condition) func() func(*event) {
	return keepAll(at(fakes.Restarted, fakes.Accepted, fakes.Ran), func(dead *bool, e *event) {
		switch e.Point {
		case fakes.Restarted:
			*dead = false
		case fakes.Accepted:
			e.Skip = *dead
		default:
			if *dead = *dead || deadly(e); *dead {
				e.Reply, e.Close = fwp.Reply{}, true
			}
		}
	})
}

// lastFailure delivers some jobs with the failure of the job that failed last.
func lastFailure(which condition) func() func(*event) {
	return keepAll(either(at(fakes.Failed), both(at(fakes.Delivered), which)), func(last *string, e *event) {
		if e.Point == fakes.Failed {
			*last = string(e.Object.Get("failure"))
		} else if *last != "" {
			e.Object.Set("failure", *last)
		}
	})
}

func hours(n int) func(time.Time) time.Time {
	return func(t time.Time) time.Time { return t.UTC().Add(time.Duration(n) * time.Hour) }
}

// deliveries are the enqueued_at of a job's last delivery, and whether its reservation has run out since.
type deliveries struct {
	enqueued string
	expired  bool
}

func staleEnqueued(d *deliveries, e *event) {
	if e.Point == fakes.Expired {
		d.expired = true
		return
	}
	if d.expired && d.enqueued != "" {
		e.Object.Set("enqueued_at", d.enqueued)
	}
	*d = deliveries{enqueued: string(e.Object.Get("enqueued_at"))}
}
