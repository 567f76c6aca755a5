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

// mixedBugs are those of the words with fewer than four.
var mixedBugs = []fakes.Bug{
	// About ACK.
	bug("ack-refused-ends", actOnHeldJobs(isRefused(fwp.ACK), isOfConn, finish)),
	// About END, and the jobs in hand of its connection.
	bug("end-returns-jobs", actOnHeldJobs(isEnd, isOfConn, giveBack)),
	bug("end-stays-open", do(func(e *event) { e.Close = false }, atRan(fwp.END))),
	// About connections that end, and what they leave behind.
	bug("consumer-idle-closed", withMemoryBy(conn, atRan(), func(beats *int, e *event) {
		if e.Command.Verb != fwp.BEAT || e.Err != nil {
			*beats = 0
			return
		}
		*beats++
		e.Close = *beats == 4
	})),
	bug("dies-of-invalid-utf8", stopService(isAbout(fakes.AboutUTF8))),
	bug("dies-of-strange-hello", stopService(func(e *event) bool {
		version := e.About() == "v" && e.Object.Get("pwdhash") == nil
		conflict := e.About() == "wid" && wid(e) != ""
		return e.Command.Verb == fwp.HELLO && (version || conflict || e.Object.Get("fwpcheck") != nil)
	})),
	bug("dies-of-unknown-job", stopService(isAbout(fakes.AboutJob))),
	bug("link-jobs-counted",
		withMemoryBy(conn, anyOf(at(fakes.Defaulted, fakes.Delivered), isValid(fwp.FETCH)), limitJobs)),
	bug("malformed-of-producer-hangs", withMemory(anyOf(isUnreadable, at(fakes.Defaulted)), loseNamedJobs)),
	bug("waiting-job-gone", func() func(*event) {
		return catalogue.Chain(do(skipStep, at(fakes.Disconnected, fakes.GivenBack)),
			actNext(jid, at(fakes.GivenBack), at(fakes.Expired), discard)())
	}),
	// About jobs that are delivered, reserved and reported.
	bug("report-ack-all", actOnHeldJobs(isDone(fwp.ACK), isOfConn, finish)),
	bug("report-fail-first", actOnHeldJobs(isValid(fwp.FAIL), isOfConn, setFirstJID)),
	// About the fields of jobs that come back, and about enqueued_at.
	bug("enqueued-at-local", do(changeTime("enqueued_at",
		func(t time.Time) time.Time { return t.UTC().Add(-2 * time.Hour) }),
		at(fakes.Delivered))),
	bug("expiry-enqueued-at-stale", withMemoryBy(jid, at(fakes.Expired, fakes.Delivered), repeatEnqueuedAt)),
	// About BEAT.
	bug("beat-quiet-returns", actOnHeldJobs(allOf(atRan(fwp.BEAT), changesState), isOfWorker, giveBack)),
	bug("beat-signal-for-all", withMemory(at(fakes.Notified), func(last *string, e *event) {
		*last = cmp.Or(e.State, *last)
		e.State = *last
	})),
	// About FLUSH.
	bug("flush-keeps-held", recallJob(at(fakes.Delivered), isUnheldFail, pushAfterOK(pushIn(20*time.Second)),
		fakes.Expired, fakes.Failed, fakes.Acked)),
	bug("flush-breaks-queues", withMemory(at(fakes.Enqueued, fakes.Flushed), breakQueues)),
	bug("flush-forgets-producers", withMemory(atParsed(), forgetProducers)),
	// About HELLO.
	bug("hello-process-once", withMemoryBy(process, allOf(isValid(fwp.HELLO), hasMember("wid"), func(e *event) bool {
		return e.Object.Text("hostname") != "fwpcheck" // the workers of the suite are of one process
	}), func(previous *string, e *event) {
		if *previous != "" && *previous != wid(e) {
			e.Decline("pid", "this process has a worker")
			return
		}
		*previous = wid(e)
	})),
	// About the greeting.
	bug("hi-after-client", recall(conn, at(fakes.Greeting), func(e *event) []byte {
		e.Skip = true
		return fakes.AppendReply(nil, e.Reply)
	}, at(fakes.Writing), func(hi []byte, e *event) { e.Bytes = slices.Concat(hi, e.Bytes) })),
	// About PUSH.
	bug("push-with-its-connection", loseWithConn()),
	bug("push-delivered-late",
		do(func(e *event) { e.Object.SetTime("at", time.Now().Add(time.Second)) }, at(fakes.Defaulted),
			hasText("at", func(at string) bool { return at == "" }))),
	// About jobs that are scheduled.
	bug("schedule-in-turn", withMemory(isScheduled, func(latest *time.Time, e *event) {
		if e.Until.Before(*latest) {
			e.Until = *latest
		}
		*latest = e.Until
	})),
	bug("schedule-with-its-connection", actIfClosed(fakes.Defaulted, isDue, skipStep)),
	// About commands before HELLO.
	bug("state-fetch-before-hello", do(func(e *event) {
		for _, queue := range queuesOf(e.Command) {
			if purgeFirst(e, queue) {
				return
			}
		}
	}, atRan(fwp.FETCH), isAbout(fakes.AboutState))),
}

