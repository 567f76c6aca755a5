package explore_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/target/forward/forwardtest"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/scenarios"
)

// Of a whole alphabet nothing is left out, of another one some kinds are for some time.
func TestWhatCampaignsLeaveOut(t *testing.T) {
	t.Parallel()
	for _, isComplete := range []bool{false, true} {
		leftOut := 0
		s, b := moves.New(), explore.Builder{Dialect: fwpscript.Dialect{}}
		s.Generate = func(d *explore.Draw, _ explore.Law) explore.Generator {
			ask := func(conn int) []explore.Step {
				for kind := range 20 {
					if !d.Uses(fmt.Sprint(kind)) {
						leftOut++
					}
				}
				return []explore.Step{b.Line(conn, "INFO")}
			}
			return explore.Generator{
				IsComplete: isComplete,
				Open:       func(conn int) explore.Step { return b.Open(conn, scenarios.Producer, "") },
				Moves:      []explore.Move{{Name: "info", Weight: 1, Fits: func(int) bool { return true }, Make: ask}},
			}
		}
		exploring(t, func() fakes.Config { return fakes.Config{} }, explore.Explorer{Alphabet: s, Steps: 3000, Seed: 1},
			func(t *testing.T, r *explore.Result, _ *stage) {
				t.Helper()
				assert.Empty(t, r.Findings)
			})
		assert.Equal(t, isComplete, leftOut == 0)
	}
}

// What an extension adds is explored: a bug of it is found, and nothing else is.
func TestAnExtensionIsExplored(t *testing.T) {
	t.Parallel()
	clauses := map[string][]string{
		"":                     nil,
		"mutate-kill-nothing":  {"FKT-MUTATE-01"},
		"queue-pause-nothing":  {"FKT-QUEUE-01"},
		"pushb-loses-the-last": {"FKT-PUSHB-01"},
	}
	if golden.IsSlow() {
		clauses["queue-remove-nothing"] = []string{"FKT-QUEUE-03"}
		clauses["mutate-discard-nothing"] = []string{"FKT-MUTATE-02"}
		clauses["pushb-without-reasons"] = []string{"FKT-PUSHB-02"}
	}
	for name, want := range clauses {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := func() fakes.Config {
				c := fakes.Config{Extension: fakes.Faktory}
				for _, f := range bugs.Faktory() {
					if f.Name == name {
						c.Hook = f.Hook()
					}
				}
				return c
			}
			steps := 40_000 // it ends at the finding
			if want == nil {
				steps = golden.Sample(2500, 10_000)
			}
			e := explore.Explorer{Alphabet: moves.NewWith(fwpscript.Faktory), Seed: 7, Steps: steps, SkipsShrinking: true}
			exploring(t, config, e, func(t *testing.T, r *explore.Result, _ *stage) {
				t.Helper()
				var found []string
				for _, f := range r.Findings {
					if f.Clause != "FWP-FRAME-08" { // a server of the family takes LF alone for the end of a line
						found = append(found, f.Clause)
					}
				}
				if want == nil {
					require.Empty(t, found)
				}
				assert.Subset(t, found, want)
			})
		})
	}
}

// TestATargetThatRefusesAtTheEnd: what was not seen to serve when the time was over is not well.
func TestATargetThatRefusesAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{func() fakes.Config { return fakes.Config{} }}
		behind, end, err := s.start()
		require.NoError(t, err)
		defer end()
		f := &forwardtest.Forwarder{Server: behind.Dial}
		time.AfterFunc(9*time.Second, f.End)
		e := explore.Explorer{Alphabet: moves.New(), Target: f, Seed: 1, Time: 12 * time.Second, SkipsShrinking: true}
		e.WatchStep = settled(func(explore.Step) { time.Sleep(100 * time.Millisecond) })
		r := e.Run(t.Context())
		assert.Empty(t, r.Findings)
		assert.True(t, r.IsRefusing)
	})
}

// TestTheEndOfAForwarder: an exploration blames no command for what may have ended a forwarder, but a server that ends
// at a command.
func TestTheEndOfAForwarder(t *testing.T) {
	t.Parallel()
	tests := map[string]*struct {
		forwarder  forwardtest.Forwarder
		deadly     string // verb
		lostReason string
	}{
		"a reset":                   {forwardtest.Forwarder{Resets: true}, "", "reset its connection"},
		"a half-close":              {forwardtest.Forwarder{HalfCloses: true}, "", "closed its half"},
		"the number of connections": {forwardtest.Forwarder{Connections: 12}, "", "opened a connection"},
		"the number at a time":      {forwardtest.Forwarder{MaxOpen: 5}, "", "opened a connection"},
		"a command":                 {forwardtest.Forwarder{}, "BEAT", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &test.forwarder
				s := &stage{func() fakes.Config {
					return fakes.Config{Hook: func(e *fakes.Event) {
						if e.Point == fakes.Parsed && test.deadly != "" && e.Command.Verb == test.deadly {
							f.End()
						}
					}}
				}}
				behind, end, err := s.start()
				if err != nil {
					t.Fatal(err)
				}
				defer end()
				f.Server = behind.Dial
				e := explore.Explorer{Alphabet: moves.New(), Target: f, Seed: 1, Steps: 3000, SkipsShrinking: true}
				r := e.Run(t.Context())
				assert.True(t, f.HasEnded())
				assert.Equal(t, test.lostReason == "", len(r.Findings) > 0, r.Findings)
				assert.Contains(t, r.LostReason, test.lostReason)
			})
		})
	}
}
