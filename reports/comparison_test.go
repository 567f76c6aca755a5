package reports

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// sampleComparison is a comparison with a difference of each mark.
func sampleComparison() *Comparison {
	departs := DifferenceSide{
		Reply: "retry: 3", Clause: "FWP-WU-07", Level: LevelPlain, Verdict: Fail, Expected: `${"retry":25 | null | absent}`,
	}
	warns := DifferenceSide{Reply: "+OK", Clause: "FWP-FRAME-03", Level: LevelShould, Verdict: Warn, Expected: "-"}
	talk := []Exchange{{Step: "connect c2 as consumer"},
		{Step: "C[c2]: FETCH $queue1", A: "${} retry: 25", B: "${} retry: 3"}}
	c := &Comparison{
		Head:     Head{Version: "fwpcheck v1.2.3", Took: 83 * time.Second, Seed: 42},
		A:        Target{URL: "tcp://127.0.0.1:7419", Chosen: "from the arguments", HI: `HI {"v":2}`},
		B:        Target{URL: "tcp://127.0.0.1:7519", Chosen: "from the arguments", HI: `HI {"v":2}`},
		Commands: 5012, Outcomes: map[string]int{"FETCH identified worker: ${}": 400}, LeftoverJobs: []string{"job-1"},
		ConnLimits: []int{0, 20},
		Differences: []Difference{
			{Command: "END", State: "identified", Clause: "FWP-END-01", A: DifferenceSide{Reply: "+OK"},
				B: DifferenceSide{Reply: "<close>"}, Count: 9, Conversation: talk[:1], Reproduced: 5, Attempts: 5},
			{Command: "INFO", State: "identified", Clause: "FWP-FRAME-03", A: warns, B: DifferenceSide{Reply: "-"}, Count: 2},
			{Command: "FETCH", Field: "retry", Clause: "FWP-FETCH-03", A: DifferenceSide{Reply: "retry: 25"}, B: departs,
				Count: 1, Conversation: talk, Reproduced: 4, Attempts: 5},
		},
	}
	for i := range c.Differences {
		c.Differences[i].SetBrokenSide()
	}
	c.Sort()
	return c
}

func TestComparisonGolden(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]*Comparison{"comparison": sampleComparison(), "comparison-empty": {}} {
		var out bytes.Buffer
		require.NoError(t, report.Page(PageOptions{}).WriteText(&out, TextOptions{}))
		golden.File(t, "testdata/"+name+".txt.golden", out.Bytes())
	}
	var out bytes.Buffer
	require.NoError(t, sampleComparison().WriteJSON(&out, ExitOptions{}))
	golden.File(t, "testdata/comparison.json.golden", out.Bytes())
}

func TestComparisonOutcome(t *testing.T) {
	t.Parallel()
	fail, warn := DifferenceSide{Clause: "FWP-WU-07", Verdict: Fail}, DifferenceSide{Clause: "FWP-WU-07", Verdict: Warn}
	other := DifferenceSide{Clause: "FWP-WU-08", Verdict: Fail}
	for name, test := range map[string]struct {
		a, b   DifferenceSide
		strict bool
		mark   BrokenSide
		code   int
	}{
		"both allowed":             {DifferenceSide{}, DifferenceSide{}, false, BothAllowed, ExitWell},
		"only A":                   {fail, DifferenceSide{}, false, ADeparts, ExitWell},
		"only B":                   {DifferenceSide{}, fail, false, BDeparts, ExitFindings},
		"both, from the same":      {fail, fail, false, BothDepart, ExitWell},
		"both, from different":     {fail, other, false, BothDepart, ExitFindings},
		"B, from a recommendation": {DifferenceSide{}, warn, false, BDeparts, ExitWell},
		"B, and that counts":       {DifferenceSide{}, warn, true, BDeparts, ExitFindings},
		"B has crashed": {DifferenceSide{}, DifferenceSide{Clause: "x", Verdict: Crash}, false, BDeparts,
			ExitFindings},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Difference{A: test.a, B: test.b}
			d.SetBrokenSide()
			assert.Equal(t, test.mark, d.BrokenSide)
			c := &Comparison{Commands: 1, Outcomes: map[string]int{"x": 1}, Differences: []Difference{d}}
			code, _ := c.Outcome(ExitOptions{Strict: test.strict}).Values()
			assert.Equal(t, test.code, code)
		})
	}
	for want, c := range map[int]*Comparison{
		ExitInconclusive: {Outcomes: map[string]int{"x": 1}, Unread: "A: 9 of 9 replies to PUSH could not be read"},
		ExitInterrupted:  {Head: Head{Trouble: Trouble{Interrupted: true}}},
		ExitUnreachable:  {Head: Head{Trouble: Trouble{Unreachable: "x"}}},
		ExitInternal:     {Head: Head{Trouble: Trouble{Internal: "x"}}},
		ExitWell:         {Outcomes: map[string]int{"x": 1}},
	} {
		code, _ := c.Outcome(ExitOptions{}).Values()
		assert.Equal(t, want, code)
	}
	code, _ := (&Comparison{}).Outcome(ExitOptions{}).Values()
	assert.Equal(t, ExitInconclusive, code)
}

