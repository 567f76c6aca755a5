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
	return catalogue.ActIf(catalogue.All(conditions...), act)
}

// actIf returns a hook that acts on the events for which a condition holds.
func actIf(match condition, act func(*event)) func(*event) { return catalogue.ActIf(match, act) }

// allOf returns the condition that all of some conditions hold, and anyOf that at least one does.
func allOf(conditions ...condition) condition { return catalogue.All(conditions...) }
func anyOf(conditions ...condition) condition { return catalogue.Any(conditions...) }

// at holds at some points.
//
//go:noinline
func at(points ...fakes.Point) condition {
	return func(e *event) bool { return slices.Contains(points, e.Point) }
}

// atPoint holds at a point of some commands, of all if none is named.
//
//go:noinline
func atPoint(p fakes.Point, verbs []string) condition {
	return func(e *event) bool {
		return e.Point == p && (len(verbs) == 0 || slices.Contains(verbs, e.Command.Verb))
	}
}

// atParsed, atChecked, atRan and atWriting hold at these points of some commands, of all if none is named.
func atParsed(verbs ...string) condition  { return atPoint(fakes.Parsed, verbs) }
func atChecked(verbs ...string) condition { return atPoint(fakes.Checked, verbs) }
func atRan(verbs ...string) condition     { return atPoint(fakes.Ran, verbs) }
func atWriting(verbs ...string) condition { return atPoint(fakes.Writing, verbs) }

// isValid holds when some commands were checked and are not refused.
func isValid(verbs ...string) condition { return allOf(atChecked(verbs...), hasNoError) }

// isDone holds when some commands were carried out.
func isDone(verbs ...string) condition { return allOf(atRan(verbs...), hasNoError) }

// isRefused holds when some commands of an identified client were refused.
func isRefused(verbs ...string) condition {
	return allOf(atRan(verbs...), hasError, func(e *event) bool { return e.Conn.Identified })
}

// hasNoError and hasError say whether the command is refused.
func hasNoError(e *event) bool { return e.Err == nil }
func hasError(e *event) bool   { return e.Err != nil }

// isAbout holds if the command is refused for one of some reasons.
//
//go:noinline
func isAbout(reasons ...fakes.About) condition {
	return func(e *event) bool { return slices.Contains(reasons, e.About()) }
}

// isProtected holds on a server with a password.
func isProtected(e *event) bool { return e.Conn.Iterations > 0 }

// changesState holds if a BEAT is answered with a change of state.
func changesState(e *event) bool { return e.State != "" }

// isEnd holds when an END was accepted.
func isEnd(e *event) bool { return isDone(fwp.END)(e) }

// isLeaving holds when a connection of a worker ends, by END or by a close.
func isLeaving(e *event) bool {
	return (e.Point == fakes.Unfinished || isEnd(e)) && e.Conn.Worker != ""
}

// isLastLeaving holds when the last connection of a worker ends.
func isLastLeaving(e *event) bool {
	return isLeaving(e) && e.Conn.Server().Worker(e.Conn.Worker).Connections == 1
}

// isEndOfWait holds when a job is reserved for a FETCH that waits.
func isEndOfWait(e *event) bool { return e.Point == fakes.Reserved && e.Command.Verb == fwp.PUSH }

// isScheduled holds when a job is scheduled, and isDue when such a job is due.
func isScheduled(e *event) bool { return e.Point == fakes.Scheduled && e.Set == "scheduled" }
func isDue(e *event) bool       { return e.Point == fakes.ComingDue && e.Set == "scheduled" }

// hasNoJob and hasJob hold for the replies to a FETCH.
func hasNoJob(e *event) bool { return e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.NullBulk }
func hasJob(e *event) bool   { return e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.BulkString }

// hasMember holds if the object has a member, whatever its value is.
func hasMember(name string) condition {
	return func(e *event) bool { return e.Object.Get(name) != nil }
}

// hasText holds if a member that is a string, or "" if there is none, fits.
func hasText(name string, fits func(string) bool) condition {
	return func(e *event) bool { return fits(e.Object.Text(name)) }
}

// hasInteger holds if a member is an integer that fits.
func hasInteger(name string, fits func(int64) bool) condition {
	return func(e *event) bool {
		n, ok := e.Object.Int(name)
		return ok && fits(n)
	}
}

// hasTime holds if a member is a time that fits.
func hasTime(name string, fits func(time.Time) bool) condition {
	return func(e *event) bool {
		t, ok := e.Object.Time(name)
		return ok && fits(t)
	}
}

// isLarge holds if the value of a member has more than n bytes.
func isLarge(name string, n int) condition {
	return func(e *event) bool { return len(e.Object.Get(name)) > n }
}

func not(c condition) condition { return catalogue.Not(c) }

// anyInteger fits every integer.
func anyInteger(int64) bool { return true }
