package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/slow"
)

// crowds returns the ways in which crowds are used: as the check of a run, and in an
// expedition. Without FWP_SLOW=1 it is the one that does all that the others do.
func crowds(seed uint64, steps int) map[string]explore.Crowd {
	all := map[string]explore.Crowd{
		"check":    {Explorer: explore.Explorer{Subject: fwpsubject.New(), Seed: seed, Steps: steps, Connections: 4}, Producers: 12},
		"reckless": {Explorer: explore.Explorer{Subject: fwpsubject.New(), Seed: seed, Steps: steps}, Reckless: true},
		"failing":  {Explorer: explore.Explorer{Subject: fwpsubject.New(), Seed: seed, Steps: steps}, FailOne: 20},
	}
	if racing || !slow.Enabled() {
		return map[string]explore.Crowd{"reckless": all["reckless"]}
	}
	return all
}

func TestCrowdDecidesAboutARightServer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		for name, c := range crowds(seed, 900) {
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				t.Parallel()
				crowding(t, behaving("", ""), c, func(t *testing.T, h *explore.History, _ *stage) {
					assert.True(t, h.Drained)
					assert.Empty(t, h.Findings)
					assert.LessOrEqual(t, h.Commands, 1000)
					assert.Greater(t, h.Report.Jobs, 250)
					if name == "check" {
						assert.Empty(t, h.Left)
					}
				})
			})
		}
	}
}

// TestCrowdFinds has faults found that show in what many clients do side by side.
func TestCrowdFinds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"delivered-twice", "push-lost", "reply-swapped", "job-integer-rounded", "ack-redelivered", "state-error-closes"} {
		for kind, c := range crowds(*seed, 1500) {
			t.Run(name+" "+kind, func(t *testing.T) {
				t.Parallel()
				c.Findings = 5
				crowding(t, behaving(name, ""), c, func(t *testing.T, h *explore.History, _ *stage) {
					for _, f := range h.Findings {
						t.Log(f.Clause, f.What, f.Script)
					}
					declared := faultNamed(t, name).Clauses
					assert.True(t, slices.ContainsFunc(h.Findings, func(f explore.Finding) bool { return slices.Contains(declared, f.Clause) }))
				})
			})
		}
	}
}

// TestVariationsInACrowd holds crowds against servers that differ and are right.
func TestVariationsInACrowd(t *testing.T) {
	t.Parallel()
	for _, v := range fakes.Variations() {
		for name, c := range crowds(*seed, commands(300, 900)) {
			t.Run(v.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				crowding(t, behaving("", v.Name), c, func(t *testing.T, h *explore.History, _ *stage) {
					assert.Empty(t, h.Findings)
				})
			})
		}
	}
}

// TestCrowdLeavesCallsOpen counts what the clients of a crowd do not wait for.
func TestCrowdLeavesCallsOpen(t *testing.T) {
	t.Parallel()
	for name, c := range crowds(*seed, 20_000) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crowding(t, behaving("", ""), c, func(t *testing.T, h *explore.History, _ *stage) {
				open, clients := map[history.Op]int{}, map[string]map[int]bool{}
				for _, e := range h.Events {
					if e.Outcome == history.Open {
						open[e.Op]++
					}
					if clients[e.Worker] == nil {
						clients[e.Worker] = map[int]bool{}
					}
					clients[e.Worker][e.Client] = true
				}
				t.Log(open, len(clients), len(h.Report.Undecided), len(h.Left))
				assert.Greater(t, open[history.Push], 10)
				assert.Greater(t, open[history.Ack], 10)
				assert.Equal(t, c.Reckless, open[history.Fetch] > 0)
				assert.Equal(t, c.Reckless, open[history.Fail] > 0)
				for wid, all := range clients {
					assert.True(t, len(all) > 1 || !slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Worker == wid && e.Op == history.Fetch }), wid)
				}
			})
		})
	}
}

func faultNamed(t *testing.T, name string) fakes.Fault {
	t.Helper()
	i := slices.IndexFunc(fakes.Faults(), func(f fakes.Fault) bool { return f.Name == name })
	require.GreaterOrEqual(t, i, 0)
	return fakes.Faults()[i]
}
