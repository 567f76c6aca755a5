package load_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/bugs"
	"github.com/fwpsuite/fwp/fakes/variations"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
)

// find runs the workload against a server with a bug.
func find(t *testing.T, w plan.Workload, bug string) *results.Load {
	t.Helper()
	return bench{server: fakes.Config{Hook: findBug(t, bug).Hook()}, load: w}.run(t)
}

func findBug(t *testing.T, name string) fakes.Bug {
	t.Helper()
	f, ok := bugs.Lookup(name)
	require.True(t, ok)
	return f
}

// finding is the one of a kind that a report has.
func finding(t *testing.T, l *results.Load, kind results.FindingKind) *results.LoadFinding {
	t.Helper()
	i := slices.IndexFunc(l.Findings, func(f results.LoadFinding) bool { return f.Kind == kind })
	require.GreaterOrEqual(t, i, 0, "%s is not among the findings: %v", kind, kinds(l))
	return &l.Findings[i]
}

func kinds(l *results.Load) []results.FindingKind {
	var list []results.FindingKind
	for _, f := range l.Findings {
		list = append(list, f.Kind)
	}
	return list
}

func requireOwnJIDs(t *testing.T, jids []string) {
	t.Helper()
	assert.NotEmpty(t, jids)
	for _, jid := range jids {
		assert.True(t, strings.HasPrefix(jid, "fwpbench-test-"), jid)
	}
}

// loss has a report be about a server that is wrong about jobs.
func loss(t *testing.T, l *results.Load, kind results.FindingKind) *results.LoadFinding {
	t.Helper()
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitLoss, code, words)
	f := finding(t, l, kind)
	assert.Contains(t, words, f.Clause)
	return f
}

// A finding has the times at which its jobs were pushed.
func TestFindingsHaveTimes(t *testing.T) {
	t.Parallel()
	l := find(t, steadyLoad(), "push-lost")
	lostJobs := finding(t, l, results.FindingLost)
	require.Len(t, lostJobs.Pushed, len(lostJobs.JIDs))
	for i, at := range lostJobs.Pushed {
		k, err := strconv.ParseInt(strings.TrimPrefix(lostJobs.JIDs[i], "fwpbench-test-"), 16, 64)
		require.NoError(t, err)
		assert.InDelta(t, time.Duration(k)*10*ms, at-lostJobs.Pushed[0]+time.Duration(49)*10*ms, float64(20*ms), "100 a second")
	}
}

// wrongReplies are the clauses of bugs that show in replies.
var wrongReplies = map[string]string{
	"reply-null-array": "FWP-RESP-04", "reply-null-empty": "FWP-RESP-04", "push-other-answer": "FWP-PUSH-01",
	"ack-other-answer": "FWP-ACK-01", "fetch-simple": "FWP-FETCH-01",
}

func TestBugsOfDeliveryAreFound(t *testing.T) {
	t.Parallel()
	cases := []struct {
		bug   string
		kind  results.FindingKind
		count int64 // of 500 jobs; 0: some
	}{
		{"push-lost", results.FindingLost, 10},
		{"push-lost-rarely", results.FindingLost, 1},
		{"delivered-twice", results.FindingDuplicated, 0},
		{"delivered-twice-rarely", results.FindingDuplicated, 0},
		{"job-args-reversed", results.FindingAltered, 500},
		{"reply-null-array", results.FindingGrammar, 0},
		{"reply-null-empty", results.FindingGrammar, 0},
		{"push-other-answer", results.FindingReply, 0},
		{"ack-other-answer", results.FindingReply, 0},
		{"fetch-simple", results.FindingReply, 0},
		{"ack-redelivered", results.FindingReturned, 0},
	}
	for i, test := range cases {
		if !golden.IsSlow() && i%2 != 0 {
			continue
		}
		t.Run(test.bug, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			if strings.HasPrefix(test.bug, "reply-null") {
				w.Rate = 1 // so that workers wait in vain
			}
			if test.kind == results.FindingReturned {
				w.Drain = plan.Duration(time.Second) // no queue becomes empty
			}
			l := find(t, w, test.bug)
			f := loss(t, l, test.kind)
			if test.count > 0 {
				assert.Equal(t, test.count, f.Count)
			}
			if clause := wrongReplies[test.bug]; clause != "" {
				assert.Equal(t, clause, f.Clause)
				assert.NotEmpty(t, f.Notes)
			} else {
				requireOwnJIDs(t, f.JIDs)
			}
			alone := []results.FindingKind{test.kind}
			if test.kind == results.FindingDuplicated || test.kind == results.FindingReturned {
				// A job that comes again may come before or after the reply to the ACK of the first delivery.
				alone = []results.FindingKind{results.FindingDuplicated, results.FindingReturned}
			}
			assert.Subset(t, alone, kinds(l), "and nothing else")
		})
	}
}

