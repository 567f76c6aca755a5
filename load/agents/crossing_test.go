package agents_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/agents"
	"github.com/fwpsuite/fwp/load/ledger"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

// crosses makes a run one whose jobs cross.
func crosses(c *agents.Config) {
	c.Plan.Crosses = true
	c.Crossed = load.Crossed{Workload: workload.Workload{Producers: 1, Consumers: 1}, Run: "run"}
}

// exchange has an agent push jobs for so many seconds, and fetch those that the other of two has pushed; all but some.
func exchange(t *testing.T, a *agents.Agent, seconds int, jobs, skipped int64) {
	t.Helper()
	work := pushes(seconds)
	a.Load = func(ctx context.Context, task agents.Task) *load.Result {
		result := &load.Result{Report: work(ctx, task)}
		mine, theirs := int64(task.Segment.Index), int64(1-task.Segment.Index)
		assert.Equal(t, "run", task.Crossing.Run)
		assert.NotEqual(t, "run", task.Run)
		part := ledger.NewPart()
		for k := mine; k < jobs; k += 2 {
			part.Sent(k, 0)
			part.Pushed(k)
		}
		ended := time.Now()
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if err := task.Crossing.Pushed(within); !result.Report.Interrupted {
			assert.NoError(t, err)
		}
		result.Report.Took = time.Since(ended)
		for k := theirs; k < jobs-skipped; k += 2 {
			part.Delivered(k, 0)
			part.Acked(k)
		}
		var account bytes.Buffer
		assert.NoError(t, part.Encode(&account))
		result.Account = account.Bytes()
		return result
	}
}

// Agents whose jobs cross wait for each other before they drain, and their accounts become one.
func TestJobsThatCross(t *testing.T) {
	t.Parallel()
	const jobs = 2000
	s := play(t, 2, func(s *scene, _ func()) {
		quick, _ := s.agent("quick", nil, func(a *agents.Agent) { exchange(t, a, 2, jobs, 3) })
		slow, _ := s.agent("slow", nil, func(a *agents.Agent) { exchange(t, a, 6, jobs, 3) })
		waited := (<-quick).report.Took
		assert.InDelta(t, 4*time.Second, waited, float64(time.Second))
		assert.Less(t, (<-slow).report.Took, time.Second)
	}, crosses)
	l := s.result.Report
	got := []int64{l.Jobs.Pushed, l.Jobs.Delivered, l.Jobs.Acked, l.Jobs.Lost}
	assert.Equal(t, []int64{jobs, jobs - 3, jobs - 3, 3}, got)
	require.Len(t, l.Findings, 1)
	assert.Equal(t, results.FindingLost, l.Findings[0].Kind)
	assert.Equal(t, "fwpbench-run-000007cd", l.Findings[0].JIDs[0])
	code, words := outcome(s)
	assert.Equal(t, reports.ExitLoss, code, words)
}

// An agent that is killed takes its account with it: what the others have counts, and no job is called lost.
func TestAnAgentWhoseJobsCrossIsKilled(t *testing.T) {
	t.Parallel()
	s := play(t, 2, func(s *scene, _ func()) {
		killed, cut := s.agent("killed", nil, func(a *agents.Agent) { exchange(t, a, 60, 100, 0) })
		other, _ := s.agent("other", nil, func(a *agents.Agent) { exchange(t, a, 5, 100, 0) })
		time.Sleep(15 * time.Second)
		cut()
		assert.NoError(t, (<-other).err, "it does not wait for the pushes of one that is lost")
		assert.ErrorIs(t, (<-killed).err, agents.ErrSilent)
	}, crosses)
	l := s.result.Report
	code, words := outcome(s)
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Contains(t, words, "INVALID: agent killed was lost: three of its ticks are missing")
	assert.Contains(t, l.Jobs.NotDrained, "agent killed has sent no account")
	assert.Empty(t, l.Findings)
	assert.GreaterOrEqual(t, l.Jobs.Pushed, int64(50))
}
