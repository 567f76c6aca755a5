package fakeworker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// producerFaults are those of producers.
var producerFaults = []Fault{
	// These are wrong lines of producers, and jobs that are not pushed. (Client Protocol Sender; PUSH)
	fault("push-after-end", "END-03 FRAME-07", "It sends one more INFO behind its END.",
		sent(fwp.END, func(e *Event) { e.Line = append(e.Line, "INFO\r\n"...) })),
	fault("push-dropped-seldom", "WU-19", "It does not push every seventh job.", catalogue.Every(7, at(Pushing), skip)),
	fault("push-ends-twice", "FRAME-01", "A line break stands between the JSON of a PUSH and its CRLF.",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), "\r\n", "\n\r\n", 1)) })),
	fault("push-info-ahead", "FRAME-07", "It sends INFO behind a PUSH, before that is answered.",
		sent(fwp.PUSH, func(e *Event) { e.Ahead = []byte("INFO\r\n") })),
	fault("push-latin-1", "FRAME-09 FRAME-04 WU-03 WU-19", "Its PUSHes are written in Latin-1.",
		sent(fwp.PUSH, func(e *Event) { e.Line = latin1(e.Line) })),
	fault("push-lines-broken", "FRAME-04 FRAME-02 FRAME-01 FRAME-07 HELLO-01 RESP-08 RESP-09 WU-03 WU-19 STATE-15",
		"It writes the line breaks of arguments as they are.",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.ReplaceAll(string(e.Line), `\r\n`, "\r\n")) })),
	fault("push-twice-seldom", "WU-15", "It pushes every seventh job twice.", catalogue.Every(7, at(Pushing), again)),
	fault("push-two-spaces", "FRAME-02 FRAME-04", "Two spaces stand between PUSH and its JSON.",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), " ", "  ", 1)) })),
	fault("push-without-hello", "HELLO-01 STATE-02 RESP-08 RESP-09 WU-19 STATE-15", "It sends PUSH without a HELLO.",
		on(Introducing, skip)),
	// These are wrong work units. (Work units)
	unitFault("unit-args-ascii", "WU-03", "It replaces what is not ASCII in arguments.", changeUnit("args", asciiArgs)),
	unitFault("unit-args-empty-null", "WU-03 WU-19 RESP-08", "It writes null for args that are empty.",
		changeUnit("args", nullIfEmpty)),
	unitFault("unit-args-object", "WU-03 WU-19", "The args of its jobs are an object.", field("args", map[string]any{})),
	unitFault("unit-args-text", "WU-03", "The args of its jobs are strings.",
		changeArgs(func(arg any) any { return fmt.Sprint(arg) })).also("unit-args-times-rewritten"),
	unitFault("unit-at-now", "WU-19", "It pushes jobs at once that were given a time.", field("at", nil)),
	unitFault("unit-at-number", "WU-17 WU-19", "It writes the time of a job as a number.",
		changeUnit("at", func(any) any { return 1_700_000_000 })),
	unitFault("unit-custom-dropped", "WU-19", "It leaves custom out.", field("custom", nil)),
	unitFault("unit-failure", "WU-18", "Its jobs have a failure.", field("failure", map[string]any{"retry_count": 0})).
		also("unit-enqueued-at"),
	unitFault("unit-jid-cut", "WU-19", "It cuts jids to 24 characters.",
		changeText("jid", func(s string) string { return string([]rune(s)[:min(24, len([]rune(s)))]) })),
	fault("unit-jid-fixed", "WU-15", "Its own jids are all alike.",
		catalogue.On(freshPush, field("jid", "one-jid-for-all-jobs"))).also("unit-jid-counted"),
	unitFault("unit-jid-lower-case", "WU-19", "It writes jids in lower case.", changeText("jid", strings.ToLower)).
		also("unit-jid-escaped", "unit-jid-trimmed"),
	unitFault("unit-jid-number", "WU-01 WU-19 WU-15", "The jid of its jobs is a number.", field("jid", 17)),
	unitFault("unit-queue-default", "WU-19", "It pushes every job to the queue default.", field("queue", nil)),
	unitFault("unit-queue-lower-case", "WU-19", "It writes queues in lower case.", changeText("queue", strings.ToLower)),
	unitFault("unit-reserve-text", "WU-17 WU-19", "It writes reserve_for as a string.",
		changeUnit("reserve_for", func(v any) any { return fmt.Sprint(v) })).also("unit-reserve-milliseconds"),
	unitFault("unit-retry-fixed", "WU-19", "It sets retry to 25 whatever it was.", field("retry", 25)).
		also("unit-retry-zero-omitted"),
	unitFault("unit-without-jobtype", "WU-02 WU-19", "Its jobs have no jobtype.", field("jobtype", nil)),
	// These are callers that are told what is not so, and what a producer does not do. (PUSH; Server Protocol Sender and
	// Client Protocol Receiver; Client Lifecycle)
	setting("beats", "BEAT-09 STATE-15", "It sends BEATs.", func(c *Config) { c.Beats = true }),
	fault("error-ends", "RESP-09 STATE-15", "It ends with exit code 0 when a PUSH is refused.",
		catalogue.On(catalogue.All(at(Pushed), isError), exit(0))),
	fault("error-holding-ok", "RESP-09", "It takes any reply that holds OK for OK.",
		tellPushed(func(e *Event) bool { return isError(e) && strings.Contains(string(e.Reply.Text), "OK") })).
		also("error-by-prefix"),
	fault("error-ignored", "RESP-09", "An error reply is no error to its caller.", tellPushed(isError)),
	fault("exit-always-0", "RESP-09 WU-19", "Its exit code is 0 whatever happened.",
		on(Exiting, func(e *Event) { e.Code = 0 })),
	fault("exit-always-1", "RESP-08", "Its exit code is 1 whatever happened.",
		on(Exiting, func(e *Event) { e.Code = 1 })),
	fault("replies-mixed", "RESP-09", "Of several callers at a time one gets the reply to another one's PUSH.",
		catalogue.Keep(at(Pushed), func(last *string, e *Event) { *last, e.State = e.State, cmp.Or(*last, "pushed") })),
	setting("reply-whole-reads", "RESP-08 WU-19 STATE-15", "It takes what one read returns for a whole reply.",
		readsWhole),
}

