package reports_test

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/reports"
)

// measured is a small result, as load.Run fills it.
func measured() *reports.Load {
	times := reports.Latency{
		Count: 30_000, Min: 60 * time.Microsecond, Mean: 132 * time.Microsecond, P50: 120 * time.Microsecond,
		P90: 240 * time.Microsecond, P99: 600 * time.Microsecond, Max: 9 * time.Millisecond,
	}
	return &reports.Load{
		Phases: []reports.Phase{{Name: "measure", Took: time.Minute}}, Measured: time.Minute,
		Connections: reports.Connections{Planned: 20, Opened: 20},
		Rate:        reports.LoadRate{Op: "push", Target: 500, Achieved: 500, Planned: 30_000, Done: 30_000},
		Ops:         []reports.LoadOp{{Op: "push", Count: 30_000, Rate: 500, Service: times, Response: times}},
		Jobs:        reports.LoadJobs{Pushed: 30_000, Delivered: 30_000, Acked: 30_000, Drained: true},
	}
}

// Evaluate decides whether the figures are valid and which thresholds hold; the outcome and the exit code follow from
// that.
func ExampleLoad_Evaluate() {
	threshold, err := reports.ParseThreshold("push.response.p99<500us", "push")
	if err != nil {
		fmt.Println(err)
		return
	}
	l := measured()
	l.Evaluate(threshold)
	code, words := l.Outcome()
	fmt.Println(code, words)
	for _, t := range l.Thresholds {
		fmt.Println(t.Threshold, t.Met, t.Actual)
	}
	// Output: 1 1 of 1 threshold missed: push.response.p99<500us, actual 600 us; achieved the target rate of 500 /s; all 30,000 jobs accounted for
	// push.response.p99<500us false 600 us
}

// A finding is worse than anything that the figures say.
func ExampleNewLoadFinding() {
	l := measured()
	l.Findings = []reports.LoadFinding{reports.NewLoadFinding(reports.FindingLost, 2, []string{"8c1f20aa5b7d4e33"})}
	l.Findings[0].Clause = "FWP-PUSH-04" // conformance.ClauseOf(l.Findings[0].Breach)
	l.Evaluate()
	fmt.Println(l.Findings[0].What, l.Findings[0].More)
	code, words := l.Outcome()
	fmt.Println(code, words)
	// Output:
	// accepted with OK and never delivered 1
	// 6 2 jobs lost (FWP-PUSH-04); achieved the target rate of 500 /s; 30,000 jobs pushed, 30,000 delivered
}

// An error names the place and what may have been meant.
func ExampleParseThreshold() {
	_, err := reports.ParseThreshold("psuh.rate>=5000/s", "push", "ack")
	fmt.Println(err)
	// Output:
	// threshold "psuh.rate>=5000/s", column 1: no metric "psuh.rate"; do you mean push.rate? (fwpbench metrics lists all)
}
