package bugs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// fewBugs are those of the words with fewer than four.
var fewBugs = []fakes.Bug{
	// About ACK.
	bug("ack-refused-ends", inHand(refused(fwp.ACK), ownJobs, finish)),
	// About END, and the jobs in hand of its connection.
	bug("end-returns-jobs", inHand(ended, ownJobs, giveBack)),
	bug("end-stays-open", do(func(e *event) { e.Close = false }, ran(fwp.END))),
	// About connections that end, and what they leave behind.
	bug("consumer-idle-closed", keep(conn, ran(), func(beats *int, e *event) {
		if e.Command.Verb != fwp.BEAT || e.Err != nil {
			*beats = 0
			return
		}
		*beats++
		e.Close = *beats == 4
	})),
	bug("dies-of-invalid-utf8", diesOf(about(fakes.AboutUTF8))),
	bug("dies-of-strange-hello", diesOf(func(e *event) bool {
		version := e.About() == "v" && e.Object.Get("pwdhash") == nil
		conflict := e.About() == "wid" && wid(e) != ""
		return e.Command.Verb == fwp.HELLO && (version || conflict || e.Object.Get("fwpcheck") != nil)
	})),
	bug("dies-of-unknown-job", diesOf(about(fakes.AboutJob))),
	bug("link-jobs-counted",
		keep(conn, either(at(fakes.Defaulted, fakes.Delivered), valid(fwp.FETCH)), jobsCounted)),
	bug("malformed-of-producer-hangs", keepAll(either(unreadable, at(fakes.Defaulted)), hangs)),
	bug("waiting-job-gone", func() func(*event) {
		return catalogue.Both(do(skip, at(fakes.Disconnected, fakes.GivenBack)),
			next(jid, at(fakes.GivenBack), at(fakes.Expired), discard)())
	}),
	// About jobs that are delivered, reserved and reported.
	bug("report-ack-all", inHand(done(fwp.ACK), ownJobs, finish)),
	bug("report-fail-first", inHand(valid(fwp.FAIL), ownJobs, reportFirst)),
	// About the fields of jobs that come back, and about enqueued_at.
	bug("enqueued-at-local", do(shift("enqueued_at", func(t time.Time) time.Time { return t.UTC().Add(-2 * time.Hour) }),
		at(fakes.Delivered))),
	bug("expiry-enqueued-at-stale", keep(jid, at(fakes.Expired, fakes.Delivered), staleEnqueued)),
	// About BEAT.
	bug("beat-quiet-returns", inHand(both(ran(fwp.BEAT), changed), workersJobs, giveBack)),
	bug("beat-signal-for-all", keepAll(at(fakes.Notified), func(last *string, e *event) {
		*last = cmp.Or(e.State, *last)
		e.State = *last
	})),
	// About FLUSH.
	bug("flush-keeps-held", withJob(at(fakes.Delivered), notHeld, okayPush(pushIn(20*time.Second)),
		fakes.Expired, fakes.Failed, fakes.Acked)),
	bug("flush-breaks-queues", keepAll(at(fakes.Enqueued, fakes.Flushed), flushBreaks)),
	bug("flush-forgets-producers", keepAll(parsed(), forgetsProducers)),
	// About HELLO.
	bug("hello-process-once", keep(process, both(valid(fwp.HELLO), has("wid"), func(e *event) bool {
		return e.Object.Text("hostname") != "fwpcheck" // the workers of the suite are of one process
	}), func(known *string, e *event) {
		if *known != "" && *known != wid(e) {
			e.Decline("pid", "this process has a worker")
			return
		}
		*known = wid(e)
	})),
	// About the greeting.
	bug("hi-after-client", recall(conn, at(fakes.Greeting), func(e *event) []byte {
		e.Skip = true
		return fakes.AppendReply(nil, e.Reply)
	}, at(fakes.Writing), func(hi []byte, e *event) { e.Bytes = slices.Concat(hi, e.Bytes) })),
	// About PUSH.
	bug("push-with-its-connection", withConnection()),
	bug("push-delivered-late",
		do(func(e *event) { e.Object.SetTime("at", time.Now().Add(time.Second)) }, at(fakes.Defaulted),
			text("at", func(at string) bool { return at == "" }))),
	// About jobs that are scheduled.
	bug("schedule-in-turn", keepAll(scheduled, func(latest *time.Time, e *event) {
		if e.Until.Before(*latest) {
			e.Until = *latest
		}
		*latest = e.Until
	})),
	bug("schedule-with-its-connection", ifGone(fakes.Defaulted, due, skip)),
	// About commands before HELLO.
	bug("state-fetch-before-hello", do(func(e *event) {
		for _, queue := range queuesOf(e.Command) {
			if take(e, queue) {
				return
			}
		}
	}, ran(fwp.FETCH), about(fakes.AboutState))),
}

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
			e.Queues, e.Block = nil, nil
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

// forgetsProducers has a FLUSH of one connection un-identify the producers that have sent a command on others.
func forgetsProducers(forgotten *memory[int64, bool], e *event) {
	switch id := e.Conn.ID; {
	case e.Command.Verb == fwp.FLUSH && e.Conn.Identified:
		for other, is := range forgotten.All {
			*is = other != id
		}
	case !e.Conn.IsProducer():
	case *forgotten.Of(id):
		e.Conn.Identified = false
		forgotten.Forget(id)
	}
}

// flushBreaks loses the jobs that are pushed behind a FLUSH to a queue that had one before it.
func flushBreaks(broken *memory[string, bool], e *event) {
	if e.Point == fakes.Enqueued {
		e.Skip = *broken.Of(e.Object.Text("queue"))
		return
	}
	for _, is := range broken.All {
		*is = true
	}
}

// process is the key of the process that a HELLO names.
func process(e *event) string { return e.Object.Text("hostname") + " " + string(e.Object.Get("pid")) }

// withConnection loses the only job that a producer has pushed when its connection has ended.
func withConnection() func() func(*event) {
	type source struct {
		done <-chan struct{}
		jobs *int // that the connection has pushed
	}
	type sources struct {
		from   memory[string, source]
		pushed memory[int64, int]
	}
	return keepAll(at(fakes.Defaulted, fakes.Delivered), func(s *sources, e *event) {
		if e.Point == fakes.Delivered {
			from, _ := s.from.Take(jid(e))
			e.Skip = closed(from.done) && *from.jobs == 1
		} else if e.Conn.Worker == "" {
			jobs := s.pushed.Of(e.Conn.ID)
			*jobs++
			*s.from.Of(jid(e)) = source{e.Conn.Done, jobs}
		}
	})
}
