package check

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// A finding that was not reproduced is a warning if one of the same kind was, and a fail if not.
func TestFindingsAreWeighed(t *testing.T) {
	t.Parallel()
	type found struct {
		rule, clause   string
		repeats, tried int
		crash          bool
	}
	twice := found{"delivered", "FWP-STATE-05", 5, 5, false}
	tests := map[string]struct {
		findings []found
		want     reports.Verdict // of the first
	}{
		"alone":           {[]found{{"delivered", "FWP-STATE-06", 0, 0, false}}, reports.Fail},
		"not reproduced":  {[]found{{"delivered", "FWP-STATE-06", 0, 0, false}, twice}, reports.Warn},
		"once in five":    {[]found{{"delivered", "FWP-STATE-06", 1, 5, false}, twice}, reports.Warn},
		"in most plays":   {[]found{{"delivered", "FWP-STATE-06", 3, 5, false}, twice}, reports.Fail},
		"by many clients": {[]found{{crowd.RuleHistory, "FWP-ACK-02", 0, 0, false}, twice}, reports.Warn},
		"of another kind": {[]found{{"missing", "FWP-STATE-04", 0, 0, false}, twice}, reports.Fail},
		"the other is not": {
			[]found{{"delivered", "FWP-STATE-06", 0, 0, false}, {"delivered", "FWP-ACK-02", 1, 5, false}}, reports.Fail,
		},
		"the same clause":     {[]found{{"delivered", "FWP-STATE-05", 0, 0, false}, twice}, reports.Fail},
		"a crash stays":       {[]found{{"delivered", "FWP-STATE-06", 0, 0, true}, twice}, reports.Crash},
		"a recommendation is": {[]found{{"delivered", "FWP-FLUSH-03", 0, 0, false}, twice}, reports.Warn},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, e := &findingStore{o: &exploreOptions{}, at: shared.Endpoint{Entry: registry.Default()}}, &reports.Exploration{}
			for _, f := range test.findings {
				k.addFinding(e, explore.Finding{
					Finding: conformance.Finding{Clause: f.clause, Crash: f.crash}, Rule: f.rule, Hits: f.repeats, Tries: f.tried,
				}, "")
			}
			k.weigh(e)
			assert.Equal(t, test.want, e.Findings[0].Verdict)
			assert.Equal(t, test.want == reports.Warn && name != "a recommendation is", e.Findings[0].ExplainedBy != "")
		})
	}
}

// A finding that rests on a clause is a warning if another one shows that broken, however often it was reproduced.
func TestAFindingThatRestsOnAnother(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]reports.Verdict{0: reports.Fail, 5: reports.Warn} {
		k, e := &findingStore{o: &exploreOptions{}, at: shared.Endpoint{Entry: registry.Default()}}, &reports.Exploration{}
		premises := []string{"FWP-HI-01", "FWP-ACK-02"}
		for _, f := range []explore.Finding{
			{Finding: conformance.Finding{Clause: "FWP-WU-03", Premises: premises}, Rule: "field", Hits: 5, Tries: 5},
			{Finding: conformance.Finding{Clause: "FWP-ACK-02"}, Rule: "delivered", Hits: count, Tries: 5},
		} {
			k.addFinding(e, f, "")
		}
		k.weigh(e)
		assert.Equal(t, want, e.Findings[0].Verdict, count)
		assert.Equal(t, reports.Fail, e.Findings[1].Verdict, count)
	}
}

// Each exploration of a campaign numbers its findings itself: those of the second have files of their own.
func TestTheRunsOfSeveralExplorationsAreSaved(t *testing.T) {
	t.Parallel()
	at := shared.Endpoint{Entry: registry.Default()}
	p := process{shared.Process{Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }}}
	k := &findingStore{p: p, o: &exploreOptions{}, at: at}
	k.path = t.TempDir()
	e := &reports.Exploration{}
	found := explore.Finding{Number: 1, Rule: "reply", Finding: conformance.Finding{Clause: "FWP-ACK-01"}}
	other := explore.Finding{Number: 2, Rule: "reply", Finding: conformance.Finding{Clause: "FWP-FAIL-01"}}
	k.saveRun(other) // turns out to be the first one
	k.saveRun(found)
	coverage := &explore.Coverage{States: map[string]int{"identified": 2}}
	k.addResult(e, &explore.Result{Commands: 3, Coverage: coverage, Findings: []explore.Finding{found}})
	found.Number = 2
	k.addResult(e, &explore.Result{Commands: 4, Coverage: coverage, Findings: []explore.Finding{found}})
	require.Len(t, e.Findings, 2)
	for _, f := range e.Findings {
		assert.Contains(t, f.RunPath, "FWP-ACK-01")
	}
	assert.NotEqual(t, e.Findings[0].RunPath, e.Findings[1].RunPath)
	assert.Equal(t, 7, e.Commands)
	assert.Equal(t, map[string]int{"identified": 4}, e.States)
}

