package play

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/scenarios"
)

// A reply takes longest if it is counted from before its command was written, and shortest
// from after. A lower bound is broken only if even the longest time is too short, an upper
// one only if even the shortest is too long.
func TestBoundsAreHeldAgainstTheTimeThatFavoursTheServer(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	type window = scenarios.Window
	tests := map[string]struct {
		window                 scenarios.Window
		longest, short, excuse time.Duration
		slack                  time.Duration
		want                   Outcome
		passing                bool
	}{
		"no bounds": {window{}, 9 * time.Hour, 9 * time.Hour, 0, 0, Matched, false},
		"within both": {window{From: 100 * ms, To: 200 * ms}, 150 * ms, 149 * ms, 0, 0, Matched,
			false},
		"too early":                          {window{From: 100 * ms}, 99 * ms, 98 * ms, 0, 0, Mismatched, false},
		"too early, whatever the lag":        {window{From: 100 * ms}, 99 * ms, 98 * ms, time.Second, 0, Mismatched, false},
		"early only after the write":         {window{From: 100 * ms}, 101 * ms, 99 * ms, 0, 0, Matched, false},
		"at the lower bound":                 {window{From: 100 * ms}, 100 * ms, 90 * ms, 0, 0, Matched, false},
		"too late":                           {window{To: 100 * ms}, 110 * ms, 101 * ms, 0, 0, Mismatched, false},
		"late only from before the write":    {window{To: 100 * ms}, 110 * ms, 100 * ms, 0, 0, Matched, false},
		"late, and lag may explain it":       {window{To: 100 * ms}, 110 * ms, 105 * ms, 5 * ms, 0, Unsure, true},
		"late, and lag does not explain it":  {window{To: 100 * ms}, 110 * ms, 106 * ms, 5 * ms, 0, Mismatched, false},
		"in time, and lag would explain it":  {window{To: 100 * ms}, 100 * ms, 100 * ms, 5 * ms, 0, Matched, false},
		"late by the round trip":             {window{To: 100 * ms}, 110 * ms, 105 * ms, 0, 5 * ms, Matched, false},
		"late by more than that":             {window{To: 100 * ms}, 110 * ms, 106 * ms, 0, 5 * ms, Mismatched, false},
		"late by that and by lag":            {window{To: 100 * ms}, 110 * ms, 106 * ms, ms, 5 * ms, Unsure, true},
		"only a lower bound, and far beyond": {window{From: 100 * ms}, time.Hour, time.Hour, 0, 0, Matched, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Result{Outcome: Matched}
			r.judgeTime(test.window, test.longest, test.short, test.slack, test.excuse)
			assert.Equal(t, test.want, r.Outcome, r.Cause)
			assert.Equal(t, test.passing, r.Transient)
			assert.Equal(t, test.want == Matched, r.Cause == "")
		})
	}
}
