package fakeworker

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// jobFaults are about what is fetched.
var jobFaults = []Fault{
	// About FETCH. (FETCH)
	spacedFault("fetch-commas", "WRK-11 FETCH-11 FETCH-09", "Commas stand between the queues of its FETCHes.", ","),
	fault("fetch-default-only", "WRK-11", "It fetches from the queue default, whatever its queues are.",
		on(Fetching, func(e *Event) { e.Queues = []string{"default"} })),
	lineFault("fetch-ends-in-space", "FRAME-04 FRAME-02 WRK-11", "A space stands at the end of its FETCHes.", fwp.FETCH,
		replace("\r\n", " \r\n")),
	fault("fetch-error-ends", "RESP-09 FETCH-11 STATE-15", "It ends when a FETCH is answered with an error.",
		exitAt(fwp.FETCH, fwp.ErrorReply)),
	fault("fetch-error-stops", "RESP-09 FETCH-11", "It fetches no more when a FETCH was answered with an error.",
		catalogue.From(catalogue.Server[Event], refused(fwp.FETCH), fetches, rest(time.Second))),
	fault("fetch-first-queue-only", "WRK-11", "It fetches from the first of its queues only.",
		on(Fetching, func(e *Event) { e.Queues = e.Queues[:1] })),
	fault("fetch-in-batches", "FETCH-11", "It fetches no job before all that it runs have ended.", inBatches),
	fault("fetch-rests", "FETCH-11", "It waits for half a minute when a FETCH has found no job.", restEmpty),
	spacedFault("fetch-two-spaces", "FRAME-04 FRAME-02", "Two spaces stand between the queues of its FETCHes.", "  "),
	fault("one-job-at-a-time", "FETCH-11", "It runs one job at a time, whatever its concurrency is.",
		catalogue.Keep(fetches, func(busy *int, e *Event) {
			if *busy = cmp.Or(*busy, e.Conn); *busy != e.Conn {
				rest(100 * time.Millisecond)(e)
			}
		})),
	// About what a delivered job holds, and when it is delivered. (Required fields; FETCH)
	argsFault("args-as-text", "It hands a job the JSON text of each argument.",
		func(args []json.RawMessage) (texts []json.RawMessage) {
			for _, a := range args {
				texts = append(texts, encodeAny(string(a)))
			}
			return texts
		}).also("args-times-rewritten"),
	argsFault("args-first-only", "It hands a job its first argument only.",
		func(args []json.RawMessage) []json.RawMessage { return args[:min(1, len(args))] }).
		also("args-first-five-only", "args-hash-last-dropped", "args-list-alone-spread", "args-once-each",
			"args-without-nulls"),
	argsFault("args-reversed", "It hands a job its arguments in the reverse order.",
		func(args []json.RawMessage) []json.RawMessage {
			args = slices.Clone(args)
			slices.Reverse(args)
			return args
		}),
	jidFault("jid-as-number", "It writes a jid of digits as a number.", digitsAsNumber),
	jidFault("jid-lower-case", "It writes jids in lower case.", strings.ToLower).also("jid-trimmed"),
	fault("jid-of-the-job-before", "FETCH-09 FETCH-10 WRK-03 ACK-05 FAIL-04 END-04 STATE-21 WRK-07",
		"Its reports have the jid of the job before.", catalogue.Keep(at(Ran), func(last *string, e *Event) {
			if *last != "" {
				e.Fields["jid"] = *last
			}
			*last = e.Job.JID
		})),
	ranFault("jid-shortened", "FETCH-09 WRK-03 END-04 STATE-21", "It shortens the jids of its reports to 20 characters.",
		func(e *Event) { e.Fields["jid"] = e.Job.JID[:min(20, len(e.Job.JID))] }),
	fault("job-again-dropped", "FETCH-09", "It ignores a job whose jid it has had before.",
		catalogue.Again(jidOf, at(Delivered), skip)),
	deliveryFault("job-late-dropped", "FETCH-09", "It ignores a job that a FETCH brings after the order to be quiet.",
		func(e *Event) { e.Skip = e.Worker.state() == "quiet" }),
	deliveryFault("job-late-dropped-at-end", "FETCH-09 STATE-21 END-04",
		"It ignores a job that a FETCH brings after the order to terminate.",
		func(e *Event) { e.Skip = e.Worker.state() == "terminate" }),
	deliveryFault("job-long-dropped", "FETCH-09", "It ignores a job of more than 64 KiB.",
		func(e *Event) { e.Skip = len(e.Job.Text) > 64<<10 }).also("job-nested-dropped"),
	deliveryFault("job-runs-twice", "FETCH-10", "It runs each job twice.", again),
	dropFault("job-unknown-field-dropped", "It ignores a job that has a field that it does not know.",
		func(unit map[string]any) bool { return unit["fwp_unknown"] != nil }).
		also("job-failed-before-dropped", "job-null-custom-dropped", "job-scheduled-dropped", "job-times-strict"),
	dropFault("job-without-args-dropped", "It ignores a job whose args are empty.", func(unit map[string]any) bool {
		args, _ := unit["args"].([]any)
		return len(args) == 0
	}),
	ranFault("unknown-type-acknowledged", "ACK-05", "It acknowledges a job whose type it does not know.",
		catalogue.On(isUnknown, acknowledge)),
	deliveryFault("unknown-type-dropped", "FETCH-09", "It ignores a job whose type it does not know.",
		catalogue.On(isUnknown, skip)),
	deliveryFault("unknown-type-ends", "FETCH-09 STATE-15 RESP-09", "It ends at a job whose type it does not know.",
		catalogue.On(isUnknown, catalogue.Both(exit(1), skip))),
}

