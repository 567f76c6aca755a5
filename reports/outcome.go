package reports

import (
	"cmp"
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
	bad := t.Findings[Crash]+t.Findings[Fail] > 0 || o.Strict && t.Findings[Warn] > 0 || t.stale > 0
	return decide(append(r.trouble().claims(t.sum(), r.Target.untested()),
		claimed(ExitFindings, bad, join(t.found(), t.staled(), t.unsettled())),
		claimed(ExitInconclusive, !t.decided, join("nothing was evaluated", t.unsettled())),
		claimed(ExitInconclusive, len(t.missing) > 0, "required, but not evaluated: "+missing),
		claimed(ExitInconclusive, t.open+t.Clauses[Inconclusive]+t.Clauses[NotRun] > 0, t.sum()),
		claimed(ExitWell, t.Findings[Warn] > 0, join(t.found(), t.passed())),
		claimed(ExitWell, t.listed > 0, "nothing new: "+join(text.Count(t.listed, "known finding"), t.passed())),
		claimed(ExitWell, true, "all well: "+t.passed()),
	))
}

// untested says what there was nothing of.
func (t Target) untested() string {
	if t.Command != "" {
		return "no client could be tested"
	}
	return "no server could be tested"
}

func (r *Report) trouble() trouble {
	return trouble{r.Interrupted, r.Internal, r.Unreachable, r.Usage}
}

// tally is what Outcome counts.
type tally struct {
	Counts
	strict  bool
	open    int // checks that are inconclusive or not run, with a clause or without
	decided bool
	missing []string // required and not evaluated
	stale   int      // lines of the file of known findings
	listed  int      // clauses with known findings, and checks of no clause with some
}

func (r *Report) tally(o ExitOptions) tally {
	all := r.Findings()
	t := tally{Counts: r.counts(all), strict: o.Strict, stale: r.stale(), listed: knownOf(all)}
	for _, c := range r.Checks {
		t.decided = t.decided || c.Verdict.Decided()
		if c.open() {
			t.open++
		}
	}
	decided := map[string]bool{}
	for _, c := range r.Clauses {
		if c.evaluated() {
			t.decided = t.decided || c.Verdict.Decided()
			decided[c.ID] = c.Verdict.Decided()
		}
	}
	for _, id := range o.Require {
		if !decided[id] {
			t.missing = append(t.missing, id)
		}
	}
	return t
}

// knownOf returns about how many clauses, and checks of no clause, there are known findings.
func knownOf(all []Finding) int {
	known := map[string]bool{}
	for _, f := range all {
		if f.Known > 0 {
			known[cmp.Or(f.Clause, f.Check)] = true
		}
	}
	return len(known)
}

// counts returns what the run comes to, given its findings.
func (r *Report) counts(all []Finding) Counts {
	c := Counts{Findings: map[Verdict]int{}, Clauses: map[Verdict]int{}, Checks: map[Verdict]int{}}
	verdicts := map[string]Verdict{}
	for _, f := range broken(symptoms(all)) {
		c.Findings[f.Verdict]++
		verdicts[f.Clause] = f.Verdict
	}
	for _, clause := range r.Clauses {
		verdict, bad := verdicts[clause.ID]
		switch {
		case bad:
		case r.settled(&clause, all):
			c.Known.Clauses++
			continue
		case clause.evaluated():
			verdict = clause.Verdict
		default:
			verdict = NotSelected
		}
		c.Clauses[verdict]++
	}
	for i := range r.Checks {
		switch check := &r.Checks[i]; {
		case len(check.Clauses) > 0:
		case check.settled(all):
			c.Known.Checks++
		default:
			c.Checks[check.Verdict]++
		}
	}
	return c
}

// evaluated reports whether a check evaluates the clause, or the catalogue says why none does.
func (c *Clause) evaluated() bool { return c.Verdict != NotRun || len(c.Checks) > 0 }

// isOpen reports whether v leaves something that was selected without a result.
func isOpen(v Verdict) bool { return v == Inconclusive || v == NotRun }

// sum returns everything that was counted.
func (t tally) sum() string {
	if s := join(t.found(), t.staled(), t.unsettled(), t.passed()); s != "" {
		return s
	}
	return "nothing was evaluated"
}

// found returns how many findings there are: "3 findings: 1 fail, 2 warn".
func (t tally) found() string {
	total := 0
	for _, n := range t.Findings {
		total += n
	}
	if total == 0 {
		return ""
	}
	words := text.Count(total, "finding") + ": " + listed(t.Findings)
	if !t.strict && total == t.Findings[Warn] {
		words += " (a warn fails with --strict only)"
	}
	return words
}

// staled returns how many lines of the file of known findings are no longer so.
func (t tally) staled() string {
	if t.stale == 0 {
		return ""
	}
	return text.Count(t.stale, "stale line") + " in the file of known findings"
}

// listed returns how often each verdict occurs, the worst first: "1 fail, 2 warn".
func listed(counts map[Verdict]int) string {
	var parts []string
	for _, v := range worstFirst {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", text.Grouped(n), v))
		}
	}
	return strings.Join(parts, ", ")
}

// unsettled returns what was selected and has no result: "2 clauses inconclusive, 1 check not run". The checks are
// those that name no clause; if nothing but checks of clauses with a finding has no result, it is these checks.
func (t tally) unsettled() string {
	var parts []string
	for _, v := range [...]Verdict{Inconclusive, NotRun} {
		if n := t.Clauses[v]; n > 0 {
			parts = append(parts, text.Count(n, "clause")+" "+v.String())
		}
		if n := t.Checks[v]; n > 0 {
			parts = append(parts, text.Count(n, "check")+" "+v.String())
		}
	}
	if len(parts) == 0 && t.open > 0 {
		return text.Count(t.open, "check") + " inconclusive"
	}
	return strings.Join(parts, ", ")
}

// passed returns what passed and what was observed: clauses, or checks where no clause was.
func (t tally) passed() string {
	counts, thing := t.Clauses, "clause"
	if counts[Pass]+counts[Observed] == 0 {
		counts, thing = t.Checks, "check"
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
