package results_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// spread returns a Latency of a usual shape.
func spread(count int64, p50 time.Duration) results.Latency {
	return results.Latency{
		Count: count, Min: p50 / 2, Mean: p50 * 11 / 10, P50: p50, P90: p50 * 2, P99: p50 * 5, P999: p50 * 21,
		P9999: p50 * 43, Max: p50 * 87,
	}
}

func sampleOp(op string, count int64, lateness, service, response time.Duration) results.LoadOp {
	return results.LoadOp{
		Op: op, Count: count, Rate: reports.PerSecond(count, time.Minute),
		Lateness: spread(count, lateness), Service: spread(count, service), Response: spread(count, response),
	}
}

// soundLoad is a run in which all went well.
func soundLoad() *results.Load {
	l := &results.Load{
		Head: reports.Head{
			Schema: results.LoadSchema, Version: "fwpbench 0.1.0", Seed: 18446744073709551557,
			StartTime: time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC), Took: 71_412_345_678,
		},

		Run: "k3v9q2",

		Target: results.LoadTarget{
			URL: "tcp://localhost:7419", Chosen: "from --url", HI: json.RawMessage(`{"v":2}`),
			Info: json.RawMessage(`{"server":{"faktory_version":"1.10.0"}}`),
		},
		Machine: results.Machine{
			OS: "linux", Arch: "amd64", Kernel: "6.18.5", CPU: "AMD EPYC 7B13", Cores: 2, GOMAXPROCS: 1, Go: "go1.26.8",
			MemoryBytes: 8 << 30,
		},
		Plan: results.LoadPlan{
			Words: "100 producers push 5,000 jobs/s (Poisson) to 1 queue for 60 s after 10 s of warm-up; " +
				"100 workers fetch and acknowledge them at once",
			Preset: "roundtrip", IsOpenLoop: true, Overload: "queue", Producers: 100, Consumers: 100,
			Stages:   []results.Stage{{Length: 10 * time.Second, To: 5000}, {Length: time.Minute, From: 5000, To: 5000}},
			Workload: json.RawMessage(`{"producers":100}`),
		},
		Phases: []results.Phase{
			{Name: "connect", Took: 212 * time.Millisecond},
			{Name: "warm-up", From: 212 * time.Millisecond, Took: 10 * time.Second},
			{Name: "measure", From: 10_212 * time.Millisecond, Took: time.Minute},
			{Name: "drain", From: 70_212 * time.Millisecond, Took: 1200 * time.Millisecond, Note: "empty after 0.2 s"},
		},
		Measured:    time.Minute,
		Connections: results.Connections{Planned: 200, Opened: 200},
		Rate: results.LoadRate{Op: "push", Target: 5000, Achieved: 4998.4, Planned: 300_000, Done: 299_904, Queued: 14,
			Backlog: 3},
		Ops: []results.LoadOp{
			sampleOp("push", 299_904, 11*time.Microsecond, 104*time.Microsecond, 120*time.Microsecond),
			sampleOp("fetch.found", 960, 12*time.Microsecond, 98*time.Microsecond, 110*time.Microsecond),
			sampleOp("fetch.waited", 298_944, 12*time.Microsecond, 18*time.Millisecond, 18*time.Millisecond),
			sampleOp("ack", 299_904, 9*time.Microsecond, 88*time.Microsecond, 97*time.Microsecond),
			sampleOp("beat", 400, 210*time.Microsecond, 88*time.Microsecond, 297*time.Microsecond),
		},
		Flows: []results.LoadFlow{
			{Flow: "job.fetched", Time: spread(299_904, 180*time.Microsecond)},
			{Flow: "job.acked", Time: spread(299_904, 290*time.Microsecond)},
		},
		Jobs: results.LoadJobs{Pushed: 325_011, Delivered: 325_011, Acked: 325_011, OutOfOrder: 1204,
			ClientCounts: results.ClientCounts{TakenAtEnd: 3},
			IsDrained:    true},
		Health: results.Health{
			Length: time.Minute, CPUUser: 8 * time.Second, CPUSystem: 17 * time.Second, CPUShare: 0.4167, CPUPeak: 0.553,
			Loops: []float64{0.402}, MachineBusy: 0.811, MachinePeak: 0.93, GCPauses: 12, GCPause: 900 * time.Microsecond,
			GCPauseMax: 142 * time.Microsecond, MemoryPeak: 43 << 20, HeapPeak: 9 << 20,
			Files: results.Files{Peak: 214, Soft: 524_288, Hard: 524_288},
		},
		Series: []results.Second{{
			At: 10 * time.Second, Length: time.Second, Phase: "measure", Target: 5000, Achieved: 4991, Connections: 200,
			InFlight: 2, CPU: 0.42,
			Ops: []results.SecondOp{{
				Op: "push", Count: 4991, LatenessP99: 55 * time.Microsecond, ServiceP50: 104 * time.Microsecond,
				ServiceP99: 510 * time.Microsecond, ResponseP50: 120 * time.Microsecond, ResponseP99: 600_400,
				ResponseMax: 3 * time.Millisecond,
			}},
			Flows: []results.SecondFlow{{Flow: "job.fetched", Count: 4988, P50: 180 * time.Microsecond,
				P99: 900 * time.Microsecond,
				Max: 9 * time.Millisecond}},
		}, {
			At: 11 * time.Second, Length: 412 * time.Millisecond, Phase: "measure", Target: 5000, Achieved: 5003.5,
			Connections: 200, InFlight: 3,
			Backlog: 1, Dropped: 2, CPU: 0.4,
			Ops: []results.SecondOp{{Op: "fetch.empty", Errors: 1}},
		}},
	}
	validity.Evaluate(l, parseThresholds("push.response.p99<20ms", "errors<0.1%", "lost==0", "rate>=99%")...)
	return l
}

