package variations

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

type (
	event     = fakes.Event
	object    = fakes.Object
	condition = func(*event) bool
)

// do returns a hook that acts on the events for which all conditions hold.
func do(act func(*event), conditions ...condition) func(*event) {
	return catalogue.ActIf(catalogue.All(conditions...), act)
}

// at holds at some points, atPoint at a point of some commands, isValid and isDone if these are not refused.
//
//go:noinline
func at(points ...fakes.Point) condition {
	return func(e *event) bool { return slices.Contains(points, e.Point) }
}

//go:noinline
func atPoint(p fakes.Point, verbs ...string) condition {
	return func(e *event) bool { return e.Point == p && slices.Contains(verbs, e.Command.Verb) }
}

func isValid(verbs ...string) condition {
	return catalogue.All(atPoint(fakes.Checked, verbs...), hasNoError)
}
func isDone(verbs ...string) condition {
	return catalogue.All(atPoint(fakes.Ran, verbs...), hasNoError)
}

// hasNoError and hasError say whether the command is refused, and isAbout whether for one of some reasons.
func hasNoError(e *event) bool { return e.Err == nil }
func hasError(e *event) bool   { return e.Err != nil }

//go:noinline
func isAbout(reasons ...fakes.About) condition {
	return func(e *event) bool { return slices.Contains(reasons, e.About()) }
}

// What connection it is.
func isProtected(e *event) bool { return e.Conn.Iterations > 0 }
func isProducer(e *event) bool  { return e.Conn != nil && e.Conn.IsProducer() }
func isWorker(e *event) bool    { return e.Conn.Worker != "" }
func isQuiet(e *event) bool     { return e.Conn.Server().Worker(e.Conn.Worker).IsQuiet() }

// exceedsConns holds if more connections are open than a number.
func exceedsConns(limit int) condition {
	return func(e *event) bool { return e.Conn.Server().Connections() > limit }
}

// Keys of what hooks remember.
func jid(e *event) string { return e.Object.Text("jid") }
func wid(e *event) string { return e.Object.Text("wid") }

func conn(e *event) int64 { return e.Conn.ID }

// What hooks do.
func clearError(e *event) { e.Err = nil }
func answerOK(e *event)   { e.Err, e.Reply = nil, fakes.OK() }
func skip(e *event)       { e.Skip = true }
func hangUp(e *event)     { e.Reply, e.Close = fwp.Reply{}, true }

func decline(reason fakes.About, text string) func(*event) {
	return func(e *event) { e.Decline(reason, text) }
}

func delay(d time.Duration) func(*event) { return func(e *event) { e.Delay = d } }

// replaceInfo replaces the reply to INFO.
func replaceInfo(text string) func(*event) {
	return do(func(e *event) { e.Reply = fakes.Bulk([]byte(text)) }, isDone(fwp.INFO))
}

// changeSalt changes the salt of a greeting.
func changeSalt(to func(salt string) string) func(*event) {
	return do(func(e *event) {
		e.Conn.Salt = to(e.Conn.Salt)
		e.Reply = e.Conn.Hi()
	}, at(fakes.Greeting), isProtected)
}

// changeDelivered changes the jobs that consumers get.
func changeDelivered(change func(job *object)) func(*event) {
	return do(func(e *event) { change(e.Object) }, at(fakes.Delivered))
}

// randomTime returns a time between two bounds, the same one for the same word and number in every run.
func randomTime(minimum, maximum time.Duration, word string, n int64) time.Duration {
	return minimum + time.Duration(fakes.Chance(0, word, n).Int64N(int64(maximum-minimum)))
}
