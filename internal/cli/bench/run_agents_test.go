package bench

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/agents"
	"github.com/fwpsuite/fwp/load/workload"
	"github.com/fwpsuite/fwp/reports"
)

func TestFlagsOfAgents(t *testing.T) {
	t.Parallel()
	refused(t, [][2]string{
		{"run --agents -1", "--agents must be from 1 to 1000"},
		{"run --agents 1001", "--agents must be from 1 to 1000"},
		{"run --agents 2 --agents-within 0s", "--agents-within must be more than 0"},
		{"run --agents 2 --listen-cert a.pem", "--listen-cert and --listen-key belong together"},
		{"run --agents 2 --nats nats://a --listen :0", "leave one of them out"},
		{"run --agents 2 --nats nats://a --listen-cert a --listen-key b", "leave one of them out"},
		{"run --agents 2 --nats nats://127.0.0.1:1 --nats-ca none.pem", "--nats-ca: "},
		{"run --agents 2 --nats nats://127.0.0.1:1 --nats-ca run_agents_test.go", "has no certificate (PEM)"},
		{"run --agents 2 --nats nats://127.0.0.1:1", "--nats: no NATS server answers at 127.0.0.1:1: start it first"},
		{"run --agents 2 --listen 127.0.0.1:many", "is not a port"},
		{"run --agents 2 --listen-cert none.pem --listen-key none.pem", "--listen-cert: "},
		{"run --agents 2 --start-at 23:59", "the load begins when all agents are ready"},
		{"run --agents 2 --history h", "the clocks of agents are known within a bound only"},
		{"run --agents 2 --processors 1", "each agent has a flag of its own for that"},
		{"run --agents 2 --disrupt-every 1s", "would take it for its faults; leave --agents out"},
		{"run --agents 2 --producer-agents 0", "--producer-agents must be 1 or more"},
		{"run --agents 2 --spawn --producer-agents 2 --rate 1", "2 of 2 agents would leave none for the workers"},
		{"run --agents 2 --spawn --producer-agents 1", "wait for the workers of their own agent (backlog); expected"},
		{"run --agents 2 --spawn --cross --preset push", "it has no producers, or no workers"},
		{"run --agents 2 --spawn --cross --preset failing", "how often a job has failed is known where it did only"},
		{"run --agents 2 --spawn --cross --queue-per-job 1%", "is known where they were pushed only"},
		{"run --agents 3 --spawn --producer-agents 1 --backlog 0 --consumers 1", "--consumers: 1 cannot be shared by 2"},
		{"run --agents 3 --spawn --producer-agents 2 --backlog 0 --producers 1", "--producers: 1 cannot be shared by 2"},
		{"run --cross", "--cross is about agents: add --agents N"},
		{"run --producer-agents 1", "--producer-agents is about agents: add --agents N"},
		{"run --nats nats://a", "--nats is about agents: add --agents N"},
		{"run --segment 1/2 --seed 1 --disrupt-every 1s --url tcp://a", "in the report of one run"},
		{"agent nats://t@a --max-rate fast", "--max-rate: "},
		{"agent nats://t@a --max-connections -1", "--max-connections must be 0 (no limit) or more"},
		{"agent nats://t@a --processors 0", "--processors must be 1 or more"},
		{"agent nats://t@a --within 0s", "--within must be more than 0"},
		{"agent nats://t@a --name= --nats-creds none --within 1ms --nats-ca none.pem", "--nats-ca: "},
	})
	code, out := ran("agent", "nats://t@a", "--name", "a b")
	assert.Equal(t, reports.ExitUsage, code)
	assert.Contains(t, out, `--name "a b" has a blank in it`)
}

// taskOf returns the task of the second of two agents, whose plan has these settings.
func taskOf(settings string) agents.Task {
	plan := `{"workload":"` + strings.ReplaceAll(settings, "\n", `\n`) + `","seed":"7"}`
	return agents.Task{
		Run: "run-2", Plan: agents.Plan{Run: "run", Agents: 2, Load: []byte(plan)},
		Segment: workload.Segment{Index: 1, Of: 2},
	}
}