// run returns the report of a run in which checks a, b ... have these verdicts; actual is what a finding received.
func runOf(actual string, verdicts ...Verdict) *Report {
	r := &Report{Target: Target{Chosen: "from --url"}}
	for i, v := range verdicts {
		c := Check{ID: "x/" + string(rune('a'+i)), File: "x.fwp", Verdict: v,
			Clauses: []ClauseVerdict{{ID: "X-1", Verdict: v}}}
		if v.IsBreach() {
			c.Findings = []Finding{{Clause: "X-1", Verdict: v,
				Evidence: Evidence{Expected: "an error", Actual: actual, KnownLine: 3}}}
		}
		r.Checks = append(r.Checks, c)
	}
	return r
}

// sampleChanges returns a comparison with a change of each kind.
func sampleChanges() *Changes {
	return Compare([]string{"old.json", "mid.json", "new.json"}, []*Report{
		runOf("+OK", Pass, Fail, Fail, Pass, Skipped, Pass, Warn, Fail, Pass),
		runOf("+OK", Pass, Fail, Fail, Pass, Skipped, Fail, Warn, Fail, Pass),
		runOf("-ERR 7", Fail, Pass, Fail, Inconclusive, Pass, Pass, Crash),
	})
}

func TestCompareReports(t *testing.T) {
	t.Parallel()
	c := sampleChanges()
	kinds := map[string]ChangeKind{}
	for _, change := range c.Changes {
		kinds[change.Check] = change.Kind
	}
	assert.Equal(t, map[string]ChangeKind{
		"x/a": Appeared, "x/b": Disappeared, "x/c": Changed, "x/d": Unevaluated, "x/e": Evaluated, "x/f": Varied, "x/g": Changed,
		"x/h": Unevaluated, "x/i": Unevaluated,
	}, kinds)
	code, words := c.Outcome(ExitOptions{}).Values()
	assert.Equal(t, ExitFindings, code)
	assert.Equal(t, "9 changes: 1 appeared, 2 changed, 3 not evaluated, 1 in between only, 1 went, 1 evaluated", words)
	assert.Equal(t, map[Verdict]int{Fail: 1, Warn: 0}[Fail], c.Runs[0].Findings[Fail], "what is known counts here")
	assert.Equal(t, Appeared, c.Changes[0].Kind, "the worst first")
}

func TestOutcomesOfComparedReports(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first, last Verdict
		strict      bool
		code        int
		words       string
	}{
		"the same":          {Fail, Fail, false, ExitWell, "0 changes; 1 result compared"},
		"a finding":         {Pass, Fail, false, ExitFindings, "1 change: 1 appeared"},
		"a warning":         {Pass, Warn, false, ExitWell, "1 change: 1 appeared; 1 result compared"},
		"a warning, strict": {Pass, Warn, true, ExitFindings, "1 change: 1 appeared"},
		"worse":             {Fail, Crash, false, ExitFindings, "1 change: 1 changed"},
		"better":            {Crash, Fail, false, ExitWell, "1 change: 1 changed; 1 result compared"},
		"gone":              {Fail, Pass, false, ExitWell, "1 change: 1 went; 1 result compared"},
		"nothing to compare": {Skipped, Skipped, false, ExitInconclusive, "nothing was evaluated in both the first and " +
			"the last run"},
		"no longer evaluated": {Fail, NotRun, false, ExitInconclusive, "nothing was evaluated in both the first and the " +
			"last run"},
		"a finding without past": {NotRun, Fail, false, ExitFindings, "1 change: 1 appeared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Compare([]string{"a", "b"}, []*Report{runOf("+OK", test.first), runOf("+OK", test.last)})
			code, words := c.Outcome(ExitOptions{Strict: test.strict}).Values()
			assert.Equal(t, test.code, code)
			assert.Equal(t, test.words, words)
		})
	}
}

