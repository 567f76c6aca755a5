package fakes

import (
	"bytes"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func beyondASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > '~' }) >= 0
}

// lostFaults are about jobs that are accepted and lost because of what they contain.
func lostFaults() []Fault {
	losing := func(name, clauses, what string, lost func(e *Event) bool) Fault {
		return fault(name, clauses, "a job with "+what+" is answered with OK and lost",
			on(Defaulted, func(e *Event) { e.Skip = e.Skip || lost(e) }))
	}
	return []Fault{
		losing("push-nul-lost", "PUSH-04 FRAME-09", "an escaped U+0000", func(e *Event) bool {
			return bytes.Contains(e.Command.Args, []byte(`\u0000`))
		}),
		losing("push-planes-lost", "PUSH-04 FRAME-09 RESP-03 WU-03", "a character beyond U+FFFF", func(e *Event) bool {
			return bytes.ContainsFunc(e.Command.Args, func(r rune) bool { return r > 0xFFFF })
		}),
		losing("push-odd-queue-lost", "PUSH-04", "a colon or a slash in the name of its queue", func(e *Event) bool {
			return strings.ContainsAny(e.Object.Text("queue"), ":/")
		}),
		losing("push-long-jid-lost", "PUSH-04", "a jid of more than 255 bytes", func(e *Event) bool {
			return len(e.Object.Text("jid")) > 255
		}),
		losing("push-long-lost", "PUSH-04", "more than 65,535 bytes", func(e *Event) bool {
			return len(e.Command.Args) > 65535
		}),
	}
}

