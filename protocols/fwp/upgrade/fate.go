package upgrade

import (
	"slices"

	"github.com/fwpsuite/fwp/reports"
)

// Fate is what became of a job. Its value is the word for it.
type Fate string

// The fates. Of a job that has several, the first counts.
const (
	FateKept    Fate = "kept"
	FateAltered Fate = "altered"  // it came with other contents
	FateLost    Fate = "lost"     // it should have come, and did not
	FateDoubled Fate = "doubled"  // it came although it was over, or twice
	FateEarly   Fate = "early"    // it came before its time
	FateLate    Fate = "late"     // it was enqueued long after its time
	FateHidden  Fate = "hidden"   // lost with one server, and back with a later one
	FateOrder   Fate = "order"    // it came in another order than before
	FateCount   Fate = "miscount" // the server counts it no more
	FateUnknown Fate = "unknown"  // a reply about it cannot be read
)

// Fact is what is known of a job, or of several where Job is nil.
type Fact struct {
	Job   *Job
	State State
	Fate  Fate
	// Clause is broken, "" if there is none. Expected and Actual say how.
	Clause, Expected, Actual string
	// IsAllowed is set if the specification leaves it open: it is only recorded.
	IsAllowed bool
}

// rule is how bad a fate is.
type rule struct {
	fate                      Fate
	orderVerdict, killVerdict reports.Verdict // after a stop in order, and after a kill
	clause                    string          // that is broken where a Fact names none
	words                     string
}

// rules is the table of fates; docs/upgrades.md has the same. That lost data is a fail is more than the specification
// says: it recommends that a job survives a restart in order, and promises nothing after a kill, which may lose what
// a server has in memory. A job that is hidden was stored, however the server ended. So were those of a whole state
// that is lost while jobs came that were pushed later: another version does not find them.
var rules = []rule{
	{FateLost, reports.Fail, reports.Warn, "FWP-STATE-08", "did not come"},
	{FateHidden, reports.Fail, reports.Fail, "FWP-STATE-08", "did not come, but came after the way back"},
	{FateDoubled, reports.Fail, reports.Observed, "", "came again"},
	{FateAltered, reports.Fail, reports.Fail, "", "came with other contents"},
	{FateEarly, reports.Fail, reports.Fail, "FWP-WU-06", "came before its time"},
	{FateLate, reports.Warn, reports.Warn, "", "was enqueued more than 30 s after its time"},
	{FateOrder, reports.Warn, reports.Observed, "", "came in a different order than before the stop"},
	{FateCount, reports.Warn, reports.Observed, "", "counted no more"},
	{FateUnknown, reports.Fail, reports.Fail, "", "had a reply that cannot be read"},
}

// verdict returns how bad a fact of a step is.
func (r *Result) verdict(s *Step, f *Fact) reports.Verdict {
	row := rules[slices.IndexFunc(rules, func(r rule) bool { return r.fate == f.Fate })]
	switch {
	case f.IsAllowed:
		return reports.Observed
	case r.IsKilled && (f.Fate != FateLost || !s.isUnfound[f.State]):
		return row.killVerdict
	}
	return row.orderVerdict
}

// findLosses finds out of which states all jobs are lost, and which of these another version does not find: jobs are
// there that were pushed later.
func (s *Step) findLosses() {
	counts := map[State]int{}
	for _, f := range s.Facts {
		if f.Job != nil && f.Job.Step == s.number && (f.Fate == FateLost || f.Fate == FateHidden) {
			counts[f.State]++
		}
	}
	s.isLost, s.isUnfound = map[State]bool{}, map[State]bool{}
	var hasLater bool // jobs of one of the batches behind came
	for _, b := range slices.Backward(batches) {
		s.isLost[b.state] = counts[b.state] > 0 && counts[b.state] == s.Jobs[b.state]
		s.isUnfound[b.state] = s.isLost[b.state] && hasLater && s.From != s.To
		hasLater = hasLater || s.hasJobs[b.state]
	}
}