// A check that generates what it does finds something else in each run.
func TestChanceIsNoChange(t *testing.T) {
	t.Parallel()
	compared := func(first, last Verdict) []Change {
		reports := []*Report{runOf("+OK", Fail, first), runOf("+OK", Fail, last)}
		for _, r := range reports {
			r.Checks[1].File = ""
		}
		return Compare([]string{"a", "b"}, reports).Changes
	}
	assert.Empty(t, compared(NotRun, Fail), "the clause was broken before")
	assert.Empty(t, compared(Fail, Pass))
	reports := []*Report{runOf("+OK", Pass), runOf("+OK", Fail)}
	reports[0].Checks[0].File, reports[1].Checks[0].File = "", ""
	assert.Len(t, Compare([]string{"a", "b"}, reports).Changes, 1, "it was not")
}

func TestChangesAreWritten(t *testing.T) {
	t.Parallel()
	var page, data bytes.Buffer
	require.NoError(t, sampleChanges().Page(PageOptions{}).WriteText(&page, TextOptions{}))
	golden.File(t, "testdata/changes.txt.golden", page.Bytes())
	require.NoError(t, sampleChanges().WriteJSON(&data, ExitOptions{}))
	golden.File(t, "testdata/changes.json.golden", data.Bytes())
}

// A long proof is cut in the text, and not in the JSON.
func TestManyEventsThatProveAFinding(t *testing.T) {
	t.Parallel()
	f := HistoryFinding{Clause: "FWP-PUSH-04", Level: LevelMust, JID: "j1", Events: make([]HistoryEvent, 30)}
	for i := range f.Events {
		f.Events[i] = HistoryEvent{Data: i, Cells: []string{"#" + strconv.Itoa(i), "1s"}}
	}
	var out strings.Builder
	require.NoError(t, (&Histories{Files: []History{{Findings: []HistoryFinding{f}}}}).Page(PageOptions{}).WriteText(&out, TextOptions{}))
	assert.Contains(t, out.String(), "\nFWP-PUSH-04  required  job j1\n")
	assert.Contains(t, out.String(), "#19 ")
	assert.NotContains(t, out.String(), "#20 ")
	assert.Contains(t, out.String(), "and 10 more events\n")
	json, err := EncodeJSON(f)
	require.NoError(t, err)
	assert.Contains(t, string(json), `"events":[0,1,2,`)
	assert.Contains(t, string(json), `,28,29]`)
}

func TestHistoriesConclude(t *testing.T) {
	t.Parallel()
	well, openHistory := History{Settled: 1}, History{Settled: 1,
		Inconclusive: []HistoryCause{{Reason: "x", Jobs: 1, JIDs: []string{"j"}}}}
	findingHistory, damaged := History{Findings: []HistoryFinding{{Events: []HistoryEvent{}}}}, History{Damage: "line 3"}
	for _, c := range []struct {
		files []History
		want  int
	}{
		{nil, ExitWell},
		{[]History{well}, ExitWell},
		{[]History{{}, well}, ExitInconclusive},
		{[]History{well, openHistory}, ExitInconclusive},
		{[]History{openHistory, findingHistory, openHistory}, ExitFindings},
		{[]History{damaged, findingHistory}, ExitUsage},
	} {
		h := Histories{Files: c.files}
		code, _ := h.Outcome(ExitOptions{}).Values()
		assert.Equal(t, c.want, code)
		var json strings.Builder
		require.NoError(t, h.WriteJSON(&json, ExitOptions{}))
		assert.Contains(t, json.String(), HistoriesSchema)
		assert.NotContains(t, json.String(), "null", "lists are lists")
	}
}
