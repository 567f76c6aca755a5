package client_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/blockq"
	"github.com/fwpsuite/fwp/internal/blockq/blockqspeaker"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/protocol"
	"github.com/fwpsuite/fwp/load/workload"
)

// blockRun has a test work with a run of the second protocol that is over, and its history.
func blockRun(t *testing.T, fault blockq.Fault, load workload.Workload,
	test func(r *run, drained bool, h *history.History),
) {
	t.Helper()
	var recorder *history.Recorder
	wholeAt(t, func(r *run, network *memnet.Network) func() {
		recorder = history.NewRecorder()
		listener, err := network.Listen("server:7419")
		require.NoError(t, err)
		server := &blockq.Server{Fault: fault}
		go func() { _ = server.Serve(listener) }()
		return func() { _ = server.Close() }
	}, load, func(r *run) {
		r.patience = 30 * time.Second
		r.begin()
		time.Sleep(10 * time.Second)
		drained := r.finish()
		test(r, drained, recorder.History())
	}, func(c *client.Config) { c.Speaker, c.History = blockqspeaker.Protocol{}.Speaker, recorder })
}

// blockLoad has a worker for each queue: a take names one.
func blockLoad() workload.Workload {
	load := roundtrip()
	load.Rate, load.Queues.Number = 50, load.Consumers
	load.Work = workload.Range{Min: 10 * time.Millisecond, Max: 30 * time.Millisecond}
	return load
}

// A protocol that is unlike FWP in all that matters to a client is put under load by the
// same roles: everything that was pushed is taken and finished.
func TestASecondProtocolUnderLoad(t *testing.T) {
	t.Parallel()
	cases := map[string]func(w *workload.Workload){
		"plain": func(*workload.Workload) {},
		"pool": func(w *workload.Workload) {
			w.Topology = workload.Topology{Kind: workload.Pool, Fetchers: 2, Reporters: 2, Concurrency: 5}
		},
		"own queues": func(w *workload.Workload) { w.QueuePerJob = 0.1 },
		"observed":   func(w *workload.Workload) { w.Observers, w.ObserveEvery = 1, workload.Duration(time.Second) },
		"churn":      func(w *workload.Workload) { w.Producers, w.Churn, w.Connections = 0, true, 20 },
		"restless": func(w *workload.Workload) {
			w.Disconnects, w.DisconnectAt = 0.1, []workload.Phase{workload.AtHello, workload.AtIdle}
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			load := blockLoad()
			change(&load)
			blockRun(t, "", load, func(r *run, drained bool, h *history.History) {
				assert.True(t, drained)
				counts := r.ledger.Count(true)
				assert.EqualValues(t, 500, counts.Pushed+r.total.Dropped())
				assert.Greater(t, counts.Pushed, int64(475))
				assert.Equal(t, counts.Pushed, counts.Acked)
				assert.Zero(t, counts.Lost+counts.Duplicated+counts.Foreign+counts.Returned)
				assert.NoError(t, r.status().First)
				report := history.Examine(h)
				assert.Empty(t, report.Findings)
				assert.Equal(t, int(counts.Pushed), report.Settled)
			})
		})
	}
}

// What is wrong with its server shows in the account, or as a breach.
func TestFaultsOfASecondProtocol(t *testing.T) {
	t.Parallel()
	cases := map[blockq.Fault]func(t *testing.T, r *run, breaches []client.Breach){
		blockq.DeliveredTwice: func(t *testing.T, r *run, breaches []client.Breach) {
			counts := r.ledger.Count(false)
			assert.Positive(t, counts.Duplicated+counts.Returned)
			assert.Empty(t, breaches)
		},
		blockq.Lost: func(t *testing.T, r *run, breaches []client.Breach) {
			counts := r.ledger.Count(true)
			assert.Equal(t, counts.Pushed, counts.Lost)
			assert.Empty(t, breaches)
		},
		blockq.Foreign: func(t *testing.T, _ *run, breaches []client.Breach) {
			require.NotEmpty(t, breaches)
			assert.Equal(t, "foreign-reply:take", breaches[0].First.Breach)
		},
		blockq.BlockShort: func(t *testing.T, _ *run, breaches []client.Breach) {
			require.NotEmpty(t, breaches)
			assert.Equal(t, protocol.BrokenGrammar, breaches[0].First.Breach)
		},
		blockq.Silent: func(t *testing.T, r *run, _ []client.Breach) {
			assert.Positive(t, r.total.Errors(measure.Ack, measure.Timeout))
		},
	}
	for fault, judge := range cases {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			blockRun(t, fault, blockLoad(), func(r *run, _ bool, _ *history.History) {
				var breaches []client.Breach
				r.each(func(c *client.Shard) { breaches = append(breaches, c.Breaches()...) })
				judge(t, r, breaches)
			})
		})
	}
}
