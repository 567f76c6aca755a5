package selftest

import (
	"fmt"
	"slices"

	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// Alarm is what a check has found on what conforms, or left open.
type Alarm struct {
	Text string
	Row  string // what would allow it, but for the reason; "" if nothing can
}

// String has the row, ready to be copied.
func (a Alarm) String() string {
	if a.Row == "" {
		return "\n" + a.Text
	}
	return "\n" + a.Text + "; repair the check, or write below the variation, with the reason:\n  " + a.Row
}

// FalseAlarms returns what checks have found on a variation, or left open, but for what lag does and what the variation
// allows; met notes that. What one situation of a client leaves open may be decided in another one: which connection
// does what is a matter of chance.
func (f Fixture) FalseAlarms(v registry.Variation, report *reports.Report, met *allow.Met) (all []Alarm) {
	passed := map[string]bool{}
	for _, check := range report.Checks {
		for _, c := range check.Clauses {
			passed[c.ID] = passed[c.ID] || f.Client != nil && c.Verdict == reports.Pass
		}
	}
	for _, check := range report.Checks {
		found := slices.Clone(check.Clauses)
		if len(found) == 0 {
			found = append(found, reports.ClauseVerdict{Verdict: check.Verdict, Reason: check.Reason, Why: check.Why})
		}
		for _, f := range check.Findings {
			why := fmt.Sprintf("expected %s, got %s", f.Expected, f.Actual)
			found = append(found, reports.ClauseVerdict{ID: f.Clause, Verdict: f.Verdict, Why: why})
		}
		for _, c := range found {
			if c.Verdict == reports.Inconclusive && passed[c.ID] {
				continue
			}
			if a, is := f.alarm(v, check.ID, c, met); is {
				all = append(all, a)
			}
		}
	}
	return all
}

// alarm returns the alarm of a verdict on a clause, unless it is right, or allowed.
func (f Fixture) alarm(v registry.Variation, check string, c reports.ClauseVerdict, met *allow.Met) (a Alarm, is bool) {
	a.Text = fmt.Sprintf("%s: %s %s: %s", check, c.ID, c.Verdict, c.Why)
	switch row := (allow.Row{What: allow.Warn, Where: []string{c.ID}, Why: allow.Why}); c.Verdict {
	case reports.Pass, reports.Observed:
		return a, false
	case reports.Warn:
		a.Row = row.String()
		return a, !met.Allows(v.Allows, row.What, c.ID)
	case reports.Inconclusive:
		row.What, row.Where = allow.Undecided, []string{check}
		a.Row = row.String()
		return a, !ofTime(c.Reason, f.Client != nil) && !met.Allows(v.Allows, row.What, check, c.ID, string(c.Reason))
	}
	return a, true
}
