package fakes

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// orderFaults are about arguments that JSON allows in another form than usual.
func orderFaults() []Fault {
	return []Fault{
		fault("push-order", "WU-00", "a PUSH whose first field is not jid or custom is refused",
			refuses(fwp.PUSH, func(e *Event) bool { f := firstName(e); return f != "jid" && f != "custom" })),
		fault("fail-order", "FAIL-01", "a FAIL whose first field is not jid is refused",
			refuses(fwp.FAIL, func(e *Event) bool { return firstName(e) != "jid" })),
		fault("beat-order", "BEAT-01", "a BEAT whose first field is not wid is refused",
			refuses(fwp.BEAT, func(e *Event) bool { return firstName(e) != "wid" })),
		fault("hello-order", "HELLO-16", "the HELLO of a consumer that begins with v is declined",
			refuses(fwp.HELLO, func(e *Event) bool { return e.Object.Get("wid") != nil && firstName(e) == "v" })),
		fault("hello-json-spaces", "HELLO-16 HELLO-15", "a HELLO with a blank behind a colon is declined",
			refuses(fwp.HELLO, func(e *Event) bool { return bytes.Contains(e.Command.Args, []byte(`: `)) })),
		fault("job-id-nested", "FETCH-01", "a jid within custom replaces that of the job",
			delivered(func(job *Object) {
				if o, r := parseObject(job.Get("custom")); r == nil && o.Text("jid") != "" {
					job.SetText("jid", o.Text("jid"))
				}
			})),
	}
}

// refuses declines a command that would have been carried out.
func refuses(verb string, is func(*Event) bool) func(*Event) {
	return when(Checked, verb, func(e *Event) {
		if e.Err == nil && is(e) {
			e.decline(AboutObject, "this form is unknown")
		}
	})
}

// firstName returns the name of the first field of the argument.
func firstName(e *Event) string {
	if all := e.Object.Fields(); len(all) > 0 {
		return all[0].Name
	}
	return ""
}

// looseFaults are about JSON that is none, in a PUSH.
func looseFaults() []Fault {
	loose := func(name, summary, from, to string) Fault {
		return fault(name, "PUSH-02", summary, on(Parsed, func(e *Event) {
			if e.Command.Verb == fwp.PUSH && !json.Valid(e.Command.Args) {
				e.Command.Args = bytes.ReplaceAll(e.Command.Args, []byte(from), []byte(to))
			}
		}))
	}
	return []Fault{
		loose("push-quotes", "a PUSH with apostrophes in the place of quotation marks is accepted", "'", `"`),
		loose("push-not-a-number", "NaN in a PUSH is accepted", "NaN", "0"),
		loose("push-leading-zero", "a number with a zero before it is accepted", "[01]", "[1]"),
		loose("push-tab-in-text", "a tab in a text of a PUSH is accepted", "\t", `\t`),
		loose("push-comment", "a comment in a PUSH is accepted", "/* */", ""),
	}
}

// longFaults are about contents that are long, and texts that other encodings know.
func longFaults() []Fault {
	shortKeys := keys(func(s string) string { return cut(s, 64) })
	return []Fault{
		fault("job-args-hundred", "WU-03", "args have no more than 100 elements",
			contents("args", func(v any) any { a, _ := v.([]any); return a[:min(100, len(a))] })),
		fault("job-keys-cut", "WU-03 WU-11", "a key is cut after 64 bytes", contents("args custom", shortKeys)),
		fault("job-text-cut", "WU-03 WU-11", "a text is cut after 255 bytes",
			contents("args custom", texts(func(s string) string { return cut(s, 255) }))),
		fault("job-text-percent", "WU-03 WU-11", "%20 in a text becomes a space",
			contents("args custom", texts(func(s string) string { return strings.ReplaceAll(s, "%20", " ") }))),
		fault("job-text-plus", "WU-03 WU-11", "a plus sign in a text becomes a space",
			contents("args custom", texts(func(s string) string { return strings.ReplaceAll(s, "+", " ") }))),
		fault("job-jobtype-format", "FETCH-01", "a percent sign in a jobtype is doubled",
			delivered(func(job *Object) { job.SetText("jobtype", strings.ReplaceAll(job.Text("jobtype"), "%", "%%")) })),
		fault("job-jobtype-html", "FETCH-01", "a jobtype is delivered with entities for < and >",
			delivered(func(job *Object) {
				job.SetText("jobtype", strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(job.Text("jobtype")))
			})),
	}
}

// verbFaults are about verbs in another form, and lines of certain lengths.
func verbFaults() []Fault {
	unanswered := func(lengths ...int) func(*Event) {
		return on(Ran, func(e *Event) {
			if slices.Contains(lengths, len(e.Line)+len("\r\n")) {
				e.Reply = fwp.Reply{}
			}
		})
	}
	return []Fault{
		fault("line-of-a-kilobyte", "RESP-06", "a line of 1,024 bytes is not answered", unanswered(1024)),
		fault("line-of-pages", "RESP-06", "a line of 8,192 or 32,768 bytes is not answered", unanswered(8192, 32768)),
		fault("line-info-ends", "FRAME-03", "a space behind INFO or END is accepted", on(Parsed, func(e *Event) {
			if verb := e.Command.Verb; (verb == fwp.INFO || verb == fwp.END) && len(e.Command.Args) == 0 {
				e.Command.Args = nil
			}
		})),
		fault("line-end-lower-case", "FRAME-03", "end is accepted in lower case", on(Parsed, func(e *Event) {
			if e.Command.Verb == "end" {
				e.Command.Verb = fwp.END
			}
		})),
		fault("beat-wid-escaped", "BEAT-01", "escapes in the wid of a BEAT are not decoded",
			when(Checked, fwp.BEAT, func(e *Event) {
				if bytes.IndexByte(e.Object.Get("wid"), '\\') >= 0 {
					e.decline(AboutWorker, "no HELLO had this wid")
				}
			})),
		fault("beat-json-tabs", "BEAT-01", "a BEAT with a tab between its tokens is refused",
			refuses(fwp.BEAT, func(e *Event) bool { return bytes.IndexByte(e.Command.Args, '\t') >= 0 })),
	}
}
