package load_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
)

// runRecorded is the result of a run with its history, which says the same when it was saved and loaded.
func (b bench) runRecorded(t *testing.T) *load.Result {
	t.Helper()
	b.change = func(c *load.Config) { c.RecordHistory = true }
	if b.server.RetryDelay == nil {
		b.server.RetryDelay = func(int) time.Duration { return second }
	}
	result := b.result(t)
	var file bytes.Buffer
	require.NoError(t, result.History.Save(&file))
	restored, err := history.Load(&file)
	require.NoError(t, err)
	assert.Equal(t, result.Examination, history.Examine(restored))
	return result
}

// jobsOf returns the jobs of a history's findings, sorted, and the clauses.
func jobsOf(findings []history.Finding) (jids []string, clauses map[string]bool) {
	clauses = map[string]bool{}
	for _, f := range findings {
		clauses[fwpsuite.ClauseOf(string(f.Breach))] = true
		jids = append(jids, f.JID)
	}
	slices.Sort(jids)
	return slices.Compact(jids), clauses
}

// Whatever the load, the account and the history of a right server agree, and find nothing.
func TestTheHistoryOfARightServer(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	twice, rate := 2, golden.Sample[plan.Rate](50, 300)
	span := func(n time.Duration) plan.Range { return plan.Range{Min: ms, Max: n} }
	cases := map[string]func(w *plan.Workload){
		"round trip": func(*plan.Workload) {},
		"poisson":    func(w *plan.Workload) { w.Poisson = true },
		"closed":     func(w *plan.Workload) { w.Rate, w.Think, w.JobLimit, w.Duration = 0, span(20*ms), 300, 0 },
		"priority": func(w *plan.Workload) {
			w.Queues, w.Work = plan.Queues{Number: 4, Pick: plan.Priority}, span(10*ms)
		},
		"pool": func(w *plan.Workload) {
			w.Topology = plan.Topology{Kind: plan.Pool, Fetchers: 2, Reporters: 2, Concurrency: 20}
			w.Work = span(50 * ms)
		},
		"large":     func(w *plan.Workload) { w.Payload, w.Rate = plan.Constant(100_000), rate/10 },
		"push":      func(w *plan.Workload) { w.Consumers = 0 },
		"prefilled": func(w *plan.Workload) { w.Prefill = golden.Sample[int64](300, 1000) },
		"scheduled": func(w *plan.Workload) { w.Delay = span(5 * second) },
		"failing":   func(w *plan.Workload) { w.FailShare, w.Retry = 0.3, &twice },
		"churn": func(w *plan.Workload) {
			w.Producers, w.Consumers, w.Queues, w.Churn, w.Connections = 0, 0, plan.Queues{}, true, 20
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			w.Rate = rate
			change(&w)
			result := bench{server: fakes.Config{Password: "secret", Iterations: 10}, load: w}.runRecorded(t)
			l, judged := result.Report, result.Examination
			requireSound(t, l)
			assert.Greater(t, l.Jobs.Pushed, int64(4*w.Rate))
			assert.Equal(t, name == "failing", l.Jobs.Redelivered > 0)
			assert.Empty(t, judged.Findings)
			assert.EqualValues(t, l.Jobs.Pushed, judged.Jobs)
			assert.Equal(t, judged.Jobs, judged.Settled, judged.Undecided)
		})
	}
}

// The history proves of the jobs what the account says of them.
func TestTheHistoryFindsWhatTheAccountFinds(t *testing.T) {
	t.Parallel()
	repeat := func(e *fakes.Event) { e.Requeue = true }
	cases := map[string]struct {
		hook    func(*fakes.Event)
		clauses []string // one of them at least, and no other
	}{
		"lost":           {eachNth(fakes.Defaulted, 100, func(e *fakes.Event) { e.Skip = true }), []string{"FWP-PUSH-04"}},
		"twice":          {eachNth(fakes.Delivered, 100, repeat), []string{"FWP-STATE-05", "FWP-ACK-02"}},
		"back after ACK": {eachNth(fakes.Acked, 100, repeat), []string{"FWP-STATE-05", "FWP-ACK-02"}},
		"wrong queue": {
			eachNth(fakes.Delivered, 100, func(e *fakes.Event) { e.Object.SetText("queue", "default") }), []string{"FWP-WU-04"},
		},
		"altered": {
			eachNth(fakes.Delivered, 100, func(e *fakes.Event) { e.Object.Set("args", `["test",1,2,3,"x"]`) }),
			[]string{"FWP-WU-03"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			w.Work = plan.Range{Min: 10 * ms, Max: 50 * ms}
			result := bench{load: w, hooks: []func(*fakes.Event){test.hook}}.runRecorded(t)
			var account []string
			for _, f := range result.Report.Findings {
				if f.Kind != results.FindingHistory {
					account = append(account, f.JIDs...)
				}
			}
			slices.Sort(account)
			jids, clauses := jobsOf(result.Examination.Findings)
			assert.Equal(t, slices.Compact(account), jids)
			assert.Len(t, jids, 5)
			assert.Subset(t, test.clauses, slices.Collect(maps.Keys(clauses)))
			assert.Equal(t, 500, result.Examination.Jobs)
		})
	}
}

