package worker

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// Bug is a way in which a worker breaks the document. Its hook is the [Config.Hook] of a worker.
type Bug = catalogue.Bug[Event]

// Bugs returns the catalogue, sorted by name.
func Bugs() []Bug { return catalogue.SortBugs(commandBugs, leaseBugs, reportBugs) }

//go:embed bugs.txt
var bugsText string

var bugsTable = catalogue.LazyTable("fakes/workq/worker/bugs.txt", bugsText)

// bug returns one that a hook makes, or a function that makes a hook for each worker because it remembers something.
// The name is that of a row of bugs.txt.
func bug[H catalogue.Hook[Event]](name string, hook H) Bug {
	return catalogue.BugOf[Event](bugsTable(), name, hook)
}

// at returns the condition of a point, and of one of some verbs if any is named.
func at(p Point, verbs ...string) func(*Event) bool {
	return func(e *Event) bool {
		return e.Point == p && (len(verbs) == 0 || strings.Contains(strings.Join(verbs, "|"), e.Verb))
	}
}

// sends returns a hook that changes the bytes of the commands of some verbs.
func sends(change func([]byte) []byte, verbs ...string) func(*Event) {
	return catalogue.ActIf(at(Sending, verbs...), func(e *Event) { e.Bytes = change(e.Bytes) })
}

// replace returns a change of the first place in the bytes of a command.
func replace(old, replacement string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(replacement), 1) }
}

// reports returns a hook that acts on the reports of jobs of a name, of all for an empty one.
func reports(name string, act func(*Event)) func(*Event) {
	return catalogue.ActIf(func(e *Event) bool { return e.Point == Ran && (name == "" || e.Name == name) }, act)
}

// isRefusal is the condition of a reply that is an error, as one of some words is.
func isRefusal(words ...string) func(*Event) bool {
	return func(e *Event) bool {
		return e.Point == Replied && strings.Contains(strings.Join(words, "|"), e.Reply.Error) && e.Reply.Error != ""
	}
}

func skip(e *Event) { e.Skip = true }

// resize returns a report with another size.
func resize(e *Event, size int) []byte {
	return fmt.Appendf(nil, "%s %s %d\r\n%s\r\n", e.Verb, e.ID, size, e.Block)
}

const reportVerbs = workq.Complete + "|" + workq.Fail

