package reports

import (
	"slices"
	"strings"
)

// Findings returns every finding of the run, the worst first (crash, fail, warn) and otherwise in the order of the
// checks. Empty fields that the check or the clause knows (Check, File, Level, Statement, Seen, Conversation) are
// filled in.
//
// A red verdict without evidence, of a check or of a clause, becomes a finding that has no more than its cause. So a
// run with a red verdict always has a finding.
func (r *Report) Findings() []Finding {
	var all []Finding
	for i := range r.Checks {
		all = append(all, r.checkFindings(&r.Checks[i])...)
	}
	for _, c := range r.Clauses {
		if c.Verdict.Breach() && !mentions(all, c.ID) {
			all = append(all, r.complete(Finding{
				Clause: c.ID, Verdict: c.Verdict, Check: strings.Join(c.Checks, ", "), Actual: c.Why,
			}))
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return a.Verdict.rank() - b.Verdict.rank() })
	return all
}

// checkFindings returns the findings of one check, those without evidence last.
func (r *Report) checkFindings(c *Check) []Finding {
	var found []Finding
	for _, f := range c.Findings {
		if f.Verdict.Breach() {
			found = append(found, r.complete(c.own(f)))
		}
	}
	for _, cv := range c.Clauses {
		if cv.Verdict.Breach() && !mentions(found, cv.ID) {
			bare := c.own(Finding{Clause: cv.ID, Level: cv.Level, Verdict: cv.Verdict, Actual: cv.Why})
			if len(found) > 0 {
				bare.Conversation = nil // it is that of the finding before
			}
			found = append(found, r.complete(bare))
		}
	}
	if c.Verdict.Breach() && len(found) == 0 {
		found = append(found, c.own(Finding{Verdict: c.Verdict, Actual: c.Why}))
	}
	return found
}

// own fills in what f leaves to the check that holds it.
func (c *Check) own(f Finding) Finding {
	if f.Check == "" {
		f.Check = c.ID
	}
	if f.File == "" {
		f.File = c.File
	}
	if f.Conversation == nil {
		f.Conversation = c.Conversation
	}
	if f.Seen == "" {
		f.Seen = c.seen(f.Verdict, f.Clause)
	}
	return f
}

// complete fills in what the catalogue knows about the clause of f.
func (r *Report) complete(f Finding) Finding {
	for _, c := range r.Clauses {
		if f.Clause == "" || c.ID != f.Clause {
			continue
		}
		if f.Level == "" {
			f.Level = c.Level
		}
		if f.Statement == "" {
			f.Statement = c.Statement
		}
		break
	}
	return f
}

func mentions(found []Finding, clause string) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Clause == clause })
}
