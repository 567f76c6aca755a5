package fakeworker

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// eventfulFaults are those of a worker that is right until something has happened to it. (Client Lifecycle; FETCH)
func eventfulFaults() []Fault {
	return []Fault{
		statefulFault("again-before-hi", "HI-07 FRAME-07 AUTH-01 AUTH-03",
			"It sends HELLO before it has read HI when it has lost a connection.", after(hasLost, Dialed, skip)),
		statefulFault("beat-not-after-failure", "BEAT-06 STATE-19 BEAT-16",
			"It sends no BEAT any more when a job has failed.",
			after(func(e *Event) bool { return e.Point == Ran && e.Outcome == Failed }, Beating, skip)),
		statefulFault("loss-doubles-beats", "BEAT-07 BEAT-08",
			"The heartbeat of a connection that it lost goes on beside that of the new one.", func() func(*Event) {
				var lost atomic.Bool
				second := false // the goroutine of BEATs alone uses it
				return func(e *Event) {
					switch {
					case e.Point == Lost && e.Beats:
						lost.Store(true)
					case e.Point == Beating && lost.Load():
						if e.Every = 13 * time.Second; second {
							e.Every = 2 * time.Second
						}
						second = !second
					}
				}
			}),
		statefulFault("loss-of-one-final", "FETCH-11", "It opens no other connection for the first one that it lost.",
			func() func(*Event) {
				var lost atomic.Bool
				return on(Lost, func(e *Event) { e.Skip = !e.Beats && !lost.Swap(true) })
			}),
		fault("connection-for-each-job", "WRK-09", "It opens its connections anew for each job.",
			on(Ran, func(e *Event) { e.Worker.renewal.Add(1) })),
	}
}

// ordersFaults are those of a worker that reads the reply to BEAT in some cases only. (BEAT)
func ordersFaults() []Fault {
	return []Fault{
		statefulFault("state-of-first-beat-ignored", "BEAT-13 STATE-17 STATE-20 STATE-21 STATE-22 STATE-24",
			"It does not look at the reply to its first BEAT.", func() func(*Event) {
				var beaten atomic.Bool
				return replied(fwp.BEAT, func(e *Event) {
					if !beaten.Swap(true) {
						e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")}
					}
				})
			}),
		fault("state-in-any-text", "RESP-09 STATE-15", "It takes an error reply to BEAT that holds a state for an order.",
			replied(fwp.BEAT, func(e *Event) {
				if e.Reply.Kind == fwp.ErrorReply && bytes.Contains(e.Reply.Text, []byte("quiet")) {
					e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte(`{"state":"quiet"}`)}
				}
			})),
		setting("terminate-undone", "STATE-22 STATE-20 STATE-21 BEAT-13",
			"It forgets the order to terminate when a later BEAT is answered with OK.", undoTerminate),
	}
}

// undoTerminate has a worker act on the second order to terminate only, and forget the first one at an OK.
func undoTerminate(c *Config) {
	c.Grace = 5 * time.Second
	var told, undone atomic.Bool
	c.Hook = func(e *Event) {
		switch {
		case e.Point == Ordered && e.State == "terminate" && e.Signal == "":
			e.Skip = !told.Swap(true)
		case e.Point == Replied && e.Verb == fwp.BEAT && told.Load() && stateIn(e.Reply) == "":
			undone.Store(true)
		case e.Point == Fetching && !e.Skip && told.Load() && !undone.Load():
			e.Skip, e.Delay = true, time.Second
		}
	}
}
