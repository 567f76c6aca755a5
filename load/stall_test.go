package load

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/results"
)

func TestWatchdog(t *testing.T) {
	t.Parallel()
	type look struct {
		at     time.Duration
		status client.Status
	}
	last := errors.New("no room")
	second := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	tests := map[string]struct {
		patience time.Duration
		silent   time.Duration
		looks    []look
		want     string
	}{
		"nothing is asked": {looks: []look{{second(60), client.Status{}}}},
		"commands succeed": {looks: []look{
			{second(9), client.Status{InFlight: 1, ServedCommands: 1, RepliedAt: second(9)}},
			{second(18), client.Status{InFlight: 1, ServedCommands: 2, RepliedAt: second(18)}},
		}},
		"no answer": {
			looks: []look{{second(10.1), client.Status{InFlight: 1}}},
			want:  "no reply for 10 s",
		},
		"no answer, but there is time": {silent: second(20), looks: []look{{second(20), client.Status{InFlight: 1}}}},
		"no answer in the longer time": {
			silent: second(20), looks: []look{{second(20.1), client.Status{InFlight: 1}}},
			want: "no reply for 20 s",
		},
		"no answer, and less time": {silent: second(3), looks: []look{{second(10), client.Status{InFlight: 1}}}},
		"no answer yet":            {looks: []look{{second(10), client.Status{InFlight: 1}}}},
		"workers work":             {patience: second(1), looks: []look{{second(11), client.Status{InFlight: 1}}}},
		"answers come":             {looks: []look{{second(6), client.Status{}}, {second(16), client.Status{InFlight: 1}}}},
		"a few errors":             {looks: []look{{second(9), client.Status{Errors: 9}}}},
		"errors at once":           {looks: []look{{second(5), client.Status{Errors: 10}}}},
		"errors only": {
			looks: []look{{second(5.1), client.Status{Errors: 10}}},
			want:  "only errors for 5 s",
		},
		"errors only, and the last": {
			looks: []look{{second(2), client.Status{ServedCommands: 1, Errors: 5}},
				{second(7.5), client.Status{ServedCommands: 1, Errors: 15, LastError: last}}},
			want: "only errors for 6 s (no room)",
		},
		"errors before the last success": {looks: []look{
			{second(2), client.Status{ServedCommands: 1, Errors: 6}}, {second(7.5), client.Status{ServedCommands: 1, Errors: 15}},
		}},
		"errors while workers work": {patience: second(1), looks: []look{{second(6), client.Status{Errors: 10}}}},
		"a stall stays": {
			looks: []look{{second(10.1), client.Status{InFlight: 1}}, {second(30), client.Status{InFlight: 1, ServedCommands: 1}}},
			want:  "no reply for 10 s",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watchdog{replyTimeout: test.silent}
			for _, look := range test.looks {
				w.observe(look.at, &look.status, test.patience)
			}
			assert.Equal(t, test.want, w.stall)
			assert.Equal(t, test.want != "", w.hasStalled())
			w.observe(second(40), &client.Status{}, 0)
			w.reset(second(40), &client.Status{Errors: 100})
			w.observe(second(46), &client.Status{Errors: 109}, 0)
			assert.False(t, w.hasStalled(), "after a reset")
		})
	}
}

// A phase has its own time for a silence, whose length counts from the last reply.
func TestASilenceIsLongerThanItsPhase(t *testing.T) {
	t.Parallel()
	var w watchdog
	silent := client.Status{InFlight: 1, RepliedAt: 3 * time.Second}
	w.observe(8*time.Second, &silent, 0)
	w.reset(8*time.Second, &silent)
	w.observe(18*time.Second, &silent, 0)
	assert.False(t, w.hasStalled())
	w.observe(19*time.Second, &silent, 0)
	assert.Equal(t, "no reply for 16 s", w.stall)
}

// A gap is a second or more in which a reply is due and none comes.
func TestGaps(t *testing.T) {
	t.Parallel()
	const s, tick = time.Second, 20 * time.Millisecond
	type span struct{ from, until time.Duration }
	isWithin := func(at time.Duration, spans []span) bool {
		return slices.ContainsFunc(spans, func(x span) bool { return at > x.from && at <= x.until })
	}
	for name, test := range map[string]struct {
		silent, idle, stopped, empties []span // no reply comes; none is due; this process stood still
		want                           []results.Gap
	}{
		"none":                     {},
		"three seconds":            {silent: []span{{4 * s, 7 * s}}, want: []results.Gap{{From: 4 * s, Until: 7*s + tick}}},
		"until the end":            {silent: []span{{8 * s, 11 * s}}, want: []results.Gap{{From: 8 * s, Until: 10 * s}}},
		"less than a second":       {silent: []span{{4 * s, 4*s + 900*time.Millisecond}}},
		"nothing was due":          {silent: []span{{4 * s, 7 * s}}, idle: []span{{4 * s, 7 * s}}},
		"this process stood still": {silent: []span{{4 * s, 7 * s}}, stopped: []span{{4 * s, 7 * s}}},
		"but for empty fetches": {
			silent: []span{{4 * s, 7 * s}}, empties: []span{{5 * s, 6 * s}},
			want: []results.Gap{{From: 4 * s, Until: 7*s + tick, HasEmptyFetches: true}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g gaps
			var status client.Status
			for now := tick; now <= 10*s; now += tick {
				if isWithin(now, test.stopped) {
					continue
				}
				if !isWithin(now, test.silent) {
					status.UsefulReplyAt, status.RepliedAt = now, now
				}
				if isWithin(now, test.empties) {
					status.RepliedAt = now
				}
				g.observe(now, &status, func() time.Duration {
					if isWithin(now, test.idle) {
						return 0
					}
					return 1
				})
			}
			g.end(10 * s)
			assert.Equal(t, test.want, g.all)
		})
	}
}
