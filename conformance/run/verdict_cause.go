package run

import (
	"fmt"
	"slices"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// cause is why a play did not get to its end. The zero cause is that it did.
type cause struct {
	reason         reports.ReasonCode
	line           int    // of the script; 0 if the cause is none of its lines
	words          string // without the line
	isTransient    bool   // another try, alone, may pass
	isHalted       bool   // something that the server did is the reason: see reports.ClauseVerdict.IsHalted
	hasOtherBreach bool   // see reports.ClauseVerdict.HasOtherBreach
}

// String returns the line and the reason.
func (c cause) String() string {
	if c.line == 0 {
		return c.words
	}
	return fmt.Sprintf("line %d: %s", c.line, c.words)
}

// otherClauseCause is the cause that another clause is broken.
func otherClauseCause(line int, words string) cause {
	return cause{reason: reports.ReasonSetUp, line: line, words: words, isHalted: true, hasOtherBreach: true}
}

// applyTo says in the verdict of a clause why it is open.
func (c cause) applyTo(cv *reports.ClauseVerdict) {
	cv.Cause, cv.Reason, cv.IsHalted, cv.HasOtherBreach = c.String(), c.reason, c.isHalted, c.hasOtherBreach
}

// stopCause returns what kept the play from its end.
func (v *resultBuilder) stopCause() cause {
	run := v.evidence
	breach := slices.IndexFunc(run.Breaches, stopsPlay)
	switch {
	case run.Complete():
		return cause{}
	case run.OpenCause != "":
		return cause{reason: run.ReasonOrDefault(), words: run.OpenCause, isTransient: run.IsTransient}
	case breach >= 0:
		b := run.Breaches[breach]
		return otherClauseCause(b.Line, fmt.Sprintf("the suite got %s, but expected %s", b.Got, b.Expected))
	}
	for _, r := range run.Results {
		switch {
		case r.IsAssumed:
		case r.Outcome == play.Unsure:
			return cause{
				reason: reports.ReasonCode(r.Reason), line: r.Line, words: r.Cause, isTransient: r.IsTransient,
				hasOtherBreach: r.BreaksProtocol,
			}
		case r.Outcome == play.Mismatched:
			return v.mismatchCause(r)
		}
	}
	if run.Err != nil {
		return cause{reason: conformance.ReasonOf(run.Err), words: run.Err.Error()}
	}
	words := "the server no longer served: " + run.DeadReason
	return cause{reason: reports.ReasonNotServing, words: words, isHalted: v.fatal}
}

// stopsPlay reports whether a play does not go on after a breach as if it were not there.
func stopsPlay(b scenarios.Breach) bool { return !b.Assumed }

// mismatchCause returns the cause if a line did not match. A refused connection is one
// cause for all checks.
func (v *resultBuilder) mismatchCause(r play.Result) cause {
	if r.UnrefusedVerb != "" && v.isAuth(r.Marks) {
		return otherClauseCause(r.Line, v.unrefusedWords(r))
	}
	if len(r.Marks) > 0 && !r.LacksConn {
		words := "the line did not match, but it tests another clause"
		return cause{reason: reports.ReasonSetUp, line: r.Line, words: words, isHalted: true}
	}
	c := cause{
		reason: reports.ReasonSetUp, line: r.Line,
		words:       fmt.Sprintf("the set-up did not work: expected %s, got %s", r.Expected, gotText(r)),
		isTransient: r.IsTransient, isHalted: !r.IsTransient && !r.LacksConn,
	}
	if r.LacksConn {
		c.reason, c.line = reports.ReasonConnections, 0
	}
	return c
}

// internalError returns the cause of a check that could not be played or evaluated.
func internalError() cause { return cause{words: "internal error"} }
