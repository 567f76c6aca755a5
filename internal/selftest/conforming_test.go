package selftest

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/suitetest"
)

func TestConformingServer(t *testing.T) {
	t.Parallel()
	all := (Fixture{}).Variations()
	itself := all[len(all)-1]
	scripts := light(suite(t)) // TestFaults plays the others
	synctest.Test(t, func(t *testing.T) {
		report, err := Fixture{Network: memnet.New()}.Vary(t.Context(), itself, scripts)
		require.NoError(t, err)
		assert.Empty(t, report.Internal)
		assert.Len(t, report.Checks, len(scripts))
		suitetest.InTime(t, report, scripts)
		for _, check := range report.Checks {
			assert.Empty(t, falseAlarms(itself, check, false))
			assert.Equal(t, 1, check.Attempts, "%s was not decided at once", check.ID)
		}
	})
}
