package clientrules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

func TestEachBreachHasAClauseThatBindsClients(t *testing.T) {
	t.Parallel()
	rules := map[string]bool{}
	for _, rule := range clientrules.Rules() {
		rules[rule.Breach] = true
		c, ok := fwpsuite.ClauseByID(fwpsuite.ClauseOf(rule.Breach))
		if assert.True(t, ok, rule.Breach) {
			assert.True(t, c.Binds("C") || c.Binds("K") || c.Binds("P"), "%s: %s binds servers only", rule.Breach, c.ID)
		}
	}
	for breach := range model.ClientBreaches() {
		assert.True(t, rules[breach], "%s has a clause and no rule", breach)
	}
}
