package play

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/lag"
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
		window  scenarios.Window
		timing  timing
		want    Outcome
		passing bool
	}{
		"no bounds": {
			window{}, timing{early: took(9 * time.Hour), late: took(9 * time.Hour)}, Matched, false,
		},
		"within both": {
			window{From: 100 * ms, To: 200 * ms}, timing{early: took(150 * ms), late: took(149 * ms)}, Matched, false,
		},
		"too early": {window{From: 100 * ms}, timing{early: took(99 * ms)}, Mismatched, false},
		"too early, if it is read late or not": {
			window{From: 100 * ms}, timing{early: span(20*ms, 99*ms)}, Mismatched, false,
		},
		"too early, if it was read late": {window{From: 100 * ms}, timing{early: span(99*ms, 101*ms)}, Unsure, true},
		"at the lower bound":             {window{From: 100 * ms}, timing{early: took(100 * ms)}, Matched, false},
		"too early, unless the line was late": {
			window{From: 100 * ms}, timing{early: took(90 * ms), behind: 10 * ms}, Unsure, true,
		},
		"too early, though the line was late": {
			window{From: 100 * ms}, timing{early: took(90 * ms), behind: 9 * ms}, Mismatched, false,
		},
		"too late":                          {window{To: 100 * ms}, timing{late: took(101 * ms)}, Mismatched, false},
		"at the upper bound":                {window{To: 100 * ms}, timing{late: took(100 * ms)}, Matched, false},
		"late, and lag may explain it":      {window{To: 100 * ms}, timing{late: span(100*ms, 105*ms)}, Unsure, true},
		"late, and lag does not explain it": {window{To: 100 * ms}, timing{late: span(101*ms, 105*ms)}, Mismatched, false},
		"in time, and lag would explain it": {window{To: 100 * ms}, timing{late: span(0, 100*ms)}, Matched, false},
		"late by the round trip": {
			window{To: 100 * ms}, timing{late: took(105 * ms), slack: 5 * ms}, Matched, false,
		},
		"late by more than that": {
			window{To: 100 * ms}, timing{late: took(106 * ms), slack: 5 * ms}, Mismatched, false,
		},
		"late by that and by lag": {
			window{To: 100 * ms}, timing{late: span(105*ms, 106*ms), slack: 5 * ms}, Unsure, true,
		},
		"only a lower bound, and far beyond": {window{From: 100 * ms}, timing{early: took(time.Hour)}, Matched, false},
		"too late, and perhaps too early": {
			window{From: 100 * ms, To: 200 * ms}, timing{early: span(99*ms, 300*ms), late: took(300 * ms)}, Mismatched, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Result{Outcome: Matched}
			r.judgeTime(test.window, test.timing)
			assert.Equal(t, test.want, r.Outcome, r.Cause)
			assert.Equal(t, test.passing, r.Transient)
			assert.Equal(t, test.want == Matched, r.Cause == "")
		})
	}
}

func span(shortest, longest time.Duration) lag.Span {
	return lag.Span{Shortest: shortest, Longest: longest}
}

func took(d time.Duration) lag.Span { return span(d, d) }