// An agent refuses a plan beyond its limits, and takes one within them.
func TestTheLimitsOfAnAgent(t *testing.T) {
	t.Parallel()
	const open = "producers: 5\nconsumers: 4\nstages: 10s:0-1000,10s:200"
	for _, test := range []struct {
		limits   agentOptions
		settings string
		want     string
	}{
		{agentOptions{connections: 4, mostRate: 500}, open, ""},
		{agentOptions{connections: 3}, open, "its segment has 4 connections, and --max-connections allows 3"},
		{agentOptions{mostRate: 499}, open, "its segment has 500/s, and --max-rate allows 499/s"},
		{agentOptions{mostRate: 1e6}, "producers: 5", "a closed loop has no rate"},
		{agentOptions{}, "producers: 5", ""},
		{agentOptions{}, "producers: 1", "cannot be shared by 2 segments"},
		{agentOptions{}, "pushers: 1", "the plan cannot be read"},
	} {
		plan, config, err := process{}.segmentOf(&test.limits, taskOf(test.settings))
		if test.want != "" {
			require.ErrorContains(t, err, test.want)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, uint64(7), plan.Seed)
		assert.Equal(t, 2, config.Workload.Producers)
	}
	task := taskOf("")
	task.Plan.Load = []byte("{")
	_, _, err := process{}.segmentOf(&agentOptions{}, task)
	require.ErrorContains(t, err, "the plan cannot be read")
}

// The plan takes the authority of a target to agents, which read no file.
func TestTheAuthorityOfAPlan(t *testing.T) {
	t.Parallel()
	authority := strings.ReplaceAll(selfSigned(t), "\n", `\n`)
	task := taskOf("producers: 2\nconsumers: 2")
	task.Plan.Load = []byte(`{"workload":"producers: 2","url":"tcp+tls://a:1","tls":{"ca":"` + authority + `"}}`)
	plan, _, err := process{}.segmentOf(&agentOptions{}, task)
	require.NoError(t, err)
	at, err := plan.endpoint("")
	require.NoError(t, err)
	assert.NotNil(t, at.Server.TLS.RootCAs)
	assert.Equal(t, "a", at.Server.TLS.ServerName)
}

// selfSigned returns a certificate, as PEM.
func selfSigned(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// An agent has the jobs that cross, in its half of the load, with the arrivals of its kind.
func TestAgentsThatShareAJob(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		place               int
		producers, consumer int
		segment             string
		half                bool
		pushing             int
	}{
		{0, 3, 2, "1/2", false, 0}, {1, 2, 2, "2/2", false, 0}, {0, 5, 0, "1/1", true, 1}, {1, 0, 4, "1/1", true, 1},
	} {
		task := taskOf("")
		task.Segment.Index, task.Plan.Crosses = test.place, true
		const plan = `{"workload":"producers: 5\nconsumers: 4\nrate: 10","producer_agents":%d}`
		task.Plan.Load = fmt.Appendf(nil, plan, test.pushing)
		_, config, err := process{}.segmentOf(&agentOptions{mostRate: 10}, task)
		require.NoError(t, err)
		assert.Equal(t, []int{test.producers, test.consumer}, []int{config.Workload.Producers, config.Workload.Consumers})
		assert.Equal(t, test.segment, config.Segment.String())
		assert.Equal(t, test.half, config.Workload.Half)
	}
}

func TestParseStart(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("east", 3600)
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"15:04:05": time.Date(2026, 3, 4, 15, 4, 5, 0, zone), "15:04": time.Date(2026, 3, 4, 15, 4, 0, 0, zone),
		"2026-03-05T01:02:03Z": time.Date(2026, 3, 5, 1, 2, 3, 0, time.UTC),
	} {
		got, err := parseStart(text, now)
		require.NoError(t, err)
		assert.True(t, want.Equal(got), got)
	}
	_, err := parseStart("tomorrow", now)
	require.EqualError(t, err,
		`--start-at "tomorrow" is not a time: write it as in 2026-03-04T11:01:00Z or 15:04:05`)
	past := segmentFlags{startAt: "11:59"}
	require.ErrorContains(t, past.validate(now), "--start-at 11:59 has passed: it is 2026-03-04T12:00:00")
	future := segmentFlags{startAt: "12:01"}
	require.NoError(t, future.validate(now))
	assert.Equal(t, now.Add(time.Minute), future.at)
}
