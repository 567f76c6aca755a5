package reports

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reportOf returns a report with one clause and one check of verdict v.
func reportOf(v Verdict) *Report {
	return &Report{
		Checks: []Check{{ID: "a/b", Verdict: v, Clauses: []ClauseVerdict{{ID: "FWP-A-01", Verdict: v}}}},
		Clauses: []Clause{
			{ID: "FWP-A-01", Verdict: v, Checks: []string{"a/b"}},
			{ID: "FWP-A-02", Verdict: NotRun},
		},
	}
}

func TestExitCodeOfOneVerdict(t *testing.T) {
	t.Parallel()
	cases := []struct {
		verdict                            Verdict
		code, strict, required, besidePass int // together: beside a check that passes
		words                              string
	}{
		{NotRun, 3, 3, 3, 3, "nothing was evaluated; 1 clause not run"},
		{Pass, 0, 0, 0, 0, "all well: 1 clause passed"},
		{Fail, 1, 1, 1, 1, "1 finding: 1 fail"},
		{Warn, 0, 1, 0, 0, "1 finding: 1 warn (a warn fails only with --strict)"},
		{Observed, 0, 0, 0, 0, "all well: 1 observed"},
		{NotApplicable, 3, 3, 3, 0, "nothing was evaluated"},
		{NotSelected, 3, 3, 3, 0, "nothing was evaluated"},
		{Skipped, 3, 3, 3, 0, "nothing was evaluated"},
		{Inconclusive, 3, 3, 3, 3, "nothing was evaluated; 1 clause inconclusive"},
		{Crash, 1, 1, 1, 1, "1 finding: 1 crash"},
	}
	for _, c := range cases {
		t.Run(c.verdict.String(), func(t *testing.T) {
			t.Parallel()
			code, words := reportOf(c.verdict).Outcome(ExitOptions{}).Values()
			assert.Equal(t, c.code, code)
			assert.Equal(t, c.words, words)
			assert.Equal(t, c.strict, reportOf(c.verdict).ExitCode(ExitOptions{Strict: true}))
			assert.Equal(t, c.required, reportOf(c.verdict).ExitCode(ExitOptions{Require: []string{"FWP-A-01"}}))
			report := reportOf(c.verdict)
			report.Checks = append(report.Checks, passingCheck())
			assert.Equal(t, c.besidePass, report.ExitCode(ExitOptions{}))
		})
	}
}

// Every combination of causes: the first of 130, 5, 4, 2, 1, 3, 0 wins.
func TestExitCodePrecedence(t *testing.T) {
	t.Parallel()
	causes := []struct {
		code int
		set  func(*Report)
	}{
		{ExitInterrupted, func(r *Report) { r.Interrupted = true }},
		{ExitInternal, func(r *Report) { r.Internal = "boom" }},
		{ExitUnreachable, func(r *Report) { r.Unreachable = "refused" }},
		{ExitUsage, func(r *Report) { r.Usage = "unknown flag" }},
		{ExitFindings, func(r *Report) { r.Checks = append(r.Checks, Check{ID: "f", Verdict: Fail}) }},
		{ExitInconclusive, func(r *Report) { r.Checks = append(r.Checks, Check{ID: "u", Verdict: Inconclusive}) }},
	}
	for set := range 1 << len(causes) {
		r, want := wellReport(), ExitWell
		for i, c := range slices.Backward(causes) {
			if set&(1<<i) != 0 {
				c.set(r)
				want = c.code
			}
		}
		assert.Equal(t, want, r.ExitCode(ExitOptions{}), "causes %06b", set)
	}
}

