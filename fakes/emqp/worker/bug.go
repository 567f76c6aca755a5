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

// Bug is a way in which a worker breaks the document. Its hook is the [Config.Hook] of a worker.
type Bug = catalogue.Bug[Event]

// Bugs returns the catalogue, sorted by name.
func Bugs() []Bug { return catalogue.SortBugs(frameBugs, jobBugs, lifeBugs) }

//go:embed bugs.txt
var bugsText string

var bugsTable = catalogue.LazyTable("fakes/emqp/worker/bugs.txt", bugsText)

// bug returns one that a hook makes, or a function that makes a hook for each worker because it remembers something.
// The name is that of a row of bugs.txt.
func bug[H catalogue.Hook[Event]](name string, hook H) Bug {
	return catalogue.BugOf[Event](bugsTable(), name, hook)
}

// at returns the condition of a point, and of one of some commands if any is named.
func at(p Point, commands ...string) func(*Event) bool {
	return func(e *Event) bool {
		return e.Point == p && (len(commands) == 0 || strings.Contains(strings.Join(commands, "|"), e.Command))
	}
}

// actAt returns a hook that acts at one point, on some commands if any is named.
func actAt(p Point, act func(*Event), commands ...string) func(*Event) {
	return catalogue.ActIf(at(p, commands...), act)
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

var frameBugs = []Bug{
	bug("another-version", actAt(Sending, frame(atVersion, "eMQP/1.1"))),
	bug("command-lower-case", actAt(Sending, frame(atCommand, "ready"), emqp.READY)),
	bug("empty-frame-missing", actAt(Sending, func(e *Event) { e.Frames = e.Frames[1:] }, emqp.HEARTBEAT)),
	bug("reply-with-six-frames",
		actAt(Sending, func(e *Event) { e.Frames = append(e.Frames, []byte("ok")) }, emqp.REPLY)),
	bug("id-missing", actAt(Sending, func(e *Event) { e.Frames = e.Frames[:atID] }, emqp.READY)),
	bug("id-always-the-same", actAt(Sending, frame(atID, "1"), emqp.READY)),
	bug("id-of-command", actAt(Sending, frame(atID, "beat"), emqp.HEARTBEAT)),
	bug("inform-names-alone", actAt(Sending, frame(atFirst, "fwp-high,fwp-low"), emqp.INFORM)),
	bug("inform-first-queue-alone", actAt(Sending, frame(atFirst, `[[10, "fwp-high"]]`), emqp.INFORM)),
	bug("inform-as-client", actAt(Sending, frame(atSecond, "client"), emqp.INFORM)),
	bug("inform-as-scheduler", actAt(Sending, frame(atSecond, "scheduler"), emqp.INFORM)),
	bug("heartbeat-before-inform", actAt(Sending, func(e *Event) {
		e.Preamble = append(e.Preamble, emqp.Heartbeat("first", time.Now()).Frames())
	}, emqp.INFORM)),
	bug("timestamp-in-milliseconds",
		actAt(Sending, func(e *Event) { e.Frames[atFirst] = fmt.Append(nil, time.Now().UnixMilli()) }, emqp.HEARTBEAT)),
	bug("timestamp-as-text",
		actAt(Sending, func(e *Event) { e.Frames[atFirst] = []byte(time.Now().Format(time.RFC3339)) }, emqp.HEARTBEAT)),
	bug("timestamp-zero", actAt(Sending, frame(atFirst, "0"), emqp.HEARTBEAT)),
}

var jobBugs = []Bug{
	bug("replies-always", actAt(Working, func(e *Event) { e.Replies = true })),
	bug("reply-never", catalogue.WithMemory(at(Working), func(n *int, e *Event) {
		if *n++; *n > 3 {
			e.Replies = false
		}
	})),
	bug("reply-early", actAt(Working, func(e *Event) { e.ReplyFirst = true })),
	bug("reply-without-information", actAt(Ran, func(e *Event) { e.Information = "True" })),
	bug("reply-cut", actAt(Ran, func(e *Event) { e.Information = e.Information[:min(100, len(e.Information))] })),
	bug("reply-empty", catalogue.ActIf(func(e *Event) bool { return e.Point == Ran && e.Information == "True" },
		func(e *Event) { e.Information = "" })),
	bug("reply-missing", catalogue.ActIf(func(e *Event) bool { return e.Point == Ran && e.Information == "True" },
		func(e *Event) { e.Replies = false })),
	bug("ready-once", actAt(Ran, skip)),
	bug("ready-not-after-failure",
		catalogue.ActIf(func(e *Event) bool { return e.Point == Ran && e.HasFailed }, skip)),
	bug("headers-first-alone", actAt(Working, func(e *Event) {
		first, _, _ := strings.Cut(headers(e), ",")
		if e.Replies = e.Replies && first == emqp.ReplyRequested; !strings.HasPrefix(first, emqp.RetryCount) {
			e.Retries = 0
		}
		if !strings.HasPrefix(first, emqp.Timeout) {
			e.Timeout = 0
		}
	})),
	bug("headers-last-alone", actAt(Working, func(e *Event) {
		e.Replies = e.Replies && strings.HasSuffix(headers(e), emqp.ReplyRequested)
	})),
	bug("headers-several-hang",
		catalogue.ActIf(func(e *Event) bool { return e.Point == Working && strings.Contains(headers(e), ",") }, skip)),
	bug("retries-never", actAt(Working, func(e *Event) { e.Retries = 0 })),
	bug("retries-once-less", actAt(Working, func(e *Event) { e.Retries = max(0, e.Retries-1) })),
	bug("retries-once-more", actAt(Working, func(e *Event) { e.Retries++ })),
	bug("retries-by-itself", actAt(Working, func(e *Event) {
		if !strings.Contains(headers(e), emqp.RetryCount) {
			e.Retries = 2
		}
	})),
	bug("timeout-ignored", actAt(Working, func(e *Event) { e.Timeout = 0 })),
	bug("timeout-in-minutes", actAt(Working, func(e *Event) { e.Timeout *= 60 })),
	bug("timeout-in-milliseconds", actAt(Working, func(e *Event) { e.Timeout /= 1000 })),
	bug("timeout-of-its-own", actAt(Working, func(e *Event) {
		e.Timeout = cmp.Or(e.Timeout, 2*time.Second)
	})),
	bug("timeout-of-zero", actAt(Working, func(e *Event) {
		if strings.Contains(headers(e), emqp.Timeout+":0") {
			e.Timeout = time.Millisecond
		}
	})),
}

// muteWhileWorking returns hooks by which a worker sends no HEARTBEAT while it works.
func muteWhileWorking() func() func(*Event) {
	return func() func(*Event) {
		var runningJobs atomic.Int64
		return func(e *Event) {
			switch e.Point {
			case Working:
				runningJobs.Add(1)
			case Ran:
				runningJobs.Add(-1)
			case Sending:
				e.Skip = e.Command == emqp.HEARTBEAT && runningJobs.Load() > 0
			}
		}
	}
}

var lifeBugs = []Bug{
	bug("heartbeat-never", actAt(Sending, skip, emqp.HEARTBEAT)),
	bug("heartbeat-not-while-working", muteWhileWorking()),
	bug("heartbeats-five", catalogue.WithMemory(at(Sending, emqp.HEARTBEAT), func(n *int, e *Event) {
		*n++
		e.Skip = *n > 5
	})),
	bug("heartbeats-grow", catalogue.WithMemory(at(Sending, emqp.HEARTBEAT),
		func(pause *struct{ tries, limit int }, e *Event) {
			pause.tries++
			if e.Skip = pause.tries <= pause.limit; !e.Skip {
				pause.tries, pause.limit = 0, max(4, 2*pause.limit)
			}
		})),
	bug("heartbeats-not-after-loss", catalogue.ActAfter(catalogue.ServerKey, at(ConversationLost),
		at(Sending, emqp.HEARTBEAT), skip)),
	bug("loss-ends-it", actAt(ConversationLost, func(e *Event) { e.Exit = true })),
	bug("informs-once", actAt(Informing, func(e *Event) { e.Skip = e.Number > 1 })),
	bug("silence-ignored", actAt(Waiting, func(e *Event) { e.Patience = time.Hour })),
	bug("disconnect-ignored", actAt(Received, skip, emqp.DISCONNECT)),
	bug("disconnect-without-kbai", actAt(Sending, skip, emqp.KBAI)),
	bug("disconnect-goes-on", catalogue.WithMemory(
		catalogue.Any(at(Sending), at(Leaving)), func(hasLeft *bool, e *Event) {
			if *hasLeft = *hasLeft || e.Point == Leaving; e.Point == Leaving {
				e.Skip = true
			} else if *hasLeft {
				e.Mute = false
			}
		})),
	bug("disconnect-ends-jobs", catalogue.ActAfter(
		catalogue.ServerKey, at(Leaving), at(ConversationLost), func(e *Event) { e.Exit = true })),
	bug("kbai-ignored", actAt(Received, skip, emqp.KBAI)),
}
