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
	lineFault("ack-bare-jid", fwp.ACK, func(line []byte) []byte {
		jid := bytes.TrimSuffix(bytes.TrimPrefix(line, []byte(`ACK {"jid":`)), []byte("}\r\n"))
		return fmt.Appendf(nil, "ACK %s\r\n", bytes.Trim(jid, `"`))
	}),
	fault("ack-before-run", catalogue.Both(
		on(Delivered, func(e *Event) { e.Worker.say(fwp.ACK, Fields{"jid": e.Job.JID}) }), on(Ran, skip))),
	lineFault("ack-ends-twice", fwp.ACK, replace("\r\n", "\r\n\r\n")),
	fault("ack-error-ends", exitAt(fwp.ACK, fwp.ErrorReply)),
	fault("ack-more-fields", on(Ran, func(e *Event) { e.Fields["jobtype"] = e.Job.Type })),
	fault("ack-never", on(Ran, func(e *Event) { e.Skip = e.Outcome == Succeeded })),
	fault("empty-failure-acknowledged", failing(catalogue.On(saysNothing, acknowledge))),
	fault("fail-backtrace-text", failing(field("backtrace", "line 1\nline 2"))),
	fault("fail-jid-unescaped", sent("", func(e *Event) {
		if isReport(e.Verb) {
			e.Line = bytes.ReplaceAll(e.Line, []byte(`\"`), []byte(`"`))
		}
	})),
	lineFault("fail-latin-1", fwp.FAIL, latin1),
	fault("fail-lines-broken",
		sent(fwp.FAIL, func(e *Event) { e.Line = bytes.ReplaceAll(e.Line, []byte(`\n`), []byte("\n")) })),
	fault("fail-long-unsent", on(Ran, func(e *Event) {
		message, _ := e.Fields["message"].(string)
		e.Skip = len(message) > 64<<10
	})),
	fault("fail-message-cut", sent(fwp.FAIL, func(e *Event) { e.Line = cutMessage(e.Line, 1000) })),
	fault("fail-message-empty", failing(func(e *Event) {
		e.Fields["errtype"], e.Fields["message"], e.Fields["backtrace"] = "", "", []string{}
	})),
	fault("fail-message-null", failing(catalogue.On(saysNothing, field("message", json.RawMessage("null"))))),
	fault("fail-message-object", failing(field("message", Fields{"text": "x"}))),
	fault("fail-never", on(Ran, func(e *Event) { e.Skip = e.Outcome != Succeeded })),
	fault("fail-without-backtrace", failing(field("backtrace", nil))),
	fault("fail-without-errtype", failing(field("errtype", nil))),
	fault("fail-without-message", failing(field("message", nil))),
	fault("failure-acknowledged", failing(acknowledge)),
	fault("failure-ends-executor", catalogue.From(connOf, hasFailed, fetches, rest(time.Second))),
	fault("report-lost-seldom", catalogue.Every(10, at(Ran), skip)),
	fault("report-never", on(Ran, skip)),
	fault("report-twice", on(Ran, again)),
	fault("retry-zero-acknowledged", on(Ran, func(e *Event) {
		if e.Outcome == Failed && bytes.Contains(e.Job.Text, []byte(`"retry":0`)) {
			acknowledge(e)
		}
	})),
	fault("success-reported-as-failure", on(Ran, func(e *Event) {
		if e.Outcome == Succeeded {
			e.Verb = fwp.FAIL
			e.Fields["errtype"], e.Fields["message"], e.Fields["backtrace"] = "Error", "none", []string{}
		}
	})),
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
