package validity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// A closed loop whose generator was the limit has figures, which are bounds if its part of the median cycle is a tenth.
func TestTheGeneratorLimitsAClosedLoop(t *testing.T) {
	t.Parallel()
	closed := func(waited time.Duration, cpu float64, sources ...string) *results.Load {
		l := soundLoad()
		l.Plan.IsOpenLoop, l.Plan.Producers, l.Health.ReplyDelay, l.Health.CPUShare = false, 1, waited, cpu
		l.Rate = results.LoadRate{Op: "push", Achieved: 13_000, Done: 65_000}
		l.Ops[0].Lateness = results.Latency{Count: 100, P99: time.Microsecond}
		l.Ops[0].Response.P50, l.Ops[0].Response.P99 = time.Millisecond, 4*time.Millisecond
		validity.Evaluate(l, parseThresholds(sources...)...)
		return l
	}
	for name, test := range map[string]struct {
		waited    time.Duration
		cpu       float64
		hasLimit  bool
		hasBounds bool
	}{
		"quiet":              {20 * time.Microsecond, 0.3, false, false},
		"busy":               {20 * time.Microsecond, 0.92, true, false},
		"a tenth":            {100 * time.Microsecond, 0.3, true, true},
		"more than all":      {2 * time.Millisecond, 1, true, true},
		"a little less":      {99 * time.Microsecond, 0.85, false, false},
		"an engine is blind": {0, 0.86, true, false},
	} {
		l := closed(test.waited, test.cpu)
		assert.True(t, l.Validity.IsValid, name)
		assert.Equal(t, test.hasLimit, l.Validity.Limit != "", name)
		assert.Equal(t, test.hasBounds, l.Validity.HasBounds, name)
		assert.LessOrEqual(t, l.Validity.Share, 1.0, name)
	}
	_, words := closed(0, 0.92).Outcome(reports.ExitOptions{}).Values()
	assert.Contains(t, words, "at least 13,000 /s (jobs pushed): the generator was the limit, at 92 % of its CPU; all")

	sources := []string{"rate>=10000/s", "rate>=20000/s", "push.response.p99<5ms", "push.response.p99<3ms",
		"push.lateness.p99<1s", "push.response.p99>1ms"}
	for waited, want := range map[time.Duration][]string{
		0:                {"met", "undecided", "met", "missed", "met", "met"},
		time.Millisecond: {"met", "undecided", "met", "undecided", "met", "undecided"},
	} {
		l := closed(waited, 0.92, sources...)
		for i, r := range l.Thresholds {
			assert.Equal(t, want[i] == "met", r.IsMet, "%s %v", r.Threshold, waited)
			assert.Equal(t, want[i] == "undecided", r.IsUndecided, "%s %v", r.Threshold, waited)
		}
		code, _ := l.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, map[bool]int{true: reports.ExitFindings, false: reports.ExitInconclusive}[waited == 0], code)
	}
}
