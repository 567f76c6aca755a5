package check

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
)

// What an exploration is doing and how long it still takes fit together into 40 columns.
func TestExploreProgress(t *testing.T) {
	t.Parallel()
	const clause = "FWP-STATE-05"
	tests := map[string]struct {
		last explore.Progress
		want string
	}{
		"exploring": {
			explore.Progress{Commands: 12345, Outcomes: 70}, "exploring, 1m 50s left, 12,345 commands, 70 outcomes",
		},
		"shrinking": {
			explore.Progress{Activity: explore.Shrinking, Finding: clause, Done: 621, Of: 1242},
			"shrinking FWP-STATE-05, 1m 50s left, 621 of 1,242 steps",
		},
		"confirming": {
			explore.Progress{Activity: explore.Confirming, Finding: clause, Done: 1, Of: 5},
			"confirming FWP-STATE-05, 1m 50s left, play 2 of 5",
		},
		"clients": {
			explore.Progress{Activity: explore.Loading, Commands: 1}, "concurrent clients, 1m 50s left, 1 command",
		},
		"cleaning up": {explore.Progress{Activity: explore.CleaningUp}, "cleaning up, 1m 50s left, 0 commands"},
		"memory":      {explore.Progress{Activity: explore.Measuring}, "measuring memory, 1m 50s left, 0 commands"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &exploreProgress{begun: time.Now(), budget: 2 * time.Minute}
				p.record(test.last)
				time.Sleep(10 * time.Second)
				_, parts := p.state()
				assert.Equal(t, test.want, strings.Join(parts, ", "))
				assert.Less(t, len(strings.Join(parts[:2], ", ")), 40)
			})
		})
	}
}
