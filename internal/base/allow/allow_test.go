package allow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/allow"
)

func TestARowHasAReason(t *testing.T) {
	t.Parallel()
	a, err := allow.Parse("f: r", "allow late: AMB-1: it may")
	require.NoError(t, err)
	assert.Equal(t, allow.Row{Item: "late", Places: []string{}, Reason: "AMB-1: it may", Source: "f: r"}, a)
	assert.Equal(t, "allow late: AMB-1: it may", a.String())
	for _, text := range []string{"allow late", "allow late: ", "allow late: WHY", "allow : it may", "late: it may"} {
		_, err := allow.Parse("f: r", text)
		assert.ErrorContains(t, err, "f: r: ", text)
	}
	for _, text := range []string{"allow warn: it may", "allow late x/y: it may", "allow warn X-A-01: WHY"} {
		assert.Panics(t, func() { allow.Rows("f", text) }, text)
	}
}

func TestARowThatAllowsNothingIsStale(t *testing.T) {
	t.Parallel()
	rows := allow.Rows("f: r", "allow warn A B: it may", "allow undecided A: it may")
	bare, err := allow.Parse("f:7", "allow late: it may")
	require.NoError(t, err)
	rows = append(rows, bare)
	var usage allow.Usage
	assert.True(t, usage.Allows(rows, "warn", "B", "C"))
	assert.False(t, usage.Allows(rows, "undecided", "B"))
	assert.False(t, usage.Allows(rows, "late", "A"))
	assert.Equal(t, []string{
		`f: r: "allow undecided A" allows nothing: take it out`, `f: r: "allow warn A" allows nothing: take it out`,
		`f:7: "allow late" allows nothing: take it out`,
	}, usage.Stale(rows))
	assert.True(t, usage.Allows(rows, "late", ""))
	assert.True(t, usage.Allows(rows, "warn", "A"))
	assert.True(t, usage.Allows(rows, "undecided", "A"))
	assert.Empty(t, usage.Stale(rows))
}