// counts are of the jobs that a connection has pushed and fetched.
type counts struct{ pushed, fetched int }

func limitJobs(n *counts, e *event) {
	switch e.Point {
	case fakes.Defaulted:
		n.pushed++
	case fakes.Delivered:
		n.fetched++
	default:
		if min(n.pushed, n.fetched) >= 95 {
			e.Queues, e.WaitQueues = nil, nil
		}
	}
}

// stopService ends the service at a deadly command, until a restart.
func stopService(isDeadly condition) func() func(*event) {
	return withMemory(at(fakes.Restarted, fakes.Accepted, fakes.Ran), func(isDead *bool, e *event) {
		switch e.Point {
		case fakes.Restarted:
			*isDead = false
		case fakes.Accepted:
			e.Skip = *isDead
		default:
			if *isDead = *isDead || isDeadly(e); *isDead {
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

func repeatEnqueuedAt(d *deliveries, e *event) {
	if e.Point == fakes.Expired {
		d.expired = true
		return
	}
	if d.expired && d.enqueued != "" {
		e.Object.Set("enqueued_at", d.enqueued)
	}
	*d = deliveries{enqueued: string(e.Object.Get("enqueued_at"))}
}

// isUnreadable holds for lines of a producer whose arguments are not what the command takes.
func isUnreadable(e *event) bool {
	return e.Point == fakes.Checked && e.Err != nil && e.Object == nil && e.Conn.IsProducer()
}

// loseNamedJobs loses the jobs whose queues were named in what cannot be read.
func loseNamedJobs(lostQueues *memory[string, bool], e *event) {
	if e.Point == fakes.Defaulted {
		e.Skip = e.Skip || lostQueues.Has(e.Object.Text("queue"))
		return
	}
	for name := range strings.SplitSeq(string(e.Line), `"`) {
		*lostQueues.GetOrAdd(name) = true
	}
}

// forgetProducers has a FLUSH of one connection un-identify the producers that have sent a command on others.
func forgetProducers(forgotten *memory[int64, bool], e *event) {
	switch id := e.Conn.ID; {
	case e.Command.Verb == fwp.FLUSH && e.Conn.Identified:
		for other, isForgotten := range forgotten.All {
			*isForgotten = other != id
		}
	case !e.Conn.IsProducer():
	case *forgotten.GetOrAdd(id):
		e.Conn.Identified = false
		forgotten.Forget(id)
	}
}

// breakQueues loses the jobs that are pushed behind a FLUSH to a queue that had one before it.
func breakQueues(brokenQueues *memory[string, bool], e *event) {
	if e.Point == fakes.Enqueued {
		e.Skip = *brokenQueues.GetOrAdd(e.Object.Text("queue"))
		return
	}
	for _, isBroken := range brokenQueues.All {
		*isBroken = true
	}
}

// process is the key of the process that a HELLO names.
func process(e *event) string { return e.Object.Text("hostname") + " " + string(e.Object.Get("pid")) }

// loseWithConn loses the only job that a producer has pushed when its connection has ended.
func loseWithConn() func() func(*event) {
	type source struct {
		done <-chan struct{}
		jobs *int // that the connection has pushed
	}
	type sources struct {
		from       memory[string, source]
		pushCounts memory[int64, int]
	}
	return withMemory(at(fakes.Defaulted, fakes.Delivered), func(s *sources, e *event) {
		if e.Point == fakes.Delivered {
			from, _ := s.from.Take(jid(e))
			e.Skip = isClosed(from.done) && *from.jobs == 1
		} else if e.Conn.Worker == "" {
			jobs := s.pushCounts.GetOrAdd(e.Conn.ID)
			*jobs++
			*s.from.GetOrAdd(jid(e)) = source{e.Conn.Done, jobs}
		}
	})
}