// unitFault returns a fault of the work units that are pushed.
func unitFault(name, clauses, summary string, act func(*Event)) Fault {
	return fault(name, clauses, summary, on(Pushing, act))
}

// changeUnit returns a step that changes a field of a work unit that has it; nil removes it.
func changeUnit(name string, to func(v any) any) func(*Event) {
	return func(e *Event) {
		if v := e.Fields[name]; v != nil {
			field(name, to(v))(e)
		}
	}
}

// changeText returns a step that changes a field of a work unit that is a string.
func changeText(name string, to func(string) string) func(*Event) {
	return changeUnit(name, func(v any) any { return to(fmt.Sprint(v)) })
}

// changeArgs returns a step that changes each argument of a work unit.
func changeArgs(to func(arg any) any) func(*Event) {
	return changeUnit("args", func(v any) any {
		args := []any{}
		for _, a := range v.([]any) {
			args = append(args, to(a))
		}
		return args
	})
}

// asciiArgs returns arguments with question marks for what is not ASCII.
func asciiArgs(v any) any {
	return json.RawMessage(strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, string(encodeAny(v))))
}

// nullIfEmpty returns null for arguments that are empty.
func nullIfEmpty(v any) any {
	if args, _ := v.([]any); len(args) == 0 {
		return json.RawMessage("null")
	}
	return v
}

// freshPush is the condition of a job to be pushed whose jid is the producer's own.
func freshPush(e *Event) bool { return e.Point == Pushing && e.Fresh }

// tellPushed returns a hook that tells the caller that a job was pushed, if a condition holds.
func tellPushed(whether func(*Event) bool) func(*Event) {
	return on(Pushed, func(e *Event) {
		if whether(e) {
			e.State = "pushed"
		}
	})
}
