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
	assert.Equal(t, allow.Row{What: "late", Where: []string{}, Why: "AMB-1: it may", In: "f: r"}, a)
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
	var met allow.Met
	assert.True(t, met.Allows(rows, "warn", "B", "C"))
	assert.False(t, met.Allows(rows, "undecided", "B"))
	assert.False(t, met.Allows(rows, "late", "A"))
	assert.Equal(t, []string{
		`f: r: "allow undecided A" allows nothing: take it out`, `f: r: "allow warn A" allows nothing: take it out`,
		`f:7: "allow late" allows nothing: take it out`,
	}, met.Stale(rows))
	assert.True(t, met.Allows(rows, "late", ""))
	assert.True(t, met.Allows(rows, "warn", "A"))
	assert.True(t, met.Allows(rows, "undecided", "A"))
	assert.Empty(t, met.Stale(rows))
}
