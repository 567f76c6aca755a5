package faults

import (
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// fewFaults are those of the words with fewer than seven.
var fewFaults = []fakes.Fault{
	// About ACK.
	fault("ack-malformed-ok", do(pretend, checked(fwp.ACK), about("jid"))),
	fault("ack-other-answer", answer(fwp.ACK, fakes.Integer(1))),
	fault("ack-redelivered", do(again, at(fakes.Acked))),
	fault("ack-refused-ends", inHand(refused(fwp.ACK), ownJobs, finish)),
	fault("ack-slow-lost", slow(fwp.ACK)),
	fault("ack-stays-held", do(skip, at(fakes.Acked))),
	// About END, and the jobs in hand of its connection.
	fault("end-arguments", do(func(e *event) { e.Command.Args = nil }, parsed(fwp.END))),
	fault("end-closes-late",
		do(func(e *event) { e.Close, e.Later = false, &fakes.Later{After: 3 * time.Second, Close: true} },
			writing(fwp.END), right, closing)),
	fault("end-error", do(reply(fakes.ErrorReply("goodbye")), ran(fwp.END), closing)),
	fault("end-returns-jobs", inHand(ended, ownJobs, giveBack)),
	fault("end-stays-open", do(staysOpen, ran(fwp.END))),
	fault("end-twice", do(twice, writing(fwp.END), right, closing)),
	// About what a restart must keep.
	fault("restart-ascii", beforeRestart(fakes.Enqueued, fakes.Delivered, func(e *event) {
		reshape(e.Object, "args", texts(func(s string) string { return strings.Map(ascii, s) }))
	})),
	fault("restart-doubles", beforeRestart(fakes.Enqueued, fakes.Delivered, again)),
	fault("restart-forgets", do(skip, at(fakes.Restarted), func(e *event) bool { return !e.Reset })),
	fault("restart-forgets-failures", forgetsFailures()),
	fault("restart-returns-done", returnsDone()),
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
	fault("link-commands-close", do(hangUp, ran(), commandsAbove(1000))),
	fault("link-commands-counted",
		do(decline(fakes.AboutLimit, "too many commands"), checked(fwp.INFO), commandsAbove(150))),
	fault("link-jobs-counted",
		keep(conn, either(at(fakes.Defaulted, fakes.Delivered), valid(fwp.FETCH)), jobsCounted)),
	fault("malformed-of-producer-hangs", keepAll(either(unreadable, at(fakes.Defaulted)), hangs)),
	fault("waiting-job-gone", func() func(*event) {
		return catalogue.Both(do(skip, at(fakes.Disconnected, fakes.GivenBack)),
			next(jid, at(fakes.GivenBack), at(fakes.Expired), discard)())
	}),
	// About jobs that are delivered, reserved and reported.
	fault("backtrace-whole", do(set("backtrace", "30"), at(fakes.Defaulted), number("backtrace", above(0)))),
	fault("delivered-twice", every(50, at(fakes.Delivered), again)),
	fault("delivered-twice-rarely", every(500, at(fakes.Delivered), again)),
	fault("report-ack-all", inHand(done(fwp.ACK), ownJobs, finish)),
	fault("report-fail-first", inHand(valid(fwp.FAIL), ownJobs, reportFirst)),
	fault("reservation-forgotten", do(skip, at(fakes.Expired))),
	fault("reservation-lost", do(discard, at(fakes.Expired))),
	// About the fields of jobs that come back, and about enqueued_at.
	fault("enqueued-at-local", do(shift("enqueued_at", func(t time.Time) time.Time { return t.UTC().Add(-2 * time.Hour) }),
		at(fakes.Delivered))),
	fault("expiry-enqueued-at-stale", keep(jid, at(fakes.Expired, fakes.Delivered), staleEnqueued)),
	fault("expiry-last-lost", do(discard, at(fakes.Expired), is("retry", "1"))),
	fault("woken-drops-custom", next(jid, endsWait, at(fakes.Delivered), drop("custom"))),
	// About INFO.
	fault("info-arguments", do(accept, checked(fwp.INFO), about(fakes.AboutArguments))),
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

// unreadable holds for lines of a producer whose arguments are not what the command takes.
func unreadable(e *event) bool {
	return e.Point == fakes.Checked && e.Err != nil && e.Object == nil && e.Conn.IsProducer()
}

// hangs loses the jobs whose queues were named in what cannot be read.
func hangs(lost *memory[string, bool], e *event) {
	if e.Point == fakes.Defaulted {
		e.Skip = e.Skip || lost.Has(e.Object.Text("queue"))
		return
	}
	for name := range strings.SplitSeq(string(e.Line), `"`) {
		*lost.Of(name) = true
	}
}

// closing holds if the connection is closed behind the reply.
func closing(e *event) bool { return e.Close }

// forgetsFailures tries a job again that its first failure after a restart ends, if it had failed before the restart.
func forgetsFailures() func() func(*event) {
	type failures struct {
		restarts int
		failed   memory[string, int]
	}
	return keepAll(at(fakes.Restarted, fakes.Failed), func(f *failures, e *event) {
		if e.Point == fakes.Restarted {
			f.restarts++
			return
		}
		before, known := f.failed.Take(jid(e))
		*f.failed.Of(jid(e)) = f.restarts
		if n, _ := e.Object.Int("retry"); known && before < f.restarts && n > 0 && e.Set == "dead" {
			retry(e)
		}
	})
}

// returnsDone enqueues the jobs that were acknowledged before a restart.
func returnsDone() func() func(*event) {
	type jobs struct{ done, back [][]byte }
	return keepAll(at(fakes.Acked, fakes.Restarted, fakes.Greeting), func(j *jobs, e *event) {
		switch e.Point {
		case fakes.Acked:
			j.done = append(j.done, e.Object.Append(nil))
		case fakes.Restarted:
			j.back, j.done = j.done, nil
		default:
			for _, unit := range j.back {
				e.Then(func() { _ = e.Conn.Server().Push(unit) }) // lost beyond a limit
			}
			j.back = nil
		}
	})
}
