package reports

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// sampleExploration is an exploration that found something and left jobs behind.
func sampleExploration() *Exploration {
	e := &Exploration{
		EndedBy: "--findings 2",
		Head: Head{
			Version: "fwpcheck v1.2.3", StartTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Took: 83 * time.Second, Seed: 42,
		},
		Target:      Target{URL: "tcp://127.0.0.1:7419", Chosen: "from --url", HI: `HI {"v":2}`},
		Commands:    20137,
		Judged:      18020,
		States:      map[string]int{"identified worker": 15000, "identified": 5000, "not identified": 137},
		Transitions: map[string]int{"not identified > identified": 130, "identified > ended": 55},
		Outcomes:    map[string]int{"FETCH identified worker: ${}": 4000, "PUSH identified: +OK": 2100},
		Situations:  map[string]int{"identified: PUSH": 2100, "identified: PUSH, the jid was used before": 0},
		Findings: []ExplorationFinding{
			{
				Finding: Finding{
					Clause: "FWP-FETCH-08", Level: LevelPlain, Statement: "A FETCH that names no queue looks into the queue default " +
						"and no other.", Verdict: Fail,
					Evidence: Evidence{
						Check: "explore", Expected: "$", Actual: "-ERR must call fetch with at least one queue",
						Reproduce: "fwpcheck run FWP-FETCH-08.fwp --url tcp://127.0.0.1:7419",
						Script:    "title: FWP-FETCH-08\n\nconnect as consumer\nC: FETCH\nclause FWP-FETCH-08\nS: $\n",
					},
				},
				AfterCommands: 812, Times: 9, Places: map[string]int{"FETCH: -": 8, "FETCH: <close>": 1},
				ScriptPath: "FWP-FETCH-08.fwp", RunPath: "FWP-FETCH-08.run.json", Reproduced: 5, Attempts: 5,
			},
			{
				Finding: Finding{
					Clause: "FWP-ACK-02", Level: LevelPlain, Verdict: Warn,
					Evidence: Evidence{
						Check: "explore", Actual: "a job \x1b[2J", NoScriptReason: "it did not come again",
						LastSteps: []string{"connect c2 as consumer", "C[c2]: INFO"},
					},
				},
				AfterCommands: 1900, RunPath: "FWP-ACK-02.run.json", ExplainedBy: "FWP-FETCH-08",
			},
		},
	}
	for i := range 1234 {
		e.LeftoverJobs = append(e.LeftoverJobs, fmt.Sprintf("job-%04d", i))
	}
	return e
}

func TestExplorationGolden(t *testing.T) {
	t.Parallel()
	interrupted := sampleExploration()
	interrupted.Interrupted, interrupted.Findings, interrupted.LeftoverJobs, interrupted.EndedBy = true, nil, nil, ""
	for _, c := range []struct {
		name    string
		report  *Exploration
		options PageOptions
	}{
		{"exploration", sampleExploration(), PageOptions{}},
		{"exploration-interrupted", interrupted, PageOptions{Verbose: true}},
		{"exploration-empty", &Exploration{}, PageOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			require.NoError(t, c.report.Page(c.options).WriteText(&out, TextOptions{}))
			assert.NotContains(t, out.String(), "\x1b")
			golden.File(t, "testdata/"+c.name+".txt.golden", out.Bytes())
		})
	}
	exploration := sampleExploration()
	exploration.LeftoverJobs = exploration.LeftoverJobs[:2]
	var out bytes.Buffer
	require.NoError(t, exploration.WriteJSON(&out, ExitOptions{}))
	golden.File(t, "testdata/exploration.json.golden", out.Bytes())
	require.ErrorIs(t, exploration.Page(PageOptions{}).WriteText(brokenPipe{}, TextOptions{}), errPipe)
	require.ErrorIs(t, exploration.WriteJSON(brokenPipe{}, ExitOptions{}), errPipe)
}

