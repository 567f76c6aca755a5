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
	// About connections that end, and what they leave behind.
	fault("consumer-idle-closed", keep(conn, ran(), func(beats *int, e *event) {
		if e.Command.Verb != fwp.BEAT || e.Err != nil {
			*beats = 0
			return
		}
		*beats++
		e.Close = *beats == 4
	})),
	fault("dies-of-invalid-utf8", diesOf(about(fakes.AboutUTF8))),
	fault("dies-of-strange-hello", diesOf(func(e *event) bool {
		version := e.About() == "v" && e.Object.Get("pwdhash") == nil
		conflict := e.About() == "wid" && wid(e) != ""
		return e.Command.Verb == fwp.HELLO && (version || conflict || e.Object.Get("fwpcheck") != nil)
	})),
	fault("dies-of-unknown-job", diesOf(about(fakes.AboutJob))),
	fault("gone-consumer-job-lost", ifGone(fakes.Reserved, at(fakes.Expired), discard)),
	fault("link-commands-close", do(hangUp, ran(), commandsAbove(1000))),
	fault("link-commands-counted",
		do(decline(fakes.AboutLimit, "too many commands"), checked(fwp.INFO), commandsAbove(150))),
	fault("link-jobs-counted",
		keep(conn, either(at(fakes.Defaulted, fakes.Delivered), valid(fwp.FETCH)), jobsCounted)),
	fault("waiting-job-gone", func() func(*event) {
		return catalogue.Both(do(skip, at(fakes.Disconnected, fakes.GivenBack)),
			next(jid, at(fakes.GivenBack), at(fakes.Expired), discard)())
	}),
	// About jobs that are delivered, reserved and reported.
	fault("backtrace-single", do(func(e *event) {
		failure, err := fakes.ParseObject(e.Object.Get("failure"))
		if err != nil {
			return
		}
		if lines, _ := failure.Texts("backtrace"); len(lines) == 1 {
			failure.Delete("backtrace")
			e.Object.Set("failure", string(failure.Append(nil)))
		}
	}, at(fakes.Failed))),
	fault("backtrace-whole", do(set("backtrace", "30"), at(fakes.Defaulted), number("backtrace", above(0)))),
	fault("delivered-twice", every(50, at(fakes.Delivered), again)),
	fault("delivered-twice-rarely", every(500, at(fakes.Delivered), again)),
	fault("failure-for-all", lastFailure(not(has("failure")))),
	fault("failure-of-the-last", lastFailure(has("failure"))),
	fault("report-ack-all", inHand(done(fwp.ACK), ownJobs, finish)),
	fault("report-ack-first", inHand(valid(fwp.ACK), ownJobs, reportFirst)),
	fault("report-ack-last", inHand(valid(fwp.ACK), ownJobs, reportLast)),
	fault("report-fail-all", inHand(done(fwp.FAIL), ownJobs, fail)),
	fault("report-fail-first", inHand(valid(fwp.FAIL), ownJobs, reportFirst)),
	fault("reservation-forgotten", do(skip, at(fakes.Expired))),
	fault("reservation-lost", do(discard, at(fakes.Expired))),
	// About the fields of jobs that come back, and about enqueued_at.
	fault("enqueued-at-fetched", do(setNow("enqueued_at"), at(fakes.Delivered))),
	fault("enqueued-at-local", do(shift("enqueued_at", hours(-2)), at(fakes.Delivered))),
	fault("expiry-drops-custom", next(jid, at(fakes.Expired), at(fakes.Delivered), drop("custom"))),
	fault("expiry-enqueued-at-stale", keep(jid, at(fakes.Expired, fakes.Delivered), staleEnqueued)),
	fault("expiry-integer-rounded", next(jid, at(fakes.Expired), at(fakes.Delivered), rounded)),
	fault("expiry-last-lost", do(discard, at(fakes.Expired), is("retry", "1"))),
	fault("expiry-new-created-at",
		next(jid, at(fakes.Expired), at(fakes.Delivered), copies("created_at", "enqueued_at"))),
	fault("expiry-reverses-args", next(jid, at(fakes.Expired), at(fakes.Delivered), reverseArgs)),
	fault("woken-created-at-missing", next(jid, endsWait, at(fakes.Delivered), drop("created_at"))),
	fault("woken-drops-custom", next(jid, endsWait, at(fakes.Delivered), drop("custom"))),
	fault("woken-enqueued-at-missing", next(jid, endsWait, at(fakes.Delivered), drop("enqueued_at"))),
	fault("woken-reverses-args", next(jid, endsWait, at(fakes.Delivered), reverseArgs)),
	// About INFO.
	fault("info-arguments", do(accept, checked(fwp.INFO), about(fakes.AboutArguments))),
	fault("info-null-without-jobs", do(reply(fakes.Null()), done(fwp.INFO), func(e *event) bool {
		return len(stored(e, func(fakes.StoredJob) bool { return true })) == 0
	})),
	fault("info-refused-with-queues",
		keepAll(either(at(fakes.Defaulted), checked(fwp.INFO)), func(queues *[]string, e *event) {
			switch queue := e.Object.Text("queue"); {
			case e.Point == fakes.Defaulted && !slices.Contains(*queues, queue):
				*queues = append(*queues, queue)
			case e.Point == fakes.Checked && len(*queues) > 150:
				e.Decline(fakes.AboutLimit, "too many queues")
			}
		})),
	fault("info-simple",
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
