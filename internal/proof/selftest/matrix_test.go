package selftest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// TestWhatIsMissing: a check that decides the first clause of a bug must find it broken, unless lag kept the check
// from deciding it.
func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	bug, err := registry.Default().BugNamed("ack-other-answer")
	require.NoError(t, err)
	scripts := candidates(suite(t))
	i := 0
	for !Names(bug, scripts[i]) || scripts[i].clauses[0] != bug.Clauses[0] {
		i++
	}
	first := bug.Clauses[0]
	for name, c := range map[string]struct {
		verdict reports.Verdict
		reason  reports.ReasonCode
		gap     string
	}{
		"passed":             {reports.Pass, "", "no check finds " + first + " broken"},
		"inconclusive":       {reports.Inconclusive, reports.ReasonSetUp, "no check finds " + first + " broken"},
		"the machine lagged": {reports.Inconclusive, reports.ReasonLag, ""},
		"failed":             {reports.Fail, "", ""},
	} {
		m := Matrix{Protocol: registry.Default().Suite}
		m.Add(bug, scripts[i].Check, reports.Check{
			ID: scripts[i].id, Verdict: c.verdict,
			Clauses: []reports.ClauseVerdict{{ID: first, Verdict: c.verdict, Reason: c.reason}},
		})
		assert.Equal(t, c.gap, m.Rows()[0].Gap(), name)
	}
}
