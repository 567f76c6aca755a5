package reports

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// finding returns a finding of a clause in a check, at a line.
func finding(v Verdict, clause, check string, line int, actual string) Finding {
	return Finding{Clause: clause, Verdict: v, Evidence: Evidence{Check: check, Line: line, Actual: actual}}
}

// What is received at one place is one symptom, whatever it breaks; another place, check, reply or expectation is
// another one.
func TestFindingsAtOnePlaceAreOneSymptom(t *testing.T) {
	t.Parallel()
	first := finding(Fail, "A-01", "x/y", 3, "-ERR")
	for name, test := range map[string]struct {
		other   Finding
		clauses []string // of the first symptom
		count   int
	}{
		"another clause":        {finding(Warn, "B-01", "x/y", 3, "-ERR"), []string{"A-01", "B-01"}, 1},
		"the same clause again": {finding(Warn, "A-01", "x/y", 3, "-ERR"), []string{"A-01"}, 1},
		"no clause":             {finding(Fail, "", "x/y", 3, "-ERR"), []string{"A-01", ""}, 1},
		"another line":          {finding(Fail, "B-01", "x/y", 4, "-ERR"), []string{"A-01"}, 2},
		"another check":         {finding(Fail, "B-01", "x/z", 3, "-ERR"), []string{"A-01"}, 2},
		"another reply":         {finding(Fail, "B-01", "x/y", 3, "+OK"), []string{"A-01"}, 2},
	} {
		groups := groupSymptoms([]Finding{first, test.other})
		assert.Len(t, groups, test.count, name)
		var clauses []string
		for _, f := range groups[0] {
			clauses = append(clauses, f.Clause)
		}
		assert.Equal(t, test.clauses, clauses, name)
	}
}

// A clause is one finding of the run however many checks show it, with the worst verdict of them; a check that names no
// clause is one of its own. What is known is none.
func TestAClauseIsOneFinding(t *testing.T) {
	t.Parallel()
	knownFinding := finding(Crash, "A-01", "known/x", 1, "gone")
	knownFinding.KnownLine = 7
	findings := runFindings(groupSymptoms([]Finding{
		finding(Warn, "B-01", "b/x", 1, "1"), finding(Warn, "A-01", "a/x", 1, "2"), finding(Fail, "A-01", "a/y", 1, "3"),
		finding(Fail, "A-01", "a/x", 9, "4"), knownFinding, finding(Fail, "", "mine.fwp", 1, "5"),
		finding(Fail, "", "mine.fwp", 2, "6"),
	}))
	type row struct {
		clause   string
		verdict  Verdict
		checks   []string
		symptoms []int
	}
	var rows []row
	for _, b := range findings {
		rows = append(rows, row{b.Clause, b.Verdict, b.Checks, b.SymptomIndexes})
	}
	assert.Equal(t, []row{
		{"A-01", Fail, []string{"a/x", "a/y"}, []int{1, 2, 3}}, {"", Fail, []string{"mine.fwp"}, []int{5, 6}},
		{"B-01", Warn, []string{"b/x"}, []int{0}},
	}, rows)
}

// A crash comes before a fail, a fail before a warn; among equals a closed connection comes last.
func TestTheWorstFindingIsFirst(t *testing.T) {
	t.Parallel()
	closeFinding := finding(Fail, "A-01", "a", 1, "x")
	closeFinding.ConnectionEnd = "the server closed the connection"
	r := Report{Checks: []Check{
		{ID: "a", Verdict: Fail, Findings: []Finding{finding(Warn, "W-01", "a", 1, "x"), closeFinding}},
		{ID: "b", Verdict: Crash, Findings: []Finding{
			finding(Fail, "B-01", "b", 1, "x"), finding(Crash, "C-01", "b", 2, "x"),
		}},
	}}
	var clauses []string
	for _, f := range r.Findings() {
		clauses = append(clauses, f.Clause)
	}
	assert.Equal(t, []string{"C-01", "B-01", "A-01", "W-01"}, clauses)
}

