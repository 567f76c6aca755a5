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

// keep returns hooks with a memory for each key.
func keep[K comparable, V any](key func(*event) K, is condition, act func(*V, *event)) func() func(*event) {
	return catalogue.KeepBy(key, is, act)
}

// keepAll returns hooks with one memory for all that a server does.
func keepAll[M any](is condition, act func(*M, *event)) func() func(*event) {
	return catalogue.Keep(is, act)
}

// next returns hooks that act once, when something has happened before for the same key.
func next[K comparable](key func(*event) K, happened, is condition, act func(*event)) func() func(*event) {
	return catalogue.Next(key, happened, is, act)
}

// recall returns hooks that note something when it happens, and act with it at the next event of the same key.
func recall[K comparable, V any](
	key func(*event) K, happened condition, note func(*event) V, is condition, act func(V, *event),
) func() func(*event) {
	return catalogue.Recall(key, happened, note, is, act)
}

// gone notes the channel Done of the connection.
func gone(e *event) <-chan struct{} { return e.Conn.Done }

// follows gives a job that leaves a field out the value of the last job that had it.
func follows(field string) func() func(*event) {
	return keepAll(valid(fwp.PUSH), func(last *string, e *event) {
		if value := string(e.Object.Given(field)); value != "" {
			*last = value
		} else if *last != "" {
			e.Object.Set(field, *last)
		}
	})
}

// sent delivers a read-only field as the PUSH had it.
func sent(field string) func() func(*event) {
	value := func(e *event) string { return string(e.Object.Get(field)) }
	return recall(jid, both(checked(fwp.PUSH), has(field)), value, at(fakes.Delivered),
		func(value string, e *event) { e.Object.Set(field, value) })
}

// withJob returns hooks that act with a copy of a job, which was made at an earlier event, at a later one; unless the
// job was at one of the points between.
func withJob(earlier, later condition, act func(e *event, job *object), unless ...fakes.Point) func() func(*event) {
	over, clone := at(unless...), func(e *event) *object { return e.Object.Clone() }
	return recall(jid, earlier, clone, either(later, over), func(job *object, e *event) {
		if !over(e) {
			e.Then(func() { act(e, job) })
		}
	})
}

// pushIn pushes a job again after a time.
func pushIn(d time.Duration) func(e *event, job *object) {
	return func(e *event, job *object) { e.Push(job, time.Now().Add(d)) }
}

// okayPush answers a FAIL that was refused with OK, and pushes a job.
func okayPush(push func(e *event, job *object)) func(e *event, job *object) {
	return func(e *event, job *object) {
		okay(e)
		push(e, job)
	}
}

// notHeld holds for a FAIL of a job that is not held.
func notHeld(e *event) bool { return ran(fwp.FAIL)(e) && e.About() == fakes.AboutJob }

// drawn returns a time between two bounds, the same one for the same job and number in every run.
func drawn(least, most time.Duration, e *event, n int64) time.Duration {
	return least + time.Duration(fakes.Chance(0, jid(e), n).Int64N(int64(most-least)))
}

// ifGone returns hooks that act at a later event of a job if the connection of an earlier one has ended.
func ifGone(earlier fakes.Point, later condition, act func(*event)) func() func(*event) {
	return recall(jid, both(at(earlier), connected), gone, later, func(from <-chan struct{}, e *event) {
		if closed(from) {
			act(e)
		}
	})
}

// closed reports whether a channel is closed; nil is not.
func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// elsewhere acts on accepted reports that come on another connection than that of the FETCH.
func elsewhere(verb string, act func(*event)) func() func(*event) {
	return recall(jid, at(fakes.Delivered), conn, valid(verb), func(holder int64, e *event) {
		if holder != e.Conn.ID {
			act(e)
		}
	})
}
