package known

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
)

var today = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// checkOf returns a check with a verdict on the clause A-1; a breach has a finding.
func checkOf(id string, v reports.Verdict, actual string) reports.Check {
	const clause = "A-1"
	c := reports.Check{ID: id, Verdict: v, Clauses: []reports.ClauseVerdict{{ID: clause, Verdict: v}}}
	switch {
	case v.IsBreach():
		c.Findings = []reports.Finding{{
			Clause: clause, Verdict: v, Evidence: reports.Evidence{Expected: "an error", Actual: actual},
		}}
	case v == reports.Inconclusive:
		c.Clauses[0].Cause, c.Clauses[0].IsHalted = actual, true
	}
	return c
}

// repeatCheck adds how often each verdict occurred.
func repeatCheck(c reports.Check, counts ...reports.Count) reports.Check {
	c.Clauses = slices.Clone(c.Clauses)
	c.Runs, c.Clauses[0].Runs = counts, counts
	return c
}

func TestJudge(t *testing.T) {
	t.Parallel()
	fail := checkOf("push/x", reports.Fail, "+OK at 12:30")
	pass := checkOf("push/x", reports.Pass, "")
	lateCheck := checkOf("push/x", reports.Inconclusive, "the suite was late")
	lateCheck.Clauses[0].IsHalted = false
	setUp := checkOf("push/x", reports.Inconclusive, "line 5: the set-up did not work: got -ERR")
	twoFindings := checkOf("push/x", reports.Fail, "+OK")
	twoFindings.Findings = append(twoFindings.Findings, reports.Finding{
		Clause: "A-1", Verdict: reports.Fail, Evidence: reports.Evidence{Expected: "an error", Actual: "-ERR"},
	})
	halted := checkOf("push/x", reports.Fail, "+OK")
	halted.Clauses = append(halted.Clauses, reports.ClauseVerdict{ID: "A-2", Verdict: reports.Inconclusive, IsHalted: true})
	lawful := checkOf("law/field", reports.Fail, "+OK")
	skipped := checkOf("push/y", reports.Skipped, "")
	breaches := func(breaches, good int) reports.Check {
		return repeatCheck(fail,
			reports.Count{Verdict: reports.Fail, Times: breaches}, reports.Count{Verdict: reports.Pass, Times: good})
	}
	noClause := reports.Check{ID: "my.fwp", Verdict: reports.Crash, Findings: []reports.Finding{{Verdict: reports.Crash}}}
	cases := map[string]struct {
		file                          string
		checks                        []reports.Check
		knownLines, staleLines, notes string // "line:verdict" of what is known; lines that are stale, and to look at
	}{
		"known": {"push/x A-1 fails", []reports.Check{fail}, "1:fail", "", ""},
		"by its symptom": {
			`push/x A-1 fails because="+ok at 11:59 instead of an error"`,
			[]reports.Check{fail}, "1:fail", "", "",
		},
		"by a pattern":           {"push/* A-* fails", []reports.Check{fail}, "1:fail", "", ""},
		"another symptom":        {`push/x A-1 fails because="-ERR"`, []reports.Check{fail}, "", "1", ""},
		"another kind":           {"push/x A-1 warns", []reports.Check{fail}, "", "1", ""},
		"another clause":         {"push/x A-2 fails", []reports.Check{fail}, "", "1", ""},
		"a crash is not covered": {"push/x A-1 fails", []reports.Check{checkOf("push/x", reports.Crash, "")}, "", "1", ""},
		"one of two symptoms":    {`push/x A-1 fails because="+OK"`, []reports.Check{twoFindings}, "1:fail", "", ""},
		"both, a line each": {
			"push/x A-1 fails because=+OK\npush/x A-1 fails because=-ERR",
			[]reports.Check{twoFindings}, "1:fail 2:fail", "", "",
		},
		"stale":                     {"push/x A-1 fails", []reports.Check{pass}, "", "1", ""},
		"of the law is not stale":   {"law/field A-2 fails", []reports.Check{lawful}, "", "", ""},
		"inconclusive is not stale": {"push/x A-1 fails", []reports.Check{lateCheck}, "", "", ""},
		"skipped is not stale":      {"push/y A-1 fails", []reports.Check{skipped}, "", "", ""},
		"one of several is skipped": {"push/* A-1 fails", []reports.Check{pass, skipped}, "", "", ""},
		"not in the results":        {"push/z A-1 fails", []reports.Check{pass}, "", "", ""},
		"inconclusive": {
			`push/x A-1 inconclusive because="set-up did not work"`,
			[]reports.Check{setUp}, "1:inconclusive", "", "",
		},
		"no longer inconclusive": {
			`push/x A-1 inconclusive because="set-up did not work"`,
			[]reports.Check{pass}, "", "1", "",
		},
		"lag is not known": {
			`push/x A-1 inconclusive because="set-up did not work"`,
			[]reports.Check{lateCheck}, "", "", "",
		},
		"fails is not inconclusive": {"push/x A-1 fails", []reports.Check{setUp}, "", "", ""},
		"behind a known finding":    {"push/x A-1 fails", []reports.Check{halted}, "1:fail 1:inconclusive", "", ""},
		"behind a new finding":      {"push/x A-2 fails", []reports.Check{halted}, "", "", ""},
		"past its date":             {"push/x A-1 fails until=2026-11-19", []reports.Check{fail}, "", "", "1"},
		"on its last day":           {"push/x A-1 fails until=2026-11-20", []reports.Check{fail}, "1:fail", "", ""},
		"for this server":           {`push/x A-1 fails server="faktory <1.10"`, []reports.Check{fail}, "1:fail", "", ""},
		"for another server":        {`push/x A-1 fails server="faktory >=1.10"`, []reports.Check{pass}, "", "", ""},
		"flaky":                     {"push/x A-1 flaky", []reports.Check{fail}, "1:fail", "", ""},
		"flaky, and it passes":      {"push/x A-1 flaky", []reports.Check{pass}, "", "", ""},
		"flaky within its rate":     {"push/x A-1 flaky rate<=0.2 of=20", []reports.Check{breaches(4, 16)}, "1:fail", "", ""},
		"flaky beyond its rate":     {"push/x A-1 flaky rate<=0.2 of=20", []reports.Check{breaches(5, 3)}, "", "", ""},
		"flaky, few plays":          {"push/x A-1 flaky rate<=0.2 of=20", []reports.Check{breaches(4, 0)}, "1:fail", "", ""},
		"flaky, and steady in all":  {"push/x A-1 flaky rate<=0.2 of=20", []reports.Check{breaches(0, 20)}, "1:fail", "", ""},
		"fails, but not always":     {"push/x A-1 fails", []reports.Check{breaches(3, 7)}, "1:fail", "", "1"},
		"flaky is not for lag":      {"push/x A-1 flaky", []reports.Check{lateCheck}, "", "", ""},
		"flaky with a reason": {
			`push/x A-1 flaky because="set-up did not work"`,
			[]reports.Check{setUp}, "1:inconclusive", "", "",
		},
		"no clause":                  {"my.fwp - crashes", []reports.Check{noClause}, "1:crash", "", ""},
		"no clause is no any clause": {"my.fwp A-* crashes", []reports.Check{noClause}, "", "", ""},
		"a breach of no line":        {"push/x A-9 fails", []reports.Check{pass}, "", "1", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &reports.Report{Checks: c.checks}
			judged := parse(t, c.file).Judge(r, Setting{Now: today, Server: Server{"faktory", "1.9.4"}})
			assert.Equal(t, c.knownLines, knownOf(judged))
			assert.Equal(t, c.staleLines, linesOf(judged.Expectations.StaleLines))
			assert.Equal(t, c.notes, linesOf(judged.Expectations.Notes))
			for _, check := range r.Checks {
				for _, finding := range check.Findings {
					assert.Zero(t, finding.KnownLine, "the results are as they were")
				}
			}
		})
	}
}

