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

// Fault is a way in which a worker breaks the document. Its hook is the [Config.Hook] of a worker.
type Fault = catalogue.Fault[Event]

// Faults returns the catalogue, sorted by name.
func Faults() []Fault { return catalogue.SortFaults(commandFaults, leaseFaults, reportFaults) }

//go:embed faults.txt
var faultsText string

var faultsTable = catalogue.Reader("fakes/workq/worker/faults.txt", faultsText)

// fault returns one that a hook makes, or a function that makes a hook for each worker because it remembers something.
// The name is that of a row of faults.txt.
func fault[H catalogue.Hook[Event]](name string, hook H) Fault {
	return catalogue.FaultOf[Event](faultsTable(), name, hook)
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

// commandFaults are about the bytes of commands.
var commandFaults = []Fault{
	fault("line-lf", sends(replaces("\r\n", "\n"))),
	fault("verb-upper-case", sends(replaces("lease", "LEASE"), workq.Lease)),
	fault("lease-without-wait", sends(replaces(" 2000", ""), workq.Lease)),
	fault("lease-wait-with-unit", sends(replaces(" 2000", " 2000ms"), workq.Lease)),
	fault("name-with-blank", sends(replaces("fwp.ok", "fwp/ok"), workq.Lease)),
	fault("id-without-hyphens", catalogue.On(at(Sending, reported), func(e *Event) {
		e.Bytes = replaces(e.ID, strings.ReplaceAll(e.ID, "-", ""))(e.Bytes)
	})),
	fault("fail-with-flag", sends(replaces("\r\n", " -retry=1\r\n"), workq.Fail)),
	fault("size-missing", catalogue.On(at(Sending, reported), func(e *Event) {
		e.Bytes = fmt.Appendf(nil, "%s %s\r\n%s\r\n", e.Verb, e.ID, e.Block)
	})),
	fault("size-too-small", catalogue.On(at(Sending, reported), func(e *Event) {
		if n := len(e.Block); n >= 5 {
			e.Bytes = sized(e, n-1)
		}
	})),
	fault("size-in-characters",
		catalogue.On(at(Sending, reported), func(e *Event) { e.Bytes = sized(e, len([]rune(string(e.Block)))) })),
	fault("size-too-large",
		catalogue.On(at(Sending, reported), func(e *Event) { e.Bytes = sized(e, len(e.Block)+2) })),
	fault("block-without-end",
		sends(func(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\r\n")) }, reported)),
	fault("result-too-large", reports("fwp.echo", func(e *Event) {
		if len(e.Block) >= workq.MaxBlock {
			e.Block = append(bytes.Clone(e.Block), " (done)"...)
		}
	})),
	fault("pipelined", catalogue.On(at(Sending, reported), func(e *Event) {
		e.Bytes, e.More = append(e.Bytes, "lease fwp.none 1\r\n"...), 1
	})),
	fault("lease-twice", catalogue.On(at(Sending, workq.Lease), func(e *Event) {
		e.Bytes, e.More = append([]byte("lease fwp.none 1\r\n"), e.Bytes...), 1
	})),
}

// leaseFaults are about leases, and what they bring.
var leaseFaults = []Fault{
	fault("wait-for-a-day", sends(replaces(" 2000\r", " 86400000\r"), workq.Lease)),
	fault("wait-for-two-hours", sends(replaces(" 2000\r", " 7200000\r"), workq.Lease)),
	fault("timeout-ends-it", catalogue.On(refused(workq.Timeout), func(e *Event) { e.Exit = true })),
	fault("timeout-hangs", catalogue.On(refused(workq.Timeout), func(e *Event) { e.Hang = true })),
	fault("five-jobs-each", catalogue.Keep(at(Sending, workq.Lease), func(n *int, e *Event) {
		if *n++; *n > 5 {
			e.Exit = true
		}
	})),
	fault("payload-by-lines",
		catalogue.On(at(Delivered), func(e *Event) { e.Block, _, _ = bytes.Cut(e.Block, []byte("\r\n")) })),
	fault("payload-trimmed", catalogue.On(at(Delivered), func(e *Event) { e.Block = bytes.TrimSpace(e.Block) })),
	fault("payload-as-text",
		catalogue.On(at(Delivered), func(e *Event) { e.Block = bytes.ToValidUTF8(e.Block, []byte("\uFFFD")) })),
	fault("payload-to-nul",
		catalogue.On(at(Delivered), func(e *Event) { e.Block, _, _ = bytes.Cut(e.Block, []byte{0}) })),
	fault("payload-cut",
		catalogue.On(at(Delivered), func(e *Event) { e.Block = e.Block[:min(len(e.Block), 64<<10)] })),
	fault("payload-empty-skipped",
		catalogue.On(func(e *Event) bool { return e.Point == Delivered && len(e.Block) == 0 }, skip)),
	fault("reply-at-once", catalogue.On(at(Sending), func(e *Event) { e.AtOnce = true })),
	fault("again-ignored",
		catalogue.KeepBy(func(e *Event) string { return e.ID }, at(Delivered), func(had *bool, e *Event) {
			e.Skip, *had = *had, true
		})),
}

// reportFaults are about reports, and the time to run.
var reportFaults = []Fault{
	fault("ttr-ignored", catalogue.On(at(Delivered), func(e *Event) { e.TTR = time.Hour })),
	fault("ttr-late-fail", catalogue.On(at(Delivered), func(e *Event) { e.TTR *= 2 })),
	fault("ttr-in-seconds", catalogue.On(at(Delivered), func(e *Event) { e.TTR *= 1000 })),
	fault("ttr-in-microseconds", catalogue.On(at(Delivered), func(e *Event) { e.TTR /= 1000 })),
	fault("ttr-fixed", catalogue.On(at(Delivered), func(e *Event) { e.TTR = min(e.TTR, time.Second) })),
	fault("report-missing", catalogue.Every(3, at(Ran), skip)),
	fault("fail-unreported", reports("fwp.fail", skip)),
	fault("report-twice", reports("", func(e *Event) { e.Again = 1 })),
	fault("fail-twice", reports("fwp.fail", func(e *Event) { e.Again = 1 })),
	fault("complete-and-fail",
		catalogue.On(func(e *Event) bool { return e.Point == Sending && e.Verb == workq.Fail }, func(e *Event) {
			e.Bytes = append(bytes.Replace(e.Bytes, []byte("fail"), []byte("complete"), 1), e.Bytes...)
			e.More = 1
		})),
	fault("fail-completed", reports("fwp.fail", func(e *Event) { e.Verb = workq.Complete })),
	fault("ok-failed", catalogue.Keep(at(Ran), func(n *int, e *Event) {
		if *n++; *n > 5 {
			e.Verb = workq.Fail
		}
	})),
	fault("complete-early", catalogue.On(at(Delivered), func(e *Event) {
		if e.Name == "fwp.sleep" {
			e.Name = "fwp.ok"
		}
	})),
	fault("id-of-another", catalogue.Keep(at(Ran), func(before *string, e *Event) {
		if *before != "" && *before != e.ID {
			e.ID, *before = *before, e.ID
			return
		}
		*before = e.ID
	})),
	fault("id-made-up", reports("fwp.fail", func(e *Event) { e.ID = "6ba7b810-9dad-41d1-80b4-00c04fd430c4" })),
	fault("not-found-ends-it", catalogue.On(refused(workq.NotFound), func(e *Event) { e.Exit = true })),
	fault("not-found-hangs", catalogue.On(refused(workq.NotFound), func(e *Event) { e.Hang = true })),
}