func TestRequire(t *testing.T) {
	t.Parallel()
	r := richReport()
	r.Checks, r.Clauses = []Check{passingCheck(), noPassword(), endReply()}, richClauses()
	r.Clauses = append(r.Clauses[:1:1], r.Clauses[5:8]...)
	cases := []struct {
		name    string
		require []string
		code    int
		words   string
	}{
		{"nothing", nil, 0, "all well: 1 clause passed, 1 observed"},
		{"evaluated", []string{"FWP-HI-01", "FWP-END-01"}, 0, "all well: 1 clause passed, 1 observed"},
		{"skipped", []string{"FWP-HI-01", "FWP-AUTH-02"}, 3, "required, but not evaluated: FWP-AUTH-02; 1 clause passed, 1 " +
			"observed"},
		{"not in the report", []string{"FWP-NONE-01"}, 3, "required, but not evaluated: FWP-NONE-01; 1 clause passed, 1 " +
			"observed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, words := r.Outcome(ExitOptions{Require: c.require}).Values()
			assert.Equal(t, c.code, code)
			assert.Equal(t, c.words, words)
		})
	}
}

func TestWhatDidNotShowIsInconclusive(t *testing.T) {
	t.Parallel()
	r := richReport()
	r.Checks, r.Clauses, r.MissReason = []Check{passingCheck()}, richClauses()[:1], "the planted bug x did not show"
	code, words := r.Outcome(ExitOptions{}).Values()
	assert.Equal(t, ExitInconclusive, code)
	assert.Equal(t, "the planted bug x did not show", words)
	r.Checks = append(r.Checks, Check{ID: "a", Verdict: Crash})
	code, _ = r.Outcome(ExitOptions{}).Values()
	assert.Equal(t, ExitFindings, code)
}

func TestOutcomeInWords(t *testing.T) {
	t.Parallel()
	warned := wellReport()
	warned.Checks = append(warned.Checks, paddedCheck())
	interrupted := richReport()
	interrupted.Interrupted = true
	half := wellReport()
	half.Checks = append(half.Checks, slowCheck())
	half.Checks[1].Verdict = Pass
	cases := []struct {
		name   string
		report *Report
		want   string
	}{
		{"warn", warned, "1 finding: 1 warn (a warn fails only with --strict); 1 clause passed"},
		{"empty", &Report{}, "nothing was evaluated"},
		{"interrupted at once", &Report{Head: Head{Trouble: Trouble{Interrupted: true}}},
			"interrupted: nothing was evaluated"},
		{"interrupted", interrupted, "interrupted: 3 findings: 1 crash, 1 fail, 1 warn; " +
			"1 clause inconclusive, 1 clause not run, 1 check not run; 1 clause passed, 1 observed"},
		{"internal", &Report{Head: Head{Trouble: Trouble{Internal: "boom"}}}, "failed on this machine: boom"},
		{"unreachable", &Report{Head: Head{Trouble: Trouble{Unreachable: "refused"}}}, "no server could be tested: refused"},
		{"usage", &Report{Head: Head{Trouble: Trouble{Usage: "unknown flag"}}}, "usage error: unknown flag"},
		{"in part", half, "1 check inconclusive; 1 clause passed"},
		{"open clause only", &Report{Clauses: []Clause{{ID: "a", Verdict: Pass}, {ID: "b", Verdict: Inconclusive}}},
			"1 clause inconclusive; 1 clause passed"},
		{"scripts that name no clause", &Report{Checks: []Check{{Verdict: Pass}, {Verdict: Pass}}},
			"all well: 2 checks passed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, words := c.report.Outcome(ExitOptions{}).Values()
			assert.Equal(t, c.want, words)
		})
	}
}

