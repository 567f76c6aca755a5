package results_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/judge"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/page"
)

// agentsLoad is a run by three agents: one that was late, one that was lost, and one whose time of day is wrong.
func agentsLoad() *results.Load {
	l := soundLoad()
	l.Machine, l.Health, l.Engine = results.Machine{}, results.Health{}, ""
	for i, name := range []string{"east", "west", "north"} {
		part := soundLoad()
		if part.Plan.Segment = string(rune('1'+i)) + "/3"; name == "east" {
			part.Validity = invalidLoad().Validity
		}
		a := results.LoadAgent{Name: name, Clock: &results.AgentClock{Offset: time.Microsecond, Bound: 45 * time.Microsecond}}
		a.Fill(part)
		a.Run += "-" + string(rune('1'+i))
		l.Agents = append(l.Agents, a)
	}
	l.Agents[1].Lost, l.Agents[1].Clock = "three of its ticks are missing", nil
	l.Agents[2].Clock = &results.AgentClock{Offset: -time.Hour, Bound: 20 * time.Microsecond}
	judge.Evaluate(l)
	return l
}

// Each reason of an agent is one of the whole, with its name; of one that was lost only that counts. Remarks are those
// of all.
func TestTheVerdictOfAgents(t *testing.T) {
	t.Parallel()
	l := agentsLoad()
	want := len(invalidLoad().Validity.Reasons) + 1
	require.Len(t, l.Validity.Reasons, want)
	assert.Equal(t, "agent east: "+invalidLoad().Validity.Reasons[0].What, l.Validity.Reasons[0].What)
	assert.Equal(t, results.Reason{
		ID: "agent", What: "agent west was lost: three of its ticks are missing", Do: l.Validity.Reasons[want-1].Do,
	}, l.Validity.Reasons[want-1])
	l.Agents[2].Validity = l.Agents[0].Validity
	judge.Evaluate(l)
	require.Len(t, l.Validity.Reasons, want)
	assert.Equal(t, "agent east, north: "+invalidLoad().Validity.Reasons[0].What, l.Validity.Reasons[0].What)
	l.Agents = l.Agents[2:]
	l.Agents[0].Validity.Reasons = nil
	l.Agents[0].Validity.Remarks = []string{"Slow."}
	judge.Evaluate(l)
	assert.True(t, l.Validity.Valid)
	assert.Equal(t, []string{"Agent north: Slow."}, l.Validity.Remarks)
	alone := soundLoad()
	alone.NotStarted = "too late"
	judge.Evaluate(alone)
	assert.Equal(t, "start", alone.Validity.Reasons[0].ID)
}

func TestAddingAccounts(t *testing.T) {
	t.Parallel()
	one := results.LoadJobs{Pushed: 1, Lost: 2, TakenAtEnd: 3, Drained: true}
	sum := one
	results.Join(&sum, &one)
	assert.Equal(t, results.LoadJobs{Pushed: 2, Lost: 4, TakenAtEnd: 6, Drained: true}, sum)
}

// Where jobs crossed between agents, the times from one to another are given with what their clocks allow.
func TestTheClockBoundOfJobsThatCrossed(t *testing.T) {
	t.Parallel()
	l := agentsLoad()
	l.Validity.Valid = true
	for bound, shown := range map[time.Duration]bool{0: false, 65 * time.Microsecond: true} {
		l.ClockBound = bound
		var out bytes.Buffer
		out.Write(page.Text(l.Page(reports.PageOptions{}), page.TextOptions{}))
		words := strings.Join(strings.Fields(out.String()), " ")
		assert.Equal(t, shown, strings.Contains(words, "each of these two may be wrong by 65 us."), words)
	}
}

func TestVerbosePagesTellMachinesAndClocks(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := agentsLoad()
	out.Write(page.Text(l.Page(reports.PageOptions{Verbose: true}), page.TextOptions{}))
	assert.Contains(t, out.String(), "run k3v9q2-3, linux 6.18.5 amd64, AMD EPYC 7B13")
	assert.Contains(t, out.String(), "go1.26.8, 1 us ahead")
}
