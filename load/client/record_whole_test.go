package client_test

import (
	"bytes"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance/fwpsuite"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/slow"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/workload"
)

// recorded has a test work with a run that is over, and with its history.
func recorded(t *testing.T, server fakes.Config, load workload.Workload, patience time.Duration,
	during func(r *run), test func(r *run, h *history.History), change ...func(*client.Config),
) {
	t.Helper()
	var recorder *history.Recorder
	whole(t, server, load, func(r *run) {
		r.patience = patience
		r.begin()
		during(r)
		drained := r.finish()
		h := recorder.History()
		r.each(func(c *client.Shard) { c.Complete(h) })
		h.Drained = drained
		test(r, h)
	}, append(change, func(c *client.Config) {
		if recorder == nil { // in virtual time
			recorder = history.NewRecorder()
		}
		c.History = recorder
	})...)
}

func tenSeconds(*run) { time.Sleep(10 * time.Second) }

// suspects are the jobs of the ledger's findings, sorted.
func (r *run) suspects(load workload.Workload) []string {
	jobs, found := load.Jobs("whole", 1), r.ledger.Findings()
	set := map[string]bool{}
	add := func(k int64) { set[string(jobs.AppendJID(nil, k))] = true }
	for k := range r.ledger.Missing() {
		add(k)
	}
	for _, k := range slices.Concat(found.Twice, found.Returned) {
		add(k)
	}
	for _, f := range found.Foreign {
		set[f.JID] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// guilty are the jobs of a history's findings, sorted, and the clauses.
func guilty(findings []history.Finding) (jids []string, clauses map[string]int) {
	clauses = map[string]int{}
	for _, f := range findings {
		clauses[fwpsuite.ClauseOf(string(f.Breach))]++
		jids = append(jids, f.JID)
	}
	slices.Sort(jids)
	return slices.Compact(jids), clauses
}

// everyHundredth does something at each hundredth event of a kind.
func everyHundredth(point fakes.Point, do func(*fakes.Event)) func() func(*fakes.Event) {
	return func() func(*fakes.Event) {
		var n atomic.Int64
		return func(e *fakes.Event) {
			if e.Point == point && n.Add(1)%100 == 0 {
				do(e)
			}
		}
	}
}

func TestTheHistoryFindsWhatTheLedgerFinds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		hook    func() func(*fakes.Event)
		clauses []string // one of them at least, and no other
	}{
		"lost": {everyHundredth(fakes.Defaulted, func(e *fakes.Event) { e.Skip = true }), []string{"FWP-PUSH-04"}},
		"twice": {everyHundredth(fakes.Delivered, func(e *fakes.Event) { e.Again = true }),
			[]string{"FWP-STATE-05", "FWP-ACK-02"}},
		"back after ACK": {everyHundredth(fakes.Acked, func(e *fakes.Event) { e.Again = true }),
			[]string{"FWP-STATE-05", "FWP-ACK-02"}},
		"wrong queue": {wrongQueue, []string{"FWP-WU-04"}},
		"altered": {
			everyHundredth(fakes.Delivered, func(e *fakes.Event) { e.Object.Set("args", `["whole",1,2,3,"x"]`) }),
			[]string{"FWP-WU-03"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			load := roundtrip()
			load.Rate, load.Work = 50, workload.Range{Min: 10 * time.Millisecond, Max: 50 * time.Millisecond}
			recorded(t, fakes.Config{Hook: test.hook()}, load, time.Minute, tenSeconds, func(r *run, h *history.History) {
				assert.True(t, h.Drained)
				report := history.Examine(h)
				jids, clauses := guilty(report.Findings)
				assert.Equal(t, r.suspects(load), jids)
				assert.Len(t, jids, 5)
				assert.Subset(t, test.clauses, slices.Collect(maps.Keys(clauses)))
				assert.Equal(t, 500, report.Jobs)
				same(t, h)
			})
		})
	}
}

// same has a history judged again when it was saved and loaded.
func same(t *testing.T, h *history.History) {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, h.Save(&file))
	again, err := history.Load(&file)
	require.NoError(t, err)
	assert.Equal(t, history.Examine(h), history.Examine(again))
}

