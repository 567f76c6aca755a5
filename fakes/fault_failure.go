package fakes

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fwp"
)

// failureFaults are about what a FAIL says: kinds that are refused or get lost, and what is
// shown under another job.
func failureFaults() []Fault {
	return slices.Concat(refusedFailures(), changedFailures(), strayFailures())
}

// refusedFailures refuse a FAIL for what it says.
func refusedFailures() []Fault {
	refuses := func(field string, is func(value json.RawMessage) bool) func(*Event) {
		return when(Checked, fwp.FAIL, func(e *Event) {
			if value := e.Object.Get(field); value != nil && is(value) {
				e.decline(About(field), field+" is out of range")
			}
		})
	}
	text := func(is func(string) bool) func(json.RawMessage) bool {
		return func(value json.RawMessage) bool { s, ok := asString(value); return ok && is(s) }
	}
	return []Fault{
		fault("fail-lines-refused", "FAIL-01",
			"a FAIL with more than 20 lines of backtrace is refused",
			refuses("backtrace", func(value json.RawMessage) bool { lines, _ := asStrings(value); return len(lines) > 20 })),
		fault("fail-class-refused", "FAIL-01",
			"a FAIL whose errtype has a colon, a dot, an asterisk or a blank is refused",
			refuses("errtype", text(func(s string) bool { return strings.ContainsAny(s, ":.* ") }))),
		fault("fail-message-refused", "FAIL-01",
			"a FAIL whose message has more than 255 bytes is refused",
			refuses("message", text(func(s string) bool { return len(s) > 255 }))),
	}
}

// changedFailures ignore a FAIL, or a part of it.
func changedFailures() []Fault {
	return []Fault{
		fault("fail-unicode-ignored", "STATE-09 STATE-06",
			"a FAIL with characters that are not ASCII is answered with OK and has no effect",
			when(Checked, fwp.FAIL, func(e *Event) {
				if e.Err == nil && len(e.Command.Args) != utf8.RuneCount(e.Command.Args) {
					e.Skip = true
				}
			})),
		fault("fail-message-line", "FAIL-06",
			"of a message only the first line is kept",
			when(Checked, fwp.FAIL, func(e *Event) {
				if message, _, more := strings.Cut(e.Object.Text("message"), "\n"); more && e.Err == nil {
					e.Object.SetText("message", message)
				}
			})),
	}
}

// strayFailures show what a FAIL said under another job.
func strayFailures() []Fault {
	return []Fault{
		statefulFault("fail-backtrace-follows", "WU-13",
			"a job whose FAIL has no lines of backtrace gets those of the FAIL before",
			failFollows("backtrace", "[]")),
		statefulFault("fail-message-follows", "WU-13",
			"a job whose FAIL has no message gets that of the FAIL before", failFollows("message", `""`)),
		statefulFault("failure-of-the-last", "WU-13 FAIL-06 WU-08 WU-09",
			"a job is delivered with the failure of the job that failed last", failureOfLast),
		statefulFault("failure-for-all", "WU-13",
			"a job that never failed is delivered with the failure of the job that failed last", failureForAll),
	}
}

// failFollows gives a FAIL that leaves a field out, or has it empty, that of the one before.
func failFollows(field, empty string) func() func(*Event) {
	return func() func(*Event) {
		var last notes[string, string]
		return when(Checked, fwp.FAIL, func(e *Event) {
			value := string(given(e.Object, field))
			switch before, known := last.take(field); {
			case e.Err != nil:
			case value != "" && value != empty:
				last.put(field, value)
			case known:
				e.Object.Set(field, before)
				last.put(field, before)
			}
		})
	}
}

func failureOfLast() func(*Event) {
	return lastFailure(func(job *Object) bool { return job.Get("failure") != nil })
}

func failureForAll() func(*Event) {
	return lastFailure(func(job *Object) bool { return job.Get("failure") == nil })
}

// lastFailure delivers some jobs with the failure of the job that failed last.
func lastFailure(which func(job *Object) bool) func(*Event) {
	var last notes[string, json.RawMessage]
	return func(e *Event) {
		switch e.Point {
		case Failed:
			last.put("", slices.Clone(e.Object.Get("failure")))
		case Delivered:
			failure, known := last.take("")
			if known && which(e.Object) {
				e.Object.Set("failure", string(failure))
			}
			if known {
				last.put("", failure)
			}
		}
	}
}
