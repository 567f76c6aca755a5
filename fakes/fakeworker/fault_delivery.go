package fakeworker

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// deliveryFaults are about what a delivered job holds, and when it is delivered. (Required fields; FETCH)
func deliveryFaults() []Fault {
	delivered := func(name, clauses, summary string, act func(*Event)) Fault {
		return fault(name, clauses, summary, on(Delivered, act))
	}
	// jid returns a fault of the jid in reports.
	jid := func(name, summary string, change func(jid string) any) Fault {
		return fault(name, "FETCH-09 WRK-03 ACK-06 FAIL-05 END-04 STATE-21", summary,
			on(Ran, func(e *Event) { e.Fields["jid"] = change(e.Job.JID) }))
	}
	args := func(name, summary string, change func([]json.RawMessage) []json.RawMessage) Fault {
		return delivered(name, "WRK-15", summary, func(e *Event) {
			if e.Job.Type == TypeEcho { // the others would fail, which is another fault
				e.Job.Args = change(e.Job.Args)
			}
		})
	}
	inState := func(state string) func(*Event) {
		return func(e *Event) { e.Skip = e.Worker.state() == state }
	}
	return []Fault{
		statefulFault("job-again-dropped", "FETCH-09", "It ignores a job whose jid it has had before.",
			func() func(*Event) {
				var mu sync.Mutex
				seen := map[string]bool{}
				return on(Delivered, func(e *Event) {
					mu.Lock()
					defer mu.Unlock()
					e.Skip = seen[e.Job.JID]
					seen[e.Job.JID] = true
				})
			}),
		delivered("job-late-dropped", "FETCH-09", "It ignores a job that a FETCH brings after the order to be quiet.",
			inState("quiet")),
		delivered("job-late-dropped-at-end", "FETCH-09 STATE-21 END-04",
			"It ignores a job that a FETCH brings after the order to terminate.", inState("terminate")),
		delivered("job-times-strict", "FETCH-09", "It ignores a job whose created_at has another form than Go writes.",
			func(e *Event) {
				var unit struct {
					Created string `json:"created_at"`
				}
				_ = json.Unmarshal(e.Job.Text, &unit) // it was read before
				e.Skip = unit.Created != "" && !strings.HasSuffix(unit.Created, "Z")
			}),
		delivered("job-long-dropped", "FETCH-09", "It ignores a job of more than 64 KiB.",
			func(e *Event) { e.Skip = len(e.Job.Text) > 64<<10 }),
		delivered("job-failed-before-dropped", "FETCH-09", "It ignores a job that has failed before.",
			func(e *Event) { e.Skip = bytes.Contains(e.Job.Text, []byte(`"failure":{`)) }),
		delivered("job-scheduled-dropped", "FETCH-09", "It ignores a job that has a time in at.",
			func(e *Event) { e.Skip = bytes.Contains(e.Job.Text, []byte(`"at":"`)) }),
		fault("retry-zero-acknowledged", "ACK-05", "It acknowledges a failed job that is not to be tried again.",
			on(Ran, func(e *Event) {
				if e.Outcome == Failed && bytes.Contains(e.Job.Text, []byte(`"retry":0`)) {
					e.Verb, e.Fields = fwp.ACK, Fields{"jid": e.Job.JID}
				}
			})),
		fault("fail-long-unsent", "FETCH-09", "It sends no FAIL with a message of more than 64 KiB.",
			on(Ran, func(e *Event) {
				message, _ := e.Fields["message"].(string)
				e.Skip = len(message) > 64<<10
			})),
		jid("jid-as-number", "It writes a jid of digits as a number.", func(jid string) any {
			if _, err := strconv.ParseFloat(jid, 64); err == nil {
				return json.RawMessage(jid)
			}
			return jid
		}),
		jid("jid-trimmed", "It leaves out the spaces at both ends of a jid.",
			func(jid string) any { return strings.TrimSpace(jid) }),
		jid("jid-lower-case", "It writes jids in lower case.", func(jid string) any { return strings.ToLower(jid) }),
		statefulFault("jid-of-the-job-before", "FETCH-09 FETCH-10 WRK-03 ACK-05 FAIL-04 END-04 STATE-21 WRK-07",
			"Its reports have the jid of the job before.", func() func(*Event) {
				var mu sync.Mutex
				last := ""
				return on(Ran, func(e *Event) {
					mu.Lock()
					defer mu.Unlock()
					now := e.Job.JID
					if last != "" {
						e.Fields["jid"] = last
					}
					last = now
				})
			}),
		args("args-first-only", "It hands a job its first argument only.",
			func(args []json.RawMessage) []json.RawMessage { return args[:min(1, len(args))] }),
		args("args-reversed", "It hands a job its arguments in the reverse order.",
			func(args []json.RawMessage) []json.RawMessage {
				args = slices.Clone(args)
				slices.Reverse(args)
				return args
			}),
		args("args-hash-last-dropped", "It leaves out a last argument that is an object.",
			func(args []json.RawMessage) []json.RawMessage {
				if n := len(args); n > 1 && args[n-1][0] == '{' {
					return args[:n-1]
				}
				return args
			}),
		args("args-list-alone-spread", "It hands a job the elements of its only argument.",
			func(args []json.RawMessage) (list []json.RawMessage) {
				if len(args) == 1 && json.Unmarshal(args[0], &list) == nil {
					return list
				}
				return args
			}),
		args("args-once-each", "It leaves out an argument that it has had before.",
			func(args []json.RawMessage) (once []json.RawMessage) {
				for _, a := range args {
					if !slices.ContainsFunc(once, func(o json.RawMessage) bool { return string(o) == string(a) }) {
						once = append(once, a)
					}
				}
				return once
			}),
		args("args-times-rewritten", "It hands a job a time in UTC.",
			func(args []json.RawMessage) []json.RawMessage {
				args = slices.Clone(args)
				for i, a := range args {
					var at time.Time
					if json.Unmarshal(a, &at) == nil {
						args[i] = encodeAny(at.UTC().Format(time.RFC3339))
					}
				}
				return args
			}),
		args("args-as-text", "It hands a job the JSON text of each argument.",
			func(args []json.RawMessage) (texts []json.RawMessage) {
				for _, a := range args {
					texts = append(texts, encodeAny(string(a)))
				}
				return texts
			}),
		args("args-without-nulls", "It leaves out arguments that are null.",
			func(args []json.RawMessage) []json.RawMessage {
				return slices.DeleteFunc(slices.Clone(args), func(a json.RawMessage) bool { return string(a) == "null" })
			}),
		fault("fail-lines-broken", "FRAME-04 FRAME-01 FRAME-02 FRAME-07 FETCH-09 RESP-09 FAIL-05 WRK-04",
			"It writes the line breaks of a message as they are.",
			sent(fwp.FAIL, func(e *Event) { e.Line = bytes.ReplaceAll(e.Line, []byte(`\n`), []byte("\n")) })),
	}
}
