package selftest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
)

// TestSample: each variation has some of the checks, at least one, which a check that is added leaves as they are, and
// together they have nearly all.
func TestSample(t *testing.T) {
	t.Parallel()
	checks, played := suite(t), map[string]bool{}
	ids := func(selection []conformance.Check) (ids []string) {
		for _, c := range selection {
			ids = append(ids, c.Describe().ID)
		}
		return ids
	}
	added := ids(checks[:1])
	for _, v := range (Fixture{}).Variations() {
		assert.NotEmpty(t, sample(320, v.Name, checks), v.Name)
		selection := ids(sample(16, v.Name, checks))
		for _, id := range selection {
			played[id] = true
		}
		before := slices.DeleteFunc(selection, func(id string) bool { return id == added[0] })
		assert.Equal(t, before, ids(sample(16, v.Name, checks[1:])), v.Name)
	}
	assert.Greater(t, len(played), len(checks)*9/10)
}
