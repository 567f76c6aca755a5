package fakes

import (
	"slices"

	"github.com/fwpsuite/fwp/fwp"
)

// unfinishedFaults are about the last bytes of a client, and about what one FETCH leaves for the next.
func unfinishedFaults() []Fault {
	taken := func(empty bool) func(*Event) {
		return on(Unfinished, func(e *Event) { e.Skip = (len(e.Line) == 0) != empty })
	}
	return []Fault{
		fault("line-unfinished", "FRAME-08",
			"the begin of a line is a command when its connection ends",
			taken(false)),
		fault("reply-at-the-end", "RESP-05",
			"a client that sends no more is sent an error",
			taken(true)),
		fault("backtrace-single", "WU-09",
			"a backtrace of which one line is to be kept is not kept",
			on(Failed, func(e *Event) {
				if lines, _ := asStrings(backtraceOf(e.Object)); len(lines) == 1 {
					withoutBacktrace(e.Object)
				}
			})),
		fault("beat-field-types", "BEAT-02",
			"a BEAT is accepted whatever the types of current_state and rss_kb are",
			allowFields(fwp.BEAT, "current_state", "rss_kb")),
		fault("fail-field-types", "FAIL-02",
			"a FAIL is accepted whatever the types of errtype, message and backtrace are",
			allowFields(fwp.FAIL, "errtype", "message", "backtrace")),
		statefulFault("fetch-queues-kept", "FETCH-04",
			"a FETCH of the same queues as one before looks into those of the FETCH between them, if that one named none",
			queuesKept),
	}
}

// allowFields carries out a command that is refused for one of the fields.
func allowFields(verb string, fields ...About) func(*Event) {
	return when(Checked, verb, func(e *Event) {
		if slices.Contains(fields, e.about()) {
			e.accept()
		}
	})
}

func backtraceOf(job *Object) []byte {
	failure, r := parseObject(job.Get("failure"))
	if r != nil {
		return nil
	}
	return failure.Get("backtrace")
}

func withoutBacktrace(job *Object) {
	failure, r := parseObject(job.Get("failure"))
	if r == nil {
		failure.Delete("backtrace")
		job.Set("failure", string(failure.Append(nil)))
	}
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