// commandBugs are about the bytes of commands.
var commandBugs = []Bug{
	bug("line-lf", sends(replace("\r\n", "\n"))),
	bug("verb-upper-case", sends(replace("lease", "LEASE"), workq.Lease)),
	bug("lease-without-wait", sends(replace(" 2000", ""), workq.Lease)),
	bug("lease-wait-with-unit", sends(replace(" 2000", " 2000ms"), workq.Lease)),
	bug("name-with-blank", sends(replace("fwp.ok", "fwp/ok"), workq.Lease)),
	bug("id-without-hyphens", catalogue.ActIf(at(Sending, reportVerbs), func(e *Event) {
		e.Bytes = replace(e.ID, strings.ReplaceAll(e.ID, "-", ""))(e.Bytes)
	})),
	bug("fail-with-flag", sends(replace("\r\n", " -retry=1\r\n"), workq.Fail)),
	bug("size-missing", catalogue.ActIf(at(Sending, reportVerbs), func(e *Event) {
		e.Bytes = fmt.Appendf(nil, "%s %s\r\n%s\r\n", e.Verb, e.ID, e.Block)
	})),
	bug("size-too-small", catalogue.ActIf(at(Sending, reportVerbs), func(e *Event) {
		if n := len(e.Block); n >= 5 {
			e.Bytes = resize(e, n-1)
		}
	})),
	bug("size-in-characters",
		catalogue.ActIf(at(Sending, reportVerbs), func(e *Event) { e.Bytes = resize(e, len([]rune(string(e.Block)))) })),
	bug("size-too-large",
		catalogue.ActIf(at(Sending, reportVerbs), func(e *Event) { e.Bytes = resize(e, len(e.Block)+2) })),
	bug("block-without-end",
		sends(func(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\r\n")) }, reportVerbs)),
	bug("result-too-large", reports("fwp.echo", func(e *Event) {
		if len(e.Block) >= workq.MaxBlock {
			e.Block = append(bytes.Clone(e.Block), " (done)"...)
		}
	})),
	bug("pipelined", catalogue.ActIf(at(Sending, reportVerbs), func(e *Event) {
		e.Bytes, e.ExtraReplies = append(e.Bytes, "lease fwp.none 1\r\n"...), 1
	})),
	bug("lease-twice", catalogue.ActIf(at(Sending, workq.Lease), func(e *Event) {
		e.Bytes, e.ExtraReplies = append([]byte("lease fwp.none 1\r\n"), e.Bytes...), 1
	})),
}

// leaseBugs are about leases, and what they bring.
var leaseBugs = []Bug{
	bug("wait-for-a-day", sends(replace(" 2000\r", " 86400000\r"), workq.Lease)),
	bug("wait-for-two-hours", sends(replace(" 2000\r", " 7200000\r"), workq.Lease)),
	bug("timeout-ends-it", catalogue.ActIf(isRefusal(workq.Timeout), func(e *Event) { e.Exit = true })),
	bug("timeout-hangs", catalogue.ActIf(isRefusal(workq.Timeout), func(e *Event) { e.Hang = true })),
	bug("five-jobs-each", catalogue.WithMemory(at(Sending, workq.Lease), func(n *int, e *Event) {
		if *n++; *n > 5 {
			e.Exit = true
		}
	})),
	bug("payload-by-lines",
		catalogue.ActIf(at(Delivered), func(e *Event) { e.Block, _, _ = bytes.Cut(e.Block, []byte("\r\n")) })),
	bug("payload-trimmed", catalogue.ActIf(at(Delivered), func(e *Event) { e.Block = bytes.TrimSpace(e.Block) })),
	bug("payload-as-text",
		catalogue.ActIf(at(Delivered), func(e *Event) { e.Block = bytes.ToValidUTF8(e.Block, []byte("\uFFFD")) })),
	bug("payload-to-nul",
		catalogue.ActIf(at(Delivered), func(e *Event) { e.Block, _, _ = bytes.Cut(e.Block, []byte{0}) })),
	bug("payload-cut",
		catalogue.ActIf(at(Delivered), func(e *Event) { e.Block = e.Block[:min(len(e.Block), 64<<10)] })),
	bug("payload-empty-skipped",
		catalogue.ActIf(func(e *Event) bool { return e.Point == Delivered && len(e.Block) == 0 }, skip)),
	bug("reply-at-once", catalogue.ActIf(at(Sending), func(e *Event) { e.AtOnce = true })),
	bug("again-ignored",
		catalogue.WithMemoryBy(func(e *Event) string { return e.ID }, at(Delivered), func(isKnown *bool, e *Event) {
			e.Skip, *isKnown = *isKnown, true
		})),
}

// reportBugs are about reports, and the time to run.
var reportBugs = []Bug{
	bug("ttr-ignored", catalogue.ActIf(at(Delivered), func(e *Event) { e.TTR = time.Hour })),
	bug("ttr-late-fail", catalogue.ActIf(at(Delivered), func(e *Event) { e.TTR *= 2 })),
	bug("ttr-in-seconds", catalogue.ActIf(at(Delivered), func(e *Event) { e.TTR *= 1000 })),
	bug("ttr-in-microseconds", catalogue.ActIf(at(Delivered), func(e *Event) { e.TTR /= 1000 })),
	bug("ttr-fixed", catalogue.ActIf(at(Delivered), func(e *Event) { e.TTR = min(e.TTR, time.Second) })),
	bug("report-missing", catalogue.ActEveryNth(3, at(Ran), skip)),
	bug("fail-unreported", reports("fwp.fail", skip)),
	bug("report-twice", reports("", func(e *Event) { e.Repeats = 1 })),
	bug("fail-twice", reports("fwp.fail", func(e *Event) { e.Repeats = 1 })),
	bug("complete-and-fail",
		catalogue.ActIf(func(e *Event) bool { return e.Point == Sending && e.Verb == workq.Fail }, func(e *Event) {
			e.Bytes = append(bytes.Replace(e.Bytes, []byte("fail"), []byte("complete"), 1), e.Bytes...)
			e.ExtraReplies = 1
		})),
	bug("fail-completed", reports("fwp.fail", func(e *Event) { e.Verb = workq.Complete })),
	bug("ok-failed", catalogue.WithMemory(at(Ran), func(n *int, e *Event) {
		if *n++; *n > 5 {
			e.Verb = workq.Fail
		}
	})),
	bug("complete-early", catalogue.ActIf(at(Delivered), func(e *Event) {
		if e.Name == "fwp.sleep" {
			e.Name = "fwp.ok"
		}
	})),
	bug("id-of-another", catalogue.WithMemory(at(Ran), func(previousID *string, e *Event) {
		if *previousID != "" && *previousID != e.ID {
			e.ID, *previousID = *previousID, e.ID
			return
		}
		*previousID = e.ID
	})),
	bug("id-made-up", reports("fwp.fail", func(e *Event) { e.ID = "6ba7b810-9dad-41d1-80b4-00c04fd430c4" })),
	bug("not-found-ends-it", catalogue.ActIf(isRefusal(workq.NotFound), func(e *Event) { e.Exit = true })),
	bug("not-found-hangs", catalogue.ActIf(isRefusal(workq.NotFound), func(e *Event) { e.Hang = true })),
}
