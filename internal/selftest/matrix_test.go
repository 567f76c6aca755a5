package selftest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/reports"
)

// TestWhatIsMissing: a check that decides the first clause of a fault must find it broken, unless lag kept the check
// from deciding it.
func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	fault, err := peer.Default().FaultNamed("ack-other-answer")
	require.NoError(t, err)
	scripts := candidates(suite(t))
	i := 0
	for !Names(fault, scripts[i]) || scripts[i].clauses[0] != fault.Clauses[0] {
		i++
	}
	first := fault.Clauses[0]
	for name, c := range map[string]struct {
		verdict reports.Verdict
		reason  reports.ReasonCode
		missing string
	}{
		"passed":             {reports.Pass, "", "no check finds " + first + " broken"},
		"inconclusive":       {reports.Inconclusive, reports.ReasonSetUp, "no check finds " + first + " broken"},
		"the machine lagged": {reports.Inconclusive, reports.ReasonLag, ""},
		"failed":             {reports.Fail, "", ""},
	} {
		m := Matrix{Protocol: peer.Default().Protocol}
		m.Add(fault, scripts[i].Check, reports.Check{
			ID: scripts[i].id, Verdict: c.verdict,
			Clauses: []reports.ClauseVerdict{{ID: first, Verdict: c.verdict, Reason: c.reason}},
		})
		assert.Equal(t, c.missing, m.Rows()[0].Missing(), name)
	}
}

// TestFalseAlarms: what is inconclusive on a conforming server counts, unless the machine was late or the variation
// leaves the check open, or every check with that reason.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verdict reports.Verdict
		reason  reports.ReasonCode
		leaves  string
		client  bool
		fine    bool
	}{
		{reports.Pass, "", "", false, true},
		{reports.Inconclusive, reports.ReasonLag, "", true, true},
		{reports.Inconclusive, reports.ReasonUnsteady, "", false, true},
		{reports.Inconclusive, reports.ReasonUnsteady, "", true, false},
		{reports.Inconclusive, reports.ReasonConnections, "", false, false},
		{reports.Inconclusive, reports.ReasonConnections, "x/y", false, true},
		{reports.Inconclusive, reports.ReasonConnections, "needs-connections", false, true},
		{reports.Inconclusive, reports.ReasonSetUp, "needs-connections", false, false},
		{reports.Fail, "", "x/y", false, false},
	} {
		got := falseAlarms(peer.Variation{Leaves: []string{c.leaves}}, reports.Check{
			ID: "x/y", Verdict: c.verdict, Clauses: []reports.ClauseVerdict{{ID: "Z", Verdict: c.verdict, Reason: c.reason}},
		}, c.client)
		assert.Equal(t, c.fine, len(got) == 0, "%+v", c)
	}
}