// A red verdict without evidence is a finding all the same, with its cause; what the check and the catalogue know is
// filled in, and what the evidence says stays.
func TestRedVerdictsAreFindings(t *testing.T) {
	t.Parallel()
	r := Report{
		Checks: []Check{
			{ID: "a", File: "a.fwp", Verdict: Fail, Clauses: []ClauseVerdict{{ID: "A-01", Verdict: Fail, Cause: "because"}}},
			{ID: "b", File: "b.fwp", Verdict: Crash, Cause: "it died"},
			{ID: "c", File: "c.fwp", Verdict: Fail, Findings: []Finding{{
				Clause: "A-01", Level: LevelMust, Verdict: Fail,
				Evidence: Evidence{Check: "other", File: "o.fwp", Frequency: "once"},
			}}},
		},
		Clauses: []Clause{
			{ID: "A-01", Level: LevelPlain, Statement: "it holds", Verdict: Fail},
			{ID: "Z-01", Level: LevelMay, Verdict: Warn, Cause: "elsewhere", Checks: []string{"x", "y"}},
		},
	}
	assert.Equal(t, []Finding{
		{Verdict: Crash, Evidence: Evidence{Check: "b", File: "b.fwp", Actual: "it died"}},
		{Clause: "A-01", Level: LevelPlain, Statement: "it holds", Verdict: Fail,
			Evidence: Evidence{Check: "a", File: "a.fwp", Actual: "because"}},
		{Clause: "A-01", Level: LevelMust, Statement: "it holds", Verdict: Fail,
			Evidence: Evidence{Check: "other", File: "o.fwp", Frequency: "once"}},
		{Clause: "Z-01", Level: LevelMay, Verdict: Warn, Evidence: Evidence{Check: "x, y", Actual: "elsewhere"}},
	}, r.Findings())
}

// Of several findings of a clause in a check the case is about the first that is not known.
func TestTheCaseOfAClauseIsAboutWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	knownFinding, other := finding(Fail, "A-01", "a", 1, "old"), finding(Fail, "A-01", "a", 2, "new")
	knownFinding.KnownLine = 7
	c := Check{ID: "a", Verdict: Fail, Took: time.Second, Clauses: []ClauseVerdict{
		{ID: "A-01", Level: LevelMust, Verdict: Fail}, {ID: "B-01", Verdict: Inconclusive, Provide: "give --restart"},
		{ID: "C-01", Verdict: NotSelected},
	}}
	for _, test := range []struct {
		findings []Finding
		message  string
		result   CaseState
	}{
		{[]Finding{knownFinding, other}, "new", CaseFailed}, {[]Finding{other, knownFinding}, "new", CaseFailed},
		{[]Finding{knownFinding}, "known, x.expect:7: old", CaseSkipped},
	} {
		c.Findings = test.findings
		r := Report{Checks: []Check{c}, Expectations: &Expectations{File: "x.expect"}}
		s := r.Suite(ExitOptions{})
		assert.Len(t, s.Cases, 2)
		assert.Equal(t, test.message, s.Cases[0].Reason())
		assert.Equal(t, test.result, s.Cases[0].EffectiveState())
		assert.Equal(t, "a - A-01", s.Cases[0].Name)
		assert.Equal(t, []time.Duration{time.Second, 0}, []time.Duration{s.Cases[0].Took, s.Cases[1].Took})
		assert.Equal(t, "no reason was given; give --restart", s.Cases[1].Message)
		assert.Equal(t, CaseErrored, s.Cases[1].EffectiveState())
	}
}

// A verdict is a case of one state; a warn fails with --strict only.
func TestStatesOfVerdicts(t *testing.T) {
	t.Parallel()
	for v, want := range map[Verdict]CaseState{
		Pass: CasePassed, Observed: CasePassed, Warn: CasePassed, Fail: CaseFailed, Crash: CaseFailed,
		Inconclusive: CaseErrored, NotRun: CaseErrored, Skipped: CaseSkipped, NotApplicable: CaseSkipped,
		NotSelected: CaseSkipped,
	} {
		assert.Equal(t, want, CaseStateOf(v, ExitOptions{}), v)
		if v == Warn {
			want = CaseFailed
		}
		assert.Equal(t, want, CaseStateOf(v, ExitOptions{Strict: true}), v)
	}
}