// knownOf returns what is known in some results.
func knownOf(r *reports.Report) string {
	var all []string
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if f.KnownLine > 0 {
				all = append(all, string(rune('0'+f.KnownLine))+":"+f.Verdict.String())
			}
		}
		for _, cv := range c.Clauses {
			if cv.KnownLine > 0 {
				all = append(all, string(rune('0'+cv.KnownLine))+":"+cv.Verdict.String())
			}
		}
	}
	return strings.Join(all, " ")
}

func linesOf(all []reports.Expectation) string {
	var lines []string
	for _, e := range all {
		lines = append(lines, string(rune('0'+e.Line)))
	}
	return strings.Join(lines, " ")
}

func TestNotesAndStaleSayWhy(t *testing.T) {
	t.Parallel()
	fail := checkOf("push/x", reports.Fail, "+OK")
	pass := repeatCheck(checkOf("push/y", reports.Pass, ""), reports.Count{Verdict: reports.Pass, Times: 20})
	r := &reports.Report{Checks: []reports.Check{fail, pass}}
	f := parse(t, "push/x A-1 fails because=-ERR\npush/y A-1 flaky rate<=0.2 of=20\n"+
		"push/y A-1 fails server=\"faktory <2\"")
	e := f.Judge(r, Setting{Now: today}).Expectations
	assert.Equal(t, []reports.Expectation{{Line: 1, Text: "push/x A-1 fails because=-ERR",
		Reason: `only findings with another kind or symptom: fails, because="+OK instead of an error"`}}, e.StaleLines)
	assert.Equal(t, "no finding in 20 plays; is it still flaky?", e.Notes[0].Reason)
	assert.Contains(t, e.Notes[1].Reason, "does not report its name and version")
}

