package load_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/history"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
)

// stress is a short load of clients that misbehave, as a check of a server may use it. The
// rate keeps the queues short: a job that is handed out twice comes while it is held.
func stress() bench {
	return bench{
		load: plan.Workload{
			Producers: 12, Consumers: 4, Rate: 300, JobLimit: 300, Payload: plan.Constant(20),
			Queues:      plan.Queues{Number: 4},
			Work:        plan.Range{Min: 5 * ms, Max: 25 * ms},
			Topology:    plan.Topology{Kind: plan.Pool, Concurrency: 3},
			Disconnects: 0.05, Observers: 1, ObserveEvery: plan.Duration(10 * ms),
		},
		change: func(c *load.Config) { c.RecordHistory = true },
	}
}

// A run of a few hundred jobs gives its history, and what that says: nothing of a right
// server, and every job is accounted for.
func TestAShortStressOfARightServer(t *testing.T) {
	t.Parallel()
	result := stress().result(t)
	l, judged := result.Report, result.Examination
	assert.Empty(t, l.Findings)
	assert.True(t, l.Jobs.IsDrained, l.Jobs.DrainFailure)
	assert.True(t, result.History.Drained)
	assert.EqualValues(t, 300, l.Jobs.Pushed+l.Jobs.Doubtful)
	assert.Positive(t, l.Jobs.Doubtful)
	assert.Zero(t, l.Connections.Losses)
	assert.Empty(t, judged.Findings)
	assert.GreaterOrEqual(t, judged.Jobs, 290)
	openCalls := 0
	for _, e := range result.History.Events {
		if e.Outcome == history.NoReply {
			openCalls++
		}
	}
	assert.Greater(t, openCalls, 5)
}

func TestAShortStressFinds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"delivered-twice", "push-lost", "reply-swapped"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := stress()
			b.load.JobLimit = 400
			bug := findBug(t, name)
			b.server = fakes.Config{Hook: bug.Hook()}
			result := b.result(t)
			isExpected := func(clause string) bool { return slices.Contains(bug.Clauses, clause) }
			assert.True(t, slices.ContainsFunc(result.Examination.Findings,
				func(f history.Finding) bool { return isExpected(fwpsuite.ClauseOf(string(f.Breach))) }))
			assert.True(t, slices.ContainsFunc(result.Report.Findings, func(f results.LoadFinding) bool { return isExpected(f.Clause) }))
		})
	}
}

// A job whose ACK was sent twice and refused the second time does not keep the drain waiting.
func TestTheDrainEndsAfterRepeatedReports(t *testing.T) {
	t.Parallel()
	b, retries := stress(), 1
	b.load.FailShare, b.load.Retry, b.load.Disconnects = 0.1, &retries, 0.2
	b.server = fakes.Config{RetryDelay: func(int) time.Duration { return second }}
	l := b.run(t)
	assert.Positive(t, l.Jobs.Waiting)
	assert.True(t, l.Jobs.IsDrained, l.Jobs.DrainFailure)
	assert.Empty(t, l.Findings)
}
