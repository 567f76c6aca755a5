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
	entry, err := registry.Lookup("emqp")
	require.NoError(t, err)
	scripts, err := entry.Scripts()
	require.NoError(t, err)
	selection := slices.DeleteFunc(scripts, func(c conformance.Check) bool {
		return !strings.HasPrefix(c.Describe().ID, "disconnect/") && c.Describe().ID != "reply/requested"
	})
	require.NotEmpty(t, selection)
	for _, f := range entry.Bugs() {
		if f.Name != "disconnect-no-kbai" {
			continue
		}
		result := Matrix{Protocol: entry.Suite}
		for _, check := range selection {
			result.Add(f, check, playScript(t, entry, f, check))
		}
		require.Len(t, result.Rows(), 1)
		assert.Empty(t, result.Rows()[0].Unexpected)
		assert.True(t, result.Rows()[0].Detected())
	}
}
