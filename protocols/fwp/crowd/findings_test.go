package crowd

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
)

func TestKnownKinds(t *testing.T) {
	t.Parallel()
	l := Crowd{ReportedClauses: []string{"FWP-PUSH-04", "FWP-STATE-05"}, ReproducedClauses: []string{"FWP-STATE-05"}}
	ofHistory := func(clause string) explore.Finding {
		return explore.Finding{Finding: conformance.Finding{Clause: clause}, Rule: RuleHistory}
	}
	assert.True(t, l.isKindKnown(ofHistory("FWP-ACK-02")), "delivered too often, as well")
	assert.False(t, l.isKindKnown(ofHistory("FWP-STATE-04")), "the other was not reproduced")
	assert.False(t, l.isKindKnown(ofHistory("FWP-RESP-01")), "no rule of one conversation")
	assert.False(t, l.isKindKnown(explore.Finding{Rule: explore.RuleCrash}))
}
