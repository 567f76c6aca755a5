package play

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/scenarios"
)

// What is wrong may be so only because this machine was late: a line was sent too late, a greeting, or a reply was read
// too late. A result whose premise is time is in doubt after a small lag, any other one after a lag that outlasts
// the waits for a reply.
const (
	lagOfTimes = 100 * time.Millisecond // within the last recentLag
	recentLag  = 15 * time.Second
	lagOfAll   = 500 * time.Millisecond // since the play began
)

// lateness returns how late this machine was, if that casts doubt on what was received at a moment. timed is
// whether its premise is time.
func (pl *play) lateness(timed bool, at time.Time) (lag time.Duration, doubtful bool) {
	if lag = pl.Meter.Lag(at.Add(-recentLag)); timed && lag > lagOfTimes {
		return lag, true
	}
	lag = pl.Meter.Lag(pl.rec.start)
	return lag, lag > lagOfAll
}

// doubt returns a mismatch that the lag of this machine may explain as one that decides nothing.
func (pl *play) doubt(r Result) Result {
	if r.Outcome != Mismatched || r.Refused {
		return r
	}
	lag, doubtful := pl.lateness(r.timed, pl.rec.start.Add(r.At))
	if doubtful {
		r.Transient = true
		r.leave(doubt{Lag, fmt.Sprintf("%s; this machine was late by up to %v meanwhile, which may be the reason",
			r.Got, round(lag))})
	}
	return r
}

// timed reports whether the time of our lines may be the reason for an answer: the command waits for something, and
// that came or did not come where the line expects the opposite, or another of several things came first.
func (th *thread) timed(e *scenarios.Expect, a session.Received) bool {
	grammar := th.grammar()
	wait, waits := grammar.Replies.Waits[grammar.VerbSent(a.Asked)]
	if !waits || !a.Whole() || grammar.Refused(a.Message) {
		return false
	}
	asks := func(kind byte) func(scenarios.Choice) bool {
		return func(ch scenarios.Choice) bool { return ch.Form() != nil && ch.Form().Kind == kind }
	}
	itself := func(ch scenarios.Choice) bool {
		return asks(a.Message.Kind)(ch) && !slices.ContainsFunc(th.try(&ch, a), grammar.IsName)
	}
	switch {
	case a.Message.Kind == wait.Kind:
		return !e.RefusesOnly()
	case th.script.InTurn(e):
		return false
	case !slices.ContainsFunc(e.Choices, asks(a.Message.Kind)):
		return slices.ContainsFunc(e.Choices, asks(wait.Kind))
	}
	return !slices.ContainsFunc(e.Choices, itself)
}

// Reason is the code of why a line decides nothing. Lines with the same code have the same cause, whatever the words of
// their Cause.
type Reason string

// The reasons.
const (
	Lag         Reason = "lag"          // of this machine
	Patience    Reason = "patience"     // a play that must end soon waits no longer
	OtherBreach Reason = "other-breach" // the protocol is broken whatever the line is about; there is a Breach for it
	OutOfStep   Reason = "out-of-step"  // the replies of the connection can no longer be matched with its lines
	Unable      Reason = "unable"       // a limit of the suite
	Refused     Reason = "refused"      // a connection was not let in
	Interrupted Reason = "interrupted"
)

// doubt is why a line decides nothing.
type doubt struct {
	reason Reason
	words  string
}
