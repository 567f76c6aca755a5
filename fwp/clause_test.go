package fwp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fwp"
)

// The clauses are those of the catalogue.
func TestClausesAreOfTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"", fwp.HELLO, fwp.PUSH, fwp.FETCH, fwp.ACK, fwp.FAIL, fwp.BEAT, fwp.INFO, fwp.FLUSH, fwp.END} {
		id := fwp.ReplyClause(verb)
		_, known := conformance.ClauseByID(id)
		assert.True(t, known, "%s: %s", verb, id)
	}
	assert.Empty(t, fwp.ReplyClause("NOSUCH"))
	for rule := fwp.RuleType; rule <= fwp.RuleDepth; rule++ {
		_, known := conformance.ClauseByID(rule.Clause())
		assert.True(t, known, rule)
	}
	assert.Equal(t, "FWP-RESP-04", fwp.RuleNull.Clause())
}
