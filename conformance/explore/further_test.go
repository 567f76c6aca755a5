package explore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// What a look has no time to make short, on a server that takes its time, is made short in the time that is left at the
// end: of 28 steps 10 remain.
func TestTimeThatIsLeftMakesConversationsShorter(t *testing.T) {
	t.Parallel()
	config := behaving("job-backtrace-follows", "")
	slow := func() fakes.Config {
		c := config()
		wrong := c.Hook
		c.Hook = func(e *fakes.Event) {
			if e.Point == fakes.Writing {
				e.Delay += 10 * time.Millisecond
			}
			wrong(e)
		}
		return c
	}
	e := explore.Explorer{Alphabet: moves.New(), Seed: 1, Steps: 2000, Shrinking: 4 * time.Second, Findings: 3}
	exploring(t, slow, e, func(t *testing.T, r *explore.Result, _ *stage) {
		require.NotEmpty(t, r.Findings)
		f := r.Findings[0]
		assert.Equal(t, "FWP-WU-08", f.Clause)
		assert.LessOrEqual(t, len(f.Reduction.Steps), 14)
		assert.Positive(t, f.Hits)
		assert.NotEmpty(t, f.Script)
	})
}

// Where a server takes long to start, few are started for one finding: one is for many tries.
func TestTriesShareAServerThatStartsSlowly(t *testing.T) {
	t.Parallel()
	for pause, several := range map[time.Duration]bool{0: true, time.Second: false} {
		starts := 0
		exploring(t, behaving("job-backtrace-follows", ""), explore.Explorer{
			Alphabet: moves.New(), Seed: 1, Steps: 1, SkipsShrinking: true,
		}, func(t *testing.T, _ *explore.Result, fresh *stage) {
			target, end, err := fresh.start()
			require.NoError(t, err)
			defer end()
			e := explore.Explorer{Alphabet: moves.New(), Target: target, Alone: true, Seed: 1, Steps: 2000}
			e.StartTarget = func() (play.Target, func(), error) {
				starts++
				<-time.After(pause) // in virtual time
				return fresh.start()
			}
			r := e.Run(t.Context())
			require.Len(t, r.Findings, 1)
			assert.Equal(t, r.Findings[0].Tries, r.Findings[0].Hits)
			assert.Equal(t, several, starts > 30, "%d servers, each started in %v", starts, pause)
		})
	}
}
