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
func (f Fixture) FalseAlarms(v registry.Variation, report *reports.Report, uses *allow.Usage) (all []Alarm) {
	passes := map[string]bool{}
	for _, check := range report.Checks {
		for _, c := range check.Clauses {
			passes[c.ID] = passes[c.ID] || f.Client != nil && c.Verdict == reports.Pass
		}
	}
	for _, check := range report.Checks {
		verdicts := slices.Clone(check.Clauses)
		if len(verdicts) == 0 {
			verdicts = append(verdicts, reports.ClauseVerdict{Verdict: check.Verdict, Reason: check.Reason, Cause: check.Cause})
		}
		for _, f := range check.Findings {
			cause := fmt.Sprintf("expected %s, got %s", f.Expected, f.Actual)
			verdicts = append(verdicts, reports.ClauseVerdict{ID: f.Clause, Verdict: f.Verdict, Cause: cause})
		}
		for _, c := range verdicts {
			if c.Verdict == reports.Inconclusive && passes[c.ID] {
				continue
			}
			if a, ok := f.alarm(v, check.ID, c, uses); ok {
				all = append(all, a)
			}
		}
	}
	return all
}

// alarm returns the alarm of a verdict on a clause, unless it is right, or allowed.
func (f Fixture) alarm(v registry.Variation, check string, c reports.ClauseVerdict, uses *allow.Usage) (a Alarm,
	ok bool) {
	a.Text = fmt.Sprintf("%s: %s %s: %s", check, c.ID, c.Verdict, c.Cause)
	switch row := (allow.Row{Item: allow.Warn, Places: []string{c.ID}, Reason: allow.ReasonPlaceholder}); c.Verdict {
	case reports.Pass, reports.Observed:
		return a, false
	case reports.Warn:
		a.Row = row.String()
		return a, !uses.Allows(v.Allows, row.Item, c.ID)
	case reports.Inconclusive:
		row.Item, row.Places = allow.Undecided, []string{check}
		a.Row = row.String()
		return a, !isTimeReason(c.Reason, f.Client != nil) && !uses.Allows(v.Allows, row.Item, check, c.ID, string(c.Reason))
	}
	return a, true
}
