package upgrade

import "github.com/fwpsuite/fwp/reports"

// Fate is what became of a job. Its value is the word for it.
type Fate string

// The fates. Of a job that has several, the first counts.
const (
	Kept    Fate = "kept"
	Altered Fate = "altered"  // it came with other contents
	Lost    Fate = "lost"     // it should have come, and did not
	Doubled Fate = "doubled"  // it came although it was over, or twice
	Early   Fate = "early"    // it came before its time
	Late    Fate = "late"     // it was enqueued long after its time
	Hidden  Fate = "hidden"   // lost with one server, and back with a later one
	Order   Fate = "order"    // it came in another order than before
	Count   Fate = "miscount" // the server counts it no more
)

// Fact is what is known of a job, or of several where Job is nil.
type Fact struct {
	Job   *Job
	State State
	Fate  Fate
	// Clause is broken, "" if there is none. Expected and Actual say how.
	Clause, Expected, Actual string
	// Allowed is set if the specification leaves it open: it is only recorded.
	Allowed bool
}

// rule is how bad a fate is.
type rule struct {
	fate            Fate
	inOrder, killed reports.Verdict // after a stop in order, and after a kill
	words           string
}

// rules is the table of fates; docs/upgrades.md has the same. That lost data is a fail is more than the specification
// says: it recommends that a job survives a restart in order, and promises nothing after a kill.
var rules = []rule{
	{Lost, reports.Fail, reports.Warn, "did not come"},
	{Hidden, reports.Fail, reports.Warn, "did not come, and came after the way back"},
	{Doubled, reports.Fail, reports.Observed, "came once more"},
	{Altered, reports.Fail, reports.Fail, "came with other contents"},
	{Early, reports.Fail, reports.Fail, "came before its time"},
	{Late, reports.Warn, reports.Warn, "was enqueued more than 30 s after its time"},
	{Order, reports.Warn, reports.Observed, "came in another order than before the stop"},
	{Count, reports.Warn, reports.Observed, "is counted no more"},
}

// ruleOf returns the rule of a fate.
func ruleOf(f Fate) rule {
	for _, r := range rules {
		if r.fate == f {
			return r
		}
	}
	return rule{fate: Kept, inOrder: reports.Pass, killed: reports.Pass}
}

// verdict returns how bad a fact is.
func (f *Fact) verdict(killed bool) reports.Verdict {
	r := ruleOf(f.Fate)
	switch {
	case f.Allowed:
		return reports.Observed
	case killed:
		return r.killed
	}
	return r.inOrder
}