// What has no script that shows it leaves a file that run plays.
func TestWhatWasNotPlayedIsSaved(t *testing.T) {
	t.Parallel()
	p := process{shared.Process{Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }}}
	o := &exploreOptions{}
	o.declare(&cobra.Command{})
	k := &findingStore{p: p, o: o, at: shared.Endpoint{Entry: registry.Default()}}
	k.path = t.TempDir()
	lines := []string{"title: FWP-INFO-01: an example", "", "connect as producer", "C: INFO", "clause FWP-INFO-01", "S: $"}
	e := &reports.Exploration{}
	finding := conformance.Finding{Clause: "FWP-INFO-01", UnscriptedReason: "it did not", Unshrunk: lines}
	k.addFinding(e, explore.Finding{Rule: "reply", Finding: finding}, "")
	found := e.Findings[0]
	assert.Contains(t, found.Reproduce, "fwpcheck run "+found.Saved)
	text, err := os.ReadFile(found.Saved)
	require.NoError(t, err)
	assert.Contains(t, string(text), "# not played")
	_, err = scenarios.Parse(fwpscript.Dialect{}, found.Saved, text)
	require.NoError(t, err)
}

// What an exploration is doing and how long it still takes fit together into 40 columns.
func TestExploreProgress(t *testing.T) {
	t.Parallel()
	const clause = "FWP-STATE-05"
	tests := map[string]struct {
		last explore.Progress
		want string
	}{
		"exploring": {
			explore.Progress{Commands: 12345, Outcomes: 70}, "exploring, 1m 50s left, 12,345 commands, 70 outcomes",
		},
		"shrinking": {
			explore.Progress{Activity: explore.Shrinking, Finding: clause, Done: 621, Total: 1242},
			"shrinking FWP-STATE-05, 1m 50s left, 621 of 1,242 steps",
		},
		"confirming": {
			explore.Progress{Activity: explore.Confirming, Finding: clause, Done: 1, Total: 5},
			"confirming FWP-STATE-05, 1m 50s left, play 2 of 5",
		},
		"clients": {
			explore.Progress{Activity: explore.Loading, Commands: 1}, "concurrent clients, 1m 50s left, 1 command",
		},
		"cleaning up": {explore.Progress{Activity: explore.CleaningUp}, "cleaning up, 1m 50s left, 0 commands"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &exploreProgress{start: time.Now(), budget: 2 * time.Minute}
				p.record(test.last)
				time.Sleep(10 * time.Second)
				_, parts := p.state()
				assert.Equal(t, test.want, strings.Join(parts, ", "))
				assert.Less(t, len(strings.Join(parts[:2], ", ")), 40)
			})
		})
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	const opening = "title: FWP-INFO-01: an example\n\nconnect as producer\n"
	for name, test := range map[string]struct {
		script string
		want   reports.Verdict
	}{
		"a right server passes": {opening + "C: INFO\nclause FWP-INFO-01\nS: $\n", reports.Pass},
		"a right server fails":  {opening + "C: INFO\nclause FWP-INFO-01\nS: +OK\n", reports.Fail},
		"it waits for too long": {opening + "silence 20s\nC: INFO\nclause FWP-INFO-01\nS: +OK\n", reports.Inconclusive},
		"no script at all":      {"S: one reply\n", reports.Inconclusive},
		"on a server with passwords": {
			"title: an example\nneeds: password\n\nconnect as producer\nC: INFO\nclause FWP-INFO-01\nS: $\n", reports.Pass,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			assert.Equal(t, test.want, control(ctx, shared.Endpoint{Entry: registry.Default()}, test.script))
		})
	}
}

// What was not served when an exploration was over is a finding where it was asked for long enough, and else it keeps
// the exploration from passing.
func TestAnUnservedEnd(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]int{
		"": reports.ExitInconclusive, "it takes no new connection; it took 400": reports.ExitFindings,
	} {
		e := &reports.Exploration{Commands: 99, Judged: 99, States: map[string]int{"identified": 9},
			Outcomes: map[string]int{"PUSH identified: OK": 9}}
		k := &findingStore{o: &exploreOptions{}}
		k.addUnserved(e, &explore.Result{UnservedWords: words})
		code, line := e.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, want, code, line)
		for _, f := range e.Findings {
			assert.Equal(t, words, f.Statement)
		}
	}
}