// A red verdict without evidence is a finding all the same, wherever it stands.
func TestNoBreachIsLost(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		report Report
		want   []Finding
	}{
		{"check", Report{Checks: []Check{{ID: "c", File: "c.fwp", Verdict: Fail, Cause: "because"}}},
			[]Finding{{Verdict: Fail, Evidence: Evidence{Check: "c", File: "c.fwp", Actual: "because"}}}},
		{"clause of a check", Report{
			Checks:  []Check{{ID: "c", Verdict: Pass, Clauses: []ClauseVerdict{{ID: "A", Verdict: Warn, Cause: "because"}}}},
			Clauses: []Clause{{ID: "A", Level: LevelShould, Statement: "It is so.", Verdict: Warn}},
		}, []Finding{{Clause: "A", Level: LevelShould, Statement: "It is so.", Verdict: Warn,
			Evidence: Evidence{Check: "c", Actual: "because"}}}},
		{"clause", Report{Clauses: []Clause{{ID: "A", Verdict: Crash, Checks: []string{"c", "d"}}}},
			[]Finding{{Clause: "A", Verdict: Crash, Evidence: Evidence{Check: "c, d"}}}},
		{"second clause of a check", Report{Checks: []Check{{
			ID: "c", Verdict: Fail, Conversation: []Line{{Text: "x"}},
			Clauses:  []ClauseVerdict{{ID: "A", Verdict: Fail}, {ID: "B", Verdict: Fail}},
			Findings: []Finding{{Clause: "A", Verdict: Fail}},
		}}}, []Finding{
			{Clause: "A", Verdict: Fail, Evidence: Evidence{Check: "c"}},
			{Clause: "B", Verdict: Fail, Evidence: Evidence{Check: "c"}},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, c.report.Findings())
			assert.Len(t, c.report.Findings(), len(c.want), "asking does not change the report")
		})
	}
}

func TestWorstExit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		codes []int
		want  int
	}{
		{nil, ExitWell}, {[]int{ExitWell}, ExitWell}, {[]int{ExitInconclusive, ExitFindings}, ExitFindings},
		{[]int{ExitFindings, ExitLoss, ExitInconclusive}, ExitLoss}, {[]int{ExitUsage, ExitLoss}, ExitUsage},
		{[]int{ExitUsage, ExitUnreachable}, ExitUnreachable}, {[]int{ExitInternal, ExitUnreachable}, ExitInternal},
		{[]int{ExitInternal, ExitInterrupted}, ExitInterrupted},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, WorstExit(test.codes...), test.codes)
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	claims := []Claim{
		NewClaim(ExitWell, true, "well"), NewClaim(ExitFindings, true, "first"), NewClaim(ExitFindings, true, "second"),
		NewClaim(ExitInternal, false, "internal"),
	}
	assert.Equal(t, Outcome{ExitFindings, "first"}, Decide(claims))
	assert.Equal(t, Outcome{ExitWell, ""}, Decide(nil))
}

// The document and the code have one table.
func TestExitCodesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "docs", "verdicts.md"))
	require.NoError(t, err)
	var codes []string
	for _, e := range exits {
		assert.Contains(t, string(document), strings.ReplaceAll(fmt.Sprintf("\n| %d | %s | %s |\n", e.code, e.check, e.bench),
			"|  |", "| |"))
		codes = append(codes, fmt.Sprint(e.code))
	}
	assert.Contains(t, string(document), "Where several apply: "+strings.Join(codes, ", ")+".")
}

func TestDocsListEveryReason(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "docs", "verdicts.md"))
	require.NoError(t, err)
	for code, words := range reasonWords {
		assert.Contains(t, string(doc), "\n| `"+string(code)+"` | "+words+" |")
	}
}

