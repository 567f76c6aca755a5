package validity_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	shortfall := func(l *results.Load, waited, dropped int64) {
		l.Rate.Achieved, l.Rate.Done, l.Rate.Queued, l.Rate.Dropped = 4000, 240_000, waited, dropped
	}
	cases := []struct {
		name   string
		change func(*results.Load)
		want   string // ids of reasons
	}{
		{"nothing wrong", func(*results.Load) {}, ""},
		{"late", func(l *results.Load) { l.Ops[0].Lateness.P99 = 2100 * time.Microsecond }, "late"},
		{"late, and a tenth of a slow response", func(l *results.Load) {
			l.Ops[0].Lateness.P99, l.Ops[0].Response.P99 = 9*time.Millisecond, 91*time.Millisecond
		}, ""},
		{"a slower response allows no more", func(l *results.Load) {
			l.Ops[0].Lateness.P99, l.Ops[0].Response.P99 = 11*time.Millisecond, time.Minute
		}, "late"},
		{"as late as two milliseconds", func(l *results.Load) { l.Ops[3].Lateness.P99 = 2 * time.Millisecond }, ""},
		{"a command is compared with its own response time", func(l *results.Load) {
			l.Ops[3].Lateness.P99, l.Ops[0].Response.P99 = 5*time.Millisecond, time.Second
		}, "late"},
		{"a FETCH that waited was there before its job",
			func(l *results.Load) { l.Ops[2].Lateness.P99 = 5 * time.Millisecond }, ""},
		{"late heartbeats", func(l *results.Load) { l.Ops[4].Lateness.P99 = time.Minute }, ""},
		{"connects are not what is measured", func(l *results.Load) {
			l.Ops = append(l.Ops, sampleOp("connect", 200, 100*time.Millisecond, time.Millisecond, time.Millisecond))
		}, ""},
		{"connects are", func(l *results.Load) {
			l.Rate.Op = "connect"
			l.Ops = append(l.Ops, sampleOp("connect", 200, 100*time.Millisecond, time.Millisecond, time.Millisecond))
		}, "late"},
		{"a stall among a few hundred commands", func(l *results.Load) {
			l.Ops[0].Lateness = results.Latency{Count: 900, P50: 60, P90: 100 * time.Microsecond, P99: 26 * time.Millisecond}
		}, ""},
		{"a tenth of a few hundred commands", func(l *results.Load) {
			l.Ops[0].Lateness = results.Latency{Count: 900, P50: 60, P90: 3 * time.Millisecond, P99: 26 * time.Millisecond}
		}, "late"},
		{"few commands, some of them late", func(l *results.Load) {
			l.Ops[0].Lateness = results.Latency{Count: 40, P50: 100 * time.Microsecond, P90: 4 * time.Millisecond}
		}, ""},
		{"few commands, half of them late", func(l *results.Load) {
			l.Ops[0].Lateness = results.Latency{Count: 40, P50: 4 * time.Millisecond, P90: 5 * time.Millisecond}
		}, "late"},

		{"no processor time left", func(l *results.Load) { l.Health.CPUShare = 0.86 }, "saturated"},
		{"a loop without time", func(l *results.Load) { l.Health.Loops = []float64{0.1, 0.86} }, "saturated"},
		{"a closed loop is busy", func(l *results.Load) { l.Plan.IsOpenLoop, l.Health.CPUShare = false, 0.96 }, ""},
		{"a closed loop has no time for lateness", func(l *results.Load) {
			l.Plan.IsOpenLoop, l.Ops[0].Lateness.P99 = false, time.Second
		}, ""},

		{"an overloaded target", func(l *results.Load) { shortfall(l, 59_000, 1000) }, ""},
		{"an overloaded target at its end", func(l *results.Load) { shortfall(l, 29_000, 0); l.Rate.Unserved = 31_000 }, ""},
		{"an overloaded target that drops", func(l *results.Load) { shortfall(l, 0, 60_000) }, ""},
		{"behind though connections were free", func(l *results.Load) { shortfall(l, 59_000, 0) }, "behind"},
		{"errors explain it", func(l *results.Load) {
			l.Rate.Achieved, l.Rate.Done, l.Rate.Queued = 4750, 285_000, 0
			l.Ops[0].Errors = []results.LoadError{{Kind: "rejected", Count: 15_000}}
		}, ""},
		{"errors explain it, and are too many", func(l *results.Load) {
			shortfall(l, 0, 0)
			l.Ops[0].Errors = []results.LoadError{{Kind: "reset", Count: 60_000}}
		}, "errors"},
		{"a sixth is refused", func(l *results.Load) {
			shortfall(l, 0, 0)
			l.Ops[0].Errors = []results.LoadError{{Kind: "rejected", Count: 60_000}}
		}, ""},
		{"half is refused", func(l *results.Load) {
			shortfall(l, 0, 0)
			l.Ops[0].Errors = []results.LoadError{{Kind: "rejected", Count: l.Ops[0].Count + l.Ops[0].Outside}}
		}, "refused"},
		{"a part is refused, and a part is reset", func(l *results.Load) {
			shortfall(l, 0, 0)
			l.Ops[0].Errors = []results.LoadError{{Kind: "rejected", Count: 60_000}, {Kind: "reset", Count: 60_000}}
		}, "errors"},
		{"a tenth of the FETCHes failed", func(l *results.Load) {
			l.Ops = append(l.Ops, results.LoadOp{Op: "fetch", Errors: []results.LoadError{{Kind: "timeout", Count: 33_322}}})
		}, ""},
		{"more than a tenth of the FETCHes failed", func(l *results.Load) {
			l.Ops = append(l.Ops, results.LoadOp{Op: "fetch", Errors: []results.LoadError{{Kind: "timeout", Count: 33_323}}})
		}, "errors"},
		{"every ACK was refused", func(l *results.Load) {
			l.Ops[3] = results.LoadOp{Op: "ack", Errors: []results.LoadError{{Kind: "rejected", Count: 1}}}
		}, "refused"},
		{"connections of churn push, and nobody is let in", func(l *results.Load) {
			l.Rate.Op = "connect"
			l.Ops = append(l.Ops, results.LoadOp{Op: "hello", Errors: []results.LoadError{{Kind: "rejected", Count: 1}}})
		}, "refused"},
		{"nobody is let in again, who has pushed before", func(l *results.Load) {
			l.Ops = append(l.Ops, results.LoadOp{Op: "hello", Errors: []results.LoadError{{Kind: "rejected", Count: 1}}})
		}, ""},
		{"nothing was achieved", func(l *results.Load) {
			l.Rate = results.LoadRate{Op: "push", Target: 5000,
				Planned: 300_000}
		}, "empty behind"},
		{"a little behind", func(l *results.Load) { l.Rate.Achieved = 4951 }, ""},

		{"aborted", func(l *results.Load) { l.Plan.Overload, l.Rate.Dropped = "abort", 1 }, "aborted"},
		{"dropped is no abort", func(l *results.Load) { l.Plan.Overload, l.Rate.Dropped = "drop", 1 }, ""},
		{"no descriptors", func(l *results.Load) { l.Health.NoFiles, l.Connections.Opened = 5, 195 }, "files"},
		{"no ports", func(l *results.Load) { l.Health.NoPorts = 1 }, "ports"},
		{"no memory", func(l *results.Load) { l.Health.NoMemory = 1 }, "memory"},
		{"the target has a limit", func(l *results.Load) { l.Connections.Opened, l.Connections.Refusal = 150, "EOF" },
			"connections"},
		{"steal", func(l *results.Load) { l.Health.Steal = 0.021 }, "stolen"},
		{"a little steal", func(l *results.Load) { l.Health.Steal = 0.02 }, ""},
		{"throttled", func(l *results.Load) { l.Health.Throttled = 601 * time.Millisecond }, "throttled"},
		{"throttled a little", func(l *results.Load) { l.Health.Throttled = 599 * time.Millisecond }, ""},
		{"the clock is set", func(l *results.Load) {
			l.Health.ClockJumps = []results.ClockJump{{By: time.Millisecond}, {By: -time.Hour}}
		}, "clock"},
		{"the clock is trimmed",
			func(l *results.Load) { l.Health.ClockJumps = []results.ClockJump{{By: 99 * time.Millisecond}} }, ""},
		{"it stood still", func(l *results.Load) { l.Health.Holes = []results.Hole{{Length: 2 * time.Second}} }, "still"},
		{"it stood still, which explains nothing achieved", func(l *results.Load) {
			l.Health.Holes, l.Ops, l.Rate = []results.Hole{{Length: time.Second}, {Length: time.Second}}, nil, results.LoadRate{}
		}, "still empty"},
		{"nothing measured", func(l *results.Load) { l.Ops, l.Rate = nil, results.LoadRate{} }, "empty"},
		{"several", func(l *results.Load) { l.Health.NoPorts, l.Health.Steal, l.Health.CPUShare = 1, 1, 1 },
			"ports saturated stolen"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := soundLoad()
			c.change(l)
			validity.Evaluate(l)
			var ids []string
			for _, r := range l.Validity.Reasons {
				ids = append(ids, r.ID)
				assert.NotEmpty(t, r.Description)
				assert.NotEmpty(t, r.Do)
				assert.False(t, strings.HasSuffix(r.Description, ".") || strings.HasSuffix(r.Do, "."), "no full stop")
			}
			assert.Equal(t, c.want, strings.Join(ids, " "))
			assert.Equal(t, c.want == "", l.Validity.IsValid)
			code := reports.ExitWell
			switch id, _, _ := strings.Cut(c.want, " "); id {
			case "":
			case "files", "ports", "memory": // of this machine
				code = reports.ExitInternal
			default:
				code = reports.ExitInconclusive
			}
			got, words := l.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, code, got, words)
		})
	}
}