// What has no result is listed once for each cause, the worst first: inconclusive, not run, skipped.
func TestOpenResultsAreGroupedByCause(t *testing.T) {
	t.Parallel()
	first := ClauseVerdict{ID: "A-01", Verdict: Inconclusive, Reason: ReasonLag, Cause: "late by 2 s"}
	second, third := first, first
	second.ID, second.Cause = "A-02", "late by 3 s"
	third.ID, third.KnownLine = "A-03", 7
	r := Report{
		Checks: []Check{
			{ID: "s", Verdict: Skipped, Cause: "no password", Provide: "give one"},
			{ID: "a", Verdict: Inconclusive, Attempts: 3, Clauses: []ClauseVerdict{first, second, third}},
			{ID: "b", Verdict: Inconclusive, Clauses: []ClauseVerdict{first}},
			{ID: "n", Verdict: NotRun}, {ID: "p", Verdict: Pass},
		},
		Clauses: []Clause{
			{ID: "A-01", Verdict: Inconclusive, Reason: ReasonSetUp, Checks: []string{"a"}},
			{ID: "G-01", Verdict: Inconclusive, Reason: ReasonSetUp, Cause: "never seen", Checks: []string{"p"}},
			{ID: "Z-01", Verdict: NotRun},
		},
	}
	var causes []cause
	var rows [][]openRow
	for _, g := range r.openGroups() {
		causes, rows = append(causes, g.cause), append(rows, g.rows)
	}
	assert.Equal(t, []cause{
		{Inconclusive, "lag", ""}, {Inconclusive, "set-up", ""}, {NotRun, "", ""}, {Skipped, "no password", "give one"},
	}, causes)
	assert.Equal(t, []openRow{
		{"late by 2 s", "a", []string{"A-01"}, 3}, {"late by 3 s", "a", []string{"A-02"}, 3},
		{"late by 2 s", "b", []string{"A-01"}, 0},
	}, rows[0])
	assert.Equal(t, []openRow{{cause: "never seen", clauses: []string{"G-01"}}}, rows[1])
}

// Each pair of sides has its mark, and B breaks only what A does not break in the same clause.
func TestMarksOfDifferences(t *testing.T) {
	t.Parallel()
	fail := func(clause string) DifferenceSide { return DifferenceSide{Clause: clause, Verdict: Fail} }
	warn := DifferenceSide{Clause: "W-01", Verdict: Warn}
	for _, test := range []struct {
		a, b           DifferenceSide
		mark           BrokenSide
		breaks, strict bool
	}{
		{DifferenceSide{}, DifferenceSide{}, BothAllowed, false, false},
		{DifferenceSide{}, fail("A-01"), BDeparts, true, true},
		{DifferenceSide{}, warn, BDeparts, false, true},
		{fail("A-01"), DifferenceSide{}, ADeparts, false, false},
		{fail("A-01"), fail("A-01"), BothDepart, false, false},
		{fail("A-01"), fail("B-01"), BothDepart, true, true},
	} {
		d := Difference{A: test.a, B: test.b}
		d.SetBrokenSide()
		assert.Equal(t, test.mark, d.BrokenSide, "%+v", test)
		assert.Equal(t, test.breaks, d.IsNewBreach(ExitOptions{}), "%+v", test)
		assert.Equal(t, test.strict, d.IsNewBreach(ExitOptions{Strict: true}), "%+v", test)
	}
}

// How the last run differs from the first, and whether that makes the exit code 1.
func TestKindsOfChanges(t *testing.T) {
	t.Parallel()
	run := func(v Verdict, signature string) *Report {
		c := Check{ID: "a", File: "a.fwp", Verdict: v}
		if v.IsBreach() {
			c.Findings = []Finding{finding(v, "", "a", 1, signature)}
		}
		return &Report{Checks: []Check{c}}
	}
	for _, test := range []struct {
		runs []*Report
		kind ChangeKind
		code int
	}{
		{[]*Report{run(Pass, ""), run(Fail, "x")}, Appeared, ExitFindings},
		{[]*Report{run(Pass, ""), run(Warn, "x")}, Appeared, ExitWell},
		{[]*Report{run(Warn, "x"), run(Fail, "x")}, Changed, ExitFindings},
		{[]*Report{run(Crash, "x"), run(Fail, "x")}, Changed, ExitWell},
		{[]*Report{run(Fail, "x"), run(Fail, "y")}, Changed, ExitWell},
		{[]*Report{run(Fail, "x 1"), run(Fail, "x 2")}, "", ExitWell},
		{[]*Report{run(Fail, "x"), run(Pass, "")}, Disappeared, ExitWell},
		{[]*Report{run(Pass, ""), run(Inconclusive, "")}, Unevaluated, ExitInconclusive},
		{[]*Report{run(Skipped, ""), run(Pass, "")}, Evaluated, ExitInconclusive},
		{[]*Report{run(Pass, ""), run(Fail, "x"), run(Pass, "")}, Varied, ExitWell},
	} {
		c := Compare([]string{"1", "2", "3"}[:len(test.runs)], test.runs)
		code, words := c.Outcome(ExitOptions{}).Values()
		assert.Equal(t, test.code, code, "%s: %s", test.kind, words)
		if test.kind == "" {
			assert.Empty(t, c.Changes)
			continue
		}
		assert.Len(t, c.Changes, 1, test.kind)
		assert.Equal(t, test.kind, c.Changes[0].Kind)
	}
}

