package fakes

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// failAlterFaults are about jobs that a FAIL alters.
func failAlterFaults() []Fault {
	return []Fault{
		statefulFault("retry-drops-custom", "WU-11",
			"a job that failed comes back without custom", altered(at(Failed), without("custom"))),
		statefulFault("retry-reverses-args", "WU-03",
			"a job that failed comes back with its args in reverse order", altered(at(Failed), reverseArgs)),
		statefulFault("retry-new-created-at", "WU-10",
			"a job that failed comes back with the time of its FAIL in created_at",
			altered(at(Failed), func(job *Object) { job.Set("created_at", stamp(time.Now())) })),
		statefulFault("retry-integer-rounded", "WU-03 WU-11",
			"a job that failed comes back with its large integers rounded", altered(at(Failed), rounded)),
		statefulFault("retry-text-escaped", "WU-03 WU-11",
			"a job that failed comes back with the control characters of its texts as escapes",
			altered(at(Failed), func(job *Object) {
				reshape(job, "args custom", texts(func(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }))
			})),
		statefulFault("retry-other-queue-shown", "FETCH-01",
			"a job that failed comes back with retries as the name of its queue",
			altered(at(Failed), func(job *Object) { job.SetText("queue", "retries") })),
		statefulFault("retry-first-key-counts", "WU-03",
			"of two members of a hash in args with the same name the first counts when a job comes back",
			altered(at(Failed), func(job *Object) {
				job.Set("args", strings.ReplaceAll(string(job.Get("args")), `{"a":1,"a":2}`, `{"a":1}`))
			})),
		statefulFault("retry-lines-kept", "WU-09 WU-13",
			"a job that fails again comes back with the lines of its first backtrace", linesKept),
		statefulFault("fail-second-queue-moves", "STATE-09",
			"a job that fails goes to the first queue of the FETCH that has found it", movesToFirst),
	}
}

// expiryAlterFaults are about jobs that are altered when their reservation runs out.
func expiryAlterFaults() []Fault {
	return []Fault{
		statefulFault("expiry-drops-custom", "WU-11",
			"a job whose reservation ran out comes back without custom", altered(at(Expired), without("custom"))),
		statefulFault("expiry-reverses-args", "WU-03",
			"a job whose reservation ran out comes back with its args in reverse order", altered(at(Expired), reverseArgs)),
		statefulFault("expiry-integer-rounded", "WU-03 WU-11",
			"a job whose reservation ran out comes back with its large integers rounded", altered(at(Expired), rounded)),
		statefulFault("expiry-new-created-at", "WU-10",
			"a job whose reservation ran out comes back with the time of its return in created_at",
			altered(at(Expired), func(job *Object) { job.Set("created_at", string(job.Get("enqueued_at"))) })),
		statefulFault("expiry-enqueued-at-stale", "WU-12",
			"a job whose reservation ran out comes back with the enqueued_at of before", staleEnqueued),
	}
}

// otherAlterFaults are about jobs that are altered by their schedule, by a restart, or by ending the wait of a FETCH.
func otherAlterFaults() []Fault {
	return []Fault{
		statefulFault("schedule-drops-custom", "WU-11",
			"a job that was scheduled is delivered without custom",
			altered(isScheduled, without("custom"))),
		statefulFault("schedule-reverses-args", "WU-03",
			"a job that was scheduled is delivered with its args in reverse order",
			altered(isScheduled, reverseArgs)),
		statefulFault("schedule-integer-rounded", "WU-03 WU-11",
			"a job that was scheduled is delivered with its large integers rounded", altered(isScheduled, rounded)),
		statefulFault("woken-drops-custom", "WU-11",
			"a job that ends the wait of a FETCH is delivered without custom", altered(endsWait, without("custom"))),
		statefulFault("woken-reverses-args", "WU-03",
			"a job that ends the wait of a FETCH is delivered with its args in reverse order", altered(endsWait, reverseArgs)),
		statefulFault("woken-enqueued-at-missing", "WU-12",
			"a job that ends the wait of a FETCH is delivered without enqueued_at",
			altered(endsWait, without("enqueued_at"))),
		statefulFault("woken-created-at-missing", "WU-10",
			"a job that ends the wait of a FETCH is delivered without created_at", altered(endsWait, without("created_at"))),
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
	}
}

// altered returns hooks that change the jobs that an earlier event was about, when they are delivered.
func altered(earlier func(*Event) bool, change func(job *Object)) func() func(*Event) {
	return noted(earlier, Delivered, func(e *Event) { change(e.Object) })
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

// reverseArgs reverses the args.
func reverseArgs(job *Object) {
	var args []json.RawMessage
	if json.Unmarshal(job.Get("args"), &args) != nil {
		return
	}
	slices.Reverse(args)
	if b, err := json.Marshal(args); err == nil {
		job.Set("args", string(b))
	}
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

func movesToFirst() func(*Event) {
	var first notes[string, string]
	return func(e *Event) {
		switch e.Point {
		case Delivered:
			if len(e.Queues) > 0 {
				first.put(e.Object.Text("jid"), e.Queues[0])
			}
		case Failed:
			if queue, known := first.take(e.Object.Text("jid")); known {
				e.Object.SetText("queue", queue)
			}
		}
	}
}
