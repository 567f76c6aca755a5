package reports

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// one returns a report with one clause and one check of verdict v.
func one(v Verdict) *Report {
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
		verdict                          Verdict
		code, strict, required, together int // together: beside a check that passes
		words                            string
	}{
		{NotRun, 3, 3, 3, 3, "nothing was evaluated; 1 clause not run"},
		{Pass, 0, 0, 0, 0, "all well: 1 clause passed"},
		{Fail, 1, 1, 1, 1, "1 finding: 1 fail"},
		{Warn, 0, 1, 0, 0, "1 finding: 1 warn (a warn fails with --strict only)"},
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
			code, words := one(c.verdict).Outcome(ExitOptions{})
			assert.Equal(t, c.code, code)
			assert.Equal(t, c.words, words)
			assert.Equal(t, c.strict, one(c.verdict).ExitCode(ExitOptions{Strict: true}))
			assert.Equal(t, c.required, one(c.verdict).ExitCode(ExitOptions{Require: []string{"FWP-A-01"}}))
			both := one(c.verdict)
			both.Checks = append(both.Checks, passing())
			assert.Equal(t, c.together, both.ExitCode(ExitOptions{}))
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
		r, want := well(), ExitWell
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
	r := rich()
	r.Checks, r.Clauses = []Check{passing(), noPassword(), endReply()}, richClauses()
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
			code, words := r.Outcome(ExitOptions{Require: c.require})
			assert.Equal(t, c.code, code)
			assert.Equal(t, c.words, words)
		})
	}
}

func TestOutcomeInWords(t *testing.T) {
	t.Parallel()
	warned := well()
	warned.Checks = append(warned.Checks, padded())
	interrupted := rich()
	interrupted.Interrupted = true
	half := well()
	half.Checks = append(half.Checks, slow())
	half.Checks[1].Verdict = Pass
	cases := []struct {
		name   string
		report *Report
		want   string
	}{
		{"warn", warned, "1 finding: 1 warn (a warn fails with --strict only); 1 clause passed"},
		{"empty", &Report{}, "nothing was evaluated"},
		{"interrupted at once", &Report{Interrupted: true}, "interrupted: nothing was evaluated"},
		{"interrupted", interrupted, "interrupted: 3 findings: 1 crash, 1 fail, 1 warn; " +
			"1 clause inconclusive, 1 clause not run, 1 check not run; 1 clause passed, 1 observed"},
		{"internal", &Report{Internal: "boom"}, "internal error: boom"},
		{"unreachable", &Report{Unreachable: "refused"}, "no server could be tested: refused"},
		{"usage", &Report{Usage: "unknown flag"}, "usage error: unknown flag"},
		{"in part", half, "1 check inconclusive; 1 clause passed"},
		{"open clause only", &Report{Clauses: []Clause{{ID: "a", Verdict: Pass}, {ID: "b", Verdict: Inconclusive}}},
			"1 clause inconclusive; 1 clause passed"},
		{"scripts that name no clause", &Report{Checks: []Check{{Verdict: Pass}, {Verdict: Pass}}},
			"all well: 2 checks passed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, words := c.report.Outcome(ExitOptions{})
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
		{"check", Report{Checks: []Check{{ID: "c", File: "c.fwp", Verdict: Fail, Why: "because"}}},
			[]Finding{{Verdict: Fail, Evidence: Evidence{Check: "c", File: "c.fwp", Actual: "because"}}}},
		{"clause of a check", Report{
			Checks:  []Check{{ID: "c", Verdict: Pass, Clauses: []ClauseVerdict{{ID: "A", Verdict: Warn, Why: "because"}}}},
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
