package selftest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/reports"
)

// TestWhatIsMissing: a check that decides the first clause of a fault must find it broken, unless lag kept the check
// from deciding it. A fault that was found needs no more plays.
func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	fault, err := peer.Default().FaultNamed("ack-other-answer")
	require.NoError(t, err)
	scripts := candidates(suite(t))
	i := 0
	for !names(fault, scripts[i]) || scripts[i].clauses[0] != fault.Clauses[0] {
		i++
	}
	first := fault.Clauses[0]
	for name, c := range map[string]struct {
		verdict reports.Verdict
		reason  reports.ReasonCode
		missing string
		found   bool
	}{
		"passed":             {reports.Pass, "", "no check finds " + first + " broken", false},
		"inconclusive":       {reports.Inconclusive, reports.ReasonOtherBreach, "no check finds " + first + " broken", false},
		"the machine lagged": {reports.Inconclusive, reports.ReasonLag, "", false},
		"failed":             {reports.Fail, "", "", true},
	} {
		m := Matrix{Protocol: peer.Default().Protocol}
		m.Add(fault, scripts[i].Check, reports.Check{
			ID: scripts[i].id, Verdict: c.verdict,
			Clauses: []reports.ClauseVerdict{{ID: first, Verdict: c.verdict, Reason: c.reason}},
		})
		assert.Equal(t, c.missing, m.Rows()[0].Missing(), name)
		assert.Equal(t, c.found, m.found(fault), name)
		m.forget(m.Rows()[0])
		assert.Empty(t, m.Rows()[0].lagged, name)
	}
}

// TestThin: a sample has every nth fault and variation, and the conforming server, which is the last one.
func TestThin(t *testing.T) {
	t.Parallel()
	all := Proof{Faults: peer.Default().AllFaults(), Variations: Variations(peer.Default())}
	p := all
	p.Thin(5)
	assert.Equal(t, 5, p.OneOf)
	assert.Len(t, p.Faults, (len(all.Faults)+4)/5)
	assert.Equal(t, all.Faults[5].Name, p.Faults[1].Name)
	assert.Len(t, p.Variations, (len(all.Variations)+3)/5+1)
	assert.Equal(t, conforming, p.Variations[len(p.Variations)-1].Name)
}
