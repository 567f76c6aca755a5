package play

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/scenarios"
)

// A reply takes longest if it is counted from before its command was written, and shortest from after. A lower bound is
// broken only if even the longest time is too short, an upper one only if the shortest is too long, by more than we may
// be late.
func TestBoundsAreHeldAgainstTheTimeThatFavoursTheServer(t *testing.T) {
	t.Parallel()
	const ms, lateness = time.Millisecond, machine.Slack
	from, to := scenarios.Window{From: 100 * ms}, scenarios.Window{To: 100 * ms}
	for name, test := range map[string]struct {
		window            scenarios.Window
		longest, shortest time.Duration
		want              Outcome
	}{
		"no bounds":         {scenarios.Window{}, 9 * time.Hour, 9 * time.Hour, Matched},
		"within both":       {scenarios.Window{From: 100 * ms, To: 200 * ms}, 150 * ms, 149 * ms, Matched},
		"too early":         {from, 99 * ms, 99 * ms, Mismatched},
		"perhaps too early": {from, 100 * ms, 20 * ms, Matched},
		"far beyond":        {from, time.Hour, time.Hour, Matched},
		"too late":          {to, 101*ms + lateness, 101*ms + lateness, Mismatched},
		"late by the slack": {to, 100*ms + lateness, 100*ms + lateness, Matched},
		"perhaps too late":  {to, time.Hour, 100*ms + lateness, Matched},
	} {
		r := Result{Outcome: Matched}
		r.judgeTime(test.window, test.longest, test.shortest)
		assert.Equal(t, test.want, r.Outcome, "%s: %s", name, r.Cause)
		assert.Equal(t, test.want == Matched, r.Cause == "", name)
		assert.Equal(t, name == "too late", r.IsLate, name)
	}
}