// Results with one code are one group, whatever their words; needs are told apart.
func TestOpenResultsAreGroupedByTheirReason(t *testing.T) {
	t.Parallel()
	checkOf := func(check, cause string, code ReasonCode) Check {
		v := Inconclusive
		if strings.HasPrefix(string(code), "needs-") {
			v = Skipped
		}
		return Check{ID: check, Verdict: v, Clauses: []ClauseVerdict{
			{ID: "FWP-" + check, Verdict: v, Cause: cause, Reason: code}}}
	}
	r := &Report{Checks: []Check{
		checkOf("a", "line 4: expected +OK, got -ERR", ReasonSetUp), checkOf("b", "line 9: expected +OK, got -NO", ReasonSetUp),
		checkOf("c", "late by 120 ms", ReasonLag),
		checkOf("d", "needs a password", "needs-password"), checkOf("e", "needs a kill", "needs-kill"),
		checkOf("f", "words alone", ""),
	}}
	var got []string
	for _, g := range r.openGroups() {
		var checks []string
		for _, row := range g.rows {
			checks = append(checks, row.check)
		}
		got = append(got, strings.Join(checks, " ")+": "+g.words())
	}
	want := []string{
		"a b: the check did not get to what it is about", "c: late by 120 ms", "d: needs a password", "e: needs a kill",
		"f: words alone",
	}
	slices.Sort(got)
	assert.Equal(t, want, got)

	var out bytes.Buffer
	require.NoError(t, r.Page(PageOptions{}).WriteText(&out, TextOptions{}))
	assert.Contains(t, out.String(), "for example a: line 4: expected +OK, got -ERR")
	out.Reset()
	require.NoError(t, r.Page(PageOptions{Verbose: true}).WriteText(&out, TextOptions{}))
	assert.Contains(t, out.String(), "FWP-b: line 9: expected +OK, got -NO")
}

// result is what every result can do.
type result interface {
	Page(o PageOptions) Page
	Suite(o ExitOptions) Suite
}

func resultSamples() map[string]result {
	all := map[string]result{
		"rich": richReport(), "well": wellReport(), "empty": &Report{}, "repeated": repeatedReport(), "expected": expectedReport(),
		"unreachable": &Report{
			Target: Target{URL: "tcp://127.0.0.1:1", Chosen: "from --url"},
			Head:   Head{Trouble: Trouble{Unreachable: "dial tcp 127.0.0.1:1: connection refused"}},
		},
		"explored": sampleExploration(), "compared": sampleComparison(),
	}
	return all
}

// A red exit code has a red case, and a green one has none: a CI that reads the cases alone comes to the same result.
func TestCasesAgreeWithTheExitCode(t *testing.T) {
	t.Parallel()
	for name, r := range resultSamples() {
		for _, o := range []ExitOptions{{}, {Strict: true}, {Require: []string{"FWP-FLUSH-02"}}} {
			if _, isReport := r.(*Report); !isReport && o.Require != nil {
				continue
			}
			s := r.Suite(o)
			counts := s.Count()
			hasFailure := counts[CaseFailed]+counts[CaseErrored] > 0
			assert.Equal(t, s.Code != ExitWell && len(s.Cases) > 0, hasFailure, "%s %+v: exit code %d", name, o, s.Code)
			if s.Code == ExitFindings || s.Code == ExitLoss {
				assert.Positive(t, counts[CaseFailed], name)
			}
			names := map[string]bool{}
			for _, c := range s.Cases {
				assert.False(t, names[c.Name], "%s: two cases are %s", name, c.Name)
				names[c.Name] = true
			}
		}
	}
}

// A quick run of a client says in its last line what it did not look at.
func TestWhatAQuickRunDidNotLookAt(t *testing.T) {
	t.Parallel()
	r := reportOf(Pass)
	r.Clauses = append(r.Clauses,
		Clause{ID: "A-03", Verdict: NotSelected, Reason: ReasonTime, Harm: "no heartbeats"},
		Clause{ID: "A-04", Verdict: NotSelected, Reason: ReasonTime, Harm: "jobs lost"},
		Clause{ID: "A-05", Verdict: NotSelected, Reason: ReasonTime},
		Clause{ID: "A-06", Verdict: NotSelected, Harm: "no shutdown"})
	_, words := r.Outcome(ExitOptions{}).Values()
	assert.Equal(t, "all well: 1 clause passed", words, "a server")
	r.Target.Command = "worker"
	_, words = r.Outcome(ExitOptions{}).Values()
	assert.Equal(t, "all well: 1 clause passed; --quick left out 3 clauses, some of them about jobs lost, no "+
		"heartbeats", words)
}