// A command without a reply breaks the protocol if others are answered meanwhile.
func TestACommandWithoutAReplyIsFound(t *testing.T) {
	t.Parallel()
	var pushes atomic.Int64
	l := bench{load: steadyLoad(), hooks: []func(*fakes.Event){func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == fwp.PUSH && pushes.Add(1) == 180 {
			e.Bytes = nil
		}
	}}}.run(t)
	f := loss(t, l, results.FindingUnanswered)
	assert.Equal(t, "FWP-RESP-06", f.Clause)
	assert.Equal(t, int64(1), f.Count)
	assert.Contains(t, f.Notes[0], "PUSH got no reply within 30 s; other commands got theirs")
	assert.Equal(t, []results.FindingKind{results.FindingUnanswered}, kinds(l))
}

// What a server does to one connection while it serves others.
func TestBugsOfTimeAreFound(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	cases := []struct {
		bug    string
		kind   results.FindingKind
		clause string
		change func(*plan.Workload)
	}{
		{"fetch-blocks-long", results.FindingOverdue, "FWP-FETCH-05",
			func(w *plan.Workload) { w.Rate, w.Consumers = 3, 20 }},
		{"consumer-idle-closed", results.FindingClosed, "FWP-STATE-13", func(w *plan.Workload) {
			w.Rate, w.Prefill, w.Work = 0.2, 0, plan.Range{Min: 90 * second, Max: 90 * second}
			w.Drain = plan.Duration(time.Hour)
		}},
		{"schedule-early", results.FindingEarly, "FWP-STATE-11", func(w *plan.Workload) {
			w.Delay = plan.Range{Min: 5 * second, Max: 5 * second}
		}},
		{"schedule-ignored", results.FindingEarly, "FWP-STATE-11", func(w *plan.Workload) {
			w.Delay = plan.Range{Min: 5 * second, Max: 5 * second}
		}},
	}
	for _, test := range cases {
		t.Run(test.bug, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			w.Duration = plan.Duration(time.Minute)
			if !golden.IsSlow() {
				w.Rate = 5
			}
			test.change(&w)
			l := find(t, w, test.bug)
			f := loss(t, l, test.kind)
			assert.Equal(t, test.clause, f.Clause)
			assert.NotEmpty(t, f.Notes)
			assert.Equal(t, []results.FindingKind{test.kind}, kinds(l), "and nothing else")
		})
	}
}

// Work that takes its time has a second worker get a job while the first one holds it.
func TestAJobThatTwoWorkersHold(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Rate, w.Work = 50, plan.Range{Min: 50 * ms, Max: 50 * ms}
	f := loss(t, find(t, w, "delivered-twice"), results.FindingDuplicated)
	assert.Equal(t, int64(5), f.Count)
	requireOwnJIDs(t, f.JIDs)
}

// A server that leaves commands without an answer has the connections given up.
func TestRepliesThatAreMissing(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Rate, w.Duration = golden.Sample[plan.Rate](50, 500), plan.Duration(time.Minute)
	l := find(t, w, "reply-missing")
	assert.Positive(t, l.Connections.Losses)
	assert.Contains(t, l.Connections.FirstLoss, "did not reply in time")
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInconclusive, code, words)
	assert.Contains(t, words, "inconclusive")
	assert.Empty(t, kinds(l), "no connection is served any more, and a FETCH without a reply may have taken a job")
	assert.LessOrEqual(t, l.Jobs.InDoubt, l.Jobs.Missing)
}

// Two connections that get each other's jobs: each worker asks for queues of its own, so
// it shows.
func TestSwappedRepliesAreFound(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Queues.Number = 0 // as many as there are workers
	w.Rate, w.Duration = 500, plan.Duration(second)
	l := find(t, w, "reply-swapped")
	f := loss(t, l, results.FindingQueue)
	assert.Contains(t, f.Notes[0], "did not ask for its queue")
	requireOwnJIDs(t, f.JIDs)
	assert.Zero(t, l.Jobs.LostJobs)
}

// A job that comes from another queue, with other contents, or from nowhere: each is a
// finding of its own.
func TestKindsOfForeignJobs(t *testing.T) {
	t.Parallel()
	cases := map[results.FindingKind]struct {
		change func(*fakes.Event)
		note   string
	}{
		results.FindingQueue: {func(e *fakes.Event) { e.Object.SetText("queue", "default") },
			`queue: came as "default", was pushed to "fwpbench-test-`},
		results.FindingAltered: {func(e *fakes.Event) { e.Object.SetText("jobtype", "other") }, `jobtype: came as "other"`},
		results.FindingForeign: {func(e *fakes.Event) {
			e.Object.SetText("jid", "somebody-elses-job")
			e.Object.Set("args", "[]")
		}, "somebody-elses-job: not of this run"},
	}
	for kind, test := range cases {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			l := bench{load: steadyLoad(), hooks: []func(*fakes.Event){eachDelivery(20, test.change)}}.run(t)
			f := loss(t, l, kind)
			assert.Equal(t, int64(25), f.Count)
			assert.Len(t, f.JIDs, 25)
			require.Len(t, f.Notes, 25)
			assert.Contains(t, f.Notes[0], test.note)
		})
	}
}

