package worker

import (
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// stateBugs are about heartbeats and states.
var stateBugs = []Bug{
	// About the heartbeat. (Client Lifecycle; BEAT)
	bug("beat-error-ends", exitAt(fwp.BEAT, fwp.ErrorReply)),
	bug("beat-error-fails-jobs",
		catalogue.Keep(catalogue.Any(replyTo(fwp.BEAT), at(Ran)), func(failing *int, e *Event) {
			switch {
			case e.Point != Ran:
				*failing += e.Worker.Running() * btoi(e.Reply.Kind == fwp.ErrorReply)
			case *failing > 0:
				*failing--
				failAll(e)
			}
		})),
	bug("beat-memory-text", on(Beating, field("rss_kb", "20000"))),
	bug("beat-never", on(Beating, skip)),
	bug("beat-not-behind-quiet-job", catalogue.From(catalogue.Server[Event], quietlyRan, at(Beating), skip)),
	bug("beat-not-while-terminating", on(Beating, func(e *Event) { e.Skip = e.Worker.state() == "terminate" })),
	bug("beat-not-while-working", on(Beating, func(e *Event) { e.Skip = e.Worker.Running() > 0 })),
	setting("beat-often", func(c *Config) { c.BeatEvery = time.Second }),
	setting("beat-rare", func(c *Config) { c.BeatEvery = 100 * time.Second }),
	bug("beat-state-other", on(Beating, fill("current_state", "working"))),
	// About the states Quiet and Terminating. (Quiet State; Terminating State)
	bug("quiet-exits", catalogue.On(ordered("quiet"), func(e *Event) { e.State = "terminate" })),
	bug("quiet-forgotten-after-loss", forgetQuiet),
	bug("quiet-ignored", catalogue.On(ordered("quiet"), skip)),
	bug("quiet-signal-fetches",
		catalogue.Keep(catalogue.Any(ordered("quiet"), at(Beating)), func(unheard *bool, e *Event) {
			switch {
			case e.Point == Ordered:
				e.Skip = e.Signal != ""
				*unheard = e.Skip
			case *unheard:
				e.Fields["current_state"] = "quiet"
			}
		})),
	bug("process-stays", on(Exiting, func(e *Event) { e.Delay = stays })),
	bug("state-bulk-ignored", ignoreStates(fwp.BulkString)),
	bug("state-simple-ignored", ignoreStates(fwp.SimpleString)),
	bug("terminate-acks", catalogue.On(wasAbandoned, acknowledge)),
	bug("terminate-at-once", catalogue.On(ordered("terminate"), exit(0))),
	bug("terminate-fetches",
		on(Fetching, func(e *Event) { e.Skip = e.Skip && e.Worker.state() != "terminate" })),
	bug("terminate-ignored", catalogue.On(ordered("terminate"), skip)),
	setting("terminate-late", func(c *Config) { c.Grace = 45 * time.Second }),
	bug("terminate-without-fail", on(Quitting, skip)),
}

// stays is how long a process stays that does not end.
const stays = time.Hour

// quietlyRan is the condition of a job that has ended when its worker was quiet.
func quietlyRan(e *Event) bool { return e.Point == Ran && e.Worker.state() == "quiet" }

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
