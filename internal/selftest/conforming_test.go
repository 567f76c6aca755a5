package selftest

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/reports"
)

func TestConformingServer(t *testing.T) {
	t.Parallel()
	scripts := suite(t)
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(nil)
		defer v.close()
		report := v.runner(scripts...).Run(t.Context())
		assert.Empty(t, report.Internal)
		assert.Len(t, report.Checks, len(scripts))
		for _, check := range report.Checks {
			assert.Contains(t, []reports.Verdict{reports.Pass, reports.Note}, check.Verdict, "%s: %s %s", check.ID, check.Why, evidence(check))
			assert.Equal(t, 1, check.Attempts, "%s was not decided at once", check.ID)
			for _, c := range check.Clauses {
				assert.Contains(t, []reports.Verdict{reports.Pass, reports.Note}, c.Verdict, "%s in %s: %s", c.ID, check.ID, c.Why)
			}
		}
	})
}