func parseThresholds(sources ...string) []validity.Threshold {
	var all []validity.Threshold
	for _, source := range sources {
		t, err := validity.ParseThreshold(source, sampleOps()...)
		if err != nil {
			panic(err)
		}
		all = append(all, t)
	}
	return all
}

// overloadedLoad is a run whose target achieved less than the target rate, while the generator coped.
func overloadedLoad() *results.Load {
	l := soundLoad()
	l.Rate = results.LoadRate{
		Op: "push", Target: 12_000, Achieved: 8300, Planned: 720_000, Done: 498_000, Queued: 497_900, Backlog: 221_950,
		Dropped:  50,
		Unserved: 221_950,
	}
	l.Ops[0] = sampleOp("push", 497_000, 20*time.Microsecond, 11*time.Millisecond, 9*time.Second)
	l.Ops[0].Response.Count, l.Ops[0].Response.Unserved = 718_950, l.Rate.Unserved
	l.Ops[0].Response.AtLeast = []string{"mean", "p90", "p99", "p99.9", "p99.99", "max"}
	l.Ops[0].Errors = []results.LoadError{
		{Kind: "rejected", Count: 940, Example: "ERR too busy \x1b[2J" + strings.Repeat("0 ", 60)},
		{Kind: "reset", Count: 60},
	}
	l.Connections.Losses, l.Connections.FirstLoss = 60, "read tcp: connection reset by peer"
	l.Connections.Disconnects = 75
	l.Jobs = results.LoadJobs{
		Pushed: 497_000, Doubtful: 60, Refused: 940, Delivered: 497_040, Redelivered: 12, Acked: 497_040, IsDrained: true,
		Missing: 2, InDoubt: 2, FetchesLost: 60,
	}
	validity.Evaluate(l, parseThresholds("push.response.p99<20ms", "ack.service.p99<500us", "fail.response.max<1s")...)
	return l
}

// invalidLoad is a run that the generator did not carry.
func invalidLoad() *results.Load {
	l := overloadedLoad()
	l.Ops[0].Lateness = spread(497_000, 400*time.Millisecond)
	l.Health.CPUShare, l.Health.Steal = 0.97, 0.043
	l.Rate.Queued, l.Rate.Unserved = 12, 0
	validity.Evaluate(l, parseThresholds("push.response.p99<20ms", "lost==0")...)
	return l
}

// lossyLoad is a run whose target lost jobs and delivered others twice.
func lossyLoad() *results.Load {
	l := soundLoad()
	jids := make([]string, 2003)
	for i := range jids {
		jids[i] = fmt.Sprintf("fwpbench-k3v9q2-%016x", i*50)
	}
	l.Jobs.LostJobs, l.Jobs.Missing, l.Jobs.Duplicated, l.Jobs.Foreign, l.Jobs.Delivered = 2003, 2003, 2, 1, 323_008
	l.Findings = []results.LoadFinding{
		newFinding(results.FindingLost, "FWP-PUSH-04", 0, jids),
		newFinding(results.FindingDuplicated, "FWP-STATE-05", 2, jids[:2]),
		results.NewLoadFinding(results.FindingForeign, 1, []string{"\x1b[31mevil" + strings.Repeat("0 ", 60)}),
	}
	l.Findings[1].Notes = []string{"fetched by worker 3 at 12.1 s and by worker 9 at 12.3 s"}
	validity.Evaluate(l, parseThresholds("lost==0")...)
	return l
}

// newFinding is NewLoadFinding with the clause, which a caller looks up.
func newFinding(kind results.FindingKind, clause string, count int64, jids []string) results.LoadFinding {
	f := results.NewLoadFinding(kind, count, jids)
	f.Clause = clause
	return f
}

// sampleOps are the kinds of commands of the samples.
func sampleOps() []string {
	return []string{
		"connect", "hello", "push", "fetch", "fetch.found", "fetch.waited", "fetch.empty", "ack", "fail", "beat", "info",
		"end",
	}
}
