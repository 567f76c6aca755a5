package explore_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// Of a whole alphabet nothing is left out, of another one some kinds are for some time.
func TestWhatCampaignsLeaveOut(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		leftOut := 0
		s, b := fwpsubject.New(), explore.Builder{Dialect: fwpdialect.Dialect{}}
		s.Alphabet = func(d *explore.Draw, _ explore.Law) explore.Alphabet {
			ask := func(conn int) []explore.Step {
				for kind := range 20 {
					if !d.Uses(fmt.Sprint(kind)) {
						leftOut++
					}
				}
				return []explore.Step{b.Line(conn, "INFO")}
			}
			return explore.Alphabet{
				Whole: whole,
				Open:  func(conn int) explore.Step { return b.Open(conn, scenarios.Producer, "") },
				Moves: []explore.Move{{Name: "info", Weight: 1, Fits: func(int) bool { return true }, Make: ask}},
			}
		}
		exploring(t, func() fakes.Config { return fakes.Config{} }, explore.Explorer{Subject: s, Steps: 3000, Seed: 1},
			func(t *testing.T, r *explore.Result, _ *stage) {
				t.Helper()
				assert.Empty(t, r.Findings)
			})
		assert.Equal(t, whole, leftOut == 0)
	}
}
