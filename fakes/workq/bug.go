package workq

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// Bug is a way in which a server breaks the document. Its hook is the [Config.Hook] of a server.
type Bug = catalogue.Bug[Event]

// Bugs returns the catalogue, sorted by name.
func Bugs() []Bug { return slices.Clone(allBugs()) }

var allBugs = sync.OnceValue(func() []Bug {
	return catalogue.SortBugs(codedBugs, catalogue.RuledBugs(bugsTable(), Rules()))
})

//go:embed bugs.txt
var bugsText string

var bugsTable = catalogue.LazyTable("fakes/workq/bugs.txt", bugsText)

// bug returns the bug of a row of bugs.txt that has no rule: a hook makes it, or a function that makes a hook for
// each server because it remembers something.
func bug[H catalogue.Hook[Event]](name string, hook H) Bug {
	return catalogue.BugOf[Event](bugsTable(), name, hook)
}

// at returns the condition that some commands, all if no verb is named, are at a point.
//
//go:noinline
func at(p Point, verbs ...string) func(*Event) bool {
	return func(e *Event) bool {
		return e.Point == p && (len(verbs) == 0 || slices.Contains(verbs, e.Command.Verb))
	}
}

// reads returns the condition that a command of a verb was read.
func reads(verb string) func(*Event) bool { return at(Parsed, verb) }

// isValid returns the condition that a command of a verb was read that is not refused.
func isValid(verb string) func(*Event) bool {
	return func(e *Event) bool { return e.Point == Parsed && e.Command.Verb == verb && e.Err == nil }
}

// actAt returns a hook that acts at one point of some commands, of all if no verb is named.
func actAt(p Point, act func(*Event), verbs ...string) func(*Event) {
	return catalogue.ActIf(at(p, verbs...), act)
}

// record returns a hook that changes the first record of a reply.
func record(verb string, change func(*workq.Record)) func(*Event) {
	return actAt(Ran, func(e *Event) {
		if len(e.Reply.Records) > 0 {
			change(&e.Reply.Records[0])
		}
	}, verb)
}

// actBetween returns hooks that act on the events for which a condition holds from when something has begun for the
// same job until it has ended.
func actBetween(isBegin, isEnd, match func(*Event) bool, act func(*Event)) func() func(*Event) {
	return catalogue.WithMemoryBy(jobOf, catalogue.Any(isBegin, isEnd, match), func(isActive *bool, e *Event) {
		switch {
		case isBegin(e):
			*isActive = true
		case isEnd(e):
			*isActive = false
		case *isActive:
			act(e)
		}
	})
}

// jobOf returns the id of the job that an event is about: that of the job, of the reply to a lease, or of the command.
func jobOf(e *Event) string {
	switch {
	case e.Job != nil:
		return e.Job.UUID
	case hasLeased(e):
		return e.Reply.Records[0].Head[0]
	}
	return e.Command.ID
}

// skip suppresses the step.
func skip(e *Event) { e.Skip = true }

// answer returns a step that answers a command without carrying it out.
func answer(reply workq.Reply) func(*Event) {
	return func(e *Event) { e.Skip, e.Reply = true, reply }
}

// loseNamedJobs loses the jobs whose names stand in a line in which its connection ends.
func loseNamedJobs(lostNames *catalogue.Memory[string, bool], e *Event) {
	switch {
	case e.Point == Adding:
		e.Skip = e.Skip || lostNames.Has(e.Job.Name)
	case !bytes.Contains(e.Bytes, []byte("\n")):
		for _, name := range strings.FieldsFunc(string(e.Bytes), isForbidden) {
			*lostNames.GetOrAdd(name) = true
		}
	}
}

// isForbidden reports whether no name has a character.
func isForbidden(r rune) bool {
	return !strings.ContainsRune("_-.", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
