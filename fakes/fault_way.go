package fakes

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// The ways in which a job can come to a worker, besides the straight one.
const (
	failedWay  = "failed"  // it failed, and came back
	expiredWay = "expired" // its reservation ran out, and it came back
	restartWay = "restart" // the server was restarted while it had the job
	wokenWay   = "woken"   // it ended the wait of a FETCH
	laterWay   = "later"   // it was scheduled
)

// onItsWay changes jobs that came to their worker in one way.
func onItsWay(way string, change func(job *Object)) func() func(*Event) {
	return func() func(*Event) {
		var went notes[string, bool]
		return func(e *Event) {
			switch {
			case e.Point == Delivered:
				if is, _ := went.take(e.Object.Text("jid")); is {
					change(e.Object)
				}
			case way == failedWay && e.Point == Failed, way == expiredWay && e.Point == Expired,
				way == wokenWay && e.Point == Reserved && e.Command.Verb == fwp.PUSH,
				way == laterWay && e.Point == Scheduled && e.Set == "scheduled":
				went.put(e.Object.Text("jid"), true)
			}
		}
	}
}

// wayFaults are about jobs that are altered on one way only.
func wayFaults() []Fault {
	return []Fault{
		statefulFault("retry-integer-rounded", "WU-03 WU-11",
			"a job that failed comes back with its large integers rounded", onItsWay(failedWay, rounded)),
		statefulFault("retry-text-escaped", "WU-03 WU-11",
			"a job that failed comes back with the control characters of its texts as escapes",
			onItsWay(failedWay, func(job *Object) {
				reshape(job, "args custom", texts(func(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }))
			})),
		statefulFault("schedule-integer-rounded", "WU-03 WU-11",
			"a job that was scheduled is delivered with its large integers rounded", onItsWay(laterWay, rounded)),
		statefulFault("expiry-drops-custom", "WU-11",
			"a job whose reservation ran out comes back without custom", onItsWay(expiredWay, without("custom"))),
		statefulFault("expiry-reverses-args", "WU-03",
			"a job whose reservation ran out comes back with its args in reverse order", onItsWay(expiredWay, reverseArgs)),
		statefulFault("expiry-integer-rounded", "WU-03 WU-11",
			"a job whose reservation ran out comes back with its large integers rounded", onItsWay(expiredWay, rounded)),
		statefulFault("expiry-new-created-at", "WU-10",
			"a job whose reservation ran out comes back with the time of its return in created_at",
			onItsWay(expiredWay, func(job *Object) { job.Set("created_at", string(job.Get("enqueued_at"))) })),
	}
}

// restartWayFaults are about jobs that are altered by a restart, by the wait of a FETCH, or the second time.
func restartWayFaults() []Fault {
	return []Fault{
		statefulFault("woken-drops-custom", "WU-11",
			"a job that ends the wait of a FETCH is delivered without custom", onItsWay(wokenWay, without("custom"))),
		statefulFault("woken-reverses-args", "WU-03",
			"a job that ends the wait of a FETCH is delivered with its args in reverse order", onItsWay(wokenWay, reverseArgs)),
		statefulFault("woken-enqueued-at-missing", "WU-12",
			"a job that ends the wait of a FETCH is delivered without enqueued_at",
			onItsWay(wokenWay, without("enqueued_at"))),
		statefulFault("woken-created-at-missing", "WU-10",
			"a job that ends the wait of a FETCH is delivered without created_at", onItsWay(wokenWay, without("created_at"))),
		statefulFault("restart-drops-custom", "WU-11",
			"a job that was enqueued before a restart is delivered without custom after it",
			beforeRestart(Enqueued, Delivered, func(e *Event) { e.Object.Delete("custom") })),
		statefulFault("restart-ascii", "WU-03",
			"a job that was enqueued before a restart is delivered after it with question marks for what is not ASCII",
			beforeRestart(Enqueued, Delivered, func(e *Event) {
				reshape(e.Object, "args", texts(func(s string) string {
					return strings.Map(func(r rune) rune {
						if r > '~' {
							return '?'
						}
						return r
					}, s)
				}))
			})),
		statefulFault("retry-other-queue-shown", "FETCH-01",
			"a job that failed comes back with retries as the name of its queue",
			onItsWay(failedWay, func(job *Object) { job.SetText("queue", "retries") })),
		statefulFault("expiry-enqueued-at-stale", "WU-12",
			"a job whose reservation ran out comes back with the enqueued_at of before", staleEnqueued),
		statefulFault("retry-first-key-counts", "WU-03",
			"of two members of a hash in args with the same name the first counts when a job comes back",
			onItsWay(failedWay, func(job *Object) {
				job.Set("args", strings.ReplaceAll(string(job.Get("args")), `{"a":1,"a":2}`, `{"a":1}`))
			})),
		statefulFault("retry-lines-kept", "WU-09 WU-13",
			"a job that fails again comes back with the lines of its first backtrace", linesKept),
	}
}

// rounded rounds the large integers of a job.
func rounded(job *Object) { reshape(job, "args custom", leaves(roundedInteger)) }

// without returns a change that removes a field of a job.
func without(field string) func(*Object) { return func(job *Object) { job.Delete(field) } }

