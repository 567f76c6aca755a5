package disrupt_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/disrupt"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	all := disrupt.Actions()
	got := disrupt.Draw(20*time.Second, all, 10*time.Minute, 7)
	assert.Equal(t, got, disrupt.Draw(20*time.Second, all, 10*time.Minute, 7), "the same seed")
	assert.NotEqual(t, got, disrupt.Draw(20*time.Second, all, 10*time.Minute, 8), "another seed")
	require.GreaterOrEqual(t, len(got), 29)
	for i, d := range got {
		assert.Equal(t, time.Duration(i+1)*20*time.Second, d.At)
		assert.LessOrEqual(t, d.Length, 10*time.Second)
		assert.LessOrEqual(t, d.At+d.Length, 10*time.Minute)
		assert.Equal(t, d.Action == target.Reset, d.Length == 0, d.String())
		assert.Equal(t, d.Action == target.Slow, d.Link != disrupt.Link{}, d.String())
	}
	for round := range slices.Chunk(got, len(all)) {
		actions := map[target.Action]bool{}
		for _, d := range round {
			assert.False(t, actions[d.Action], "each once in a round")
			actions[d.Action] = true
		}
	}
}

func TestDrawIsBounded(t *testing.T) {
	t.Parallel()
	endless := disrupt.Draw(time.Second, []target.Action{target.Pause}, 0, 1)
	assert.Len(t, endless, 1000)
	for _, d := range endless {
		assert.LessOrEqual(t, d.Length, 500*ms, "half of the time between two")
	}
	assert.Empty(t, disrupt.Draw(time.Minute, []target.Action{target.Reset}, time.Second, 1))
	single := disrupt.Draw(time.Second, []target.Action{target.Reset}, time.Second, 1)
	assert.Len(t, single, 1, "one that ends just in time")
}
