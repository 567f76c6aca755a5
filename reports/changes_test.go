package reports

import (
	"bytes"
	"io"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// run returns the report of a run in which checks a, b ... have these verdicts; actual is what a finding received.
func runOf(actual string, verdicts ...Verdict) *Report {
	r := &Report{Target: Target{Chosen: "from --url"}}
	for i, v := range verdicts {
		c := Check{ID: "x/" + string(rune('a'+i)), File: "x.fwp", Verdict: v,
			Clauses: []ClauseVerdict{{ID: "X-1", Verdict: v}}}
		if v.Breach() {
			c.Findings = []Finding{{Clause: "X-1", Verdict: v,
				Evidence: Evidence{Expected: "an error", Actual: actual, Known: 3}}}
		}
		r.Checks = append(r.Checks, c)
	}
	return r
}

// changed returns a comparison with a change of each kind.
func changed() *Changes {
	return Compare([]string{"old.json", "mid.json", "new.json"}, []*Report{
		runOf("+OK", Pass, Fail, Fail, Pass, Skipped, Pass, Warn, Fail, Pass),
		runOf("+OK", Pass, Fail, Fail, Pass, Skipped, Fail, Warn, Fail, Pass),
		runOf("-ERR 7", Fail, Pass, Fail, Inconclusive, Pass, Pass, Crash),
	})
}

func TestCompareReports(t *testing.T) {
	t.Parallel()
	c := changed()
	kinds := map[string]ChangeKind{}
	for _, change := range c.Changes {
		kinds[change.Check] = change.Kind
	}
	assert.Equal(t, map[string]ChangeKind{
		"x/a": Appeared, "x/b": Went, "x/c": Changed, "x/d": Unevaluated, "x/e": Evaluated, "x/f": Varied, "x/g": Changed,
		"x/h": Unevaluated, "x/i": Unevaluated,
	}, kinds)
	code, words := c.Outcome(ExitOptions{})
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
			code, words := c.Outcome(ExitOptions{Strict: test.strict})
			assert.Equal(t, test.code, code)
			assert.Equal(t, test.words, words)
		})
	}
}

// A check that generates what it does finds something else in each run.
func TestChanceIsNoChange(t *testing.T) {
	t.Parallel()
	compared := func(first, last Verdict) []Change {
		both := []*Report{runOf("+OK", Fail, first), runOf("+OK", Fail, last)}
		for _, r := range both {
			r.Checks[1].File = ""
		}
		return Compare([]string{"a", "b"}, both).Changes
	}
	assert.Empty(t, compared(NotRun, Fail), "the clause was broken before")
	assert.Empty(t, compared(Fail, Pass))
	both := []*Report{runOf("+OK", Pass), runOf("+OK", Fail)}
	both[0].Checks[0].File, both[1].Checks[0].File = "", ""
	assert.Len(t, Compare([]string{"a", "b"}, both).Changes, 1, "it was not")
}

func TestChangesAreWritten(t *testing.T) {
	t.Parallel()
	var page, data bytes.Buffer
	require.NoError(t, changed().Page(PageOptions{}).WriteText(&page, TextOptions{}))
	golden(t, "changes.txt.golden", page.Bytes())
	require.NoError(t, changed().WriteJSON(&data, ExitOptions{}))
	golden(t, "changes.json.golden", data.Bytes())
	schemaOf(t, "changes.schema.json", "What differs between the reports of several runs", ChangesSchema,
		reflect.TypeFor[Changes](), "changes.go", "report.go")
	root := readSchema(t, "changes.schema.json")
	for name, c := range map[string]*Changes{"changed": changed(), "empty": {}} {
		assert.Empty(t, root.breachesOf(t, func(w io.Writer) error { return c.WriteJSON(w, ExitOptions{}) }), name)
	}
}
