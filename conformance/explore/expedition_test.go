package explore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/slow"
)

func TestExpeditionKeepsWithinItsSteps(t *testing.T) {
	t.Parallel()
	for _, longest := range []time.Duration{0, time.Minute} {
		most, told := 0, false
		e := explore.Expedition{Explorer: explore.Explorer{Subject: fwpsubject.New(), Seed: *seed, Steps: 4000, Longest: longest}, Workers: 4}
		e.Progress = func(n int, c *explore.Coverage) { most, told = max(most, n), told || c == nil }
		expedition(t, behaving("", ""), e, func(t *testing.T, r *explore.Result, h *explore.History, _ *stage) {
			require.NotNil(t, h)
			assert.InDelta(t, 4000, r.Commands+h.Commands, 60)
			assert.Greater(t, h.Commands, 500)
			assert.LessOrEqual(t, most, 4060)
			assert.True(t, told, "the second part tells of its progress too")
			assert.Empty(t, append(r.Findings, h.Findings...))
		})
	}
}

func TestExpeditionWithoutACrowd(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault   string
		workers int
	}{
		"none is wanted":   {"", 0},
		"enough was found": {"ack-other-answer", 4},
		"the server died":  {"dies-of-unknown-job", 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			explored := 0
			e := explore.Expedition{Explorer: explore.Explorer{Subject: fwpsubject.New(), Seed: *seed, Steps: 3000, Unshrunk: true}, Workers: test.workers}
			e.Explored = func(*explore.Result) { explored++ }
			expedition(t, behaving(test.fault, ""), e, func(t *testing.T, r *explore.Result, h *explore.History, _ *stage) {
				assert.Nil(t, h)
				assert.Equal(t, 1, explored)
				assert.Equal(t, test.fault != "", len(r.Findings) > 0)
			})
		})
	}
}

// TestCrowdCountsOnFromTheExploration has a finding of the crowd of an expedition counted
// and numbered as one of the whole.
func TestCrowdCountsOnFromTheExploration(t *testing.T) {
	t.Parallel()
	slow.Only(t)
	recorded := 0
	e := explore.Expedition{Explorer: explore.Explorer{Subject: fwpsubject.New(), Seed: *seed, Findings: 2}, Workers: 8}
	e.Steps, e.Unshrunk = 20_000, racing
	e.Recorded = func(*history.History, []history.Finding) { recorded++ }
	expedition(t, behaving("push-lost-seldom", ""), e, func(t *testing.T, r *explore.Result, h *explore.History, _ *stage) {
		require.NotNil(t, h)
		require.NotEmpty(t, h.Findings)
		f := h.Findings[0]
		assert.Equal(t, "FWP-PUSH-04", f.Clause)
		assert.Greater(t, f.Commands, r.Commands)
		assert.LessOrEqual(t, f.Commands, 20_000)
		assert.True(t, racing || strings.Contains(f.Script, "repeat 6000"), f.Script)
		assert.Equal(t, 1, recorded)
	})
}
