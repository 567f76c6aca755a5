package bugs

import (
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Keys of what hooks remember: the job, the connection, the worker of the connection, the wid that the command names,
// and the server as a whole.
func jid(e *event) string { return e.Object.Text("jid") }

func conn(e *event) int64 {
	if e.Conn == nil {
		return 0
	}
	return e.Conn.ID
}

func worker(e *event) string {
	if e.Conn == nil {
		return ""
	}
	return e.Conn.Worker
}

func wid(e *event) string { return e.Object.Text("wid") }

func server(*event) struct{} { return struct{}{} }

type memory[K comparable, V any] = catalogue.Memory[K, V]

// withMemoryBy returns hooks with a memory for each key.
func withMemoryBy[K comparable, V any](key func(*event) K, match condition, act func(*V, *event)) func() func(*event) {
	return catalogue.WithMemoryBy(key, match, act)
}

// withMemory returns hooks with one memory for all that a server does.
func withMemory[M any](match condition, act func(*M, *event)) func() func(*event) {
	return catalogue.WithMemory(match, act)
}

// actNext returns hooks that act once, when something has happened before for the same key.
func actNext[K comparable](key func(*event) K, cause, match condition, act func(*event)) func() func(*event) {
	return catalogue.ActNext(key, cause, match, act)
}

// recall returns hooks that note something when it happens, and act with it at the next event of the same key.
func recall[K comparable, V any](
	key func(*event) K, cause condition, note func(*event) V, match condition, act func(V, *event),
) func() func(*event) {
	return catalogue.Recall(key, cause, note, match, act)
}

// connDone notes the channel Done of the connection.
func connDone(e *event) <-chan struct{} { return e.Conn.Done }

// repeatField gives a job that leaves a field out the value of the last job that had it.
func repeatField(field string) func() func(*event) {
	return withMemory(isValid(fwp.PUSH), func(last *string, e *event) {
		if value := string(e.Object.NonNull(field)); value != "" {
			*last = value
		} else if *last != "" {
			e.Object.Set(field, *last)
		}
	})
}

// restoreField delivers a read-only field as the PUSH had it.
func restoreField(field string) func() func(*event) {
	value := func(e *event) string { return string(e.Object.Get(field)) }
	return recall(jid, allOf(atChecked(fwp.PUSH), hasMember(field)), value, at(fakes.Delivered),
		func(value string, e *event) { e.Object.Set(field, value) })
}

// recallJob returns hooks that act with a copy of a job, which was made at an earlier event, at a later one; unless the
// job was at one of the points between.
func recallJob(earlier, later condition, act func(e *event, job *object), unless ...fakes.Point) func() func(*event) {
	isOver, clone := at(unless...), func(e *event) *object { return e.Object.Clone() }
	return recall(jid, earlier, clone, anyOf(later, isOver), func(job *object, e *event) {
		if !isOver(e) {
			e.AfterHook(func() { act(e, job) })
		}
	})
}

// pushIn pushes a job again after a time.
func pushIn(d time.Duration) func(e *event, job *object) {
	return func(e *event, job *object) { e.Push(job, time.Now().Add(d)) }
}

// pushAfterOK answers a FAIL that was refused with OK, and pushes a job.
func pushAfterOK(push func(e *event, job *object)) func(e *event, job *object) {
	return func(e *event, job *object) {
		answerOK(e)
		push(e, job)
	}
}

// isUnheldFail holds for a FAIL of a job that is not held.
func isUnheldFail(e *event) bool { return atRan(fwp.FAIL)(e) && e.About() == fakes.AboutJob }

// randomTime returns a time between two bounds, the same one for the same job and number in every run.
func randomTime(minimum, maximum time.Duration, e *event, n int64) time.Duration {
	return minimum + time.Duration(fakes.Chance(0, jid(e), n).Int64N(int64(maximum-minimum)))
}

// actIfClosed returns hooks that act at a later event of a job if the connection of an earlier one has ended.
func actIfClosed(earlier fakes.Point, later condition, act func(*event)) func() func(*event) {
	return recall(jid, allOf(at(earlier), isConnected), connDone, later, func(from <-chan struct{}, e *event) {
		if isClosed(from) {
			act(e)
		}
	})
}

// isClosed reports whether a channel is closed; nil is not.
func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// onOtherConn acts on accepted reports that come on another connection than that of the FETCH.
func onOtherConn(verb string, act func(*event)) func() func(*event) {
	return recall(jid, at(fakes.Delivered), conn, isValid(verb), func(holder int64, e *event) {
		if holder != e.Conn.ID {
			act(e)
		}
	})
}
