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
	fault("beat-bare-wid",
		sent(fwp.BEAT, func(e *Event) { e.Line = fmt.Appendf(nil, "BEAT %s\r\n", e.Worker.cfg.WID) })),
	fault("beat-error-ends", exitAt(fwp.BEAT, fwp.ErrorReply)),
	fault("beat-error-stops", stopBeats),
	fault("beat-foreign-wid", on(Beating, field("wid", "another-worker"))),
	fault("beat-interval-doubles", catalogue.Keep(at(Beating), func(next *time.Duration, e *Event) {
		e.Every = cmp.Or(*next, 10*time.Second)
		*next = 2 * e.Every
	})),
	lineFault("beat-json-single-quotes", fwp.BEAT,
		func(line []byte) []byte { return bytes.ReplaceAll(line, []byte(`"`), []byte(`'`)) }),
	fault("beat-memory-text", on(Beating, field("rss_kb", "20000"))),
	fault("beat-never", on(Beating, skip)),
	fault("beat-not-after-failure", catalogue.From(catalogue.Server[Event], hasFailed, at(Beating), skip)),
	fault("beat-not-behind-quiet-job", catalogue.From(catalogue.Server[Event], quietlyRan, at(Beating), skip)),
	fault("beat-not-while-terminating", on(Beating, func(e *Event) { e.Skip = e.Worker.state() == "terminate" })),
	fault("beat-not-while-working", on(Beating, func(e *Event) { e.Skip = e.Worker.Running() > 0 })),
	setting("beat-often", func(c *Config) { c.BeatEvery = time.Second }),
	setting("beat-rare", func(c *Config) { c.BeatEvery = 100 * time.Second }),
	fault("beat-put-off", putOff),
	fault("beat-state-other", on(Beating, fill("current_state", "working"))),
	fault("beat-three-only", skipBeyond(3, at(Beating))),
	fault("beat-without-wid", on(Beating, field("wid", nil))),
	// About the states Quiet and Terminating. (Quiet State; Terminating State)
	fault("quiet-exits", catalogue.On(ordered("quiet"), func(e *Event) { e.State = "terminate" })),
	fault("quiet-exits-later", exitLater),
	fault("quiet-fetches-seldom",
		on(Fetching, func(e *Event) { e.Skip = e.Skip && (e.Conn%2 != 1 || e.Worker.state() != "quiet") })),
	fault("quiet-forgets-jobs", on(Ran, func(e *Event) { e.Skip = e.Worker.state() == "quiet" })),
	fault("quiet-forgotten-after-loss", forgetQuiet),
	fault("quiet-ignored", catalogue.On(ordered("quiet"), skip)),
	fault("quiet-late-job-fetches",
		catalogue.Keep(catalogue.Any(at(Delivered), at(Fetching)), func(late *bool, e *Event) {
			quiet := e.Worker.state() == "quiet"
			if e.Point == Fetching && *late && quiet {
				e.Skip = false
			}
			*late = e.Point == Delivered && quiet || *late && e.Point != Fetching
		})),
	fault("quiet-signal-fetches",
		catalogue.Keep(catalogue.Any(ordered("quiet"), at(Beating)), func(unheard *bool, e *Event) {
			switch {
			case e.Point == Ordered:
				e.Skip = e.Signal != ""
				*unheard = e.Skip
			case *unheard:
				e.Fields["current_state"] = "quiet"
			}
		})),
	fault("quiet-undone", undoQuiet),
	fault("signal-ends-at-once", on(Ordered, func(e *Event) {
		if e.Signal == "TERM" || e.Signal == "INT" {
			e.Worker.Exit(1)
		}
	})),
	fault("state-bulk-ignored", ignoreStates(fwp.BulkString)),
	fault("state-exact", replied(fwp.BEAT, func(e *Event) {
		if strings.Contains(string(e.Reply.Text), ": ") {
			okay(e)
		}
	})),
	fault("state-in-any-text", catalogue.On(refused(fwp.BEAT), func(e *Event) {
		if bytes.Contains(e.Reply.Text, []byte("quiet")) {
			e.Reply = fwp.Reply{Kind: fwp.SimpleString, Text: []byte(`{"state":"quiet"}`)}
		}
	})),
	fault("state-of-first-beat-ignored", catalogue.Keep(replyTo(fwp.BEAT), func(beaten *bool, e *Event) {
		if !*beaten {
			e.Reply, *beaten = ok(), true
		}
	})),
	fault("state-of-later-beat-ignored", catalogue.Keep(replyTo(fwp.BEAT), func(beaten *bool, e *Event) {
		if *beaten {
			e.Reply = ok()
		}
		*beaten = true
	})),
	fault("state-second-only", skipFirst(isOrder)),
	fault("state-simple-ignored", ignoreStates(fwp.SimpleString)),
	fault("terminate-acks", catalogue.On(wasAbandoned, acknowledge)),
	fault("terminate-as-quiet", catalogue.On(ordered("terminate"), func(e *Event) { e.State = "quiet" })),
	fault("terminate-at-once", catalogue.On(ordered("terminate"), exit(0))),
	fault("terminate-fail-bare",
		catalogue.On(wasAbandoned, func(e *Event) { e.Fields = Fields{"jid": e.Job.JID} })),
	fault("terminate-fail-null", catalogue.On(wasAbandoned, field("backtrace", json.RawMessage("null")))),
	fault("terminate-fails-one", skipBeyond(1, wasAbandoned)),
	fault("terminate-fetches",
		on(Fetching, func(e *Event) { e.Skip = e.Skip && e.Worker.state() != "terminate" })),
	fault("terminate-ignored", catalogue.On(ordered("terminate"), skip)),
	setting("terminate-late", func(c *Config) { c.Grace = 45 * time.Second }),
	fault("terminate-not-from-quiet",
		on(Ordered, func(e *Event) { e.Skip = e.State == "terminate" && e.Worker.state() == "quiet" })),
	setting("terminate-undone", undoTerminate),
	fault("terminate-refused-ends", failInTurn),
	fault("terminate-without-fail", on(Quitting, skip)),
}

// failInTurn has a worker that terminates report one job after the other, and end where a report is refused.
func failInTurn() func(*Event) {
	return catalogue.Keep(catalogue.Any(sends(fwp.FAIL), refused(fwp.FAIL)), func(reports *int, e *Event) {
		switch {
		case e.Worker.state() != "terminate":
		case e.Point == Replied:
			e.Worker.Exit(1)
		default:
			e.Delay = time.Duration(*reports) * 100 * time.Millisecond
			*reports++
		}
	})()
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

// quietlyRan is the condition of a job that has ended when its worker was quiet.
func quietlyRan(e *Event) bool { return e.Point == Ran && e.Worker.state() == "quiet" }

// putOff sends no BEAT within 15 s of a report.
func putOff() func(*Event) {
	return catalogue.Keep(catalogue.Any(at(Ran), at(Beating)), func(latest *time.Time, e *Event) {
		if e.Point == Ran {
			*latest = time.Now()
			return
		}
		if ago := time.Since(*latest); ago < 15*time.Second {
			e.Skip, e.Every = true, 15*time.Second-ago
		}
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
