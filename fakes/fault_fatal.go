package fakes

import (
	"sync/atomic"

	"github.com/fwpsuite/fwp/fwp"
)

// fatalFaults are those after which the server serves no client, some of them after
// commands to which the specification allows any reply.
func fatalFaults() []Fault {
	return []Fault{
		statefulFault("dies-of-unknown-job", "ACK-04 FAIL-03 FETCH-12 RESP-07",
			"the server crashes at an ACK or FAIL for a job that is not held",
			diesOf(func(e *Event) bool { return e.about() == AboutJob })),
		statefulFault("dies-of-invalid-utf8", "FRAME-09",
			"the server crashes at a line that is not UTF-8",
			diesOf(func(e *Event) bool { return e.about() == AboutUTF8 })),
		statefulFault("dies-of-strange-hello", "HELLO-05 HELLO-07 HELLO-13 AUTH-02 AUTH-04",
			"the server crashes at a HELLO without v 2, with an unknown field, or with a known wid and another pid",
			diesOf(func(e *Event) bool {
				version := e.about() == "v" && e.Object.Get("pwdhash") == nil
				conflict := e.about() == "wid" && e.Object.Text("wid") != ""
				return e.Command.Verb == fwp.HELLO && (version || conflict || e.Object.Get("fwpcheck") != nil)
			})),
	}
}

// diesOf ends the service at a deadly command, until a restart.
func diesOf(deadly func(*Event) bool) func() func(*Event) {
	return func() func(*Event) {
		var dead atomic.Bool
		return func(e *Event) {
			switch {
			case e.Point == Restarted:
				dead.Store(false)
			case e.Point == Accepted && dead.Load():
				e.Skip = true
			case e.Point == Ran && (dead.Load() || deadly(e)):
				dead.Store(true)
				e.Reply, e.Close = fwp.Reply{}, true
			}
		}
	}
}
