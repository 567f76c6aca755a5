package bugs

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

// on returns a hook that acts on the events for which a condition holds.
func on(is condition, act func(*event)) func(*event) { return catalogue.On(is, act) }

// both returns the condition that all of some hold, and either the one that any of some holds.
func both(conditions ...condition) condition   { return catalogue.All(conditions...) }
func either(conditions ...condition) condition { return catalogue.Any(conditions...) }

// at holds at some points.
//
//go:noinline
func at(points ...fakes.Point) condition {
	return func(e *event) bool { return slices.Contains(points, e.Point) }
}

// of holds at a point of some commands, of all if none is named.
//
//go:noinline
func of(p fakes.Point, verbs []string) condition {
	return func(e *event) bool {
		return e.Point == p && (len(verbs) == 0 || slices.Contains(verbs, e.Command.Verb))
	}
}

// parsed, checked, ran and writing hold at these points of some commands, of all if none is named.
func parsed(verbs ...string) condition  { return of(fakes.Parsed, verbs) }
func checked(verbs ...string) condition { return of(fakes.Checked, verbs) }
func ran(verbs ...string) condition     { return of(fakes.Ran, verbs) }
func writing(verbs ...string) condition { return of(fakes.Writing, verbs) }

// valid holds when some commands were checked and are not refused.
func valid(verbs ...string) condition { return both(checked(verbs...), right) }

// done holds when some commands were carried out.
func done(verbs ...string) condition { return both(ran(verbs...), right) }

// refused holds when some commands of an identified client were refused.
func refused(verbs ...string) condition {
	return both(ran(verbs...), wrong, func(e *event) bool { return e.Conn.Identified })
}

// right and wrong say whether the command is refused.
func right(e *event) bool { return e.Err == nil }
func wrong(e *event) bool { return e.Err != nil }

// about holds if the command is refused for one of some reasons.
//
//go:noinline
func about(reasons ...fakes.About) condition {
	return func(e *event) bool { return slices.Contains(reasons, e.About()) }
}

// onProtected holds on a server with a password.
func onProtected(e *event) bool { return e.Conn.Iterations > 0 }

// changed holds if a BEAT is answered with a change of state.
func changed(e *event) bool { return e.State != "" }

// ended holds when an END was accepted.
func ended(e *event) bool { return done(fwp.END)(e) }

// leaving holds when a connection of a worker ends, by END or by a close.
func leaving(e *event) bool {
	return (e.Point == fakes.Unfinished || ended(e)) && e.Conn.Worker != ""
}

// leavingLast holds when the last connection of a worker ends.
func leavingLast(e *event) bool {
	return leaving(e) && e.Conn.Server().Worker(e.Conn.Worker).Connections == 1
}

// endsWait holds when a job is reserved for a FETCH that waits.
func endsWait(e *event) bool { return e.Point == fakes.Reserved && e.Command.Verb == fwp.PUSH }

// scheduled holds when a job is scheduled, and due when such a job is due.
func scheduled(e *event) bool { return e.Point == fakes.Scheduled && e.Set == "scheduled" }
func due(e *event) bool       { return e.Point == fakes.Due && e.Set == "scheduled" }

// foundNone and foundJob hold for the replies to a FETCH.
func foundNone(e *event) bool { return e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.NullBulk }
func foundJob(e *event) bool  { return e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString }

// has holds if the object has a member, whatever its value is.
func has(name string) condition {
	return func(e *event) bool { return e.Object.Get(name) != nil }
}

// text holds if a member that is a string, or "" if there is none, fits.
func text(name string, fits func(string) bool) condition {
	return func(e *event) bool { return fits(e.Object.Text(name)) }
}

// number holds if a member is an integer that fits.
func number(name string, fits func(int64) bool) condition {
	return func(e *event) bool {
		n, is := e.Object.Int(name)
		return is && fits(n)
	}
}

// moment holds if a member is a time that fits.
func moment(name string, fits func(time.Time) bool) condition {
	return func(e *event) bool {
		t, is := e.Object.Time(name)
		return is && fits(t)
	}
}

// large holds if the value of a member has more than n bytes.
func large(name string, n int) condition {
	return func(e *event) bool { return len(e.Object.Get(name)) > n }
}

func not(c condition) condition { return catalogue.Not(c) }

// anyInteger fits every integer.
func anyInteger(int64) bool { return true }