func TestARightServerMakesNoFinding(t *testing.T) {
	t.Parallel()
	once := 1
	ms := func(n int) workload.Range {
		return workload.Range{Min: time.Millisecond, Max: time.Duration(n) * time.Millisecond}
	}
	cases := map[string]func(w *workload.Workload){
		"round trip": func(*workload.Workload) {},
		"priority": func(w *workload.Workload) {
			w.Queues, w.Work = workload.Queues{Number: 4, Pick: workload.Priority}, ms(10)
		},
		"pool": func(w *workload.Workload) {
			w.Topology = workload.Topology{Kind: workload.Pool, Fetchers: 2, Reporters: 2, Concurrency: 20}
			w.Work = ms(50)
		},
		"push":      func(w *workload.Workload) { w.Consumers = 0 },
		"prefilled": func(w *workload.Workload) { w.Prefill = slow.Pick[int64](300, 1000) },
		"scheduled": func(w *workload.Workload) { w.Delay = workload.Range{Min: time.Second, Max: 5 * time.Second} },
		"failing":   func(w *workload.Workload) { w.FailShare, w.Retry = 0.3, &once },
		"churn": func(w *workload.Workload) {
			*w = workload.Workload{
				Churn: true, Connections: 20, Rate: w.Rate, Duration: w.Duration, Payload: workload.Constant(10),
			}
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			load := roundtrip()
			load.Rate = slow.Pick[workload.Rate](50, 200)
			change(&load)
			server := fakes.Config{RetryDelay: func(int) time.Duration { return time.Second }}
			recorded(t, server, load, time.Minute, tenSeconds, func(r *run, h *history.History) {
				require.True(t, h.Drained)
				assert.Empty(t, r.suspects(load))
				report := history.Examine(h)
				assert.Empty(t, report.Findings)
				assert.EqualValues(t, r.ledger.Count(true).Pushed, report.Jobs)
				assert.Equal(t, report.Jobs, report.Settled, report.Undecided)
				same(t, h)
			})
		})
	}
}

// What has no reply stays open, and a server that is killed is not accused of what it
// may have done.
func TestTheHistoryOfAServerThatIsKilled(t *testing.T) {
	t.Parallel()
	load := roundtrip()
	load.ReserveFor = workload.Duration(time.Minute)
	server := fakes.Config{MinReserve: time.Minute, RetryDelay: func(int) time.Duration { return time.Second }}
	kill := func(r *run) {
		for range 3 {
			time.Sleep(2 * time.Second)
			require.NoError(t, r.server.Kill())
		}
		time.Sleep(4 * time.Second)
	}
	recorded(t, server, load, 5*time.Minute, kill, func(r *run, h *history.History) {
		assert.Empty(t, history.Judge(h))
		var open int64
		for _, e := range h.Events {
			if e.Op == history.Push && e.Outcome == history.Open {
				open++
			}
		}
		assert.Equal(t, r.ledger.Count(true).Doubtful, open)
		same(t, h)
	})
}

// A worker learns by its next BEAT that it was told to be quiet; until then its FETCHes
// find nothing although jobs are there.
func TestTheHistoryOfQuietWorkers(t *testing.T) {
	t.Parallel()
	load := roundtrip()
	signal := func(r *run) {
		time.Sleep(20 * time.Second)
		require.NoError(t, r.server.Signal("fwpbench-whole-w0", "quiet"))
		require.NoError(t, r.server.Signal("fwpbench-whole-w1", "terminate"))
		time.Sleep(20 * time.Second)
	}
	recorded(t, fakes.Config{}, load, time.Minute, signal, func(_ *run, h *history.History) {
		assert.Empty(t, history.Judge(h))
		marked := map[string]bool{}
		for _, e := range h.Events {
			if e.Quiet {
				marked[e.Worker] = true
				assert.GreaterOrEqual(t, e.Return, 15*time.Second, "the BEAT before that said nothing of it")
			}
		}
		assert.Equal(t, map[string]bool{"fwpbench-whole-w0": true, "fwpbench-whole-w1": true}, marked)
	})
}

// Where the record breaks off nothing is found that is only missing there, and what was
// found before stays.
func TestTheHistoryHasALimit(t *testing.T) {
	t.Parallel()
	const limit = 500
	load := roundtrip()
	load.Rate, load.Work = 100, workload.Range{Min: 10 * time.Millisecond, Max: 50 * time.Millisecond}
	limited := func(c *client.Config) { c.HistoryLimit = limit }
	twice := everyHundredth(fakes.Delivered, func(e *fakes.Event) { e.Again = true })
	recorded(t, fakes.Config{Hook: twice()}, load, time.Minute, tenSeconds, func(r *run, h *history.History) {
		assert.Less(t, len(h.Events), loops*(limit+10))
		require.Positive(t, h.Cut)
		assert.Less(t, h.Cut, 6*time.Second)
		found, clauses := guilty(history.Judge(h))
		assert.NotEmpty(t, found)
		assert.Subset(t, r.suspects(load), found)
		assert.NotContains(t, clauses, "FWP-PUSH-04")
		assert.NotContains(t, clauses, "FWP-FETCH-03")
		same(t, h)
	}, limited)
}