// Clients that end their connections in every phase keep the account exact, and the history of a right server makes no
// finding: every job is pushed and taken to its end.
func TestDisconnectsKeepTheAccountExact(t *testing.T) {
	t.Parallel()
	retries, rate := 1, golden.Sample[plan.Rate](80, 200)
	cases := map[string]func(w *plan.Workload){
		"all":    func(*plan.Workload) {},
		"closed": func(w *plan.Workload) { w.Rate, w.JobLimit, w.Duration = 0, int64(10*rate), 0 },
		"push":   func(w *plan.Workload) { w.Consumers = 0 },
		"pool": func(w *plan.Workload) {
			w.Topology = plan.Topology{Kind: plan.Pool, Fetchers: 2, Reporters: 2, Concurrency: 5}
		},
		"failing":    func(w *plan.Workload) { w.FailShare, w.Retry = 0.3, &retries },
		"idle, only": func(w *plan.Workload) { w.DisconnectAt = []plan.Phase{plan.AtIdle} },
		"churn":      func(w *plan.Workload) { w.Producers, w.Consumers, w.Churn, w.Connections = 0, 5, true, 20 },
	}
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		if !golden.IsSlow() && i%2 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := restlessLoad(rate)
			cases[name](&w)
			result := bench{load: w}.runRecorded(t)
			l, judged := result.Report, result.Examination
			assert.Empty(t, l.Findings)
			assert.True(t, l.Jobs.IsDrained, l.Jobs.DrainFailure)
			assert.Zero(t, l.Jobs.Refused+l.Jobs.HeldJobs)
			assert.Greater(t, l.Jobs.Pushed, 5*int64(rate))
			assert.Equal(t, name != "idle, only", l.Jobs.Doubtful > int64(rate)/20)
			assert.Greater(t, l.Connections.Disconnects, int64(rate)/2)
			assert.Zero(t, l.Connections.Losses)
			undecided := slices.DeleteFunc(judged.Undecided, func(u history.Undecided) bool { return u.Unsent })
			assert.LessOrEqual(t, len(undecided), judged.Jobs/100, "what is moved twice at the same time stays open")
		})
	}
}

// restlessLoad is a load whose clients do all that they may do by themselves.
func restlessLoad(rate plan.Rate) plan.Workload {
	w := steadyLoad()
	w.Rate, w.Duration, w.Disconnects = rate, plan.Duration(10*second), 0.1
	w.Observers, w.ObserveEvery = 1, plan.Duration(50*ms)
	return w
}

// Where the reply to a FETCH or a FAIL is not awaited, jobs come back when their reservation ends or after their retry,
// and nothing is found all the same.
func TestDisconnectsWhileFetching(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	w := restlessLoad(200)
	w.Retry, w.FailShare, w.ReserveFor = new(int), 0.1, plan.Duration(time.Minute)
	w.DisconnectAt, w.Drain = []plan.Phase{plan.AtFetch, plan.AtFail}, plan.Duration(5*time.Minute)
	result := bench{load: w, server: fakes.Config{MinReserve: time.Minute}}.runRecorded(t)
	openCalls := map[history.Op]int{}
	for _, e := range result.History.Events {
		if e.Outcome == history.NoReply {
			openCalls[e.Op]++
		}
	}
	assert.Greater(t, openCalls[history.Fetch], 10)
	assert.Greater(t, openCalls[history.Fail], 1)
	assert.Zero(t, openCalls[history.Push]+openCalls[history.Ack])
	assert.Empty(t, result.Report.Findings)
	assert.Zero(t, result.Report.Jobs.LostJobs)
}

// What has no reply stays open, and a server that is killed is not accused of what it may have done.
func TestTheHistoryOfAServerThatIsKilled(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Duration, w.ReserveFor, w.Drain = plan.Duration(10*second), plan.Duration(time.Minute),
		plan.Duration(5*time.Minute)
	result := bench{
		load: w, server: fakes.Config{MinReserve: time.Minute},
		during: func(_ func(), server *fakes.Server) {
			for range 3 {
				time.Sleep(2 * second)
				_ = server.Kill()
			}
		},
	}.runRecorded(t)
	l := result.Report
	assert.Empty(t, l.Findings)
	assert.GreaterOrEqual(t, l.Connections.Losses, int64(3*10))
	assert.Equal(t, int64(1000), l.Jobs.Pushed+l.Jobs.Doubtful+l.Rate.Unserved)
	var openCalls int64
	for _, e := range result.History.Events {
		if e.Op == history.Push && e.Outcome == history.NoReply {
			openCalls++
		}
	}
	assert.Equal(t, l.Jobs.Doubtful, openCalls)
}

// A worker learns by its next BEAT that it was told to be quiet or to terminate; until then its FETCHes find nothing
// although jobs are there.
func TestTheHistoryOfQuietWorkers(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	w := steadyLoad()
	w.Rate, w.Duration = 20, plan.Duration(40*second)
	result := bench{load: w, during: func(_ func(), server *fakes.Server) {
		time.Sleep(20 * second)
		_ = server.Signal("fwpbench-test-w0", "quiet")
		_ = server.Signal("fwpbench-test-w1", "terminate")
	}}.runRecorded(t)
	assert.Empty(t, result.Report.Findings)
	marked := map[string]bool{}
	for _, e := range result.History.Events {
		if e.Quiet {
			marked[e.Worker] = true
			assert.GreaterOrEqual(t, e.Return, 15*second, "the BEAT before that said nothing of it")
		}
	}
	assert.Equal(t, map[string]bool{"fwpbench-test-w0": true, "fwpbench-test-w1": true}, marked)
}

// A history ends at its limit, and the first line says so.
func TestAHistoryIsCutAtItsLimit(t *testing.T) {
	t.Parallel()
	b := bench{load: steadyLoad(), change: func(c *load.Config) { c.RecordHistory, c.MaxCalls = true, 1000 }}
	result := b.result(t)
	assert.Positive(t, result.Report.HistoryCut)
	assert.InDelta(t, 1000, len(result.History.Events), 50)
	outcome(t, result.Report, reports.ExitWell, "the history is partial: it ends after")
}
