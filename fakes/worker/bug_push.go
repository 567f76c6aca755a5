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
	bug("push-after-end", actOnSend(fwp.END, func(e *Event) { e.Line = append(e.Line, "INFO\r\n"...) })),
	bug("push-dropped-seldom", catalogue.ActEveryNth(7, at(Pushing), skip)),
	bug("push-info-ahead", actOnSend(fwp.PUSH, func(e *Event) { e.ExtraLines = []byte("INFO\r\n") })),
	bug("push-latin-1", actOnSend(fwp.PUSH, func(e *Event) { e.Line = latin1(e.Line) })),
	bug("push-lines-broken",
		actOnSend(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.ReplaceAll(string(e.Line), `\r\n`, "\r\n")) })),
	bug("push-two-spaces",
		actOnSend(fwp.PUSH, func(e *Event) { e.Line = []byte(strings.Replace(string(e.Line), " ", "  ", 1)) })),
	bug("push-without-hello", actAt(Introducing, skip)),
	// These are wrong work units. (Work units)
	bug("unit-args-object", actAt(Pushing, field("args", map[string]any{}))),
	bug("unit-custom-dropped", actAt(Pushing, field("custom", nil))),
	bug("unit-failure", actAt(Pushing, field("failure", map[string]any{"retry_count": 0}))),
	bug("unit-jid-cut",
		actAt(Pushing, changeText("jid", func(s string) string { return string([]rune(s)[:min(24, len([]rune(s)))]) }))),
	bug("unit-jid-fixed", catalogue.ActIf(isFreshPush, field("jid", "one-jid-for-all-jobs"))),
	bug("unit-jid-number", actAt(Pushing, field("jid", 17))),
	bug("unit-reserve-text", actAt(Pushing, changeUnit("reserve_for", func(v any) any { return fmt.Sprint(v) }))),
	bug("unit-without-jobtype", actAt(Pushing, field("jobtype", nil))),
	// A caller gets a wrong result of its PUSH; a producer sends what only workers send. (PUSH; Server Protocol Sender and
	// Client Protocol Receiver; Client Lifecycle)
	setting("beats", func(c *Config) { c.SendsBeats = true }),
	bug("error-ignored", tellPushed(isError)),
	bug("exit-always-1", actAt(Exiting, func(e *Event) { e.Code = 1 })),
	bug("replies-mixed",
		catalogue.WithMemory(at(Pushed), func(last *string, e *Event) { *last, e.State = e.State, cmp.Or(*last, "pushed") })),
	setting("reply-whole-reads", readFully),
}

// renameRepeats gives a job another jid that is pushed again, if the jid is the producer's own.
func renameRepeats() func(*Event) {
	return catalogue.WithMemory(sends(fwp.PUSH), func(jids *map[string]bool, e *Event) {
		if *jids == nil {
			*jids = map[string]bool{}
		}
		if line := string(e.Line); (*jids)[line] {
			e.Line = replace(`"`+ownJID, `"`+ownJID+"-again-")(e.Line)
		} else {
			(*jids)[line] = true
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

// isFreshPush is the condition of a job to be pushed whose jid is the producer's own.
func isFreshPush(e *Event) bool { return e.Point == Pushing && e.IsOwnJID }

// tellPushed returns a hook that tells the caller that a job was pushed, if a condition holds.
func tellPushed(match func(*Event) bool) func(*Event) {
	return actAt(Pushed, func(e *Event) {
		if match(e) {
			e.State = "pushed"
		}
	})
}
