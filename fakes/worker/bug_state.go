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
		catalogue.WithMemory(catalogue.Any(replyTo(fwp.BEAT), at(Ran)), func(failCount *int, e *Event) {
			switch {
			case e.Point != Ran:
				*failCount += e.Worker.RunningJobs() * btoi(e.Reply.Kind == fwp.ErrorReply)
			case *failCount > 0:
				*failCount--
				failAll(e)
			}
		})),
	bug("beat-memory-text", actAt(Beating, field("rss_kb", "20000"))),
	bug("beat-never", actAt(Beating, skip)),
	bug("beat-not-behind-quiet-job", catalogue.ActAfter(catalogue.ServerKey[Event], isRunWhenQuiet, at(Beating), skip)),
	bug("beat-not-while-terminating", actAt(Beating, func(e *Event) { e.Skip = e.Worker.state() == "terminate" })),
	bug("beat-not-while-working", actAt(Beating, func(e *Event) { e.Skip = e.Worker.RunningJobs() > 0 })),
	setting("beat-often", func(c *Config) { c.BeatEvery = time.Second }),
	setting("beat-rare", func(c *Config) { c.BeatEvery = 100 * time.Second }),
	bug("beat-state-other", actAt(Beating, fill("current_state", "working"))),
	// About the states Quiet and Terminating. (Quiet State; Terminating State)
	bug("quiet-exits", catalogue.ActIf(isOrdered("quiet"), func(e *Event) { e.State = "terminate" })),
	bug("quiet-forgotten-after-loss", forgetQuiet),
	bug("quiet-ignored", catalogue.ActIf(isOrdered("quiet"), skip)),
	bug("quiet-signal-fetches",
		catalogue.WithMemory(catalogue.Any(isOrdered("quiet"), at(Beating)), func(unheard *bool, e *Event) {
			switch {
			case e.Point == Ordered:
				e.Skip = e.Signal != ""
				*unheard = e.Skip
			case *unheard:
				e.Fields["current_state"] = "quiet"
			}
		})),
	bug("process-stays", actAt(Exiting, func(e *Event) { e.Delay = stayTime })),
	bug("state-bulk-ignored", ignoreStates(fwp.BulkString)),
	bug("state-simple-ignored", ignoreStates(fwp.SimpleString)),
	bug("terminate-acks", catalogue.ActIf(isAbandoned, acknowledge)),
	bug("terminate-at-once", catalogue.ActIf(isOrdered("terminate"), exit(0))),
	bug("terminate-fetches",
		actAt(Fetching, func(e *Event) { e.Skip = e.Skip && e.Worker.state() != "terminate" })),
	bug("terminate-ignored", catalogue.ActIf(isOrdered("terminate"), skip)),
	setting("terminate-late", func(c *Config) { c.Grace = 45 * time.Second }),
	bug("terminate-without-fail", actAt(Quitting, skip)),
}

// stayTime is how long a process stays that does not end.
const stayTime = time.Hour

// isRunWhenQuiet is the condition of a job that has ended when its worker was quiet.
func isRunWhenQuiet(e *Event) bool { return e.Point == Ran && e.Worker.state() == "quiet" }

// isStateFromBeat is the condition of a state in the reply to a BEAT.
func isStateFromBeat(e *Event) bool { return e.Point == Ordered && e.State != "" && e.Signal == "" }

// isAbandoned is the condition of a job that still ran when the time to terminate was up.
func isAbandoned(e *Event) bool { return e.Point == Ran && e.Outcome == Abandoned }

// ignoreStates returns a hook that takes a state in replies of a kind for OK.
func ignoreStates(kind fwp.Kind) func(*Event) {
	return actOnReply(fwp.BEAT, func(e *Event) {
		if e.Reply.Kind == kind && e.Reply.State() != "" {
			answerOK(e)
		}
	})
}

// forgetQuiet has a quiet worker fetch again when it has lost a connection.
func forgetQuiet() func(*Event) {
	return catalogue.WithMemory(catalogue.Any(at(ConnectionLost), at(Fetching)), func(isLost *bool, e *Event) {
		switch {
		case e.Point == ConnectionLost:
			*isLost = true
		case e.Skip && e.Worker.state() == "quiet":
			if e.Skip = !*isLost; e.Skip {
				e.Delay = time.Second
			}
		}
	})()
}
