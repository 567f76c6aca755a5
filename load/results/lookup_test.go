package results

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func opsLoad() *Load {
	return &Load{
		Rate: LoadRate{Op: "push"},
		Ops: []LoadOp{
			{Op: "push", Count: 10, Rate: 5, Errors: []LoadError{{Kind: "reset", Count: 2}, {Kind: "timeout", Count: 1}},
				Lateness: Latency{Count: 10, P50: 3, P99: 7}},
			{Op: "fetch.found", Count: 4, Outside: 1, Rate: 2, Lateness: Latency{Count: 4, P50: 5, P99: 6}},
			{Op: "fetch.empty", Count: 3, Rate: 1, Errors: []LoadError{{Kind: "rejected", Count: 1}}},
			{Op: "beat", Count: 1, Lateness: Latency{Count: 1, P50: 900, P99: 900}},
			{Op: "connect", Count: 1, Lateness: Latency{Count: 1, P50: 800, P99: 800}},
		},
	}
}

func TestSumsOfCommands(t *testing.T) {
	t.Parallel()
	l := opsLoad()
	fetch := l.Sum("fetch")
	assert.Equal(t, OpSum{Count: 7, Outside: 1, Errors: 1, Rate: 3, Kinds: []LoadError{{Kind: "rejected", Count: 1}}},
		fetch)
	assert.Equal(t, int64(4), l.Sum("fetch.found").Count)
	assert.Zero(t, l.Sum("fet").Count, "half of a name is none")
	assert.Equal(t, int64(3), l.Op("push").ErrorCount())
	assert.Nil(t, l.Op("fetch"), "it has kinds")
	assert.Nil(t, l.Flow("job.fetched"))
	l.Flows = []LoadFlow{{Flow: "job.fetched"}, {Flow: "job.acked", Time: Latency{Count: 1}}}
	assert.Nil(t, l.Flow("job.fetched"), "it has no values")
	assert.NotNil(t, l.Flow("job.acked"))
}

// Lateness of heartbeats and of the beginning of connections falsifies nothing, unless connections are what is
// measured.
func TestLatenessThatCounts(t *testing.T) {
	t.Parallel()
	l := opsLoad()
	for op, want := range map[string]bool{
		"push": true, "ack": true, "fail": true, "fetch.found": true, "fetch.empty": true, "fetch": false, "beat": false,
		"info": false, "end": false, "hello": false, "connect": false,
	} {
		assert.Equal(t, want, l.LatenessCounts(op), op)
	}
	assert.Equal(t, MetricValue{Value: 7, OK: true}, l.worstLateness("p99"))
	assert.Equal(t, MetricValue{Value: 5, OK: true}, l.worstLateness("p50"))
	l.Rate.Op = "connect"
	assert.Equal(t, MetricValue{Value: 800, OK: true}, l.worstLateness("p99"))
	assert.Equal(t, MetricValue{}, (&Load{}).worstLateness("p99"))
}

// End-to-end times of a closed loop are those of a backlog if a job takes ten times as long as a fetch that finds one.
func TestWhatCountsAsABacklog(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		isOpenLoop, hasNoFetch bool
		fetch, job             time.Duration
		want                   bool
	}{
		"ten times a fetch":      {fetch: 5 * time.Millisecond, job: 50 * time.Millisecond},
		"more than that":         {fetch: 5 * time.Millisecond, job: 51 * time.Millisecond, want: true},
		"a fetch of no time":     {fetch: time.Microsecond, job: 10 * time.Millisecond},
		"10 ms are always right": {fetch: time.Microsecond, job: 11 * time.Millisecond, want: true},
		"an open loop":           {isOpenLoop: true, fetch: 5 * time.Millisecond, job: time.Hour},
		"no fetch found any":     {hasNoFetch: true, job: time.Hour},
	} {
		l := &Load{Plan: LoadPlan{IsOpenLoop: test.isOpenLoop},
			Flows: []LoadFlow{{Flow: "job.fetched", Time: Latency{Count: 1, P50: test.job}}}}
		if !test.hasNoFetch {
			l.Ops = []LoadOp{{Op: "fetch.found", Response: Latency{Count: 1, P50: test.fetch}}}
		}
		assert.Equal(t, test.want, l.HasPiledUp(), name)
	}
}

func TestShortagesOfTheMachine(t *testing.T) {
	t.Parallel()
	assert.Empty(t, (&Load{}).Shortages())
	l := &Load{Health: Health{NoFiles: 2, NoPorts: 1, NoMemory: 1200, Files: Files{Soft: 1024, Hard: 4096}}}
	var ids, words []string
	for _, r := range l.Shortages() {
		ids, words = append(ids, r.ID), append(words, r.Description)
		assert.NotEmpty(t, r.Do)
	}
	assert.Equal(t, []string{"files", "ports", "memory"}, ids)
	assert.Contains(t, words[0], "2 connections could not be opened")
	assert.Contains(t, words[0], "(limit 1,024, hard limit 4,096)")
	assert.Contains(t, words[2], "1,200 connections")
	for want, m := range map[string]*Load{
		"CPUs": {}, "1 CPU": {Machine: Machine{GOMAXPROCS: 1}},
		"3 CPUs": {Machine: Machine{GOMAXPROCS: 8}, Health: Health{Loops: []float64{0, 0, 0}}},
	} {
		assert.Equal(t, want, m.Processors())
	}
}

func TestStatsAreThoseOfLatency(t *testing.T) {
	t.Parallel()
	l := &Latency{Min: 1, Mean: 2, P50: 3, P90: 4, P99: 5, P999: 6, P9999: 7, Max: 8}
	for i, stat := range statNames("") {
		assert.Equal(t, time.Duration(i+1), l.Stat(stat), stat)
	}
	assert.False(t, l.metricValue("p95").OK, "not every report has it")
	l.Count = 1
	l.Set("p95", 9)
	l.Set("p90", 10)
	assert.Equal(t, MetricValue{Value: 9, OK: true}, l.metricValue("p95"))
	assert.Equal(t, MetricValue{Value: 10, OK: true}, l.metricValue("p90"))
	assert.Equal(t, []Percentile{95}, l.extraPercentiles())
}

// A percentile is one type: its name, how many values it needs, and where a report has it.
func TestPercentiles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Percentile{"p50": 50, "p99.9": 99.9, "p99.999": 99.999, "p0.5": 0.5, "p1": 1} {
		p, err := ParsePercentile(name)
		require.NoError(t, err)
		assert.InDelta(t, float64(want), float64(p), 1e-9)
		assert.Equal(t, name, p.String())
	}
	for _, name := range []string{"", "p", "95", "p0", "p100", "p101", "p-1", "p99.9999", "p95.0", "p095", "pNaN", "p1e1",
		"max"} {
		_, err := ParsePercentile(name)
		assert.Error(t, err, name)
	}
	for p, want := range map[Percentile]int64{50: 40, 90: 200, 95: 400, 99: 2000, 99.5: 4000, 99.9: 20_000} {
		assert.Equal(t, want, p.Needs(20), p)
	}
	assert.Equal(t, []Percentile{95, 99.5}, ExtraPercentiles("push.response.p95", "rate", "job.fetched.p99.5",
		"ack.service.p95",
		"push.response.p99", "x.pushed"))
	for _, name := range []string{"push.response.p95", "job.late.p99.5", "lateness.p75", "fetch.found.service.p0.1"} {
		m, ok := FindMetric(name, []string{OpOf(name)})
		assert.True(t, ok, name)
		assert.Equal(t, name, m.Name)
	}
	_, ok := FindMetric("push.response.p100", []string{"push"})
	assert.False(t, ok)
}
