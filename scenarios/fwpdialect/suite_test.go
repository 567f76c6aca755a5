package fwpdialect_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// TestSuiteIsFormatted: the suite's scripts are in the normal form.
func TestSuiteIsFormatted(t *testing.T) {
	t.Parallel()
	all, err := fwpdialect.Suite()
	require.NoError(t, err)
	for _, s := range all {
		assert.Equal(t, strings.Join(s.Source, "\n"), string(scenarios.Format(s)), "%s: write it with fwpcheck fmt", s.Name)
	}
}
