package worker

import (
	"cmp"
	_ "embed"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// Fault is a way in which a worker breaks the document. Its hook is the [Config.Hook] of a worker.
type Fault = catalogue.Fault[Event]

// Faults returns the catalogue, sorted by name.
func Faults() []Fault { return catalogue.SortFaults(frameFaults, jobFaults, lifeFaults) }

//go:embed faults.txt
var faultsText string

var faultsTable = catalogue.Reader("fakes/emqp/worker/faults.txt", faultsText)

// fault returns one that a hook makes, or a function that makes a hook for each worker because it remembers something.
// The name is that of a row of faults.txt.
func fault[H catalogue.Hook[Event]](name string, hook H) Fault {
	return catalogue.FaultOf[Event](faultsTable(), name, hook)
}

// at returns the condition of a point, and of one of some commands if any is named.
func at(p Point, commands ...string) func(*Event) bool {
	return func(e *Event) bool {
		return e.Point == p && (len(commands) == 0 || strings.Contains(strings.Join(commands, "|"), e.Command))
	}
}

// on returns a hook that acts at one point, on some commands if any is named.
func on(p Point, act func(*Event), commands ...string) func(*Event) {
	return catalogue.On(at(p, commands...), act)
}

// frame returns a step that replaces a frame.
func frame(i int, text string) func(*Event) { return func(e *Event) { e.Frames[i] = []byte(text) } }

func skip(e *Event) { e.Skip = true }

// headers returns the headers of a request.
func headers(e *Event) string { return string(e.Message.Fields[1]) }

// The frames behind the id.
const (
	atVersion = 1
	atCommand = 2
	atID      = 3
	atFirst   = 4
	atSecond  = 5
)

var frameFaults = []Fault{
	fault("another-version", on(Sending, frame(atVersion, "eMQP/1.1"))),
	fault("command-lower-case", on(Sending, frame(atCommand, "ready"), emqp.READY)),
	fault("empty-frame-missing", on(Sending, func(e *Event) { e.Frames = e.Frames[1:] }, emqp.HEARTBEAT)),
	fault("reply-with-six-frames",
		on(Sending, func(e *Event) { e.Frames = append(e.Frames, []byte("ok")) }, emqp.REPLY)),
	fault("id-missing", on(Sending, func(e *Event) { e.Frames = e.Frames[:atID] }, emqp.READY)),
	fault("id-always-the-same", on(Sending, frame(atID, "1"), emqp.READY)),
	fault("id-of-command", on(Sending, frame(atID, "beat"), emqp.HEARTBEAT)),
	fault("inform-names-alone", on(Sending, frame(atFirst, "fwp-high,fwp-low"), emqp.INFORM)),
	fault("inform-first-queue-alone", on(Sending, frame(atFirst, `[[10, "fwp-high"]]`), emqp.INFORM)),
	fault("inform-as-client", on(Sending, frame(atSecond, "client"), emqp.INFORM)),
	fault("inform-as-scheduler", on(Sending, frame(atSecond, "scheduler"), emqp.INFORM)),
	fault("heartbeat-before-inform", on(Sending, func(e *Event) {
		e.Before = append(e.Before, emqp.Heartbeat("first", time.Now()).Frames())
	}, emqp.INFORM)),
	fault("timestamp-in-milliseconds",
		on(Sending, func(e *Event) { e.Frames[atFirst] = fmt.Append(nil, time.Now().UnixMilli()) }, emqp.HEARTBEAT)),
	fault("timestamp-as-text",
		on(Sending, func(e *Event) { e.Frames[atFirst] = []byte(time.Now().Format(time.RFC3339)) }, emqp.HEARTBEAT)),
	fault("timestamp-zero", on(Sending, frame(atFirst, "0"), emqp.HEARTBEAT)),
}

var jobFaults = []Fault{
	fault("replies-always", on(Working, func(e *Event) { e.Replies = true })),
	fault("reply-never", catalogue.Keep(at(Working), func(n *int, e *Event) {
		if *n++; *n > 3 {
			e.Replies = false
		}
	})),
	fault("reply-early", on(Working, func(e *Event) { e.Early = true })),
	fault("reply-without-information", on(Ran, func(e *Event) { e.Information = "True" })),
	fault("reply-cut", on(Ran, func(e *Event) { e.Information = e.Information[:min(100, len(e.Information))] })),
	fault("reply-empty", catalogue.On(func(e *Event) bool { return e.Point == Ran && e.Information == "True" },
		func(e *Event) { e.Information = "" })),
	fault("reply-missing", catalogue.On(func(e *Event) bool { return e.Point == Ran && e.Information == "True" },
		func(e *Event) { e.Replies = false })),
	fault("ready-once", on(Ran, skip)),
	fault("ready-not-after-failure",
		catalogue.On(func(e *Event) bool { return e.Point == Ran && e.Failed }, skip)),
	fault("headers-first-alone", on(Working, func(e *Event) {
		first, _, _ := strings.Cut(headers(e), ",")
		if e.Replies = e.Replies && first == emqp.ReplyRequested; !strings.HasPrefix(first, emqp.RetryCount) {
			e.Retries = 0
		}
		if !strings.HasPrefix(first, emqp.Timeout) {
			e.Timeout = 0
		}
	})),
	fault("headers-last-alone", on(Working, func(e *Event) {
		e.Replies = e.Replies && strings.HasSuffix(headers(e), emqp.ReplyRequested)
	})),
	fault("headers-several-hang",
		catalogue.On(func(e *Event) bool { return e.Point == Working && strings.Contains(headers(e), ",") }, skip)),
	fault("retries-never", on(Working, func(e *Event) { e.Retries = 0 })),
	fault("retries-once-less", on(Working, func(e *Event) { e.Retries = max(0, e.Retries-1) })),
	fault("retries-once-more", on(Working, func(e *Event) { e.Retries++ })),
	fault("retries-by-itself", on(Working, func(e *Event) {
		if !strings.Contains(headers(e), emqp.RetryCount) {
			e.Retries = 2
		}
	})),
	fault("timeout-ignored", on(Working, func(e *Event) { e.Timeout = 0 })),
	fault("timeout-in-minutes", on(Working, func(e *Event) { e.Timeout *= 60 })),
	fault("timeout-in-milliseconds", on(Working, func(e *Event) { e.Timeout /= 1000 })),
	fault("timeout-of-its-own", on(Working, func(e *Event) {
		e.Timeout = cmp.Or(e.Timeout, 2*time.Second)
	})),
	fault("timeout-of-zero", on(Working, func(e *Event) {
		if strings.Contains(headers(e), emqp.Timeout+":0") {
			e.Timeout = time.Millisecond
		}
	})),
}

// whileWorking returns hooks by which a worker sends no HEARTBEAT while it works.
func whileWorking() func() func(*Event) {
	return func() func(*Event) {
		var running atomic.Int64
		return func(e *Event) {
			switch e.Point {
			case Working:
				running.Add(1)
			case Ran:
				running.Add(-1)
			case Sending:
				e.Skip = e.Command == emqp.HEARTBEAT && running.Load() > 0
			}
		}
	}
}

var lifeFaults = []Fault{
	fault("heartbeat-never", on(Sending, skip, emqp.HEARTBEAT)),
	fault("heartbeat-not-while-working", whileWorking()),
	fault("heartbeats-five", catalogue.Keep(at(Sending, emqp.HEARTBEAT), func(n *int, e *Event) {
		*n++
		e.Skip = *n > 5
	})),
	fault("heartbeats-grow", catalogue.Keep(at(Sending, emqp.HEARTBEAT), func(pause *struct{ tries, most int }, e *Event) {
		pause.tries++
		if e.Skip = pause.tries <= pause.most; !e.Skip {
			pause.tries, pause.most = 0, max(4, 2*pause.most)
		}
	})),
	fault("heartbeats-not-after-loss", catalogue.From(catalogue.Server, at(Lost), at(Sending, emqp.HEARTBEAT), skip)),
	fault("loss-ends-it", on(Lost, func(e *Event) { e.Exit = true })),
	fault("informs-once", on(Informing, func(e *Event) { e.Skip = e.Number > 1 })),
	fault("silence-ignored", on(Waiting, func(e *Event) { e.Patience = time.Hour })),
	fault("disconnect-ignored", on(Received, skip, emqp.DISCONNECT)),
	fault("disconnect-without-kbai", on(Sending, skip, emqp.KBAI)),
	fault("disconnect-goes-on", catalogue.Keep(
		catalogue.Any(at(Sending), at(Leaving)), func(left *bool, e *Event) {
			if *left = *left || e.Point == Leaving; e.Point == Leaving {
				e.Skip = true
			} else if *left {
				e.Mute = false
			}
		})),
	fault("disconnect-ends-jobs", catalogue.From(
		catalogue.Server, at(Leaving), at(Lost), func(e *Event) { e.Exit = true })),
	fault("kbai-ignored", on(Received, skip, emqp.KBAI)),
}