// roundedInteger returns what a double precision number keeps of an integer.
func roundedInteger(v any) any {
	n, is := integerOf(v)
	if is && (n > 1<<53 || n < -1<<53) {
		return json.Number(strconv.FormatFloat(float64(n), 'f', 0, 64))
	}
	return v
}

func staleEnqueued() func(*Event) {
	var first notes[string, string]
	var expired notes[string, bool]
	return func(e *Event) {
		switch e.Point {
		case Expired:
			expired.put(e.Object.Text("jid"), true)
		case Delivered:
			jid := e.Object.Text("jid")
			at, known := first.take(jid)
			if is, _ := expired.take(jid); is && known {
				e.Object.Set("enqueued_at", at)
			}
			first.put(jid, string(e.Object.Get("enqueued_at")))
		}
	}
}

func linesKept() func(*Event) {
	var lines notes[string, string]
	return on(Failed, func(e *Event) {
		failure, r := parseObject(e.Object.Get("failure"))
		if r != nil {
			return
		}
		jid := e.Object.Text("jid")
		before, again := lines.take(jid)
		if !again {
			before = string(failure.Get("backtrace"))
		}
		lines.put(jid, before)
		if before != "" {
			failure.Set("backtrace", before)
			e.Object.Set("failure", string(failure.text()))
		}
	})
}

// offsetFaults are about times of which a part is read wrongly.
func offsetFaults() []Fault {
	reread := func(change func(time.Time) time.Time) func(*Event) {
		return when(Defaulted, fwp.PUSH, func(e *Event) {
			if at, ok := asTime(e.Object.Get("at")); ok {
				e.Object.SetText("at", change(at).Format(time.RFC3339Nano))
			}
		})
	}
	return []Fault{
		fault("job-at-half-hours", "WU-06 STATE-11",
			"the minutes in the offset of at are ignored",
			reread(func(at time.Time) time.Time {
				_, offset := at.Zone()
				return at.Add(time.Duration(offset%3600) * time.Second)
			})),
		fault("job-at-east", "WU-06 STATE-11",
			"the offset of at is read as UTC if it is positive",
			reread(func(at time.Time) time.Time {
				_, offset := at.Zone()
				return at.Add(time.Duration(max(offset, 0)) * time.Second)
			})),
		fault("schedule-seconds", "WU-06 STATE-11",
			"an at is cut to whole seconds",
			reread(func(at time.Time) time.Time { return at.Truncate(time.Second).Add(time.Millisecond) })),
		fault("job-at-tenths-refused", "WU-06",
			"an at whose fraction has fewer than three digits is refused",
			when(Checked, fwp.PUSH, func(e *Event) {
				_, fraction, some := strings.Cut(e.Object.Text("at"), ".")
				if some && strings.IndexFunc(fraction, func(r rune) bool { return r < '0' || r > '9' }) < 3 {
					e.decline("at", "at has milliseconds")
				}
			})),
	}
}

// enqueuedFaults are about when a job is enqueued, and about what enqueued_at says.
func enqueuedFaults() []Fault {
	return []Fault{
		statefulFault("restart-runs-schedule", "WU-06 STATE-11",
			"a restart enqueues all scheduled jobs", restartRuns),
		fault("enqueued-at-fetched", "WU-12",
			"enqueued_at is the time of the FETCH",
			on(Delivered, func(e *Event) { e.Object.Set("enqueued_at", stamp(time.Now())) })),
		fault("enqueued-at-local", "WU-12",
			"enqueued_at is a local time, two hours behind, that is written as UTC",
			on(Delivered, func(e *Event) {
				if at, ok := asTime(e.Object.Get("enqueued_at")); ok {
					e.Object.Set("enqueued_at", stamp(at.Add(-2*time.Hour)))
				}
			})),
		fault("enqueued-at-local-ahead", "WU-12",
			"enqueued_at is a local time, two hours ahead, that is written as UTC",
			on(Delivered, func(e *Event) {
				if at, ok := asTime(e.Object.Get("enqueued_at")); ok {
					e.Object.Set("enqueued_at", stamp(at.Add(2*time.Hour)))
				}
			})),
		fault("queue-half-minute", "PUSH-04 STATE-09",
			"a job that waits for more than 30 s in its queue is lost",
			on(Delivered, func(e *Event) {
				if at, ok := asTime(e.Object.Get("enqueued_at")); ok && time.Since(at) > 30*time.Second {
					e.Skip = true
				}
			})),
	}
}

func restartRuns() func(*Event) {
	var restarted notes[bool, bool]
	return func(e *Event) {
		switch e.Point {
		case Restarted:
			restarted.put(true, true)
		case Greeting:
			if is, _ := restarted.take(true); !is {
				return
			}
			jobs := e.Conn.server.store
			for _, s := range jobs.Jobs() {
				if !s.Due.IsZero() && s.Job.doc().Get("failure") == nil && jobs.Remove(s.Job.jid) {
					_ = jobs.Push(&Event{Conn: e.Conn}, s.Job.with("enqueued_at", stamp(time.Now())), time.Time{})
				}
			}
		}
	}
}
