package client_test

import (
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/faults"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/workload"
)

// restless is a load whose clients do all that they may do by themselves: of 2,000 jobs with FWP_SLOW=1, of 800
// otherwise.
func restless() workload.Workload {
	load := roundtrip()
	load.Rate, load.Disconnects, load.QueuePerJob = slow.Pick[workload.Rate](80, 200), 0.1, 0.125
	load.Observers, load.ObserveEvery = 1, workload.Duration(50*time.Millisecond)
	return load
}

// Clients that end their connections in every phase keep the account exact, and the
// history of a right server makes no finding: every job is pushed and taken to its end.
func TestDisconnectsKeepTheAccountExact(t *testing.T) {
	t.Parallel()
	once := 1
	cases := map[string]func(w *workload.Workload){
		"all":       func(*workload.Workload) {},
		"no queues": func(w *workload.Workload) { w.QueuePerJob = 0 },
		"only own":  func(w *workload.Workload) { w.QueuePerJob = 1 },
		"closed":    func(w *workload.Workload) { w.Rate, w.JobLimit, w.Duration = 0, int64(10*w.Rate), 0 },
		"push":      func(w *workload.Workload) { w.Consumers = 0 },
		"pool": func(w *workload.Workload) {
			w.Topology = workload.Topology{Kind: workload.Pool, Fetchers: 2, Reporters: 2, Concurrency: 5}
		},
		"failing":    func(w *workload.Workload) { w.FailShare, w.Retry = 0.3, &once },
		"idle, only": func(w *workload.Workload) { w.DisconnectAt = []workload.Phase{workload.AtIdle} },
		"churn":      func(w *workload.Workload) { w.Producers, w.Consumers, w.Churn, w.Connections = 0, 5, true, 20 },
	}
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		if !slow.Enabled() && i%2 != 0 {
			continue
		}
		change := cases[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			load := restless()
			rate := int64(load.Rate)
			change(&load)
			server := fakes.Config{RetryDelay: func(int) time.Duration { return time.Second }}
			recorded(t, server, load, time.Minute, tenSeconds, func(r *run, h *history.History) {
				assert.True(t, h.Drained, r.status())
				assert.Empty(t, r.suspects(load))
				counts := r.ledger.Count(true)
				assert.Zero(t, counts.Refused)
				assert.Zero(t, counts.Held)
				assert.Greater(t, counts.Pushed, 5*rate)
				assert.Equal(t, name != "idle, only", counts.Doubtful > rate/20)
				assert.Greater(t, r.status().Disconnects, rate/2)
				report := history.Examine(h)
				assert.Empty(t, report.Findings)
				open := slices.DeleteFunc(report.Undecided, func(u history.Undecided) bool { return u.Unsent })
				assert.LessOrEqual(t, len(open), report.Jobs/100, "what is moved twice at the same time stays open")
				assert.NoError(t, r.status().First)
				same(t, h)
			})
		})
	}
}

// Where the reply to a FETCH or a FAIL is not awaited, jobs come back when their reservation
// ends or after their retry, and nothing is found all the same.
func TestDisconnectsWhileFetching(t *testing.T) {
	t.Parallel()
	load := restless()
	load.Rate = 200 // so many that a job waits after a FAIL until the last reservation of a FETCH has ended: see finish
	load.Retry, load.FailShare, load.ReserveFor = new(int), 0.1, workload.Duration(time.Minute)
	load.DisconnectAt = []workload.Phase{workload.AtFetch, workload.AtFail}
	server := fakes.Config{MinReserve: time.Minute}
	recorded(t, server, load, 5*time.Minute, tenSeconds, func(r *run, h *history.History) {
		open := map[history.Op]int{}
		for _, e := range h.Events {
			if e.Outcome == history.Open {
				open[e.Op]++
			}
		}
		assert.Greater(t, open[history.Fetch], 10)
		assert.Greater(t, open[history.Fail], 1)
		assert.Zero(t, open[history.Push]+open[history.Ack])
		assert.Empty(t, r.suspects(load))
		assert.Zero(t, r.ledger.Count(true).Lost)
		assert.Empty(t, history.Judge(h))
	})
}

// What is wrong with a server shows as well when its clients disconnect and jobs have queues
// of their own.
func TestDisconnectsHideNoFault(t *testing.T) {
	t.Parallel()
	names := []string{"delivered-twice", "push-lost", "reply-swapped", "ack-redelivered"}
	for _, name := range slow.Pick(names[:3], names) { // the last one takes as long as the others together
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fault, _ := faults.Named(name)
			server := fakes.Config{MinReserve: time.Minute, Hook: fault.Hook()}
			load := restless()
			load.Work = workload.Range{Min: 10 * time.Millisecond, Max: 50 * time.Millisecond}
			recorded(t, server, load, time.Minute, tenSeconds, func(r *run, h *history.History) {
				_, clauses := guilty(history.Judge(h))
				assert.True(t, slices.ContainsFunc(fault.Clauses, func(clause string) bool { return clauses[clause] > 0 }), clauses)
			})
		})
	}
}

// An observer beats at once and asks with INFO while others push, and no longer.
func TestObserversAskWhileOthersPush(t *testing.T) {
	t.Parallel()
	var asked, beats atomic.Int64
	var last time.Time
	server := fakes.Config{Hook: func(e *fakes.Event) {
		switch {
		case e.Point != fakes.Checked:
		case e.Command.Verb == fwp.INFO:
			asked.Add(1)
			last = time.Now()
		case e.Command.Verb == fwp.BEAT:
			beats.Add(1)
		}
	}}
	load := roundtrip()
	load.Observers, load.ObserveEvery = 1, workload.Duration(100*time.Millisecond)
	whole(t, server, load, func(r *run) {
		r.begin()
		began := time.Now()
		assert.EqualValues(t, 1, beats.Load())
		time.Sleep(10 * time.Second)
		require.True(t, r.finish())
		assert.InDelta(t, 100, asked.Load(), 2)
		assert.LessOrEqual(t, last.Sub(began), 10*time.Second)
		assert.Equal(t, asked.Load(), r.total.Done(measure.Info)+r.total.Aside(measure.Info))
	})
}
