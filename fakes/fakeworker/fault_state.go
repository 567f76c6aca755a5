package fakeworker

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// stateFaults are about the states Quiet and Terminating. (Quiet State; Terminating State)
var stateFaults = []Fault{
	fault("quiet-exits", "STATE-18 STATE-19 STATE-15", "It ends at the order to be quiet.",
		catalogue.On(ordered("quiet"), func(e *Event) { e.State = "terminate" })),
	fault("quiet-exits-later", "STATE-18 STATE-19 STATE-15 BEAT-08", "It ends 20 s after it was told to be quiet.",
		exitLater),
	fault("quiet-fetches-seldom", "STATE-17 BEAT-13 STATE-24",
		"One of its executors fetches on when the worker is quiet.",
		on(Fetching, func(e *Event) { e.Skip = e.Skip && (e.Conn%2 != 1 || e.Worker.state() != "quiet") })),
	fault("quiet-forgets-jobs", "FETCH-09 END-04 STATE-21", "It does not report jobs that end when it is quiet.",
		on(Ran, func(e *Event) { e.Skip = e.Worker.state() == "quiet" })),
	fault("quiet-forgotten-after-loss", "STATE-24 STATE-17 BEAT-13",
		"It fetches again when it was quiet and has lost its connections.", forgetQuiet),
	fault("quiet-ignored", "STATE-17 BEAT-13 STATE-24", "It fetches on after the order to be quiet.",
		catalogue.On(ordered("quiet"), skip)),
	fault("quiet-signal-fetches", "STATE-17", "It fetches on at SIGTSTP, and its BEATs say that it is quiet.",
		catalogue.Keep(catalogue.Any(ordered("quiet"), at(Beating)), func(unheard *bool, e *Event) {
			switch {
			case e.Point == Ordered:
				e.Skip = e.Signal != ""
				*unheard = e.Skip
			case *unheard:
				e.Fields["current_state"] = "quiet"
			}
		})),
	fault("quiet-undone", "STATE-24 STATE-17 BEAT-13", "It fetches again when a later BEAT is answered with OK.",
		undoQuiet),
	fault("signal-ends-at-once", "FETCH-09 STATE-15", "It ends at once at SIGTERM and SIGINT, whatever runs.",
		on(Ordered, func(e *Event) {
			if e.Signal == "TERM" || e.Signal == "INT" {
				e.Worker.Exit(1)
			}
		})),
	fault("state-bulk-ignored", "BEAT-13 STATE-24 STATE-21 STATE-19 STATE-17 STATE-20 STATE-22",
		"It does not understand a state that is a bulk string.", ignoreStates(fwp.BulkString)),
	fault("state-exact", "BEAT-13 STATE-17 STATE-20 STATE-22", "It understands a state only if its JSON has no space.",
		replied(fwp.BEAT, func(e *Event) {
			if strings.Contains(string(e.Reply.Text), ": ") {
				okay(e)
			}
		})),
	fault("state-in-any-text", "RESP-09 STATE-15", "It takes an error reply to BEAT that holds a state for an order.",
		catalogue.On(refused(fwp.BEAT), func(e *Event) {
			if bytes.Contains(e.Reply.Text, []byte("quiet")) {
				e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte(`{"state":"quiet"}`)}
			}
		})),
	fault("state-of-first-beat-ignored", "BEAT-13 STATE-17 STATE-20 STATE-21 STATE-22 STATE-24",
		"It does not look at the reply to its first BEAT.", catalogue.Keep(replyTo(fwp.BEAT), func(beaten *bool, e *Event) {
			if !*beaten {
				e.Reply, *beaten = ok(), true
			}
		})),
	fault("state-second-only", "BEAT-13 STATE-17 STATE-20 STATE-21 STATE-22 STATE-24",
		"It takes a state for an order when it has been told twice.", skipFirst(isOrder)),
	fault("state-simple-ignored", "BEAT-13 STATE-24 STATE-21 STATE-17 STATE-20 STATE-22",
		"It does not understand a state that is a simple string.", ignoreStates(fwp.SimpleString)),
	fault("terminate-acks", "WRK-07 STATE-21 ACK-05", "It acknowledges what still runs when the time to terminate is up.",
		catalogue.On(wasAbandoned, acknowledge)),
	fault("terminate-as-quiet", "STATE-22 BEAT-13 STATE-21", "It takes the order to terminate for that to be quiet.",
		catalogue.On(ordered("terminate"), func(e *Event) { e.State = "quiet" })),
	fault("terminate-at-once", "STATE-21 FETCH-09 STATE-15", "It ends at once at the order to terminate.",
		catalogue.On(ordered("terminate"), exit(0))),
	fault("terminate-fail-bare", "FAIL-05 WRK-04", "Its FAILs of jobs that still run have a jid and no other field.",
		catalogue.On(wasAbandoned, func(e *Event) { e.Fields = Fields{"jid": e.Job.JID} })),
	fault("terminate-fail-null", "FAIL-05", "The backtrace of its FAILs of jobs that still run is null.",
		catalogue.On(wasAbandoned, field("backtrace", json.RawMessage("null")))),
	fault("terminate-fails-one", "STATE-21 FETCH-09 END-04",
		"Of the jobs that still run when the time to terminate is up it reports one as failed.",
		skipBeyond(1, wasAbandoned)),
	fault("terminate-fetches", "STATE-20 BEAT-13 STATE-22 STATE-24", "It fetches on while it terminates.",
		on(Fetching, func(e *Event) { e.Skip = e.Skip && e.Worker.state() != "terminate" })),
	fault("terminate-ignored", "STATE-22 STATE-20 BEAT-13 STATE-21", "It ignores the order to terminate.",
		catalogue.On(ordered("terminate"), skip)),
	setting("terminate-late", "STATE-22 STATE-21", "It gives jobs 45 s when it terminates.",
		func(c *Config) { c.Grace = 45 * time.Second }),
	fault("terminate-not-from-quiet", "STATE-22 STATE-20 BEAT-13", "A quiet worker ignores the order to terminate.",
		on(Ordered, func(e *Event) { e.Skip = e.State == "terminate" && e.Worker.state() == "quiet" })),
	setting("terminate-undone", "STATE-22 STATE-20 STATE-21 BEAT-13",
		"It forgets the order to terminate when a later BEAT is answered with OK.", undoTerminate),
	fault("terminate-without-fail", "STATE-21 FETCH-09 STATE-15",
		"It ends after 25 s without a FAIL for what still runs.", on(Quitting, skip)),
}