// A line about a check that is no more is an error, which says what stands instead.
func TestARetiredCheck(t *testing.T) {
	t.Parallel()
	f := parse(t, "Push/old A-1 fails because=-ERR  # why\npush/o* A-1 fails\nlaw/field A-1 fails")
	err := f.Resolve([]string{"law/field", "push/x"}, []string{"A-1"}, map[string]string{"push/old": "law/field"})
	require.ErrorContains(t, err, ":1:1: there is no check Push/old; law/field replaces it")
	require.ErrorContains(t, err, ":2:1: no check matches push/o*")
	assert.NotContains(t, err.Error(), ":3:")
}

func TestAgain(t *testing.T) {
	t.Parallel()
	fail := checkOf("push/x", reports.Fail, "+OK")
	r := &reports.Report{Checks: []reports.Check{fail, checkOf("push/y", reports.Fail, ""), checkOf("push/z", reports.Pass, "")}}
	f := parse(t, "push/y A-1 fails\npush/x A-1 warns")
	judged := f.Judge(r, Setting{Now: today})
	assert.Equal(t, []string{"push/x"}, f.ReplayChecks(judged, 1), "what is not known, once")
	assert.Empty(t, f.ReplayChecks(judged, 2))
	longCheck, shortCheck := checkOf("push/long", reports.Fail, "+OK"), checkOf("push/short", reports.Fail, "+OK")
	longCheck.Took, shortCheck.Took = replayBudget, time.Second
	result := f.Judge(&reports.Report{Checks: []reports.Check{shortCheck, longCheck, fail}}, Setting{Now: today})
	assert.Equal(t, []string{"push/short", "push/x"}, f.ReplayChecks(result, 1), "what there is time for")

	f = parse(t, "push/x A-1 flaky rate<=0.5 of=4\npush/y A-1 fails")
	var plays []int
	for round := 1; ; round++ {
		judged = f.Judge(r, Setting{Now: today})
		if len(f.ReplayChecks(judged, round)) == 0 {
			break
		}
		r.Checks[0].Replays = addVerdict(r.Checks[0].Replays, reports.Pass)
		plays = append(plays, round)
	}
	assert.Equal(t, []int{1, 2}, plays, "until its rate is known: one of three, and at most two of four")
	assert.Equal(t, "1:fail 2:fail", knownOf(judged))
	r.Checks[0].Replays = reports.CountVerdicts(reports.Fail, reports.Fail)
	judged = f.Judge(r, Setting{Now: today})
	assert.Equal(t, "2:fail", knownOf(judged))
	assert.Contains(t, judged.Checks[0].Findings[0].Frequency,
		"more often than rate<= allows: line 1, in 3 of 3 plays")
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	flaky := repeatCheck(checkOf("push/f", reports.Fail, "+OK"),
		reports.Count{Verdict: reports.Fail, Times: 3}, reports.Count{Verdict: reports.Pass, Times: 7})
	unsteady := checkOf("push/u", reports.Warn, "+OK")
	unsteady.Replays = reports.CountVerdicts(reports.Pass)
	setUp := checkOf("push/s", reports.Inconclusive, `line 5: the set-up did not work: expected "y", got "x"`)
	lateCheck := checkOf("push/l", reports.Inconclusive, "the suite was late")
	lateCheck.Clauses[0].IsHalted = false
	r := &reports.Report{Checks: []reports.Check{
		checkOf("push/a", reports.Fail, "+OK"), checkOf("push/b", reports.Pass, ""), checkOf("push/c", reports.Fail, "-ERR 7"),
		checkOf("push/d", reports.Crash, "EOF"), checkOf("push/e", reports.Fail, "+OK"), flaky, unsteady, setUp, lateCheck,
		checkOf("explore/x", reports.Fail, "+OK"), checkOf("a b", reports.Fail, ""),
	}}
	f := parse(t, `# the head
push/a A-1 fails   # kept as it is

# about b
push/b  A-1 fails
push/c A-1 fails because="+OK" see=https://example.org # a reason
push/b* A-* warns
push/e A-1 fails until=2026-01-01
push/q A-1 fails
`)
	setting := Setting{Now: today}
	u := f.Update(f.Judge(r, setting), func(check string) bool { return check == "explore/x" })
	assert.Equal(t, `# the head
push/a A-1 fails   # kept as it is

# about b
push/c  A-1  fails  because="-ERR # instead of an error"  see=https://example.org  # a reason
push/e A-1 fails until=2026-01-01
push/q A-1 fails
push/d     A-1  crashes
push/f     A-1  flaky  because="+OK instead of an error"  rate<=0.7 of=10
push/u     A-1  flaky  because="+OK instead of an error"
push/s     A-1  inconclusive  because="line #: the set-up did not work: expected \"y\""
explore/x  A-1  flaky
"a b"      A-1  fails
`, string(u.Text))
	assert.Len(t, u.Removed, 2)
	assert.Len(t, u.Changed, 1)
	assert.Len(t, u.Added, 6)

	file := parse(t, string(u.Text))
	judged := file.Judge(r, setting)
	assert.Empty(t, judged.Expectations.StaleLines)
	second := file.Update(judged, func(string) bool { return false })
	assert.Equal(t, string(u.Text), string(second.Text), "there is nothing more to write")
	first := parse(t, "").Update(parse(t, "").Judge(r, setting), func(string) bool { return false })
	assert.Contains(t, string(first.Text), "# Known findings: ")
}

