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

// one returns a check with a verdict on the clause A-1; a breach has a finding.
func one(id string, v reports.Verdict, actual string) reports.Check {
	const clause = "A-1"
	c := reports.Check{ID: id, Verdict: v, Clauses: []reports.ClauseVerdict{{ID: clause, Verdict: v}}}
	switch {
	case v.Breach():
		c.Findings = []reports.Finding{{
			Clause: clause, Verdict: v, Evidence: reports.Evidence{Expected: "an error", Actual: actual},
		}}
	case v == reports.Inconclusive:
		c.Clauses[0].Why, c.Clauses[0].Halted = actual, true
	}
	return c
}

// repeated adds how often each verdict occurred.
func repeated(c reports.Check, counts ...reports.Count) reports.Check {
	c.Clauses = slices.Clone(c.Clauses)
	c.Runs, c.Clauses[0].Runs = counts, counts
	return c
}

func TestJudge(t *testing.T) {
	t.Parallel()
	fail := one("push/x", reports.Fail, "+OK at 12:30")
	pass := one("push/x", reports.Pass, "")
	late := one("push/x", reports.Inconclusive, "the suite was late")
	late.Clauses[0].Halted = false
	setUp := one("push/x", reports.Inconclusive, "line 5: the set-up did not work: got -ERR")
	two := one("push/x", reports.Fail, "+OK")
	two.Findings = append(two.Findings, reports.Finding{
		Clause: "A-1", Verdict: reports.Fail, Evidence: reports.Evidence{Expected: "an error", Actual: "-ERR"},
	})
	halted := one("push/x", reports.Fail, "+OK")
	halted.Clauses = append(halted.Clauses, reports.ClauseVerdict{ID: "A-2", Verdict: reports.Inconclusive, Halted: true})
	lawful := one("law/field", reports.Fail, "+OK")
	skipped := one("push/y", reports.Skipped, "")
	bad := func(bad, good int) reports.Check {
		return repeated(fail,
			reports.Count{Verdict: reports.Fail, Times: bad}, reports.Count{Verdict: reports.Pass, Times: good})
	}
	noClause := reports.Check{ID: "my.fwp", Verdict: reports.Crash, Findings: []reports.Finding{{Verdict: reports.Crash}}}
	cases := map[string]struct {
		file                string
		checks              []reports.Check
		known, stale, notes string // "line:verdict" of what is known; lines that are stale, and to look at
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
		"a crash is not covered": {"push/x A-1 fails", []reports.Check{one("push/x", reports.Crash, "")}, "", "1", ""},
		"one of two symptoms":    {`push/x A-1 fails because="+OK"`, []reports.Check{two}, "1:fail", "", ""},
		"both, a line each": {
			"push/x A-1 fails because=+OK\npush/x A-1 fails because=-ERR",
			[]reports.Check{two}, "1:fail 2:fail", "", "",
		},
		"stale":                     {"push/x A-1 fails", []reports.Check{pass}, "", "1", ""},
		"of the law is not stale":   {"law/field A-2 fails", []reports.Check{lawful}, "", "", ""},
		"inconclusive is not stale": {"push/x A-1 fails", []reports.Check{late}, "", "", ""},
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
			[]reports.Check{late}, "", "", "",
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
		"flaky within its rate":     {"push/x A-1 flaky rate<=0.2 of=20", []reports.Check{bad(4, 16)}, "1:fail", "", ""},
		"flaky beyond its rate":     {"push/x A-1 flaky rate<=0.2 of=20", []reports.Check{bad(5, 3)}, "", "", ""},
		"flaky, few plays":          {"push/x A-1 flaky rate<=0.2 of=20", []reports.Check{bad(4, 0)}, "1:fail", "", ""},
		"flaky, and steady in all":  {"push/x A-1 flaky rate<=0.2 of=20", []reports.Check{bad(0, 20)}, "1:fail", "", ""},
		"fails, but not always":     {"push/x A-1 fails", []reports.Check{bad(3, 7)}, "1:fail", "", "1"},
		"flaky is not for lag":      {"push/x A-1 flaky", []reports.Check{late}, "", "", ""},
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
			assert.Equal(t, c.known, knownOf(judged))
			assert.Equal(t, c.stale, linesOf(judged.Expectations.Stale))
			assert.Equal(t, c.notes, linesOf(judged.Expectations.Notes))
			for _, check := range r.Checks {
				for _, found := range check.Findings {
					assert.Zero(t, found.Known, "the results are as they were")
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
			if f.Known > 0 {
				all = append(all, string(rune('0'+f.Known))+":"+f.Verdict.String())
			}
		}
		for _, cv := range c.Clauses {
			if cv.Known > 0 {
				all = append(all, string(rune('0'+cv.Known))+":"+cv.Verdict.String())
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
	fail := one("push/x", reports.Fail, "+OK")
	pass := repeated(one("push/y", reports.Pass, ""), reports.Count{Verdict: reports.Pass, Times: 20})
	r := &reports.Report{Checks: []reports.Check{fail, pass}}
	f := parse(t, "push/x A-1 fails because=-ERR\npush/y A-1 flaky rate<=0.2 of=20\n"+
		"push/y A-1 fails server=\"faktory <2\"")
	e := f.Judge(r, Setting{Now: today}).Expectations
	assert.Equal(t, []reports.Expectation{{Line: 1, Text: "push/x A-1 fails because=-ERR",
		Why: `only findings with another kind or symptom: fails, because="+OK instead of an error"`}}, e.Stale)
	assert.Equal(t, "no finding in 20 plays; is it still flaky?", e.Notes[0].Why)
	assert.Contains(t, e.Notes[1].Why, "does not report its name and version")
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
	fail := one("push/x", reports.Fail, "+OK")
	r := &reports.Report{Checks: []reports.Check{fail, one("push/y", reports.Fail, ""), one("push/z", reports.Pass, "")}}
	f := parse(t, "push/y A-1 fails\npush/x A-1 warns")
	judged := f.Judge(r, Setting{Now: today})
	assert.Equal(t, []string{"push/x"}, f.Again(judged, 1), "what is not known, once")
	assert.Empty(t, f.Again(judged, 2))
	long, short := one("push/long", reports.Fail, "+OK"), one("push/short", reports.Fail, "+OK")
	long.Took, short.Took = replaysTake, time.Second
	some := f.Judge(&reports.Report{Checks: []reports.Check{short, long, fail}}, Setting{Now: today})
	assert.Equal(t, []string{"push/short", "push/x"}, f.Again(some, 1), "what there is time for")

	f = parse(t, "push/x A-1 flaky rate<=0.5 of=4\npush/y A-1 fails")
	var plays []int
	for round := 1; ; round++ {
		judged = f.Judge(r, Setting{Now: today})
		if len(f.Again(judged, round)) == 0 {
			break
		}
		r.Checks[0].Alone = count(r.Checks[0].Alone, reports.Pass)
		plays = append(plays, round)
	}
	assert.Equal(t, []int{1, 2}, plays, "until its rate is known: one of three, and at most two of four")
	assert.Equal(t, "1:fail 2:fail", knownOf(judged))
	r.Checks[0].Alone = reports.CountVerdicts(reports.Fail, reports.Fail)
	judged = f.Judge(r, Setting{Now: today})
	assert.Equal(t, "2:fail", knownOf(judged))
	assert.Contains(t, judged.Checks[0].Findings[0].Seen,
		"more often than rate<= allows: line 1, in 3 of 3 plays")
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	flaky := repeated(one("push/f", reports.Fail, "+OK"),
		reports.Count{Verdict: reports.Fail, Times: 3}, reports.Count{Verdict: reports.Pass, Times: 7})
	unsteady := one("push/u", reports.Warn, "+OK")
	unsteady.Alone = reports.CountVerdicts(reports.Pass)
	setUp := one("push/s", reports.Inconclusive, `line 5: the set-up did not work: expected "y", got "x"`)
	late := one("push/l", reports.Inconclusive, "the suite was late")
	late.Clauses[0].Halted = false
	r := &reports.Report{Checks: []reports.Check{
		one("push/a", reports.Fail, "+OK"), one("push/b", reports.Pass, ""), one("push/c", reports.Fail, "-ERR 7"),
		one("push/d", reports.Crash, "EOF"), one("push/e", reports.Fail, "+OK"), flaky, unsteady, setUp, late,
		one("explore/x", reports.Fail, "+OK"), one("a b", reports.Fail, ""),
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

	written := parse(t, string(u.Text))
	judged := written.Judge(r, setting)
	assert.Empty(t, judged.Expectations.Stale)
	again := written.Update(judged, func(string) bool { return false })
	assert.Equal(t, string(u.Text), string(again.Text), "there is nothing more to write")
	first := parse(t, "").Update(parse(t, "").Judge(r, setting), func(string) bool { return false })
	assert.Contains(t, string(first.Text), "# Known findings: ")
}

func TestUpdateLeavesARateToPeople(t *testing.T) {
	t.Parallel()
	r := &reports.Report{Checks: []reports.Check{repeated(one("push/x", reports.Fail, ""),
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
		found      reports.Check
		known      int
	}{
		{"by the line of a script", "push/x A-1 fails because=#", one("explore/x", reports.Fail, "+OK"), 1},
		{"a warn by a fail", "push/x A-1 fails", one("explore/x", reports.Warn, "+OK"), 1},
		{"by its own line", "explore/x A-1 flaky", one("explore/x", reports.Fail, "+OK"), 1},
		{"not by another clause", "push/x A-2 fails", one("explore/x", reports.Fail, "+OK"), 0},
		{"not by a line about all", "push/x * fails", one("explore/x", reports.Fail, "+OK"), 0},
		{"not what is inconclusive", "push/x A-1 inconclusive because=y", one("explore/x", reports.Fail, "+OK"), 0},
		{"not a crash", "push/x A-1 fails", one("explore/x", reports.Crash, ""), 0},
		{"not a script's", "push/x A-1 fails", one("push/y", reports.Fail, "+OK"), 0},
		{"past its date", "push/x A-1 fails until=2026-11-19", one("explore/x", reports.Fail, "+OK"), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := &reports.Report{Checks: []reports.Check{test.found}}
			judged := parse(t, test.line).Judge(r, Setting{Now: today, Generated: generated})
			assert.Equal(t, test.known, judged.Checks[0].Findings[0].Known)
			assert.Equal(t, test.known, judged.Expectations.Generated)
			then := 0
			if strings.HasPrefix(test.line, "explore/x") {
				then = 1
			}
			assert.Equal(t, then, judged.Expectations.GeneratedThen)
			_, words := judged.Outcome(reports.ExitOptions{}).Values()
			assert.Equal(t, test.known > 0, strings.Contains(words, "1 finding of generated checks about listed clauses ("+
				strconv.Itoa(then)+" when the file was written)"), words)
		})
	}
	// The script's own line is stale even so: its finding is gone.
	r := &reports.Report{Checks: []reports.Check{one("explore/x", reports.Fail, "+OK"), one("push/x", reports.Pass, "")}}
	assert.Len(t, parse(t, "push/x A-1 fails").Judge(r, Setting{Now: today, Generated: generated}).Expectations.Stale, 1)
}

// Which symptom the law meets first depends on what else is played, the sign of a number counts as little as the
// number, and what another breach has left open is known with the clause.
func TestOneWriteIsEnough(t *testing.T) {
	t.Parallel()
	open := one("jobs/x", reports.Inconclusive, "line 24: the reply departs as that of line 8 does")
	open.Clauses[0].Halted, open.Clauses[0].Beside = false, true
	open.Clauses = append(slices.Clone(open.Clauses), open.Clauses[0]) // another clause behind the same breach
	open.Clauses[1].ID = "A-2"
	law := one("law/field", reports.Fail, "retry: 25")
	first := &reports.Report{Checks: []reports.Check{one("push/x", reports.Fail, "retry: 5"), law, open}}
	empty := parse(t, "")
	update := empty.Update(empty.Judge(first, Setting{Now: today}), func(string) bool { return false })
	file := parse(t, string(update.Text))
	assert.NotContains(t, string(update.Text), "jobs/x")
	for name, second := range map[string]*reports.Report{
		"the same": first,
		"another symptom": {Checks: []reports.Check{one("push/x", reports.Fail, "retry: -1"),
			one("law/field", reports.Fail, "retry: null"), open}},
	} {
		judged := file.Judge(second, Setting{Now: today})
		code, words := judged.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, reports.ExitWell, code, "%s: %s\n%s", name, words, update.Text)
	}
	other := &reports.Report{Checks: []reports.Check{one("push/x", reports.Fail, "+OK"), law, open}}
	code, words := file.Judge(other, Setting{Now: today}).Outcome(reports.ExitOptions{}).Values()
	assert.Equal(t, reports.ExitFindings, code, "another symptom of a script is a finding: %s", words)
}
