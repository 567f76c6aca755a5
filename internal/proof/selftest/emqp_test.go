package selftest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/registry"
)

// TestEMQPPool plays two scripts on brokers that the pool starts: a bug is detected. All bugs are those of
// the tests of package emqpsuite.
func TestEMQPPool(t *testing.T) {
	t.Parallel()
	of, err := registry.Named("emqp")
	require.NoError(t, err)
	scripts, err := of.Scripts()
	require.NoError(t, err)
	picked := slices.DeleteFunc(scripts, func(c conformance.Check) bool {
		return !strings.HasPrefix(c.Describe().ID, "disconnect/") && c.Describe().ID != "reply/requested"
	})
	require.NotEmpty(t, picked)
	for _, f := range of.Bugs() {
		if f.Name != "disconnect-no-kbai" {
			continue
		}
		found := Matrix{Protocol: of.Protocol}
		for _, check := range picked {
			found.Add(f, check, playScript(t, of, f, check))
		}
		require.Len(t, found.Rows(), 1)
		assert.Empty(t, found.Rows()[0].Unexpected)
		assert.True(t, found.Rows()[0].Detected())
	}
}