func TestUpdateLeavesARateToPeople(t *testing.T) {
	t.Parallel()
	r := &reports.Report{Checks: []reports.Check{repeatCheck(checkOf("push/x", reports.Fail, ""),
		reports.Count{Verdict: reports.Fail, Times: 9}, reports.Count{Verdict: reports.Pass, Times: 1})}}
	f := parse(t, "push/x A-1 flaky rate<=0.1 of=10\n")
	u := f.Update(f.Judge(r, Setting{Now: today}), func(string) bool { return false })
	assert.Equal(t, "push/x A-1 flaky rate<=0.1 of=10\n", string(u.Text))
}

// What a generated check finds is another thing with each seed: a line about the clause knows it, whatever check that
// line names, and the report has how many there were. Nothing else is known by a line about another check.
func TestGeneratedFindingsAreCoveredByTheirClause(t *testing.T) {
	t.Parallel()
	generated := func(check string) bool { return check == "explore/x" }
	for _, test := range []struct {
		name, line string
		check      reports.Check
		knownLine  int
	}{
		{"by the line of a script", "push/x A-1 fails because=#", checkOf("explore/x", reports.Fail, "+OK"), 1},
		{"a warn by a fail", "push/x A-1 fails", checkOf("explore/x", reports.Warn, "+OK"), 1},
		{"by its own line", "explore/x A-1 flaky", checkOf("explore/x", reports.Fail, "+OK"), 1},
		{"not by another clause", "push/x A-2 fails", checkOf("explore/x", reports.Fail, "+OK"), 0},
		{"not by a line about all", "push/x * fails", checkOf("explore/x", reports.Fail, "+OK"), 0},
		{"not what is inconclusive", "push/x A-1 inconclusive because=y", checkOf("explore/x", reports.Fail, "+OK"), 0},
		{"not a crash", "push/x A-1 fails", checkOf("explore/x", reports.Crash, ""), 0},
		{"not a script's", "push/x A-1 fails", checkOf("push/y", reports.Fail, "+OK"), 0},
		{"past its date", "push/x A-1 fails until=2026-11-19", checkOf("explore/x", reports.Fail, "+OK"), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := &reports.Report{Checks: []reports.Check{test.check}}
			judged := parse(t, test.line).Judge(r, Setting{Now: today, Generated: generated})
			assert.Equal(t, test.knownLine, judged.Checks[0].Findings[0].KnownLine)
			assert.Equal(t, test.knownLine, judged.Expectations.Generated)
			count := 0
			if strings.HasPrefix(test.line, "explore/x") {
				count = 1
			}
			assert.Equal(t, count, judged.Expectations.GeneratedThen)
			_, words := judged.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, test.knownLine > 0, strings.Contains(words, "1 finding of generated checks about listed clauses ("+
				strconv.Itoa(count)+" when the file was written)"), words)
		})
	}
	// The script's own line is stale even so: its finding is gone.
	r := &reports.Report{Checks: []reports.Check{checkOf("explore/x", reports.Fail, "+OK"), checkOf("push/x", reports.Pass, "")}}
	assert.Len(t, parse(t, "push/x A-1 fails").Judge(r, Setting{Now: today, Generated: generated}).Expectations.StaleLines, 1)
}

