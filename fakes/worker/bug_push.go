package worker

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// producerBugs are those of producers.
var producerBugs = []Bug{
	// These are wrong lines of producers, and jobs that are not pushed. (Client Protocol Sender; PUSH)
	bug("push-after-end", sent(fwp.END, func(e *Event) { e.Line = append(e.Line, "INFO\r\n"...) })),
	bug("push-dropped-seldom", catalogue.Every(7, at(Pushing), skip)),
	bug("push-info-ahead", sent(fwp.PUSH, func(e *Event) { e.Ahead = []byte("INFO\r\n") })),
	bug("push-latin-1", sent(fwp.PUSH, func(e *Event) { e.Line = latin1(e.Line) })),
	bug("push-lines-broken",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.ReplaceAll(string(e.Line), `\r\n`, "\r\n")) })),
	bug("push-two-spaces",
		sent(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), " ", "  ", 1)) })),
	bug("push-without-hello", on(Introducing, skip)),
	// These are wrong work units. (Work units)
	bug("unit-args-object", on(Pushing, field("args", map[string]any{}))),
	bug("unit-custom-dropped", on(Pushing, field("custom", nil))),
	bug("unit-failure", on(Pushing, field("failure", map[string]any{"retry_count": 0}))),
	bug("unit-jid-cut",
		on(Pushing, changeText("jid", func(s string) string { return string([]rune(s)[:min(24, len([]rune(s)))]) }))),
	bug("unit-jid-fixed", catalogue.On(freshPush, field("jid", "one-jid-for-all-jobs"))),
	bug("unit-jid-number", on(Pushing, field("jid", 17))),
	bug("unit-reserve-text", on(Pushing, changeUnit("reserve_for", func(v any) any { return fmt.Sprint(v) }))),
	bug("unit-without-jobtype", on(Pushing, field("jobtype", nil))),
	// These are callers that are told what is not so, and what a producer does not do. (PUSH; Server Protocol Sender and
	// Client Protocol Receiver; Client Lifecycle)
	setting("beats", func(c *Config) { c.Beats = true }),
	bug("error-ignored", tellPushed(isError)),
	bug("exit-always-1", on(Exiting, func(e *Event) { e.Code = 1 })),
	bug("replies-mixed",
		catalogue.Keep(at(Pushed), func(last *string, e *Event) { *last, e.State = e.State, cmp.Or(*last, "pushed") })),
	setting("reply-whole-reads", readsWhole),
}

// renameAgain gives a job another jid that is pushed again, if the jid is the producer's own.
func renameAgain() func(*Event) {
	return catalogue.Keep(sends(fwp.PUSH), func(seen *map[string]bool, e *Event) {
		if *seen == nil {
			*seen = map[string]bool{}
		}
		if line := string(e.Line); (*seen)[line] {
			e.Line = replace(`"`+ownJID, `"`+ownJID+"-again-")(e.Line)
		} else {
			(*seen)[line] = true
		}
	})()
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