// spacedFault returns a fault of what stands between the queues of a FETCH.
func spacedFault(name, clauses, summary, by string) Fault {
	return fault(name, clauses, summary, sent(fwp.FETCH, func(e *Event) {
		if verb, queues, has := strings.Cut(string(e.Line), " "); has {
			e.Line = []byte(verb + " " + strings.ReplaceAll(queues, " ", by))
		}
	}))
}

// inBatches has a worker that runs as many jobs as it may wait for the end of all of them.
func inBatches() func(*Event) {
	return catalogue.Keep(catalogue.Any(at(Delivered), fetches), func(full *bool, e *Event) {
		switch running := e.Worker.Running(); {
		case e.Point == Delivered:
			*full = *full || running+1 >= e.Worker.cfg.Concurrency
		case running == 0:
			*full = false
		case *full:
			rest(100 * time.Millisecond)(e)
		}
	})()
}

// restEmpty waits for half a minute on a connection whose FETCH has found no job.
func restEmpty() func(*Event) {
	return catalogue.KeepBy(connOf, catalogue.Any(replyTo(fwp.FETCH), fetches), func(until *time.Time, e *Event) {
		switch {
		case e.Point == Replied && e.Reply.Kind == fwp.NullBulk:
			*until = time.Now().Add(30 * time.Second)
		case e.Point == Fetching && time.Now().Before(*until):
			rest(time.Second)(e)
		}
	})()
}

// deliveryFault returns a fault of the delivered jobs.
func deliveryFault(name, clauses, summary string, act func(*Event)) Fault {
	return fault(name, clauses, summary, on(Delivered, act))
}

// dropFault returns a worker that ignores jobs with certain work units.
func dropFault(name, summary string, has func(unit map[string]any) bool) Fault {
	return deliveryFault(name, "FETCH-09 RESP-08", summary, func(e *Event) {
		var unit map[string]any
		_ = json.Unmarshal(e.Job.Text, &unit) // it was read before
		e.Skip = has(unit)
	})
}

// jidOf returns the jid of the job of a step.
func jidOf(e *Event) string { return e.Job.JID }

// jidFault returns a fault of the jid in reports.
func jidFault[V any](name, summary string, change func(jid string) V) Fault {
	return ranFault(name, "FETCH-09 WRK-03 ACK-06 FAIL-05 END-04 STATE-21", summary,
		func(e *Event) { e.Fields["jid"] = change(e.Job.JID) })
}

// digitsAsNumber returns a jid of digits as a number.
func digitsAsNumber(jid string) any {
	if _, err := strconv.ParseFloat(jid, 64); err == nil && json.Valid([]byte(jid)) {
		return json.RawMessage(jid)
	}
	return jid
}

// isUnknown is the condition of a job whose type the worker does not know.
func isUnknown(e *Event) bool {
	return !strings.HasPrefix(e.Job.Type, "fwp.") || e.Job.Type == "fwp.unknown"
}

// argsFault returns a fault of the arguments that a job of type fwp.echo is handed. The others would fail, which is
// another fault.
func argsFault(name, summary string, change func([]json.RawMessage) []json.RawMessage) Fault {
	return deliveryFault(name, "WRK-15", summary, func(e *Event) {
		if e.Job.Type == TypeEcho {
			e.Job.Args = change(e.Job.Args)
		}
	})
}

// encodeAny returns a value as JSON.
func encodeAny(v any) []byte {
	text := encode(Fields{"v": v})
	return text[len(`{"v":`) : len(text)-1]
}
