package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// The exit codes of the tools, fwpcheck and fwpbench. Where several apply, the first of 130, 5, 4, 2, 6, 1, 3, 0 is taken.
const (
	ExitWell         = 0   // all well
	ExitFindings     = 1   // fail or crash; with ExitOptions.Strict warn too. fwpbench: a threshold missed
	ExitUsage        = 2   // usage, a bad script or workload, a selection that matches nothing
	ExitInconclusive = 3   // something selected is undecided or not run, or nothing was decided. fwpbench: an INVALID run
	ExitUnreachable  = 4   // the target cannot be reached, or is no FWP server, at the start. fwpbench: or it went away
	ExitInternal     = 5   // a fault of the suite itself
	ExitLoss         = 6   // fwpbench: a job lost, delivered twice or wrongly, or a reply that breaks the protocol
	ExitInterrupted  = 130 // interrupted by the user; the report is written all the same
)

// ExitOptions says what the user asked for beyond the verdicts. The zero value is the default.
type ExitOptions struct {
	// Strict makes a warn count like a fail.
	Strict bool
	// Require holds ids of clauses that have to be decided: not selected, not offered, not applicable, or missing in
	// the report, is then as bad as undecided. The ids are taken as they are, without patterns.
	Require []string
}

// ExitCode returns the exit code for r; see the constants. Not selected, not offered and not applicable do not change
// it, nor does a clause that no check decides (NotRun without Checks), unless o.Require names the clause.
func (r *Report) ExitCode(o ExitOptions) int {
	code, _ := r.Outcome(o)
	return code
}

// Outcome returns the exit code and says in one line of words what it stands for: "all well: 52 clauses held",
// "2 findings: 1 crash, 1 fail" or "nothing was decided" for example. It is the one place that decides both.
func (r *Report) Outcome(o ExitOptions) (code int, words string) {
	t := r.tally(o)
	switch {
	case r.Interrupted:
		return ExitInterrupted, "interrupted: " + t.sum()
	case r.Internal != "":
		return ExitInternal, "the suite itself failed: " + text.OneLine(r.Internal)
	case r.Unreachable != "":
		return ExitUnreachable, "no FWP server could be judged: " + text.OneLine(r.Unreachable)
	case r.Usage != "":
		return ExitUsage, "usage error: " + text.OneLine(r.Usage)
	case t.findings[Crash]+t.findings[Fail] > 0, o.Strict && t.findings[Warn] > 0:
		return ExitFindings, join(t.found(), t.open())
	case !t.decided:
		return ExitInconclusive, join("nothing was decided", t.open())
	case len(t.missing) > 0:
		return ExitInconclusive, "required, but not decided: " + join(strings.Join(t.missing, ", "), t.sum())
	case t.open() != "":
		return ExitInconclusive, t.sum()
	case t.findings[Warn] > 0:
		return ExitWell, join(t.found(), t.held())
	default:
		return ExitWell, "all well: " + t.held()
	}
}

// tally is what Outcome counts.
type tally struct {
	strict   bool
	findings map[Verdict]int
	checks   map[Verdict]int
	clauses  map[Verdict]int // without those that no check decides
	half     int             // checks with another verdict that leave one of their clauses undecided or not run
	decided  bool
	missing  []string // required and not decided
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

// isOpen says whether v leaves something that was selected without an answer.
func isOpen(v Verdict) bool { return v == Inconclusive || v == NotRun }

// sum says everything that was counted.
func (t tally) sum() string {
	if s := join(t.found(), t.open(), t.held()); s != "" {
		return s
	}
	return "nothing was decided"
}

// found says how many findings there are: "3 findings: 1 fail, 2 warn".
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

// open says what was selected and is without an answer: "2 checks undecided, 1 check not run".
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
		parts = append(parts, text.Count(t.half, "check")+" undecided in part")
	}
	return strings.Join(parts, ", ")
}

// held says what is well: clauses, or checks where no check speaks of a clause.
func (t tally) held() string {
	counts, thing, held := t.clauses, "clause", "held"
	if counts[Pass]+counts[Observed] == 0 {
		counts, thing, held = t.checks, "check", "passed"
	}
	var parts []string
	if n := counts[Pass]; n > 0 {
		parts = append(parts, text.Count(n, thing)+" "+held)
	}
	if n := counts[Observed]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d noted", n))
	}
	return strings.Join(parts, ", ")
}

// join puts semicolons between the parts that are not empty.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}
