package validity_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// The sum of several generators is as valid as each of them, and a reason that several share is given once.
func TestPartsAreJudgedByTheirReports(t *testing.T) {
	t.Parallel()
	lateReason := results.Reason{ID: "late", Description: "push was sent late", Do: "lower the rate"}
	stolen := results.Reason{ID: "stolen", Description: "the host took 3 %", Do: "run it again"}
	part := func(name string, reasons ...results.Reason) results.LoadPart {
		return results.LoadPart{Name: name, Validity: results.Validity{IsValid: len(reasons) == 0, Reasons: reasons}}
	}
	wrong := part("south", lateReason) // it is wrong in the first place
	wrong.Problem = "it has another plan"
	for name, test := range map[string]struct {
		parts []results.LoadPart
		want  []string
	}{
		"all valid": {[]results.LoadPart{part("north"), part("south")}, nil},
		"one late":  {[]results.LoadPart{part("north"), part("south", lateReason)}, []string{"part south: push was sent late"}},
		"both late": {[]results.LoadPart{part("north", lateReason), part("south", lateReason)},
			[]string{"part north, south: push was sent late"}},
		"two reasons": {[]results.LoadPart{part("north", lateReason, stolen), part("south", stolen)},
			[]string{"part north: push was sent late", "part north, south: the host took 3 %"}},
		"one wrong": {[]results.LoadPart{part("north", lateReason), wrong},
			[]string{"part south: it has another plan", "part north: push was sent late"}},
		"one missing": {[]results.LoadPart{part("north"), {Segment: "2/2", Problem: "its report is missing"}},
			[]string{"segment 2/2: its report is missing"}},
	} {
		l := soundLoad()
		l.Ops[0].Lateness.P99 = time.Second // figures of the sum are not judged
		l.Parts = test.parts
		validity.Evaluate(l)
		assert.Equal(t, test.want == nil, l.Validity.IsValid, name)
		var got []string
		for _, r := range l.Validity.Reasons {
			got = append(got, r.Description)
		}
		assert.Equal(t, test.want, got, name)
	}
}

// Remarks of the generators are those of the sum, with their names.
func TestRemarksOfParts(t *testing.T) {
	t.Parallel()
	l := soundLoad()
	l.Connections.Losses = 3 // each part has said so
	l.Parts = []results.LoadPart{
		{Name: "north", Validity: results.Validity{IsValid: true, Remarks: []string{"Slow.", "Busy."}}},
		{Name: "south", Validity: results.Validity{IsValid: true, Remarks: []string{"Slow."}}},
	}
	validity.Evaluate(l)
	assert.Equal(t, []string{"Part north: Slow.", "Part north: Busy.", "Part south: Slow."}, l.Validity.Remarks)
}

// A run without a success says why.
func TestWhatARunWithoutSuccessSays(t *testing.T) {
	t.Parallel()
	failed := func(op, kind, example string) []results.LoadOp {
		return []results.LoadOp{{Op: op, Errors: []results.LoadError{{Kind: kind, Count: 2, Example: example}}}}
	}
	for want, l := range map[string]results.Load{
		"the load did not begin: the start has passed": {StartFailure: "the start\nhas passed"},
		"the run was interrupted before anything was measured": {
			Head: reports.Head{Trouble: reports.Trouble{Interrupted: true}}, Rate: results.LoadRate{Op: "push"}},
		"nothing was achieved: 2 pushes refused (ERR no)": {
			Rate: results.LoadRate{Op: "push"}, Ops: failed("push", "rejected", "ERR\nno"), Measured: time.Second},
		"nothing was achieved: 2 pushes answered wrongly": {
			Rate: results.LoadRate{Op: "push"}, Ops: failed("push", "malformed", "+")},
		"nothing was achieved: 2 fetches unanswered (timeout)": {
			Rate: results.LoadRate{Op: "ack"}, Ops: failed("fetch", "timeout", "")},
		"nothing was achieved: 2 connections failed (reset)": {
			Rate: results.LoadRate{Op: "connect"}, Ops: failed("connect", "reset", "")},
		"nothing was achieved: 9 fetches came back without a job": {
			Rate: results.LoadRate{Op: "ack"}, Ops: []results.LoadOp{{Op: "fetch.empty", Count: 9}}},
		"nothing was achieved: no beat was due in 2 s of measuring": {
			Rate: results.LoadRate{Op: "beat"}, Measured: 2 * time.Second},
		"nothing was achieved: no push was answered in 2 s of measuring": {
			Rate: results.LoadRate{Op: "push"}, Measured: 2 * time.Second},
		"nothing was achieved: nothing was measured": {Rate: results.LoadRate{Op: "push"}},
	} {
		validity.Evaluate(&l)
		require.NotEmpty(t, l.Validity.Reasons, want)
		assert.Equal(t, want, l.Validity.Reasons[0].Description)
		assert.NotEmpty(t, l.Validity.Reasons[0].Do)
	}
}