func TestNobodyJudgedIsInvalid(t *testing.T) {
	t.Parallel()
	code, words := (&results.Load{}).Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitInconclusive, code)
	assert.Contains(t, words, "INVALID")
}

func TestRemarks(t *testing.T) {
	t.Parallel()
	l := soundLoad()
	l.Ops[0].Lateness.P50 = 60 * time.Microsecond
	l.Ops[0].Service.OutOfRange = 2
	l.Health.Throttled, l.Health.ThrottledPeriods = 100*time.Millisecond, 1
	validity.Evaluate(l)
	require.True(t, l.Validity.IsValid)
	all := strings.Join(l.Validity.Remarks, "\n")
	for _, want := range []string{
		"Up to 60 us of the response median of push (120 us) is the generator's own delay",
		"2 times of push were outside the recorded range",
		"A cgroup throttled the generator once, for 100 ms in total.",
	} {
		assert.Contains(t, all, want)
	}
}

func TestRemarksAboutABacklog(t *testing.T) {
	t.Parallel()
	for consumers, want := range map[int]string{
		0: "There are no end-to-end latencies, because no job was fetched",
		5: "Producers pushed faster than workers fetched",
	} {
		l := soundLoad()
		l.Plan.IsOpenLoop, l.Plan.Consumers, l.Flows[0].Time.P50 = false, consumers, 1390*time.Millisecond
		validity.Evaluate(l)
		assert.Contains(t, strings.Join(l.Validity.Remarks, "\n"), want)
	}
}

// A generator that was late on a machine that others kept busy says so.
func TestLateOnABusyMachine(t *testing.T) {
	t.Parallel()
	words := func(busy, cpuShare float64) string {
		l := soundLoad()
		l.Ops[0].Lateness.P99, l.Health.MachineBusy, l.Health.CPUShare = time.Second, busy, cpuShare
		validity.Evaluate(l)
		require.False(t, l.Validity.IsValid)
		assert.Equal(t, "push was sent late: p99 1 s, allowed 2 ms", l.Validity.Reasons[0].Description)
		return fmt.Sprint(l.Validity.Reasons[0].Facts)
	}
	assert.Contains(t, words(0.99, 0.04), "{machine busy for 99 % of the time} {generator used 4 % of its")
	assert.Contains(t, words(0.99, 0.04), "{allowed 2 ms: 10 % of the p99 of its response time")
	assert.NotContains(t, words(0.5, 0.04), "busy")
	assert.NotContains(t, words(0.99, 0.8), "busy", "with itself")
}