// A clause is known if all that is wrong with it is: its findings, or else what has no result.
func TestWhatIsKnownOfAClause(t *testing.T) {
	t.Parallel()
	findingsOf := func(isKnown ...int) []Finding {
		var all []Finding
		for i, line := range isKnown {
			f := finding(Fail, "A-01", "a", i+1, "x")
			f.KnownLine = line
			all = append(all, f)
		}
		return all
	}
	checksOf := func(isKnown ...int) []Check {
		var all []Check
		for _, line := range isKnown {
			all = append(all, Check{ID: "a", Clauses: []ClauseVerdict{{ID: "A-01", Verdict: Inconclusive, KnownLine: line}}})
		}
		return all
	}
	for name, test := range map[string]struct {
		clause   Clause
		findings []Finding
		checks   []Check
		want     bool
	}{
		"it passed":                     {Clause{Verdict: Pass}, nil, nil, false},
		"its finding is known":          {Clause{Verdict: Fail}, findingsOf(7), nil, true},
		"both findings are known":       {Clause{Verdict: Fail}, findingsOf(7, 8), nil, true},
		"one of two findings is new":    {Clause{Verdict: Fail}, findingsOf(7, 0), nil, false},
		"the finding before is new":     {Clause{Verdict: Fail}, findingsOf(0, 7), nil, false},
		"its open results are known":    {Clause{Verdict: Inconclusive}, nil, checksOf(7, 8), true},
		"one of its results is not":     {Clause{Verdict: Inconclusive}, nil, checksOf(7, 0), false},
		"no check is open":              {Clause{Verdict: NotRun}, nil, nil, false},
		"a finding beside known checks": {Clause{Verdict: Inconclusive}, findingsOf(0), checksOf(7), false},
	} {
		test.clause.ID = "A-01"
		r := Report{Checks: test.checks, Clauses: []Clause{test.clause}}
		assert.Equal(t, test.want, r.isKnown(&test.clause, test.findings), name)
		_, isKnown := r.verdictOf(&test.clause, runFindings(groupSymptoms(test.findings)), test.findings)
		assert.Equal(t, test.want, isKnown, name)
	}
}

// A clause counts with the verdict of its findings, else with its own, and as not selected if no check evaluates it.
func TestWithWhichVerdictAClauseCounts(t *testing.T) {
	t.Parallel()
	evaluated := []string{"a"}
	for name, test := range map[string]struct {
		clause   Clause
		findings []Finding
		want     Verdict
	}{
		"its own": {Clause{Verdict: Pass, Checks: evaluated}, nil, Pass},
		"that of its finding": {Clause{Verdict: Inconclusive, Checks: evaluated},
			[]Finding{finding(Warn, "A-01", "a", 1, "x")}, Warn},
		"the worst of two": {Clause{Verdict: Fail, Checks: evaluated},
			[]Finding{finding(Warn, "A-01", "a", 1, "x"), finding(Crash, "A-01", "b", 1, "y")}, Crash},
		"another clause is broken":       {Clause{Verdict: Pass}, []Finding{finding(Fail, "B-01", "a", 1, "x")}, Pass},
		"no check evaluates it":          {Clause{Verdict: NotRun}, nil, NotSelected},
		"its check did not run":          {Clause{Verdict: NotRun, Checks: evaluated}, nil, NotRun},
		"the catalogue says why not":     {Clause{Verdict: NotApplicable}, nil, NotApplicable},
		"a check that was not selected":  {Clause{Verdict: NotSelected, Checks: evaluated}, nil, NotSelected},
		"what it needs is not there":     {Clause{Verdict: Skipped, Checks: evaluated}, nil, Skipped},
		"it was seen, and is no finding": {Clause{Verdict: Observed, Checks: evaluated}, nil, Observed},
	} {
		test.clause.ID = "A-01"
		v, _ := (&Report{}).verdictOf(&test.clause, runFindings(groupSymptoms(test.findings)), test.findings)
		assert.Equal(t, test.want, v, name)
	}
}

