package play

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
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

// A window that begins with the reply on another connection is the same however late all replies are.
func TestAWindowBeginsWithAnotherReply(t *testing.T) {
	t.Parallel()
	const text = "connect worker as consumer\nconnect client as producer\nC[worker]: FETCH $queue\nsilence 300ms\n" +
		"C[client]: PUSH $job\nS[client]: +OK\nS[worker] ..800ms after client: ${}\n"
	const none = "connect worker as consumer\nconnect client as producer\nC[worker]: PUSH $job\n" +
		"S[worker] ..800ms after client: +OK\n"
	for name, test := range map[string]struct {
		text         string
		reply, fetch time.Duration // by which all replies, and those of FETCH, are late
		want         Outcome
	}{
		"in time":            {text, 0, 0, Matched},
		"all replies late":   {text, 1200 * time.Millisecond, 0, Matched},
		"the job alone":      {text, 0, 1200 * time.Millisecond, Mismatched},
		"no reply before it": {none, 0, 0, Unsure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script, err := scenarios.Parse(fwpscript.Dialect{}, "x", []byte(test.text))
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				place := memnet.NewPlace()
				server := fakes.NewServer(fakes.Config{Listen: place.Listen, Hook: func(e *fakes.Event) {
					if e.Point != fakes.Ran {
						return
					}
					if e.Delay = test.reply; e.Command.Verb == "FETCH" {
						e.Delay += test.fetch
					}
				}})
				defer server.Close()
				results := (&Player{Target: place}).Play(t.Context(), script, "fwp-test-0001").Results
				assert.Equal(t, test.want, results[len(results)-1].Outcome)
			})
		})
	}
}
