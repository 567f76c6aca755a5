package load_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/reports"
)

// refuseCommand has the server refuse a command between two times, counted from the first PUSH.
func refuseCommand(verb string, from, until time.Duration) func(*fakes.Event) {
	var first atomic.Pointer[time.Time]
	return func(e *fakes.Event) {
		if e.Point != fakes.Checked {
			return
		}
		if e.Command.Verb == fwp.PUSH {
			first.CompareAndSwap(nil, new(time.Now()))
		}
		begin := first.Load()
		if begin == nil || e.Command.Verb != verb {
			return
		}
		if since := time.Since(*begin); since >= from && since < until {
			e.Decline("", "out of memory")
		}
	}
}

// A closed loop pauses after a refusal: what counts is the time in which a command only failed.
func TestRefusalsCountByTheirTime(t *testing.T) {
	t.Parallel()
	const bad = reports.ExitFindings
	for name, test := range map[string]struct {
		verb        string
		from, until time.Duration
		rate        plan.Rate
		code        int
		words       string
		share       float64 // that push was refused
	}{
		"push":            {fwp.PUSH, 2 * second, 12 * second, 0, bad, "every PUSH was refused from 2.", 0.8},
		"fetch":           {fwp.FETCH, 2 * second, 12 * second, 0, bad, "every FETCH was refused from 2.", 0},
		"ack":             {fwp.ACK, 2 * second, 12 * second, 0, bad, "every ACK was refused from 2.", 0},
		"for a while":     {fwp.PUSH, 4 * second, 7 * second, 0, reports.ExitWell, "of the pushes refused", 0.25},
		"an instant":      {fwp.PUSH, 4 * second, 4100 * ms, 0, reports.ExitWell, "of the pushes refused", 0},
		"open":            {fwp.PUSH, 2 * second, 12 * second, 100, bad, "every PUSH was refused from 2.", 0.8},
		"nothing refused": {fwp.PUSH, time.Hour, time.Hour, 0, reports.ExitWell, "accounted for", 0},
	} {
		w := steadyLoad()
		w.Rate, w.Duration, w.Backlog = test.rate, plan.Duration(12*second), 2
		w.ReserveFor, w.Drain = plan.Duration(60*second), plan.Duration(300*second)
		limits, err := validity.ParseThreshold("refused<10%", load.Ops()...)
		require.NoError(t, err)
		l := bench{
			load: w, hooks: []func(*fakes.Event){refuseCommand(test.verb, test.from, test.until)},
			change: func(c *load.Config) { c.Thresholds = []validity.Threshold{limits} },
		}.run(t)
		l.Findings = nil // what a refused ACK leads to is another question
		code, words := l.Outcome(reports.ExitOptions{}).Values()
		if test.share > 0.1 && test.code == reports.ExitWell {
			test.code = reports.ExitFindings // the threshold
		}
		assert.Equal(t, test.code, code, "%s: %s", name, words)
		assert.Contains(t, words, test.words, name)
		assert.Equal(t, test.share < 0.1, l.Thresholds[0].IsMet, "%s: %s", name, l.Thresholds[0].Actual)
	}
}

// A dead target ends the load early: on request, and after half a minute in which nothing but refusals came.
func TestADeadTargetEndsEarly(t *testing.T) {
	t.Parallel()
	run := func(until time.Duration, conditions ...string) (measured time.Duration, code int, words string) {
		w := steadyLoad()
		w.Duration = plan.Duration(300 * second)
		l := bench{
			load: w, hooks: []func(*fakes.Event){refuseCommand(fwp.PUSH, 10*second, until)},
			change: func(c *load.Config) {
				for _, source := range conditions {
					a, err := validity.ParseAbort(source, load.Ops()...)
					require.NoError(t, err)
					c.AbortOn = append(c.AbortOn, a)
				}
			},
		}.run(t)
		code, words = l.Outcome(reports.ExitOptions{}).Values()
		return l.Measured, code, words
	}
	measured, code, words := run(time.Hour)
	assert.InDelta(t, 40*second, measured, float64(2*second))
	assert.Equal(t, reports.ExitFindings, code)
	assert.Contains(t, words, "ended early: nothing but refusals of push for 30 s")
	measured, code, words = run(time.Hour, "refused>50% for 5s")
	assert.InDelta(t, 14*second, measured, float64(3*second))
	assert.Equal(t, reports.ExitFindings, code)
	assert.Contains(t, words, "ended early: refused>50% for 5s")
	measured, _, words = run(30*second, "refused>50% for 1m")
	assert.Equal(t, 300*second, measured, "it is back")
	assert.NotContains(t, words, "ended early")
}
