package fakes

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// fetching acts on a FETCH that is not refused.
func fetching(act func(*Event)) func(*Event) {
	return when(Checked, fwp.FETCH, func(e *Event) {
		if e.Err == nil {
			act(e)
		}
	})
}

// queueFaults are about a FETCH of several queues, and about one of many.
func queueFaults() []Fault {
	return []Fault{
		fault("fetch-ten-queues", "FETCH-04",
			"a FETCH searches no more than ten queues",
			fetching(func(e *Event) { e.Queues = e.Queues[:min(10, len(e.Queues))] })),
		statefulFault("fetch-order-seldom", "FETCH-04",
			"every 30th FETCH searches its queues from the last to the first",
			every(30, Checked, func(e *Event) {
				e.Queues = slices.Clone(e.Queues)
				slices.Reverse(e.Queues)
			})),
		fault("fetch-waits-for-each", "FETCH-05 RESP-06",
			"a FETCH waits 2 s for each of its queues",
			fetching(func(e *Event) { e.Wait *= time.Duration(max(1, len(e.Queues))) })),
		fault("fetch-several-never-wait", "FETCH-05",
			"a FETCH of more than one queue does not wait",
			fetching(func(e *Event) {
				if len(e.Queues) > 1 {
					e.Wait = 0
				}
			})),
		statefulFault("fetch-bare-repeats", "FETCH-08",
			"a FETCH without a queue takes those of the FETCH before, on its connection", bareRepeats),
		statefulFault("fetch-woken-late", "FETCH-06 FETCH-14",
			"a job that is pushed while a FETCH waits is delivered when the wait is over", wokenLate),
		statefulFault("fetch-slow-seldom", "STATE-04",
			"every 30th job is delivered 3 s after its FETCH",
			every(30, Delivered, func(e *Event) { e.Delay = 3 * time.Second })),
		statefulFault("fetch-queues-kept", "FETCH-04",
			"a FETCH of the same queues as one before looks into those of the FETCH between them, if that one named none",
			queuesKept),
	}
}

func bareRepeats() func(*Event) {
	var last notes[int64, []string]
	return when(Checked, fwp.FETCH, func(e *Event) {
		switch queues, _ := last.take(e.Conn.ID); {
		case e.Command.Args != nil:
			last.put(e.Conn.ID, slices.Clone(e.Queues))
		case queues != nil:
			e.Queues = queues
		}
	})
}

// queuesKept reads the queues of a FETCH only if its arguments are not those that were read last, and forgets that a
// FETCH without arguments has replaced the queues.
func queuesKept() func(*Event) {
	type read struct {
		args   string
		queues []string
	}
	var last notes[int64, read]
	return when(Checked, fwp.FETCH, func(e *Event) {
		before, known := last.take(e.Conn.ID)
		switch args := string(e.Command.Args); {
		case e.Err != nil:
		case args == "":
			before.queues = slices.Clone(e.Queues)
		case known && args == before.args:
			e.Queues = before.queues
		default:
			before = read{args, slices.Clone(e.Queues)}
		}
		last.put(e.Conn.ID, before)
	})
}

// wokenLate delays what was not delivered at once.
func wokenLate() func(*Event) {
	const atOnce = 100 * time.Millisecond
	var began notes[int64, time.Time]
	return func(e *Event) {
		switch {
		case e.Point == Checked && e.Command.Verb == fwp.FETCH:
			began.put(e.Conn.ID, time.Now())
		case e.Point == Delivered:
			if at, _ := began.take(e.Conn.ID); time.Since(at) > atOnce {
				e.Delay = e.Wait - time.Since(at)
			}
		}
	}
}

