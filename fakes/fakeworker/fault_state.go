package fakeworker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// stateFaults are about heartbeats and states.
var stateFaults = []Fault{
	// About the heartbeat. (Client Lifecycle; BEAT)
	fault("beat-bare-wid", "FRAME-02 FRAME-04 BEAT-06", "Its BEATs have the wid without JSON around it.",
		sent(fwp.BEAT, func(e *Event) { e.Line = fmt.Appendf(nil, "BEAT %s\r\n", e.Worker.cfg.WID) })),
	fault("beat-error-ends", "RESP-09 BEAT-06 STATE-15", "It ends when a BEAT is answered with an error.",
		exitAt(fwp.BEAT, fwp.ErrorReply)),
	fault("beat-error-stops", "BEAT-06 RESP-09", "It sends no BEAT any more when one was answered with an error.",
		stopBeats),
	beatFault("beat-foreign-wid", "BEAT-10", "The wid of its BEATs is not that of its HELLO.",
		field("wid", "another-worker")),
	growingFault("beat-interval-doubles", "BEAT-06 BEAT-08 STATE-19 BEAT-16",
		"Each pause between its BEATs is twice as long as the one before.",
		func(d time.Duration) time.Duration { return 2 * d }),
	growingFault("beat-interval-grows", "BEAT-08 BEAT-06 STATE-19 BEAT-16",
		"Each pause between its BEATs is 7 s longer than the one before.",
		func(d time.Duration) time.Duration { return d + 7*time.Second }),
	lineFault("beat-json-single-quotes", "FRAME-04 BEAT-06", "Its BEATs have single quotes in their JSON.", fwp.BEAT,
		func(line []byte) []byte { return bytes.ReplaceAll(line, []byte(`"`), []byte(`'`)) }),
	fault("beat-memory-text", "BEAT-12", "The rss_kb of its BEATs is a string.", on(Beating, field("rss_kb", "20000"))),
	beatFault("beat-never", "BEAT-06 STATE-19 STATE-22 BEAT-13 BEAT-16 STATE-17 STATE-20", "It sends no BEAT.", skip),
	fault("beat-not-after-failure", "BEAT-06 STATE-19 BEAT-16", "It sends no BEAT any more when a job has failed.",
		catalogue.From(catalogue.Server[Event], hasFailed, at(Beating), skip)),
	beatFault("beat-not-while-quiet", "STATE-19 BEAT-16 BEAT-06", "It sends no BEAT when it is quiet.",
		func(e *Event) { e.Skip = e.Worker.state() == "quiet" }),
	beatFault("beat-not-while-terminating", "BEAT-16", "It sends no BEAT when it terminates.",
		func(e *Event) { e.Skip = e.Worker.state() == "terminate" }),
	beatFault("beat-not-while-working", "BEAT-06 BEAT-16", "It sends no BEAT while it runs jobs.",
		func(e *Event) { e.Skip = e.Worker.Running() > 0 }),
	everyFault("beat-often", "BEAT-07 BEAT-08", "It sends a BEAT every second.", time.Second),
	everyFault("beat-rare", "BEAT-06 STATE-19 BEAT-08 BEAT-16", "It sends a BEAT every 100 s.", 100*time.Second),
	fault("beat-state-other", "BEAT-11", "The current_state of its BEATs is working, unless it has another one.",
		on(Beating, fill("current_state", "working"))),
	fault("beat-three-only", "BEAT-06 STATE-19 BEAT-16 STATE-24 BEAT-13 STATE-20 STATE-22",
		"It sends three BEATs and no more.", skipBeyond(3, at(Beating))),
	beatFault("beat-without-wid", "BEAT-10", "Its BEATs have no wid.", field("wid", nil)),
	// About the states Quiet and Terminating. (Quiet State; Terminating State)
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
	fault("state-of-later-beat-ignored", "BEAT-13 STATE-17 STATE-20 STATE-21 STATE-22 STATE-24",
		"It looks at the reply to its first BEAT only.", catalogue.Keep(replyTo(fwp.BEAT), func(beaten *bool, e *Event) {
			if *beaten {
				e.Reply = ok()
			}
			*beaten = true
		})).also("state-of-third-beat-ignored"),
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
	fault("terminate-not-from-quiet", "STATE-22 STATE-21 STATE-20 BEAT-13",
		"A quiet worker ignores the order to terminate.",
		on(Ordered, func(e *Event) { e.Skip = e.State == "terminate" && e.Worker.state() == "quiet" })),
	setting("terminate-undone", "STATE-22 STATE-20 STATE-21 BEAT-13",
		"It forgets the order to terminate when a later BEAT is answered with OK.", undoTerminate),
	fault("terminate-without-fail", "STATE-21 FETCH-09 STATE-15",
		"It ends after 25 s without a FAIL for what still runs.", on(Quitting, skip)),
}

// beatFault returns a fault of the BEATs.
func beatFault(name, clauses, summary string, act func(*Event)) Fault {
	return fault(name, clauses, summary, on(Beating, act))
}

// everyFault returns a fault of the time between two BEATs.
func everyFault(name, clauses, summary string, d time.Duration) Fault {
	return setting(name, clauses, summary, func(c *Config) { c.BeatEvery = d })
}

// growingFault returns a fault of the pauses between BEATs, the first of which is of 10 s.
func growingFault(name, clauses, summary string, next func(time.Duration) time.Duration) Fault {
	return fault(name, clauses, summary, catalogue.Keep(at(Beating), func(pause *time.Duration, e *Event) {
		e.Every = cmp.Or(*pause, 10*time.Second)
		*pause = next(e.Every)
	}))
}

// stopBeats sends no BEAT behind an error, for which it takes no notice otherwise.
func stopBeats() func(*Event) {
	return catalogue.Keep(catalogue.Any(refused(fwp.BEAT), at(Beating)), func(failed *bool, e *Event) {
		if e.Point == Beating {
			e.Skip = *failed
			return
		}
		*failed, e.Reply = true, fwp.Reply{Kind: fwp.SimpleString}
	})()
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
