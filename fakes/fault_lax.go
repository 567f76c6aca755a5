package fakes

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// laxFaults are lenient about the syntax of commands, or careless about that of replies.
func laxFaults() []Fault {
	return slices.Concat(laxReplyFaults(), laxCommandFaults())
}

func laxReplyFaults() []Fault {
	return []Fault{
		fault("hi-without-space", "HI-02", "HI is not followed by a space", on(Greeting, func(e *Event) {
			e.Reply.Text = bytes.Replace(e.Reply.Text, []byte("HI "), []byte("HI"), 1)
		})),
		fault("end-closes-late", "END-02 STATE-16",
			"the connection is closed 3 s after END",
			atEnd(func(e *Event) { e.Close, e.Later = false, &Later{After: 3 * time.Second, Close: true} })),
		fault("end-twice", "RESP-06 END-01",
			"END is answered with OK twice",
			atEnd(func(e *Event) { e.Bytes = append(slices.Clone(e.Bytes), e.Bytes...) })),
		fault("reply-job-line", "RESP-06 RESP-01",
			"an empty line follows every job",
			when(Writing, fwp.FETCH, func(e *Event) {
				if e.Reply.Kind == fwp.BulkString {
					e.Bytes = append(slices.Clone(e.Bytes), "\r\n"...)
				}
			})),
		fault("reply-null-lf", "RESP-01 RESP-04",
			"no job is a null that ends with LF alone",
			when(Writing, fwp.FETCH, func(e *Event) {
				if e.Reply.Kind == fwp.NullBulk {
					e.Bytes = []byte("$-1\n")
				}
			})),
		fault("reply-error-lines", "RESP-01 RESP-07",
			"the error to a PUSH has two lines",
			when(Writing, fwp.PUSH, func(e *Event) {
				if e.Err != nil {
					e.Bytes = []byte("-ERR the job was refused\nand not enqueued\r\n")
				}
			})),
		fault("push-two-objects", "FRAME-03",
			"what follows the JSON object of a PUSH is ignored",
			when(Parsed, fwp.PUSH, firstObject)),
	}
}

func laxCommandFaults() []Fault {
	return []Fault{
		fault("ack-two-objects", "FRAME-03",
			"what follows the JSON object of an ACK is ignored",
			when(Parsed, fwp.ACK, firstObject)),
		fault("push-last-comma", "PUSH-02",
			"a comma behind the last field of a PUSH is ignored",
			when(Parsed, fwp.PUSH, func(e *Event) {
				e.Command.Args = bytes.Replace(e.Command.Args, []byte(",}"), []byte("}"), 1)
			})),
		fault("fail-last-comma", "FAIL-02",
			"a comma behind the last field of a FAIL is ignored",
			when(Parsed, fwp.FAIL, func(e *Event) {
				e.Command.Args = bytes.Replace(e.Command.Args, []byte(",}"), []byte("}"), 1)
			})),
		fault("line-verb-begins", "FRAME-03",
			"a verb may have more letters at its end",
			on(Parsed, func(e *Event) {
				for _, verb := range []string{"PUSH", "FETCH", "ACK", "FAIL", "BEAT", "INFO", "FLUSH", "END"} {
					if strings.HasPrefix(e.Command.Verb, verb) {
						e.Command.Verb = verb
					}
				}
			})),
		fault("line-leading-space", "FRAME-03",
			"a space before a verb is ignored",
			on(LineRead, func(e *Event) {
				if e.Err == nil && len(e.Line) > 0 && e.Line[0] == ' ' {
					e.Line = e.Line[1:]
				}
			})),
		fault("line-nul", "FRAME-03", "NUL bytes in a line are ignored", on(LineRead, func(e *Event) {
			e.Line = bytes.ReplaceAll(e.Line, []byte{0}, nil)
		})),
		fault("beat-field-types", "BEAT-02",
			"a BEAT is accepted whatever the types of current_state and rss_kb are",
			allowFields(fwp.BEAT, "current_state", "rss_kb")),
		fault("fail-field-types", "FAIL-02",
			"a FAIL is accepted whatever the types of errtype, message and backtrace are",
			allowFields(fwp.FAIL, "errtype", "message", "backtrace")),
	}
}

func firstObject(e *Event) {
	d := json.NewDecoder(bytes.NewReader(e.Command.Args))
	var one json.RawMessage
	if d.Decode(&one) == nil && len(one) > 0 && one[0] == '{' && len(e.Command.Args) > 0 && e.Command.Args[0] == '{' {
		e.Command.Args = one
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
