package fakeworker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// failFaults are about the reports on jobs. (ACK; FAIL)
var failFaults = []Fault{
	lineFault("ack-bare-jid", "FRAME-02 FETCH-09 END-04 STATE-21 FRAME-04", "Its ACK has the jid without JSON around it.",
		fwp.ACK, func(line []byte) []byte {
			jid := bytes.TrimSuffix(bytes.TrimPrefix(line, []byte(`ACK {"jid":`)), []byte("}\r\n"))
			return fmt.Appendf(nil, "ACK %s\r\n", bytes.Trim(jid, `"`))
		}),
	fault("ack-before-run", "WRK-07 FETCH-10 ACK-05 FAIL-04 FETCH-11", "It acknowledges a job before it runs it.",
		catalogue.Both(
			on(Delivered, func(e *Event) { e.Worker.say(fwp.ACK, Fields{"jid": e.Job.JID}) }), on(Ran, skip))),
	lineFault("ack-ends-twice", "FRAME-04 FRAME-07 RESP-08 RESP-09 FETCH-09 FETCH-10 FETCH-11 STATE-15 WRK-03",
		"An empty line stands behind its ACKs.", fwp.ACK, replace("\r\n", "\r\n\r\n")),
	fault("ack-error-ends", "RESP-09 FETCH-11 STATE-15", "It ends when an ACK is answered with an error.",
		exitAt(fwp.ACK, fwp.ErrorReply)),
	ranFault("ack-more-fields", "ACK-06", "Its ACKs have the job type too.",
		func(e *Event) { e.Fields["jobtype"] = e.Job.Type }),
	ranFault("ack-never", "FETCH-09 END-04 STATE-21", "It reports no job that succeeded.",
		func(e *Event) { e.Skip = e.Outcome == Succeeded }),
	failFault("empty-failure-acknowledged", "ACK-05", "It acknowledges a failure without a message.",
		catalogue.On(saysNothing, acknowledge)),
	failFault("fail-backtrace-text", "FAIL-05", "The backtrace of its FAILs is a string.",
		field("backtrace", "line 1\nline 2")),
	fault("fail-jid-unescaped", "FRAME-04 FETCH-09 FRAME-02", "It writes the jid of a report without escapes.",
		sent("", func(e *Event) {
			if isReport(e.Verb) {
				e.Line = bytes.ReplaceAll(e.Line, []byte(`\"`), []byte(`"`))
			}
		})),
	lineFault("fail-latin-1", "FRAME-09 FRAME-04", "Its FAILs are written in Latin-1.", fwp.FAIL, latin1),
	fault("fail-lines-broken", "FRAME-04 FRAME-01 FRAME-02 FRAME-07 FETCH-09 RESP-09 FAIL-05 WRK-04",
		"It writes the line breaks of a message as they are.",
		sent(fwp.FAIL, func(e *Event) { e.Line = bytes.ReplaceAll(e.Line, []byte(`\n`), []byte("\n")) })),
	fault("fail-long-unsent", "FETCH-09", "It sends no FAIL with a message of more than 64 KiB.", on(Ran, func(e *Event) {
		message, _ := e.Fields["message"].(string)
		e.Skip = len(message) > 64<<10
	})),
	fault("fail-message-cut", "FRAME-09", "It cuts the message of a FAIL to 1000 bytes.",
		sent(fwp.FAIL, func(e *Event) { e.Line = cutMessage(e.Line, 1000) })).also("fail-message-cut-late"),
	failFault("fail-message-empty", "WRK-04", "All fields of its FAILs but the jid are empty.", func(e *Event) {
		e.Fields["errtype"], e.Fields["message"], e.Fields["backtrace"] = "", "", []string{}
	}),
	failFault("fail-message-null", "FAIL-05", "The message of a FAIL is null if the job gave none.",
		catalogue.On(saysNothing, field("message", json.RawMessage("null")))),
	failFault("fail-message-object", "FAIL-05", "The message of its FAILs is an object.",
		field("message", Fields{"text": "x"})),
	ranFault("fail-never", "FETCH-09 END-04 STATE-21", "It reports no job that failed.",
		func(e *Event) { e.Skip = e.Outcome != Succeeded }),
	failFault("fail-without-backtrace", "FAIL-05", "Its FAILs have no backtrace.", field("backtrace", nil)),
	failFault("fail-without-errtype", "FAIL-05 WRK-04", "Its FAILs have no errtype.", field("errtype", nil)),
	failFault("fail-without-message", "FAIL-05 WRK-04", "Its FAILs have no message.", field("message", nil)),
	failFault("failure-acknowledged", "ACK-05 WRK-07", "It acknowledges a job that failed.", acknowledge),
	fault("failure-ends-executor", "FETCH-11 RESP-09", "It runs one job less at a time after each that failed.",
		catalogue.From(connOf, hasFailed, fetches, rest(time.Second))),
	fault("report-lost-seldom", "FETCH-09 END-04 STATE-21 RESP-09",
		"It forgets the report of every tenth job.",
		catalogue.Every(10, at(Ran), skip)),
	ranFault("report-never", "FETCH-09 END-04 STATE-21", "It reports no job.", skip),
	ranFault("report-twice", "FETCH-10", "It reports each job twice.", again),
	fault("retry-zero-acknowledged", "ACK-05", "It acknowledges a failed job that is not to be tried again.",
		on(Ran, func(e *Event) {
			if e.Outcome == Failed && bytes.Contains(e.Job.Text, []byte(`"retry":0`)) {
				e.Verb, e.Fields = fwp.ACK, Fields{"jid": e.Job.JID}
			}
		})),
	ranFault("success-reported-as-failure", "FAIL-04", "It reports a job as failed that succeeded.", func(e *Event) {
		if e.Outcome == Succeeded {
			e.Verb = fwp.FAIL
			e.Fields["errtype"], e.Fields["message"], e.Fields["backtrace"] = "Error", "none", []string{}
		}
	}),
}

// ranFault returns a fault of the reports on jobs.
func ranFault(name, clauses, summary string, act func(*Event)) Fault {
	return fault(name, clauses, summary, on(Ran, act))
}

// failFault returns a fault of the reports on jobs that failed.
func failFault(name, clauses, summary string, act func(*Event)) Fault {
	return fault(name, clauses, summary, failing(act))
}

// acknowledge reports a job as one that succeeded.
func acknowledge(e *Event) { e.Verb, e.Fields = fwp.ACK, Fields{"jid": e.Job.JID} }

// saysNothing is the condition of a report without a message.
func saysNothing(e *Event) bool { return e.Fields["message"] == "" }

// isReport reports whether a verb is that of a report.
func isReport(verb string) bool { return verb == fwp.ACK || verb == fwp.FAIL }

// cutMessage cuts the message in the line of a FAIL to a number of bytes, also where that is inside a character.
func cutMessage(line []byte, most int) []byte {
	_, text, has := bytes.Cut(line, []byte(`"message":"`))
	end := bytes.IndexByte(text, '"')
	if !has || end <= most {
		return line
	}
	head := line[:len(line)-len(text)]
	return slices.Concat(head, text[:most], text[end:])
}

// latin1 writes the characters from U+0080 to U+00FF as one byte each.
func latin1(line []byte) []byte {
	var out []byte
	for _, r := range string(line) {
		if r >= 0x80 && r < 0x100 {
			out = append(out, byte(r))
		} else {
			out = append(out, string(r)...)
		}
	}
	return out
}
