package load_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/load/plan"
)

// closedLoop has many fast producers, and a few workers that need 20 ms for a job.
func closedLoop(backlog int) plan.Workload {
	return plan.Workload{
		Producers: 20, Consumers: 4, Payload: plan.Constant(10), Duration: plan.Duration(second),
		Work: plan.Range{Min: 20 * ms, Max: 20 * ms}, Queues: plan.Queues{Number: 2}, Backlog: backlog,
		Drain: plan.Duration(600 * second),
	}
}

// peakBacklog runs a load and returns the most jobs that were in the server at a time, and how many were pushed.
func peakBacklog(t *testing.T, w plan.Workload) (peak, pushed int64) {
	t.Helper()
	var n, peakSoFar int64
	count := countJobs(&n)
	b := bench{load: w, hooks: []func(*fakes.Event){count, func(*fakes.Event) {
		for now := atomic.LoadInt64(&n); ; {
			before := atomic.LoadInt64(&peakSoFar)
			if now <= before || atomic.CompareAndSwapInt64(&peakSoFar, before, now) {
				return
			}
		}
	}}}
	l := b.run(t)
	assert.Empty(t, l.Findings)
	assert.True(t, l.Jobs.IsDrained)
	return atomic.LoadInt64(&peakSoFar), l.Jobs.Pushed
}

// The presets of a closed loop hold their producers, so that their end-to-end latencies are no backlog.
func TestPresetsHoldTheirProducers(t *testing.T) {
	t.Parallel()
	for preset, want := range map[string]int64{"roundtrip": 2 * 4, "failing": 2 * 4} {
		w, err := plan.Preset(preset)
		require.NoError(t, err)
		peak, _ := peakBacklog(t, closedLoop(w.Backlog))
		assert.Equal(t, want+4, peak, preset) // and four are being worked on
	}
}

func TestBacklogIsHeld(t *testing.T) {
	t.Parallel()
	peak, pushed := peakBacklog(t, closedLoop(1))
	assert.LessOrEqual(t, peak, int64(2*4), "four wait, and four are being worked on")
	assert.Greater(t, pushed, int64(130), "the workers have work all the time: 4 * 1 s / (20 ms and three replies)")
	away := closedLoop(0)
	away.Duration = plan.Duration(40 * ms)
	peak, _ = peakBacklog(t, away)
	assert.Greater(t, peak, int64(200), "without it the producers run away")
}

// A server that loses jobs does not hold the producers for ever.
func TestBacklogThatNeverComesIsForgotten(t *testing.T) {
	t.Parallel()
	w := closedLoop(1)
	w.Duration, w.JobLimit = 0, 40
	b := bench{load: w, hooks: []func(*fakes.Event){func(e *fakes.Event) {
		if e.Point == fakes.Defaulted {
			e.Skip = true
		}
	}}}
	l := b.run(t)
	assert.Equal(t, int64(40), l.Jobs.Pushed)
	assert.Equal(t, int64(40), l.Jobs.LostJobs)
}

// The most arrivals that waited at a time are those of any moment, not of the ends of seconds.
func TestAShortBacklog(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Producers = 2
	l := bench{load: w, hooks: []func(*fakes.Event){stallServer(2500*ms, 100*ms)}}.run(t)
	assert.InDelta(t, 8, l.Rate.Queued, 2)
	assert.InDelta(t, 8, l.Rate.Backlog, 2)
}
