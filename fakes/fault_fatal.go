package fakes

import (
	"sync/atomic"

	"github.com/fwpsuite/fwp/fwp"
)

// fatalFaults are those after which the server serves nobody any more, not even
// where the specification lets it answer whatever it likes.
func fatalFaults() []Fault {
	return []Fault{
		counting("dies-of-unknown-job", "ACK-04 FAIL-03 FETCH-12",
			"the server dies of an ACK or FAIL for a job that nobody holds",
			dying(func(e *Event) bool {
				return e.about() == AboutJob
			})),
		counting("dies-of-invalid-utf8", "FRAME-09",
			"the server dies of a line that is not UTF-8",
			dying(func(e *Event) bool {
				return e.about() == AboutUTF8
			})),
		counting("dies-of-strange-hello", "HELLO-05 HELLO-07 HELLO-13",
			"the server dies of a HELLO without v 2, with an unknown field, or with a known wid and another pid",
			dying(func(e *Event) bool {
				version := e.about() == "v" && e.Object.Get("pwdhash") == nil
				conflict := e.about() == "wid" && e.Object.Text("wid") != ""
				return e.Command.Verb == fwp.HELLO && (version || conflict || e.Object.Get("fwpcheck") != nil)
			})),
	}
}

// dying ends a server at the first command that is poison to it.
func dying(poison func(*Event) bool) func() func(*Event) {
	return func() func(*Event) {
		var dead atomic.Bool
		return func(e *Event) {
			switch {
			case e.Point == Accepted && dead.Load():
				e.Skip = true
			case e.Point == Ran && (dead.Load() || poison(e)):
				dead.Store(true)
				e.Reply, e.Close = fwp.Reply{}, true
			}
		}
	}
}
