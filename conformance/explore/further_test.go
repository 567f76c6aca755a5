package explore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/fakes"
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
	e := explore.Explorer{Subject: fwpsubject.New(), Seed: 1, Steps: 2000, Shrinking: 4 * time.Second, Findings: 3}
	exploring(t, slow, e, func(t *testing.T, r *explore.Result, _ *stage) {
		require.NotEmpty(t, r.Findings)
		f := r.Findings[0]
		assert.Equal(t, "FWP-WU-08", f.Clause)
		assert.LessOrEqual(t, len(f.Small.Steps), 14)
		assert.Positive(t, f.Shown)
		assert.NotEmpty(t, f.Script)
	})
}
