package selftest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/allow"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// TestFalseAlarms: what warns or is inconclusive on a conforming server counts, unless the machine was late or a row of
// the variation allows it. What a row can allow is proposed, and a row that was not needed is stale.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	const check = "allow undecided x/y: WHY"
	for _, c := range []struct {
		verdict reports.Verdict
		reason  reports.ReasonCode
		allows  string
		client  *registry.Client
		row     string // that is proposed; "-": nothing can allow it, "": it is no alarm
		isStale bool
	}{
		{verdict: reports.Pass},
		{verdict: reports.Pass, allows: "undecided x/y", isStale: true},
		{verdict: reports.Inconclusive, reason: reports.ReasonLag, client: new(registry.Client)},
		{verdict: reports.Inconclusive, reason: reports.ReasonLag, allows: "undecided x/y", isStale: true},
		{verdict: reports.Inconclusive, reason: reports.ReasonUnsteady},
		{verdict: reports.Inconclusive, reason: reports.ReasonUnsteady, client: new(registry.Client), row: check},
		{verdict: reports.Inconclusive, reason: reports.ReasonConnections, row: check},
		{verdict: reports.Inconclusive, reason: reports.ReasonConnections, allows: "undecided x/y"},
		{verdict: reports.Inconclusive, reason: reports.ReasonConnections, allows: "undecided needs-connections"},
		{verdict: reports.Inconclusive, reason: reports.ReasonConnections, allows: "undecided Z"},
		{verdict: reports.Inconclusive, reason: reports.ReasonSetUp, allows: "undecided needs-connections", row: check, isStale: true},
		{verdict: reports.Inconclusive, reason: reports.ReasonSetUp, allows: "warn x/y Z", row: check, isStale: true},
		{verdict: reports.Warn, row: "allow warn Z: WHY"},
		{verdict: reports.Warn, allows: "warn Z"},
		{verdict: reports.Warn, allows: "undecided x/y Z", row: "allow warn Z: WHY", isStale: true},
		{verdict: reports.Fail, allows: "undecided x/y", row: "-", isStale: true},
	} {
		v, uses := registry.Variation{}, allow.Usage{}
		if c.allows != "" {
			v.Allows = allow.Rows("file: name", "allow "+c.allows+": it may")
		}
		got := Fixture{Client: c.client}.FalseAlarms(v, &reports.Report{Checks: []reports.Check{{
			ID: "x/y", Verdict: c.verdict, Clauses: []reports.ClauseVerdict{{ID: "Z", Verdict: c.verdict, Reason: c.reason}},
		}}}, &uses)
		row := ""
		for _, a := range got {
			if row = a.Row; row == "" {
				row = "-"
			}
		}
		assert.Equal(t, c.row, row, "%+v", c)
		assert.Equal(t, c.isStale, len(uses.Stale(v.Allows)) > 0, "%+v", c)
	}
}

// What a situation of a client leaves open is not allowed by a row if another situation decides it.
func TestWhatAnotherSituationDecidesNeedsNoRow(t *testing.T) {
	t.Parallel()
	v, uses := registry.Variation{Allows: allow.Rows("file: name", "allow undecided x/y: it may")}, allow.Usage{}
	report := &reports.Report{Checks: []reports.Check{
		{ID: "x/y", Clauses: []reports.ClauseVerdict{{ID: "Z", Verdict: reports.Inconclusive}}},
		{ID: "x/z", Clauses: []reports.ClauseVerdict{{ID: "Z", Verdict: reports.Pass}}},
	}}
	assert.Empty(t, Fixture{Client: new(registry.Client)}.FalseAlarms(v, report, &uses))
	assert.Equal(t, []string{`file: name: "allow undecided x/y" allows nothing: take it out`}, uses.Stale(v.Allows))
	assert.Empty(t, Fixture{}.FalseAlarms(v, report, &uses))
	assert.Empty(t, uses.Stale(v.Allows))
}
