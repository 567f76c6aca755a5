package worker

import (
	"bytes"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// failBugs are about the reports on jobs. (ACK; FAIL)
var failBugs = []Bug{
	bug("ack-error-ends", exitAt(fwp.ACK, fwp.ErrorReply)),
	bug("ack-more-fields", actAt(Ran, func(e *Event) { e.Fields["jobtype"] = e.Job.Type })),
	bug("fail-jid-unescaped", actOnSend("", func(e *Event) {
		if isReport(e.Verb) {
			e.Line = bytes.ReplaceAll(e.Line, []byte(`\"`), []byte(`"`))
		}
	})),
	lineBug("fail-latin-1", fwp.FAIL, latin1),
	bug("fail-message-empty", actOnFail(func(e *Event) {
		e.Fields["errtype"], e.Fields["message"], e.Fields["backtrace"] = "", "", []string{}
	})),
	bug("fail-never", actAt(Ran, func(e *Event) { e.Skip = e.Outcome != Succeeded })),
	bug("fail-without-backtrace", actOnFail(field("backtrace", nil))),
	bug("failure-acknowledged", actOnFail(acknowledge)),
	bug("report-lost-seldom", catalogue.ActEveryNth(10, at(Ran), skip)),
	bug("report-twice", actAt(Ran, repeat)),
	bug("success-reported-as-failure", actAt(Ran, failAll)),
}

// failAll reports a job as failed also if it succeeded.
func failAll(e *Event) {
	if e.Outcome == Succeeded {
		e.Verb = fwp.FAIL
		e.Fields["errtype"], e.Fields["message"], e.Fields["backtrace"] = "Error", "none", []string{}
	}
}

// acknowledge reports a job as one that succeeded.
func acknowledge(e *Event) { e.Verb, e.Fields = fwp.ACK, Fields{"jid": e.Job.JID} }

// isReport reports whether a verb is that of a report.
func isReport(verb string) bool { return verb == fwp.ACK || verb == fwp.FAIL }

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