// valueFaults refuse documented values, as if they were out of range.
func valueFaults() []Fault {
	refuses := func(name, clauses, summary string, field string, is func(value string) bool) Fault {
		return fault(name, clauses, summary, when(Checked, fwp.PUSH, func(e *Event) {
			if value := e.Object.Get(field); value != nil && is(string(value)) {
				e.decline(About(field), field+" is out of range")
			}
		}))
	}
	one := func(value string) func(string) bool { return func(v string) bool { return v == value } }
	offset := func(v string) bool { t, ok := asTime([]byte(v)); _, off := t.Zone(); return ok && off != 0 }
	return []Fault{
		refuses("job-reserve-minute-refused", "WU-05", "a reserve_for of 60 is refused", "reserve_for", one("60")),
		refuses("job-retry-negative-refused", "WU-07", "a retry of -1 is refused", "retry", one("-1")),
		refuses("job-retry-null-refused", "WU-07", "a retry of null is refused", "retry", one("null")),
		refuses("job-retry-many-refused", "WU-07", "a retry above 25 is refused", "retry",
			func(v string) bool { n, ok := asInteger([]byte(v)); return ok && n > defaultRetry }),
		refuses("job-backtrace-refused", "WU-09", "a backtrace above 30 is refused", "backtrace",
			func(v string) bool { n, ok := asInteger([]byte(v)); return ok && n > 30 }),
		refuses("job-at-offset-refused", "WU-06", "an at with an offset is refused", "at", offset),
		refuses("job-created-at-offset-refused", "WU-10",
			"a created_at with an offset is refused", "created_at", offset),
		refuses("job-custom-null-refused", "WU-11", "a custom of null is refused", "custom", one("null")),
		refuses("job-args-empty-refused", "WU-03 PUSH-01 FLUSH-04 STATE-03 WU-06",
			"args without an element are refused", "args", one("[]")),
		fault("hello-labels-empty-refused", "HELLO-16",
			"a consumer without a label is declined",
			when(Checked, fwp.HELLO, func(e *Event) {
				if string(e.Object.Get("labels")) == "[]" {
					e.decline("labels", "there are no labels")
				}
			})),
	}
}

// neighbourFaults are about fields that a job takes over from another.
func neighbourFaults() []Fault {
	return []Fault{
		statefulFault("job-custom-follows", "WU-11", "a job without custom gets that of the job before", follows("custom")),
		statefulFault("job-created-at-follows", "WU-10",
			"a job without created_at gets that of the job before",
			follows("created_at")),
		statefulFault("job-at-follows", "WU-06", "a job without at gets that of the job before", follows("at")),
		statefulFault("job-custom-mixed", "WU-11",
			"a job without custom gets that of the job that the connection pushed before",
			customMixed),
	}
}

func customMixed() func(*Event) {
	var last notes[int64, string]
	return when(Checked, fwp.PUSH, func(e *Event) {
		switch custom, known := last.take(e.Conn.ID); {
		case e.Err != nil:
		case given(e.Object, "custom") != nil:
			last.put(e.Conn.ID, string(e.Object.Get("custom")))
		case known:
			e.Object.Set("custom", custom)
		}
	})
}

// countFaults are about what a server remembers over a restart, and about INFO.
func countFaults() []Fault {
	return []Fault{
		statefulFault("restart-forgets-acks", "ACK-02",
			"an ACK for a job that was held before a restart is answered with OK and has no effect",
			beforeRestart(Reserved, Acked, skip)),
		fault("info-refused", "INFO-01", "INFO is answered with an error", answer(fwp.INFO, refused("not now"))),
		statefulFault("info-refused-with-queues", "INFO-01",
			"INFO is answered with an error after jobs of more than 150 queues", refusedWithQueues),
		fault("beat-state-malformed", "BEAT-03 BEAT-04",
			"a change of state is no valid JSON",
			when(Ran, fwp.BEAT, func(e *Event) {
				if e.Err == nil && e.State != "" {
					e.Reply.Text = e.Reply.Text[:len(e.Reply.Text)-1]
				}
			})),
		statefulFault("beat-state-unordered", "BEAT-01",
			"the second BEAT of a connection is answered with quiet, though there was no signal", unordered),
	}
}

func refusedWithQueues() func(*Event) {
	var queues atomic.Int64
	var known notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Defaulted:
			queue := e.Object.Text("queue")
			if _, again := known.take(queue); !again {
				queues.Add(1)
			}
			known.put(queue, true)
		case e.Point == Checked && e.Command.Verb == fwp.INFO && queues.Load() > 150:
			e.decline(AboutLimit, "too many queues")
		}
	}
}

func unordered() func(*Event) {
	var beats notes[int64, int]
	return when(Ran, fwp.BEAT, func(e *Event) {
		n, _ := beats.take(e.Conn.ID)
		if beats.put(e.Conn.ID, n+1); n == 1 && e.Err == nil && e.State == "" {
			e.Reply = bulk([]byte(`{"state":"quiet"}`))
		}
	})
}
