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
	return catalogue.On(catalogue.All(conditions...), act)
}

// at holds at some points, of at a point of some commands, and valid and done if these are not refused.
//
//go:noinline
func at(points ...fakes.Point) condition {
	return func(e *event) bool { return slices.Contains(points, e.Point) }
}

//go:noinline
func of(p fakes.Point, verbs ...string) condition {
	return func(e *event) bool { return e.Point == p && slices.Contains(verbs, e.Command.Verb) }
}

func valid(verbs ...string) condition { return catalogue.All(of(fakes.Checked, verbs...), right) }
func done(verbs ...string) condition  { return catalogue.All(of(fakes.Ran, verbs...), right) }

// right and wrong say whether the command is refused, and about whether for one of some reasons.
func right(e *event) bool { return e.Err == nil }
func wrong(e *event) bool { return e.Err != nil }

//go:noinline
func about(reasons ...fakes.About) condition {
	return func(e *event) bool { return slices.Contains(reasons, e.About()) }
}

// What connection it is.
func onProtected(e *event) bool { return e.Conn.Iterations > 0 }
func ofProducer(e *event) bool  { return e.Conn != nil && e.Conn.IsProducer() }
func ofWorker(e *event) bool    { return e.Conn.Worker != "" }
func quiet(e *event) bool       { return e.Conn.Server().Worker(e.Conn.Worker).IsQuiet() }

// beyond holds if more connections are open than a number.
func beyond(most int) condition {
	return func(e *event) bool { return e.Conn.Server().Connections() > most }
}

// Keys of what hooks remember.
func jid(e *event) string { return e.Object.Text("jid") }
func wid(e *event) string { return e.Object.Text("wid") }

func conn(e *event) int64 { return e.Conn.ID }

// What hooks do.
func pretend(e *event) { e.Err = nil }
func okay(e *event)    { e.Err, e.Reply = nil, fakes.OK() }
func skip(e *event)    { e.Skip = true }
func hangUp(e *event)  { e.Reply, e.Close = fwp.Reply{}, true }

func decline(reason fakes.About, text string) func(*event) {
	return func(e *event) { e.Decline(reason, text) }
}

func delay(d time.Duration) func(*event) { return func(e *event) { e.Delay = d } }

// info replaces the reply to INFO.
func info(text string) func(*event) {
	return do(func(e *event) { e.Reply = fakes.Bulk([]byte(text)) }, done(fwp.INFO))
}

// salted changes the salt of a greeting.
func salted(to func(salt string) string) func(*event) {
	return do(func(e *event) {
		e.Conn.Salt = to(e.Conn.Salt)
		e.Reply = e.Conn.Hi()
	}, at(fakes.Greeting), onProtected)
}

// delivered changes the jobs that consumers get.
func delivered(change func(job *object)) func(*event) {
	return do(func(e *event) { change(e.Object) }, at(fakes.Delivered))
}

// drawn returns a time between two bounds, the same one for the same word and number in every run.
func drawn(least, most time.Duration, word string, n int64) time.Duration {
	return least + time.Duration(fakes.Chance(0, word, n).Int64N(int64(most-least)))
}