// oddFaults are about names that are right, and that a server may not expect.
func oddFaults() []Fault {
	return []Fault{
		fault("job-id-beyond-ascii", "ACK-01",
			"an ACK whose jid has characters beyond ASCII is refused",
			when(Checked, fwp.ACK, func(e *Event) {
				if e.Err == nil && beyondASCII(e.Object.Text("jid")) {
					e.decline(AboutJob, "no such job")
				}
			})),
		fault("job-id-quotes", "FETCH-01",
			"a quotation mark in a jid is dropped",
			on(Delivered, func(e *Event) {
				e.Object.SetText("jid", strings.ReplaceAll(e.Object.Text("jid"), `"`, ""))
			})),
		fault("job-jobtype-backslash", "FETCH-01",
			"a backslash in a jobtype is dropped",
			on(Delivered, func(e *Event) {
				e.Object.SetText("jobtype", strings.ReplaceAll(e.Object.Text("jobtype"), `\`, ""))
			})),
		fault("beat-wid-beyond-ascii", "BEAT-01",
			"a BEAT whose wid has characters beyond ASCII is refused",
			when(Checked, fwp.BEAT, func(e *Event) {
				if e.Err == nil && beyondASCII(e.Object.Text("wid")) {
					e.decline(AboutWorker, "no such worker")
				}
			})),
	}
}

// untoldFaults are about BEATs, and about what a worker is told.
func untoldFaults() []Fault {
	return []Fault{
		fault("state-beat-before-hello", "STATE-01 AUTH-06",
			"a BEAT before HELLO is accepted if another connection had its wid", allow(fwp.BEAT, AboutState)),
		fault("state-fail-ok-before-hello", "STATE-01 AUTH-06",
			"a FAIL before HELLO is answered with OK", pretend(fwp.FAIL, AboutState)),
		statefulFault("beat-state-again-unasked", "RESP-05",
			"a worker that was told to be quiet is sent the state once more after 1 s, unasked", stateAgain),
		statefulFault("beat-late-connection-untold", "BEAT-03",
			"a worker is not told its state on a connection that was made after the signal", lateUntold),
		fault("beat-reported-untold", "BEAT-03",
			"a BEAT with current_state is not answered with a change of state",
			on(Notified, func(e *Event) { e.Skip = e.Object.Get("current_state") != nil })),
		fault("beat-quiet-refused", "BEAT-03 BEAT-01",
			"the BEATs of a worker that knows that it is quiet are refused",
			when(Checked, fwp.BEAT, func(e *Event) {
				if e.Err == nil && e.Conn.server.workers.isQuiet(e.Conn.Worker) {
					e.decline(AboutWorker, "the worker is quiet")
				}
			})),
	}
}

// nullFaults are about fields that are null or empty, and about FLUSH.
func nullFaults() []Fault {
	nulls := func(field string, act func(*Event)) func(*Event) {
		return when(Checked, fwp.PUSH, func(e *Event) {
			if e.Err == nil && isNull(e.Object.Get(field)) {
				act(e)
			}
		})
	}
	refusing := func(field string) func(*Event) {
		return nulls(field, func(e *Event) { e.decline(About(field), field+" is null") })
	}
	return []Fault{
		statefulFault("job-queue-null-lost", "WU-04",
			"a job whose queue is null is answered with OK and lost", queueNullLost),
		fault("job-queue-null-refused", "WU-04", "a queue of null is refused", refusing("queue")),
		fault("job-reserve-null-refused", "WU-05", "a reserve_for of null is refused", refusing("reserve_for")),
		fault("job-backtrace-null-refused", "WU-08", "a backtrace of null is refused", refusing("backtrace")),
		fault("job-created-at-null-refused", "WU-10", "a created_at of null is refused", refusing("created_at")),
		fault("job-reserve-null-short", "WU-05",
			"a job whose reserve_for is null is held for 60 s",
			nulls("reserve_for", func(e *Event) { e.Object.Set("reserve_for", "60") })),
		statefulFault("retry-null-none", "WU-07 RETRY-04",
			"a job whose retry is null is discarded when it fails", retryNullNone),
		fault("job-args-empty-null", "WU-03",
			"args without an element are delivered as null",
			on(Delivered, func(e *Event) {
				if string(e.Object.Get("args")) == "[]" {
					e.Object.Set("args", "null")
				}
			})),
		statefulFault("flush-once", "FLUSH-02", "only the first FLUSH clears anything", flushOnce),
		fault("flush-of-a-worker", "FLUSH-02", "the FLUSH of a worker is answered with OK and clears nothing",
			on(Flushed, func(e *Event) { e.Skip = e.Conn != nil && e.Conn.Worker != "" })),
	}
}

func stateAgain() func(*Event) {
	var told notes[int64, bool]
	return func(e *Event) {
		switch {
		case e.Point == Notified && e.State != "":
			told.put(e.Conn.ID, true)
		case e.Point == Writing && e.Command.Verb == fwp.BEAT:
			if is, _ := told.take(e.Conn.ID); is {
				e.Later = &Later{After: time.Second, Bytes: []byte("+{\"state\":\"quiet\"}\r\n")}
			}
		}
	}
}

func lateUntold() func(*Event) {
	var late notes[int64, bool]
	return func(e *Event) {
		switch {
		case e.Point == Ran && e.Command.Verb == fwp.HELLO && e.Err == nil && e.Conn.Worker != "":
			ws := &e.Conn.server.workers
			ws.mu.Lock()
			defer ws.mu.Unlock()
			if w := ws.byWID[e.Conn.Worker]; w != nil && w.signal != running {
				late.put(e.Conn.ID, true)
			}
		case e.Point == Notified && e.State != "":
			if is, _ := late.take(e.Conn.ID); is {
				late.put(e.Conn.ID, true)
				e.Skip = true
			}
		}
	}
}

func queueNullLost() func(*Event) {
	var lost notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Checked && e.Command.Verb == fwp.PUSH && e.Err == nil && isNull(e.Object.Get("queue")):
			lost.put(e.Object.Text("jid"), true)
		case e.Point == Defaulted:
			e.Skip, _ = lost.take(e.Object.Text("jid"))
		}
	}
}

func retryNullNone() func(*Event) {
	var none notes[string, bool]
	return func(e *Event) {
		switch {
		case e.Point == Checked && e.Command.Verb == fwp.PUSH && e.Err == nil && isNull(e.Object.Get("retry")):
			none.put(e.Object.Text("jid"), true)
		case e.Point == Failed:
			if is, _ := none.take(e.Object.Text("jid")); is {
				e.Set = ""
			}
		}
	}
}

func flushOnce() func(*Event) {
	var flushed notes[bool, bool]
	return on(Flushed, func(e *Event) {
		_, e.Skip = flushed.take(true)
		flushed.put(true, true)
	})
}