func TestExplorationOutcome(t *testing.T) {
	t.Parallel()
	withVerdicts := func(v ...Verdict) *Exploration {
		e := &Exploration{
			Judged: minJudged, States: map[string]int{"identified": 1}, Outcomes: map[string]int{"PUSH identified: +OK": 1},
		}
		for _, v := range v {
			e.Findings = append(e.Findings, ExplorationFinding{Finding: Finding{Verdict: v}})
		}
		return e
	}
	unread := func(e *Exploration) *Exploration {
		e.Unread = "2 of 3 replies to FETCH could not be read"
		return e
	}
	for name, c := range map[string]struct {
		e    *Exploration
		o    ExitOptions
		code int
	}{
		"nothing found":              {withVerdicts(), ExitOptions{}, ExitWell},
		"a fail":                     {withVerdicts(Warn, Fail), ExitOptions{}, ExitFindings},
		"a crash":                    {withVerdicts(Crash), ExitOptions{}, ExitFindings},
		"a warn":                     {withVerdicts(Warn), ExitOptions{}, ExitWell},
		"a warn, strictly":           {withVerdicts(Warn), ExitOptions{Strict: true}, ExitFindings},
		"almost nothing":             {judged(withVerdicts(), minJudged-1), ExitOptions{}, ExitInconclusive},
		"almost nothing, and a fail": {judged(withVerdicts(Fail), 1), ExitOptions{}, ExitFindings},
		"only HELLO": {
			&Exploration{States: map[string]int{"identified": 1}}, ExitOptions{}, ExitInconclusive,
		},
		"no connection identified": {&Exploration{Commands: 50, States: map[string]int{"not identified": 50}}, ExitOptions{},
			ExitInconclusive},
		"no reply":              {&Exploration{}, ExitOptions{}, ExitInconclusive},
		"not reachable":         {&Exploration{Head: Head{Trouble: Trouble{Unreachable: "no"}}}, ExitOptions{}, ExitUnreachable},
		"a planted bug of ours": {&Exploration{Head: Head{Trouble: Trouble{Internal: "no"}}}, ExitOptions{}, ExitInternal},
		"interrupted": {&Exploration{Head: Head{Trouble: Trouble{Interrupted: true}}, Findings: withVerdicts(Fail).Findings},
			ExitOptions{},
			ExitInterrupted},
		"most replies not read":        {unread(withVerdicts()), ExitOptions{}, ExitInconclusive},
		"most not read, and a fail":    {unread(withVerdicts(Fail)), ExitOptions{}, ExitFindings},
		"most not read, and a warning": {unread(withVerdicts(Warn)), ExitOptions{}, ExitInconclusive},
		"a fail, nobody in":            {&Exploration{Findings: withVerdicts(Fail).Findings}, ExitOptions{}, ExitFindings},
		"a warn, nobody in ":           {&Exploration{Findings: withVerdicts(Warn).Findings}, ExitOptions{}, ExitInconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, words := c.e.Outcome(c.o).Values()
			assert.Equal(t, c.code, code, words)
		})
	}
}

// judged is an exploration in which that many replies were evaluated.
func judged(e *Exploration, replies int) *Exploration {
	e.Judged = replies
	return e
}

// What a server was too slow for is said together with the exit code.
func TestAnExplorationOfASilentServerSaysSo(t *testing.T) {
	t.Parallel()
	e := &Exploration{SilenceReason: "new connections got no reply in time"}
	code, words := e.Outcome(ExitOptions{}).Values()
	assert.Equal(t, ExitInconclusive, code)
	assert.Equal(t, "nothing was evaluated: no connection was identified; new connections got no reply in time", words)
}

// A crash that no clause names says in the list what died, behind what.
func TestACrashIsNeverWithoutWords(t *testing.T) {
	t.Parallel()
	const words = "the server died, perhaps behind lease (exit status 2)"
	f := Finding{Verdict: Crash, Statement: words,
		Evidence: Evidence{Check: "explore", Actual: "no new connection is served"}}
	e := &Exploration{Commands: 7, Findings: []ExplorationFinding{{Finding: f}}}
	r := &Report{Checks: []Check{{ID: "server/keeps-serving", Verdict: Crash, Findings: []Finding{f}}}}
	for _, page := range []Page{e.Page(PageOptions{}), r.Page(PageOptions{})} {
		var out bytes.Buffer
		require.NoError(t, page.WriteText(&out, TextOptions{}))
		assert.Contains(t, out.String(), words)
		assert.NotContains(t, out.String(), "(no clause)")
	}
}