// Which symptom the law meets first depends on what else is played, the sign of a number counts as little as the
// number, and what another breach has left open is known with the clause.
func TestOneWriteIsEnough(t *testing.T) {
	t.Parallel()
	openCheck := checkOf("jobs/x", reports.Inconclusive, "line 24: the reply departs as that of line 8 does")
	openCheck.Clauses[0].IsHalted, openCheck.Clauses[0].HasOtherBreach = false, true
	openCheck.Clauses = append(slices.Clone(openCheck.Clauses), openCheck.Clauses[0]) // another clause behind the same breach
	openCheck.Clauses[1].ID = "A-2"
	law := checkOf("law/field", reports.Fail, "retry: 25")
	first := &reports.Report{Checks: []reports.Check{checkOf("push/x", reports.Fail, "retry: 5"), law, openCheck}}
	empty := parse(t, "")
	update := empty.Update(empty.Judge(first, Setting{Now: today}), func(string) bool { return false })
	file := parse(t, string(update.Text))
	assert.NotContains(t, string(update.Text), "jobs/x")
	for name, second := range map[string]*reports.Report{
		"the same": first,
		"another symptom": {Checks: []reports.Check{checkOf("push/x", reports.Fail, "retry: -1"),
			checkOf("law/field", reports.Fail, "retry: null"), openCheck}},
	} {
		judged := file.Judge(second, Setting{Now: today})
		code, words := judged.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, reports.ExitWell, code, "%s: %s\n%s", name, words, update.Text)
	}
	other := &reports.Report{Checks: []reports.Check{checkOf("push/x", reports.Fail, "+OK"), law, openCheck}}
	code, words := file.Judge(other, Setting{Now: today}).Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitFindings, code, "another symptom of a script is a finding: %s", words)
}
