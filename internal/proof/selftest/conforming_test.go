package selftest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/proof/suitetest"
)

func TestConformingServer(t *testing.T) {
	t.Parallel()
	all := (Fixture{}).Variations()
	variation := all[len(all)-1]
	scripts := light(suite(t)) // TestBugs plays the others
	report := checkVariation(t, Fixture{}, variation, scripts)
	suitetest.CheckTimes(t, report, scripts)
	for _, check := range report.Checks {
		assert.Equal(t, 1, check.Attempts, "%s was not decided at once", check.ID)
	}
}