// TestUnread: a run in which most replies to a command were too long to be read is INVALID, even if the load has none
// of its commands to measure.
func TestUnread(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"push", "beat", "info", "end"} {
		for read, invalid := range map[int64]bool{1: true, 2: false} {
			l := results.Load{Rate: results.LoadRate{Op: "ack", Done: 9}, Ops: []results.LoadOp{
				{Op: op, Count: read, Errors: []results.LoadError{{Kind: "too-long", Count: 2, Example: "at most 9 bytes"}}}}}
			validity.Evaluate(&l)
			isUnread := slices.ContainsFunc(l.Validity.Reasons, func(r results.Reason) bool {
				return r.ID == "unread" && strings.Contains(r.Description, "2 replies to "+op+": at most 9 bytes")
			})
			assert.Equal(t, invalid, isUnread, op)
		}
	}
}

// What the target refused, and what this machine lacked, have reasons of their own in the place of an empty run.
func TestAShortageIsNoEmptyRun(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(l *results.Load){
		"connections": func(l *results.Load) { l.Connections.Opened = 0 },
		"files":       func(l *results.Load) { l.Connections.Opened, l.Health.NoFiles = 0, 4 },
		"ports":       func(l *results.Load) { l.Connections.Opened, l.Health.NoPorts = 0, 4 },
		"memory":      func(l *results.Load) { l.Connections.Opened, l.Health.NoMemory = 0, 4 },
		"aborted":     func(l *results.Load) { l.Plan.Overload, l.Rate.Dropped = "abort", 1 },
	} {
		l := &results.Load{Connections: results.Connections{Planned: 10, Opened: 10}, Rate: results.LoadRate{Op: "push"}}
		change(l)
		validity.Evaluate(l)
		require.Len(t, l.Validity.Reasons, 1, want)
		assert.Equal(t, want, l.Validity.Reasons[0].ID)
	}
}

// A target of which nothing was seen after a disruption has not recovered, as far as anybody knows.
func TestRecoveryHasToBeSeen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		served  time.Duration
		failed  string
		isValid bool
	}{
		"served": {served: time.Second, isValid: true}, "served at once": {isValid: true},
		"nothing": {served: -1}, "not done": {served: -1, failed: "skipped: no mount"},
	} {
		l := soundLoad()
		l.Disruptions = &results.LoadDisruptions{List: []results.LoadDisruption{
			{Words: "kill", FirstServed: test.served, RateBack: -1, Failure: test.failed}}}
		validity.Evaluate(l)
		assert.Equal(t, test.isValid, l.Validity.IsValid, name)
		if !test.isValid {
			require.Len(t, l.Validity.Reasons, 1, name)
			assert.Equal(t, "disruptions", l.Validity.Reasons[0].ID, name)
			assert.Equal(t, "kill", l.Validity.Reasons[0].Facts[0].Name, name)
		}
	}
}

// Where workers wait for some queues only, the report says that this is the limit, and not the server.
func TestQueuesThatNoWorkerWaitsFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		queues, awaited int
		waits           int64
		hasRemark       bool
	}{
		"fewer workers than queues": {10, 5, 3, true}, "none waited in vain": {10, 5, 0, false},
		"enough workers": {10, 10, 3, false}, "another protocol": {0, 0, 3, false},
	} {
		l := soundLoad()
		l.Plan.Queues, l.Plan.Awaited = test.queues, test.awaited
		l.Ops = append(l.Ops, results.LoadOp{Op: "fetch.empty", Count: test.waits})
		validity.Evaluate(l)
		assert.Equal(t, test.hasRemark, strings.Contains(strings.Join(l.Validity.Remarks, " "), "use --queues 5"), name)
	}
}

// How many arrivals a step needs follows from its thresholds.
func TestNeeded(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int64{
		"lost==0": 100, "push.response.p50<1s": 100, "push.response.p90<1s": 100, "push.response.p99<1s": 500,
		"job.fetched.p99.9<1s": 5000, "push.response.max<1s": 100,
	} {
		assert.Equal(t, want, validity.NeededArrivals(parseThresholds(source)), source)
	}
}

// An open loop that uses nearly all of its CPUs reads replies too late. A closed one has no arrivals that are due.
func TestHowBusyAGeneratorMayBe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		isOpenLoop  bool
		share, loop float64
		length      time.Duration
		isSaturated bool
	}{
		{true, 0.85, 0.85, time.Second, false}, {true, 0.86, 0, time.Second, true}, {true, 0, 0.86, time.Second, true},
		{false, 0.96, 0, time.Second, false}, {false, 0, 0.96, time.Second, false},
		{true, 1, 1, 199 * time.Millisecond, false}, {true, 1, 1, 200 * time.Millisecond, true},
	} {
		l := soundLoad()
		l.Plan.IsOpenLoop, l.Health.CPUShare, l.Health.Length = test.isOpenLoop, test.share, test.length
		l.Health.Loops = []float64{0.1, test.loop}
		validity.Evaluate(l)
		ids := map[string]bool{}
		for _, r := range l.Validity.Reasons {
			ids[r.ID] = true
		}
		assert.Equal(t, test.isSaturated, ids["saturated"], "%+v", test)
	}
}
