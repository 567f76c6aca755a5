package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// ExitOptions is what the exit code depends on beside the verdicts. The zero value is the default.
type ExitOptions struct {
	// Strict makes a warn count like a fail.
	Strict bool
	// Require holds ids of clauses that must be evaluated: not selected, skipped, not applicable, or missing in the
	// report, then counts as inconclusive. The ids are taken as they are, without patterns.
	Require []string
}

// ExitCode returns the exit code for r; see the constants. Not selected, skipped and not applicable do not change it,
// nor does a clause that no check evaluates (NotRun without Checks), unless o.Require names the clause.
func (r *Report) ExitCode(o ExitOptions) int {
	code, _ := r.Outcome(o)
	return code
}

// Outcome returns the exit code and what it stands for in one line of words: "all well: 52 clauses passed",
// "2 findings: 1 crash, 1 fail" or "nothing was evaluated" for example.
func (r *Report) Outcome(o ExitOptions) (code int, words string) {
	decided := r.decide(o)
	return decided.code, decided.words
}

func (r *Report) decide(o ExitOptions) outcome {
	t := r.tally(o)
	missing := join(strings.Join(t.missing, ", "), t.sum())
	bad := t.findings[Crash]+t.findings[Fail] > 0 || o.Strict && t.findings[Warn] > 0
	return decide(append(r.trouble().claims(t.sum(), "no FWP server could be tested"),
		claimed(ExitFindings, bad, join(t.found(), t.open())),
		claimed(ExitInconclusive, !t.decided, join("nothing was evaluated", t.open())),
		claimed(ExitInconclusive, len(t.missing) > 0, "required, but not evaluated: "+missing),
		claimed(ExitInconclusive, t.open() != "", t.sum()),
		claimed(ExitWell, t.findings[Warn] > 0, join(t.found(), t.passed())),
		claimed(ExitWell, true, "all well: "+t.passed()),
	))
}

func (r *Report) trouble() trouble {
	return trouble{r.Interrupted, r.Internal, r.Unreachable, r.Usage}
}

// tally is what Outcome counts.
type tally struct {
	strict   bool
	findings map[Verdict]int
	checks   map[Verdict]int
	clauses  map[Verdict]int // without those that no check decides
	half     int             // checks with another verdict that leave one of their clauses inconclusive or not run
	decided  bool
	missing  []string // required and not evaluated
}

func (r *Report) tally(o ExitOptions) tally {
	t := tally{strict: o.Strict, findings: map[Verdict]int{}, checks: map[Verdict]int{}, clauses: map[Verdict]int{}}
	for _, f := range r.Findings() {
		t.findings[f.Verdict]++
	}
	for _, c := range r.Checks {
		t.checks[c.Verdict]++
		t.decided = t.decided || c.Verdict.Decided()
		if !isOpen(c.Verdict) && slices.ContainsFunc(c.Clauses, func(cv ClauseVerdict) bool { return isOpen(cv.Verdict) }) {
			t.half++
		}
	}
	decided := map[string]bool{}
	for _, c := range r.Clauses {
		if c.Verdict == NotRun && len(c.Checks) == 0 {
			continue
		}
		t.clauses[c.Verdict]++
		t.decided = t.decided || c.Verdict.Decided()
		decided[c.ID] = c.Verdict.Decided()
	}
	for _, id := range o.Require {
		if !decided[id] {
			t.missing = append(t.missing, id)
		}
	}
	return t
}

// isOpen reports whether v leaves something that was selected without a result.
func isOpen(v Verdict) bool { return v == Inconclusive || v == NotRun }

// sum returns everything that was counted.
func (t tally) sum() string {
	if s := join(t.found(), t.open(), t.passed()); s != "" {
		return s
	}
	return "nothing was evaluated"
}

// found returns how many findings there are: "3 findings: 1 fail, 2 warn".
func (t tally) found() string {
	total, parts := 0, []string{}
	for _, v := range worstFirst {
		if n := t.findings[v]; n > 0 {
			total += n
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if total == 0 {
		return ""
	}
	words := text.Count(total, "finding") + ": " + strings.Join(parts, ", ")
	if !t.strict && total == t.findings[Warn] {
		words += " (a warn fails with --strict only)"
	}
	return words
}

// open returns what was selected and has no result: "2 checks inconclusive, 1 check not run".
func (t tally) open() string {
	var parts []string
	for _, v := range [...]Verdict{Inconclusive, NotRun} {
		switch checks, clauses := t.checks[v], t.clauses[v]; {
		case checks > 0:
			parts = append(parts, text.Count(checks, "check")+" "+v.String())
		case clauses > 0:
			parts = append(parts, text.Count(clauses, "clause")+" "+v.String())
		}
	}
	if t.half > 0 {
		parts = append(parts, text.Count(t.half, "check")+" partly inconclusive")
	}
	return strings.Join(parts, ", ")
}

// passed returns what passed and what was observed: clauses, or checks where no check names a clause.
func (t tally) passed() string {
	counts, thing := t.clauses, "clause"
	if counts[Pass]+counts[Observed] == 0 {
		counts, thing = t.checks, "check"
	}
	var parts []string
	if n := counts[Pass]; n > 0 {
		parts = append(parts, text.Count(n, thing)+" passed")
	}
	if n := counts[Observed]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d observed", n))
	}
	return strings.Join(parts, ", ")
}

// join puts semicolons between the parts that are not empty.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}
