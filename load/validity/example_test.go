package validity_test

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// sampleLoad is a small result, as load.Run fills it.
func sampleLoad() *results.Load {
	times := results.Latency{
		Count: 30_000, Min: 60 * time.Microsecond, Mean: 132 * time.Microsecond, P50: 120 * time.Microsecond,
		P90: 240 * time.Microsecond, P99: 600 * time.Microsecond, Max: 9 * time.Millisecond,
	}
	return &results.Load{
		Phases: []results.Phase{{Name: "measure", Took: time.Minute}}, Measured: time.Minute,
		Connections: results.Connections{Planned: 20, Opened: 20},
		Rate:        results.LoadRate{Op: "push", Target: 500, Achieved: 500, Planned: 30_000, Done: 30_000},
		Ops:         []results.LoadOp{{Op: "push", Count: 30_000, Rate: 500, Service: times, Response: times}},
		Jobs:        results.LoadJobs{Pushed: 30_000, Delivered: 30_000, Acked: 30_000, IsDrained: true},
	}
}

// Evaluate decides whether the figures are valid and which thresholds hold; the outcome and the exit code follow from
// that.
func ExampleEvaluate() {
	threshold, err := validity.ParseThreshold("push.response.p99<500us", "push")
	if err != nil {
		fmt.Println(err)
		return
	}
	l := sampleLoad()
	validity.Evaluate(l, threshold)
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	fmt.Println(code, words)
	for _, t := range l.Thresholds {
		fmt.Println(t.Threshold, t.IsMet, t.Actual)
	}
	// Output: 1 1 of 1 threshold missed: push.response.p99<500us, actual 600 us; achieved the target rate of 500 /s; all 30,000 jobs accounted for
	// push.response.p99<500us false 600 us
}

// A finding is worse than anything that the figures say.
func ExampleEvaluate_finding() {
	l := sampleLoad()
	l.Findings = []results.LoadFinding{results.NewLoadFinding(results.FindingLost, 2, []string{"8c1f20aa5b7d4e33"})}
	l.Findings[0].Clause = "FWP-PUSH-04" // fwpsuite.ClauseOf(l.Findings[0].Breach)
	validity.Evaluate(l)
	fmt.Println(l.Findings[0].Description, l.Findings[0].MoreJIDs)
	code, words := l.Outcome(reports.ExitOptions{}).Values()
	fmt.Println(code, words)
	// Output:
	// accepted with OK and never delivered 1
	// 6 2 jobs lost (FWP-PUSH-04); achieved the target rate of 500 /s; 30,000 jobs pushed, 30,000 delivered
}

// An error names the place and what may have been meant.
func ExampleParseThreshold() {
	_, err := validity.ParseThreshold("psuh.rate>=5000/s", "push", "ack")
	fmt.Println(err)
	// Output:
	// threshold "psuh.rate>=5000/s", column 1: unknown metric "psuh.rate"; did you mean push.rate? (fwpbench metrics lists all)
}