// isOrder is the condition of a state in the reply to a BEAT.
func isOrder(e *Event) bool { return e.Point == Ordered && e.State != "" && e.Signal == "" }

// wasAbandoned is the condition of a job that still ran when the time to terminate was up.
func wasAbandoned(e *Event) bool { return e.Point == Ran && e.Outcome == Abandoned }

// ignoreStates returns a hook that takes a state in replies of a kind for OK.
func ignoreStates(kind fwp.Kind) func(*Event) {
	return replied(fwp.BEAT, func(e *Event) {
		if e.Reply.Kind == kind && e.Reply.State() != "" {
			okay(e)
		}
	})
}

// exitLater ends a worker 20 s after a BEAT has found it quiet.
func exitLater() func(*Event) {
	return catalogue.Keep(at(Beating), func(since *time.Time, e *Event) {
		switch {
		case e.Worker.state() != "quiet":
		case since.IsZero():
			*since = time.Now()
		case time.Since(*since) > 20*time.Second:
			e.Worker.Exit(0)
		}
		e.Every = min(e.Every, 10*time.Second)
	})()
}

// order is what a worker remembers of one: that it was given, and that it was taken back.
type order struct{ given, undone bool }

// undoQuiet has a quiet worker fetch again when a BEAT is answered with OK.
func undoQuiet() func(*Event) {
	watched := catalogue.Any(ordered("quiet"), replyTo(fwp.BEAT), at(Fetching))
	return catalogue.Keep(watched, func(quiet *order, e *Event) {
		switch {
		case e.Point == Ordered:
			quiet.given = true
		case e.Point == Replied:
			quiet.undone = quiet.undone || quiet.given && e.Reply.State() == ""
		case e.Worker.state() == "quiet":
			if e.Skip = !quiet.undone; e.Skip {
				e.Delay = time.Second
			}
		}
	})()
}

// forgetQuiet has a quiet worker fetch again when it has lost a connection.
func forgetQuiet() func(*Event) {
	return catalogue.Keep(catalogue.Any(at(Lost), at(Fetching)), func(lost *bool, e *Event) {
		switch {
		case e.Point == Lost:
			*lost = true
		case e.Skip && e.Worker.state() == "quiet":
			if e.Skip = !*lost; e.Skip {
				e.Delay = time.Second
			}
		}
	})()
}

// undoTerminate has a worker act on the second order to terminate only, and forget the first one at an OK.
func undoTerminate(c *Config) {
	c.Grace = 5 * time.Second
	watched := catalogue.Any(ordered("terminate"), replyTo(fwp.BEAT), fetches)
	c.Hook = catalogue.Keep(watched, func(terminate *order, e *Event) {
		switch {
		case e.Point == Ordered && e.Signal == "":
			e.Skip, terminate.given = !terminate.given, true
		case e.Point == Replied:
			terminate.undone = terminate.undone || terminate.given && e.Reply.State() == ""
		case e.Point == Fetching && terminate.given && !terminate.undone:
			rest(time.Second)(e)
		}
	})()
}