// A PUSH that is answered with an error and enqueued nevertheless.
func TestARefusedJobThatComes(t *testing.T) {
	t.Parallel()
	n := 0
	refuse := func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "PUSH" && e.Command.Args[len(e.Command.Args)-1] == '}' {
			if n++; n == 100 {
				e.Bytes = []byte("-ERR no\r\n")
			}
		}
	}
	w := steadyLoad()
	w.Producers = 1 // n has no lock
	f := loss(t, bench{load: w, hooks: []func(*fakes.Event){refuse}}.run(t), results.FindingRefused)
	assert.Equal(t, int64(1), f.Count)
	requireOwnJIDs(t, f.JIDs)
}

// The whole server sends nothing for a second: that is in the response in full, is the
// server's own, and no lateness of ours.
func TestAStallIsSeenInFull(t *testing.T) {
	t.Parallel()
	w := steadyLoad()
	w.Rate, w.Duration = 200, plan.Duration(10*second)
	l := bench{load: w, hooks: []func(*fakes.Event){stallServer(4*second, second)}}.run(t)
	requireSound(t, l)
	push := pushes(t, l)
	assert.InDelta(t, second, push.Response.Max, float64(30*ms))
	assert.InDelta(t, 900*ms, push.Response.P99, float64(50*ms), "a tenth of the arrivals came into it, so one in a "+
		"hundred waited for 0.9 s")
	assert.InDelta(t, second, push.Service.Max, float64(30*ms))
	assert.Less(t, push.Service.P99, 100*ms, "of pushes only five were in flight")
	for _, o := range l.Ops {
		if o.Op != "connect" && o.Op != "hello" {
			assert.LessOrEqual(t, o.Lateness.Max, ms, o.Op)
		}
	}
	assert.InDelta(t, 205, l.Rate.Queued, 15, "those that came into it, and while the queue was worked off")
	assert.InDelta(t, 200, l.Rate.Backlog, 10)
	assert.InDelta(t, 200, l.Rate.Achieved, 2, "it caught up")
}

func TestWhatIsRightIsNotBlamed(t *testing.T) {
	t.Parallel()
	golden.NotRacing(t)
	retry := 2
	for i, v := range variations.All() {
		if strings.HasPrefix(v.Name, limited) {
			continue // see TestALimitOfConnectionsIsNotBlamed
		}
		if !golden.IsSlow() && i%8 != 1 {
			continue // protocols/fwp/crowd plays some of the others
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			w.Rate, w.Duration, w.Retry = 40, plan.Duration(2*second), &retry
			w.Producers, w.Consumers = 20, 20 // some are slow
			w.FailShare, w.Drain = 0.05, plan.Duration(10*time.Minute)
			server := fakes.Config{Password: "secret", Iterations: 10, RetryDelay: func(int) time.Duration { return second }}
			v.Configure(&server)
			l := bench{server: server, load: w}.run(t)
			assert.Empty(t, kinds(l))
			assert.True(t, l.Jobs.IsDrained, l.Jobs.DrainFailure)
			assert.Equal(t, int64(80), l.Jobs.Pushed)
			assert.Equal(t, int64(80), l.Jobs.Delivered)
			assert.Empty(t, l.Anomalies(), "nothing of it is out of the ordinary")
			code, words := l.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, reports.ExitWell, code, words)
		})
	}
}

// limited is what the names of the variations begin with that take fewer connections than the load has.
const limited = "connections-limited"

// A server may have a limit of connections, in whatever way it shows it: an error in the place of the greeting or
// behind the reply to HELLO, a close, or silence. That makes a load INVALID, and is no finding.
func TestALimitOfConnectionsIsNotBlamed(t *testing.T) {
	t.Parallel()
	for _, v := range variations.All() {
		if !strings.HasPrefix(v.Name, limited) {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			w := steadyLoad()
			w.Producers, w.Consumers = 20, 20
			server := fakes.Config{}
			v.Configure(&server)
			l := bench{server: server, load: w}.run(t)
			assert.Empty(t, kinds(l))
			connections := 20
			if strings.HasSuffix(v.Name, "-of-workers") { // all producers, and eight workers
				connections = 28
			}
			outcome(t, l, reports.ExitInconclusive, fmt.Sprintf("the target accepted %d of 40 connections", connections))
		})
	}
}

// TestFindingsHaveClauses: each kind of finding is the name of a breach, except those that the specification does not
// forbid or whose breach has a name that says more.
func TestFindingsHaveClauses(t *testing.T) {
	t.Parallel()
	for _, kind := range []results.FindingKind{
		results.FindingLost, results.FindingDuplicated, results.FindingReturned, results.FindingRefused, results.FindingQueue,
		results.FindingAltered, results.FindingEarly, results.FindingNotRetried,
	} {
		assert.NotEmpty(t, fwpsuite.ClauseOf(results.NewLoadFinding(kind, 1, nil).Breach), kind)
	}
	for _, breach := range []string{
		wire.UnaskedBytes, wire.ExtraReply, wire.ImpossibleReply, wire.ImpossibleReply + "FETCH", wire.BrokenGrammar,
		wire.NoReply, wire.OverdueFetch, wire.WorkerClosed,
		wire.BrokenGrammar + fwp.RuleNull.String(),
	} {
		assert.NotEmpty(t, fwpsuite.ClauseOf(breach), breach)
	}
}
