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
	fault("push-after-end", sent(fwp.END, func(e *Event) { e.Line = append(e.Line, "INFO\r\n"...) })),
	fault("push-dropped-seldom", catalogue.Every(7, at(Pushing), skip)),
	fault("push-ends-twice",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), "\r\n", "\n\r\n", 1)) })),
	fault("push-info-ahead", sent(fwp.PUSH, func(e *Event) { e.Ahead = []byte("INFO\r\n") })),
	fault("push-latin-1", sent(fwp.PUSH, func(e *Event) { e.Line = latin1(e.Line) })),
	fault("push-lines-broken",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.ReplaceAll(string(e.Line), `\r\n`, "\r\n")) })),
	fault("push-twice-seldom", catalogue.Every(7, at(Pushing), again)),
	fault("push-two-spaces",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), " ", "  ", 1)) })),
	fault("push-without-hello", on(Introducing, skip)),
	// These are wrong work units. (Work units)
	fault("unit-args-ascii", on(Pushing, changeUnit("args", asciiArgs))),
	fault("unit-args-empty-null", on(Pushing, changeUnit("args", nullIfEmpty))),
	fault("unit-args-object", on(Pushing, field("args", map[string]any{}))),
	fault("unit-args-text", on(Pushing, changeArgs(func(arg any) any { return fmt.Sprint(arg) }))),
	fault("unit-at-now", on(Pushing, field("at", nil))),
	fault("unit-at-number", on(Pushing, changeUnit("at", func(any) any { return 1_700_000_000 }))),
	fault("unit-custom-dropped", on(Pushing, field("custom", nil))),
	fault("unit-failure", on(Pushing, field("failure", map[string]any{"retry_count": 0}))),
	fault("unit-jid-cut",
		on(Pushing, changeText("jid", func(s string) string { return string([]rune(s)[:min(24, len([]rune(s)))]) }))),
	fault("unit-jid-fixed", catalogue.On(freshPush, field("jid", "one-jid-for-all-jobs"))),
	fault("unit-jid-lower-case", on(Pushing, changeText("jid", strings.ToLower))),
	fault("unit-jid-number", on(Pushing, field("jid", 17))),
	fault("unit-queue-default", on(Pushing, field("queue", nil))),
	fault("unit-queue-lower-case", on(Pushing, changeText("queue", strings.ToLower))),
	fault("unit-reserve-text", on(Pushing, changeUnit("reserve_for", func(v any) any { return fmt.Sprint(v) }))),
	fault("unit-retry-fixed", on(Pushing, field("retry", 25))),
	fault("unit-without-jobtype", on(Pushing, field("jobtype", nil))),
	// These are callers that are told what is not so, and what a producer does not do. (PUSH; Server Protocol Sender and
	// Client Protocol Receiver; Client Lifecycle)
	setting("beats", func(c *Config) { c.Beats = true }),
	fault("error-ends", catalogue.On(catalogue.All(at(Pushed), isError), exit(0))),
	fault("error-holding-ok",
		tellPushed(func(e *Event) bool { return isError(e) && strings.Contains(string(e.Reply.Text), "OK") })),
	fault("error-ignored", tellPushed(isError)),
	fault("exit-always-0", on(Exiting, func(e *Event) { e.Code = 0 })),
	fault("exit-always-1", on(Exiting, func(e *Event) { e.Code = 1 })),
	fault("replies-mixed",
		catalogue.Keep(at(Pushed), func(last *string, e *Event) { *last, e.State = e.State, cmp.Or(*last, "pushed") })),
	setting("reply-whole-reads", readsWhole),
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
