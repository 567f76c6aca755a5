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

var bugsTable = catalogue.Reader("fakes/workq/worker/bugs.txt", bugsText)

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
	return catalogue.On(at(Sending, verbs...), func(e *Event) { e.Bytes = change(e.Bytes) })
}

// replaces returns a change of the first place in the bytes of a command.
func replaces(old, with string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) }
}

// reports returns a hook that acts on the reports of jobs of a name, of all for an empty one.
func reports(name string, act func(*Event)) func(*Event) {
	return catalogue.On(func(e *Event) bool { return e.Point == Ran && (name == "" || e.Name == name) }, act)
}

// refused is the condition of a reply that is an error, as one of some words is.
func refused(words ...string) func(*Event) bool {
	return func(e *Event) bool {
		return e.Point == Replied && strings.Contains(strings.Join(words, "|"), e.Reply.Error) && e.Reply.Error != ""
	}
}

func skip(e *Event) { e.Skip = true }

// sized returns a report with another size.
func sized(e *Event, size int) []byte {
	return fmt.Appendf(nil, "%s %s %d\r\n%s\r\n", e.Verb, e.ID, size, e.Block)
}

const reported = workq.Complete + "|" + workq.Fail

// commandBugs are about the bytes of commands.
var commandBugs = []Bug{
	bug("line-lf", sends(replaces("\r\n", "\n"))),
	bug("verb-upper-case", sends(replaces("lease", "LEASE"), workq.Lease)),
	bug("lease-without-wait", sends(replaces(" 2000", ""), workq.Lease)),
	bug("lease-wait-with-unit", sends(replaces(" 2000", " 2000ms"), workq.Lease)),
	bug("name-with-blank", sends(replaces("fwp.ok", "fwp/ok"), workq.Lease)),
	bug("id-without-hyphens", catalogue.On(at(Sending, reported), func(e *Event) {
		e.Bytes = replaces(e.ID, strings.ReplaceAll(e.ID, "-", ""))(e.Bytes)
	})),
	bug("fail-with-flag", sends(replaces("\r\n", " -retry=1\r\n"), workq.Fail)),
	bug("size-missing", catalogue.On(at(Sending, reported), func(e *Event) {
		e.Bytes = fmt.Appendf(nil, "%s %s\r\n%s\r\n", e.Verb, e.ID, e.Block)
	})),
	bug("size-too-small", catalogue.On(at(Sending, reported), func(e *Event) {
		if n := len(e.Block); n >= 5 {
			e.Bytes = sized(e, n-1)
		}
	})),
	bug("size-in-characters",
		catalogue.On(at(Sending, reported), func(e *Event) { e.Bytes = sized(e, len([]rune(string(e.Block)))) })),
	bug("size-too-large",
		catalogue.On(at(Sending, reported), func(e *Event) { e.Bytes = sized(e, len(e.Block)+2) })),
	bug("block-without-end",
		sends(func(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\r\n")) }, reported)),
	bug("result-too-large", reports("fwp.echo", func(e *Event) {
		if len(e.Block) >= workq.MaxBlock {
			e.Block = append(bytes.Clone(e.Block), " (done)"...)
		}
	})),
	bug("pipelined", catalogue.On(at(Sending, reported), func(e *Event) {
		e.Bytes, e.More = append(e.Bytes, "lease fwp.none 1\r\n"...), 1
	})),
	bug("lease-twice", catalogue.On(at(Sending, workq.Lease), func(e *Event) {
		e.Bytes, e.More = append([]byte("lease fwp.none 1\r\n"), e.Bytes...), 1
	})),
}

// leaseBugs are about leases, and what they bring.
var leaseBugs = []Bug{
	bug("wait-for-a-day", sends(replaces(" 2000\r", " 86400000\r"), workq.Lease)),
	bug("wait-for-two-hours", sends(replaces(" 2000\r", " 7200000\r"), workq.Lease)),
	bug("timeout-ends-it", catalogue.On(refused(workq.Timeout), func(e *Event) { e.Exit = true })),
	bug("timeout-hangs", catalogue.On(refused(workq.Timeout), func(e *Event) { e.Hang = true })),
	bug("five-jobs-each", catalogue.Keep(at(Sending, workq.Lease), func(n *int, e *Event) {
		if *n++; *n > 5 {
			e.Exit = true
		}
	})),
	bug("payload-by-lines",
		catalogue.On(at(Delivered), func(e *Event) { e.Block, _, _ = bytes.Cut(e.Block, []byte("\r\n")) })),
	bug("payload-trimmed", catalogue.On(at(Delivered), func(e *Event) { e.Block = bytes.TrimSpace(e.Block) })),
	bug("payload-as-text",
		catalogue.On(at(Delivered), func(e *Event) { e.Block = bytes.ToValidUTF8(e.Block, []byte("\uFFFD")) })),
	bug("payload-to-nul",
		catalogue.On(at(Delivered), func(e *Event) { e.Block, _, _ = bytes.Cut(e.Block, []byte{0}) })),
	bug("payload-cut",
		catalogue.On(at(Delivered), func(e *Event) { e.Block = e.Block[:min(len(e.Block), 64<<10)] })),
	bug("payload-empty-skipped",
		catalogue.On(func(e *Event) bool { return e.Point == Delivered && len(e.Block) == 0 }, skip)),
	bug("reply-at-once", catalogue.On(at(Sending), func(e *Event) { e.AtOnce = true })),
	bug("again-ignored",
		catalogue.KeepBy(func(e *Event) string { return e.ID }, at(Delivered), func(had *bool, e *Event) {
			e.Skip, *had = *had, true
		})),
}

// reportBugs are about reports, and the time to run.
var reportBugs = []Bug{
	bug("ttr-ignored", catalogue.On(at(Delivered), func(e *Event) { e.TTR = time.Hour })),
	bug("ttr-late-fail", catalogue.On(at(Delivered), func(e *Event) { e.TTR *= 2 })),
	bug("ttr-in-seconds", catalogue.On(at(Delivered), func(e *Event) { e.TTR *= 1000 })),
	bug("ttr-in-microseconds", catalogue.On(at(Delivered), func(e *Event) { e.TTR /= 1000 })),
	bug("ttr-fixed", catalogue.On(at(Delivered), func(e *Event) { e.TTR = min(e.TTR, time.Second) })),
	bug("report-missing", catalogue.Every(3, at(Ran), skip)),
	bug("fail-unreported", reports("fwp.fail", skip)),
	bug("report-twice", reports("", func(e *Event) { e.Again = 1 })),
	bug("fail-twice", reports("fwp.fail", func(e *Event) { e.Again = 1 })),
	bug("complete-and-fail",
		catalogue.On(func(e *Event) bool { return e.Point == Sending && e.Verb == workq.Fail }, func(e *Event) {
			e.Bytes = append(bytes.Replace(e.Bytes, []byte("fail"), []byte("complete"), 1), e.Bytes...)
			e.More = 1
		})),
	bug("fail-completed", reports("fwp.fail", func(e *Event) { e.Verb = workq.Complete })),
	bug("ok-failed", catalogue.Keep(at(Ran), func(n *int, e *Event) {
		if *n++; *n > 5 {
			e.Verb = workq.Fail
		}
	})),
	bug("complete-early", catalogue.On(at(Delivered), func(e *Event) {
		if e.Name == "fwp.sleep" {
			e.Name = "fwp.ok"
		}
	})),
	bug("id-of-another", catalogue.Keep(at(Ran), func(before *string, e *Event) {
		if *before != "" && *before != e.ID {
			e.ID, *before = *before, e.ID
			return
		}
		*before = e.ID
	})),
	bug("id-made-up", reports("fwp.fail", func(e *Event) { e.ID = "6ba7b810-9dad-41d1-80b4-00c04fd430c4" })),
	bug("not-found-ends-it", catalogue.On(refused(workq.NotFound), func(e *Event) { e.Exit = true })),
	bug("not-found-hangs", catalogue.On(refused(workq.NotFound), func(e *Event) { e.Hang = true })),
}
