package run

import (
	"slices"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// purpose is what a check is played again for, the weightier the larger.
type purpose uint8

const (
	noReplay    purpose = iota
	countReplay         // how often a finding of content shows: what the play before has decided stands
	timeReplay          // a span of time, or what lag has made inconclusive
)

// purposeOf returns p if it holds.
func purposeOf(p purpose, holds bool) purpose {
	if holds {
		return p
	}
	return noReplay
}

// doubtMoments takes back what a property found about a span of time at one moment, unless an earlier try had found it,
// too: a server that stands still once, with busy processes beside it, is late, and right.
func (t *task) doubtMoments() {
	e, before := t.evidence, t.momentClauses
	e.Findings = slices.DeleteFunc(e.Findings, func(f conformance.Finding) bool {
		if !f.IsUnsteady || slices.Contains(before, f.Clause) {
			return false
		}
		t.momentClauses = append(t.momentClauses, f.Clause)
		e.OpenCause = "a time was wrong once: " + f.Observed()
		e.Reason, e.IsTransient, e.IsUnproven = reports.ReasonUnsteady, true, true
		return true
	})
}

// mergeReplay puts what an earlier try has decided in the place of a try that shows no finding, or that counts: it may
// meet what the one before has left on the server. With it come the verdicts of all tries after a finding. It reports
// whether another one is due: a job that is missing is a finding at one sight, and played again to tell how often it
// shows.
func (t *task) mergeReplay(check *reports.Check) (needsReplay bool) {
	isMissing := func(r play.Result) bool { return r.IsEmptyReply && r.Outcome == play.Mismatched }
	if t.earlierResult == nil {
		return check.Verdict.IsBreach() && t.evidence.DeadReason == "" && slices.ContainsFunc(t.evidence.Results, isMissing)
	}
	latest := check.Verdict
	if t.purpose == countReplay || !latest.IsBreach() {
		*check = *t.earlierResult
		check.Attempts = t.tries
	}
	if !t.earlierResult.Verdict.IsBreach() {
		return false
	}
	t.replays = append(t.replays, latest)
	check.Replays = reports.CountVerdicts(t.replays...)
	return inDoubt(len(t.replays), latest.IsBreach())
}

// maxReplays is how often a finding is played again that the first replay has not shown.
const maxReplays = 3

// inDoubt reports whether a finding is to be played again, by how often that was done, and whether it was shown by any.
func inDoubt(replays int, isShown bool) bool { return replays < maxReplays && !isShown }