// Of many leftover jobs the first are named, and how many more there are; with Verbose all.
func TestLeftoverJobsAreCut(t *testing.T) {
	t.Parallel()
	var jobs []string
	for range leftoverShown + 2 {
		jobs = append(jobs, "a job")
	}
	for _, test := range []struct {
		jobs    []string
		verbose bool
		rows    int
		note    string
	}{
		{nil, false, 0, ""}, {jobs[:1], false, 1, ""}, {jobs[:leftoverShown], false, leftoverShown, ""},
		{jobs, false, leftoverShown, "and 2 more; -v lists them"}, {jobs, true, leftoverShown + 2, ""},
	} {
		var p Page
		p.leftover(test.jobs, "that are left", PageOptions{Verbose: test.verbose})
		if test.rows == 0 {
			assert.Empty(t, p.Blocks)
			continue
		}
		table, ok := p.Blocks[1].(Table)
		assert.True(t, ok)
		assert.Len(t, table.Rows, test.rows)
		assert.Equal(t, test.note, table.Note.String())
	}
}

// Leftover jobs come with the command that removes them, on each server that it can clean.
func TestLeftoverJobsCanBeRemoved(t *testing.T) {
	t.Parallel()
	for want, targets := range map[string][]Target{
		"":                                   {{URL: "workq://h:1"}},
		"fwpcheck clean --url tcp://h:7419":  {{URL: "tcp://h:7419"}},
		"fwpcheck clean --url tcp+tls://h:1": {{URL: "workq://h:1"}, {URL: "tcp+tls://h:1"}},
	} {
		var p Page
		p.leftover([]string{"a job"}, "that is left", PageOptions{}, targets...)
		var got []string
		for _, block := range p.Blocks {
			if f, ok := block.(Fields); ok {
				got = append(got, f.Fields[0].Lines[0].String())
			}
		}
		assert.Equal(t, want, strings.Join(got, ", "))
		p = Page{}
		p.leftover(nil, "that is left", PageOptions{}, targets...)
		assert.Empty(t, p.Blocks)
	}
}

// Lines of a file of known findings are written with ranges, and cut where there are many.
func TestRangesOfLines(t *testing.T) {
	t.Parallel()
	for want, lines := range map[string][]int{
		"": nil, "4": {4}, "4, 5": {4, 5}, "4-6": {4, 5, 6}, "4, 7-9, 12": {4, 7, 8, 9, 12},
		"1, 3, 5, 7, 9, 11, ... 15": {1, 3, 5, 7, 9, 11, 13, 15},
	} {
		assert.Equal(t, want, ranges(lines))
	}
}

// What one play has found broken, and none has confirmed, is a line for each check.
func TestWhatAwaitsConfirmationIsALineEach(t *testing.T) {
	t.Parallel()
	verdictOf := func(id, cause string) ClauseVerdict {
		return ClauseVerdict{
			ID: id, Verdict: Inconclusive, Reason: ReasonUnsteady, Cause: ReasonUnsteady.Words() + ": " + cause,
		}
	}
	g := withOpen(nil, verdictOf("A-01", "too late"), openRow{check: "a", clauses: []string{"A-01"}})
	g = withOpen(g, verdictOf("A-02", "too often"), openRow{check: "b", clauses: []string{"A-02"}})
	assert.Len(t, g, 1)
	assert.Equal(t, []Row{Cells("a", "A-01: too late"), Cells("b", "A-02: too often")}, g[0].table().Rows)
}
