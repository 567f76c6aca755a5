package selftest

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/slow"
)

func TestConformingServer(t *testing.T) {
	t.Parallel()
	scripts := suite(t)
	if !slow.Enabled() { // TestFaults plays it
		scripts = slices.DeleteFunc(scripts, func(c conformance.Check) bool { return c.Describe().ID == heaviest })
	}
	synctest.Test(t, func(t *testing.T) {
		report, err := Fixture{memnet.New()}.Vary(t.Context(), fakes.Variation{}, scripts)
		require.NoError(t, err)
		assert.Empty(t, report.Internal)
		assert.Len(t, report.Checks, len(scripts))
		for _, check := range report.Checks {
			assert.Empty(t, falseAlarms(fakes.Variation{}, check))
			assert.Equal(t, 1, check.Attempts, "%s was not decided at once", check.ID)
		}
	})
}
