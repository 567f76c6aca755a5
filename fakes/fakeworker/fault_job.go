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
	spacedFault("fetch-commas", ",", 2),
	fault("fetch-default-only", on(Fetching, func(e *Event) { e.Queues = []string{"default"} })),
	lineFault("fetch-ends-in-space", fwp.FETCH, replace("\r\n", " \r\n")),
	fault("fetch-error-ends", exitAt(fwp.FETCH, fwp.ErrorReply)),
	fault("fetch-error-long-ends", replied(fwp.FETCH, func(e *Event) { // it has a buffer of 4 KiB
		e.Exit = isError(e) && len(e.Reply.Text) > 4096
	})),
	fault("fetch-error-stops",
		catalogue.From(catalogue.Server[Event], refused(fwp.FETCH), fetches, rest(time.Second))),
	fault("fetch-first-queue-only", on(Fetching, func(e *Event) { e.Queues = e.Queues[:1] })),
	fault("fetch-in-batches", inBatches),
	fault("fetch-rests", restEmpty),
	spacedFault("fetch-of-three-two-spaces", "  ", 3),
	spacedFault("fetch-two-spaces", "  ", 2),
	fault("one-job-at-a-time", catalogue.Keep(fetches, func(busy *int, e *Event) {
		if *busy = cmp.Or(*busy, e.Conn); *busy != e.Conn {
			rest(100 * time.Millisecond)(e)
		}
	})),
	// About what a delivered job holds, and when it is delivered. (Required fields; FETCH)
	argsFault("args-as-text", func(args []json.RawMessage) (texts []json.RawMessage) {
		for _, a := range args {
			texts = append(texts, encodeAny(string(a)))
		}
		return texts
	}),
	argsFault("args-first-only",
		func(args []json.RawMessage) []json.RawMessage { return args[:min(1, len(args))] }),
	argsFault("args-reversed", func(args []json.RawMessage) []json.RawMessage {
		args = slices.Clone(args)
		slices.Reverse(args)
		return args
	}),
	jidFault("jid-as-number", digitsAsNumber),
	jidFault("jid-lower-case", strings.ToLower),
	fault("jid-of-the-job-before", catalogue.Keep(at(Ran), func(last *string, e *Event) {
		if *last != "" {
			e.Fields["jid"] = *last
		}
		*last = e.Job.JID
	})),
	fault("jid-shortened", on(Ran, func(e *Event) { e.Fields["jid"] = e.Job.JID[:min(20, len(e.Job.JID))] })),
	fault("job-again-dropped", catalogue.Again(jidOf, at(Delivered), skip)),
	fault("job-late-dropped", on(Delivered, func(e *Event) { e.Skip = e.Worker.state() == "quiet" })),
	fault("job-late-dropped-at-end", on(Delivered, func(e *Event) { e.Skip = e.Worker.state() == "terminate" })),
	fault("job-long-dropped", on(Delivered, func(e *Event) { e.Skip = len(e.Job.Text) > 64<<10 })),
	fault("job-runs-twice", on(Delivered, again)),
	dropFault("job-unknown-field-dropped", func(unit map[string]any) bool { return unit["fwp_unknown"] != nil }),
	dropFault("job-without-args-dropped", func(unit map[string]any) bool {
		args, _ := unit["args"].([]any)
		return len(args) == 0
	}),
	fault("unknown-type-acknowledged", on(Ran, catalogue.On(isUnknown, acknowledge))),
	fault("unknown-type-dropped", on(Delivered, catalogue.On(isUnknown, skip))),
	fault("unknown-type-ends", on(Delivered, catalogue.On(isUnknown, catalogue.Both(exit(1), skip)))),
}

// spacedFault returns a fault of what stands between the queues of a FETCH, if there are so many at least.
func spacedFault(name, by string, fewest int) Fault {
	return fault(name, sent(fwp.FETCH, func(e *Event) {
		if verb, queues, has := strings.Cut(string(e.Line), " "); has && strings.Count(queues, " ")+1 >= fewest {
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

// dropFault returns a worker that ignores jobs with certain work units.
func dropFault(name string, has func(unit map[string]any) bool) Fault {
	return fault(name, on(Delivered, func(e *Event) {
		var unit map[string]any
		_ = json.Unmarshal(e.Job.Text, &unit) // it was read before
		e.Skip = has(unit)
	}))
}

// jidOf returns the jid of the job of a step.
func jidOf(e *Event) string { return e.Job.JID }

// jidFault returns a fault of the jid in reports.
func jidFault[V any](name string, change func(jid string) V) Fault {
	return fault(name, on(Ran, func(e *Event) { e.Fields["jid"] = change(e.Job.JID) }))
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
func argsFault(name string, change func([]json.RawMessage) []json.RawMessage) Fault {
	return fault(name, on(Delivered, func(e *Event) {
		if e.Job.Type == TypeEcho {
			e.Job.Args = change(e.Job.Args)
		}
	}))
}

// encodeAny returns a value as JSON.
func encodeAny(v any) []byte {
	text := encode(Fields{"v": v})
	return text[len(`{"v":`) : len(text)-1]
}
