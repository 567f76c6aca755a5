package crowd_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
)

func TestACampaignKeepsWithinItsSteps(t *testing.T) {
	t.Parallel()
	const cleaning = 500 // both parts fetch and acknowledge, at the end, what they have left in queues
	steps := golden.Sample(900, 4000)
	for _, longest := range []time.Duration{0, time.Minute} {
		withServer(t, serverWith("", ""), func(t *testing.T, e explore.Explorer, _ *fixture) {
			peak, hasLoad := 0, false
			e.Steps, e.LongestWait = steps, longest
			e.Progress = func(p explore.Progress) {
				peak, hasLoad = max(peak, p.Commands), hasLoad || p.Activity == explore.Loading
			}
			c := crowd.Campaign{Explorer: e, Workers: 4}
			r, l := c.Run(t.Context())
			require.NotNil(t, l)
			assert.InDelta(t, steps, r.Commands+l.Commands, cleaning)
			assert.Greater(t, l.Commands, steps/8)
			assert.InDelta(t, r.Commands+l.Commands, peak, cleaning)
			assert.True(t, hasLoad, "the second part reports its progress too")
			assert.Empty(t, append(r.Findings, l.Findings...))
		})
	}
}

// All but shrinking takes no longer than the time for everything, and shrinking no longer than it may in each part.
func TestACampaignKeepsWithinItsTime(t *testing.T) {
	t.Parallel()
	const shrinking = 20 * time.Second // for one finding
	bugs := []string{"", "delivered-twice", "reply-missing", "fetch-sleeps", "state-error-locks-out"}
	for i, bug := range golden.Sample(bugs[:3], bugs) {
		for _, isAlone := range golden.Sample([]bool{i%2 == 0}, []bool{true, false}) {
			t.Run(fmt.Sprintf("%s %t", bug, isAlone), func(t *testing.T) {
				t.Parallel()
				withServer(t, serverWith(bug, ""), func(t *testing.T, e explore.Explorer, _ *fixture) {
					activities := map[explore.Activity]bool{}
					e.Steps, e.Time, e.Shrinking, e.Findings = golden.Sample(2500, 6000), 2*time.Minute, shrinking, 5
					e.Progress = func(p explore.Progress) { activities[p.Activity] = true }
					if !isAlone {
						e.StartTarget = nil
					}
					begun := time.Now()
					c := crowd.Campaign{Explorer: e, Workers: 4}
					r, l := c.Run(t.Context())
					elapsed := time.Since(begun)
					require.NotNil(t, l, "there is a load, whatever was found before")
					assert.LessOrEqual(t, elapsed-r.Shrunk-l.ShrinkTime, 2*time.Minute)
					assert.LessOrEqual(t, max(r.Shrunk, l.ShrinkTime), explore.Shrinkings*shrinking)
					assert.True(t, bug != "" || len(r.Findings) == 0) // which it meets in so few steps is a matter of chance
					want := []explore.Activity{explore.Exploring, explore.CleaningUp, explore.Loading}
					if len(r.Findings) > 0 {
						want = append(want, explore.Shrinking)
					}
					assert.Subset(t, slices.Collect(maps.Keys(activities)), want)
				})
			})
		}
	}
}

func TestACampaignWithoutALoad(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		bug     string
		workers int
	}{
		"none is wanted":   {"", 0},
		"enough was found": {"ack-other-answer", 4},
		"the server died":  {"dies-of-unknown-job", 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withServer(t, serverWith(test.bug, ""), func(t *testing.T, e explore.Explorer, _ *fixture) {
				explored := 0
				e.Steps, e.SkipsShrinking, e.Alone = golden.Sample(1000, 3000), true, true
				c := crowd.Campaign{Explorer: e, Workers: test.workers, OnExploration: func(*explore.Result) { explored++ }}
				r, l := c.Run(t.Context())
				assert.Nil(t, l)
				assert.Equal(t, 1, explored)
				assert.Equal(t, test.bug != "", len(r.Findings) > 0)
			})
		})
	}
}

// A finding of the load is counted and numbered as one of the whole.
func TestALoadCountsOnFromTheExploration(t *testing.T) {
	t.Parallel()
	golden.OnlySlow(t)
	withServer(t, serverWith("push-lost-seldom", ""), func(t *testing.T, e explore.Explorer, _ *fixture) {
		recorded := 0
		e.Steps, e.Findings = 20_000, 2
		c := crowd.Campaign{Explorer: e, Workers: 8, OnHistory: func(*history.History, []history.Finding) { recorded++ }}
		r, l := c.Run(t.Context())
		require.NotNil(t, l)
		require.NotEmpty(t, l.Findings)
		f := l.Findings[0]
		assert.Equal(t, "FWP-PUSH-04", f.Clause)
		assert.Greater(t, f.Commands, r.Commands)
		assert.LessOrEqual(t, f.Commands, 21_000)
		assert.Contains(t, f.Script, "repeat 6000")
		assert.True(t, strings.HasPrefix(f.Script, "title: FWP-PUSH-04"), f.Script)
		assert.Equal(t, 1, recorded)
	})
}

// A campaign finds on its other servers the bugs that need a password, a restart or a wait. What several servers show
// is one finding.
func TestACampaignExploresOtherServers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		bug, clause string
		time        time.Duration
	}{
		"a password":         {"auth-hash-half", "FWP-AUTH-04", minLoadTime},
		"a restart":          {"restart-returns-done", "FWP-ACK-02", minLoadTime},
		"a reservation ends": {"reserve-ends-early", "FWP-WU-05", 2 * time.Minute},
		"everywhere":         {"ack-other-answer", "FWP-ACK-01", minLoadTime},
		"nowhere":            {"", "", minLoadTime},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.time > minLoadTime { // some 20 s of CPU
				golden.OnlySlow(t)
			}
			withServer(t, serverWith(test.bug, ""), func(t *testing.T, e explore.Explorer, f *fixture) {
				e.Steps, e.Time, e.SkipsShrinking, e.Findings = 100, test.time, true, 20
				clauses := map[string]int{}
				c := crowd.Campaign{Explorer: e, HasPasswords: true, Start: f.startProtected}
				c.OnExploration = func(r *explore.Result) {
					for i, found := range r.Findings {
						assert.Equal(t, len(clauses)+i+1, found.Number)
					}
					for _, found := range r.Findings {
						clauses[found.Clause]++
					}
				}
				c.Run(t.Context())
				if test.clause == "" {
					assert.Empty(t, clauses)
				} else {
					assert.Equal(t, 1, clauses[test.clause], clauses)
				}
			})
		})
	}
}

// minLoadTime is the least time of a campaign with other servers.
const minLoadTime = 20 * time.Second
