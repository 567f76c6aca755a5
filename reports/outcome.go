package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// ExitOptions is what the exit code depends on beside the verdicts. The zero value is the default.
type ExitOptions struct {
	// Strict makes a warn count like a fail.
	Strict bool
	// Require holds ids of clauses that must be evaluated: not selected, skipped, not applicable, or missing in the
	// report, then counts as inconclusive. The ids are taken as they are, without patterns.
	Require []string
}

// isFailure reports whether a verdict makes the exit code 1.
func (o ExitOptions) isFailure(v Verdict) bool {
	return v == Fail || v == Crash || v == Warn && o.Strict
}

// ExitCode returns the exit code for r; see the constants. Not selected, skipped and not applicable do not change it,
// nor does a clause that no check evaluates (NotRun without Checks), unless o.Require names the clause.
func (r *Report) ExitCode(o ExitOptions) int {
	return r.Outcome(o).Code
}

// Outcome returns the exit code and what it stands for in one line of words: "all well: 52 clauses passed",
// "2 findings: 1 crash, 1 fail" or "nothing was evaluated" for example.
func (r *Report) Outcome(o ExitOptions) Outcome {
	t := r.tally(o)
	missing := join(strings.Join(t.missingClauses, ", "), t.sum())
	hasFailure := t.staleLines > 0
	for v := range t.Findings {
		hasFailure = hasFailure || o.isFailure(v)
	}
	undone := "no server could be tested"
	if r.Target.Command != "" {
		undone = "nothing could be tested"
	}
	if t.isDecided {
		undone = "not everything could be tested"
	}
	return Decide(append(r.Claims(t.sum(), undone),
		NewClaim(ExitFindings, hasFailure, join(t.findingsText(), t.staleText(), t.openText())),
		NewClaim(ExitInconclusive, !t.isDecided, join("nothing was evaluated", text.OneLine(r.MissReason), t.openText())),
		NewClaim(ExitInconclusive, len(t.missingClauses) > 0, "required, but not evaluated: "+missing),
		NewClaim(ExitInconclusive, r.MissReason != "", r.MissReason),
		NewClaim(ExitInconclusive, t.openChecks+t.Clauses[Inconclusive]+t.Clauses[NotRun] > 0, t.sum()),
		NewClaim(ExitWell, t.Findings[Warn] > 0, join(t.findingsText(), t.passText(), r.quickGaps())),
		NewClaim(ExitWell, t.knownCount > 0, join("nothing new ("+text.Count(t.knownCount, "known finding")+")",
			r.Expectations.generated(), t.passText(), r.quickGaps())),
		NewClaim(ExitWell, true, "all well: "+join(t.passText(), r.quickGaps())),
	))
}

// quickGaps returns what a quick run of a client has not looked at, and what users may meet of that: much of what a
// worker does shows only when it is watched for long.
func (r *Report) quickGaps() string {
	clauses, harms := 0, map[string]bool{}
	for _, c := range r.Clauses {
		if r.Target.Command != "" && c.Verdict == NotSelected && c.Reason == ReasonTime {
			clauses++
			harms[c.Harm] = true
		}
	}
	rest := slices.DeleteFunc(Harms(), func(harm string) bool { return !harms[harm] })
	return wordsIf(clauses, fmt.Sprintf("--quick left out %s%s", text.Count(clauses, "clause"),
		wordsIf(len(rest), ", some of them about "+strings.Join(rest, ", "))))
}

// tally is what Outcome counts.
type tally struct {
	Counts
	strict         bool
	openChecks     int // checks that are inconclusive or not run, with a clause or without
	isDecided      bool
	missingClauses []string // required and not evaluated
	staleLines     int      // lines of the file of known findings
	knownCount     int      // clauses with known findings, and checks of no clause with some
	machine        string   // why most of what has no result has none, if that is this machine
}

func (r *Report) tally(o ExitOptions) tally {
	all := r.Findings()
	t := tally{Counts: r.counts(all), strict: o.Strict}
	if r.Expectations != nil {
		t.staleLines = len(r.Expectations.StaleLines)
	}
	t.machine = r.machineCause()
	t.knownCount = len(groupBy(slices.DeleteFunc(slices.Clone(all), isNew),
		func(f *Finding) string { return cmp.Or(f.Clause, f.Check) }))
	for _, c := range r.Checks {
		t.isDecided = t.isDecided || c.Verdict.IsDecided()
		if c.hasOpen() {
			t.openChecks++
		}
	}
	isDecided := func(c *Clause) bool { return c != nil && c.isEvaluated() && c.Verdict.IsDecided() }
	for i := range r.Clauses {
		t.isDecided = t.isDecided || isDecided(&r.Clauses[i])
	}
	for _, id := range o.Require {
		if !isDecided(r.clauseByID(id)) {
			t.missingClauses = append(t.missingClauses, id)
		}
	}
	return t
}

// machineReasons are the reasons for which another machine, or more time, would have had a result.
var machineReasons = []ReasonCode{ReasonLag, ReasonTime, ReasonUnsteady}

// IsLate reports whether the check has no result on something because of this machine: another play may have one.
func (c *Check) IsLate() bool {
	return slices.ContainsFunc(c.verdicts(), func(cv ClauseVerdict) bool {
		return isOpen(cv.Verdict) && slices.Contains(machineReasons, cv.Reason)
	})
}

// adviceOf is what to do about reasons for which no check says it.
var adviceOf = map[ReasonCode]string{
	ReasonLag:   "run it on a less busy machine, or with --parallel 1",
	ReasonTime:  "run it on a less busy machine, or without --quick",
	ReasonSetUp: "fix first what kept the checks from it; -v shows it for each",
}

// machineCause returns the cause of most of what has no result, if that is this machine, and what to do; else nothing.
func (r *Report) machineCause() string {
	times, topReason, all, lateCount := map[ReasonCode]int{}, ReasonCode(""), 0, 0
	for _, c := range r.Checks {
		for _, cv := range c.verdicts() {
			if !isOpen(cv.Verdict) || cv.KnownLine > 0 {
				continue
			}
			all++
			times[cv.Reason]++
			if slices.Contains(machineReasons, cv.Reason) {
				lateCount++
				if times[cv.Reason] > times[topReason] {
					topReason = cv.Reason
				}
			}
		}
	}
	if 2*lateCount < all || lateCount == 0 {
		return ""
	}
	return JoinWith("; ", fmt.Sprintf("%s (%d of %d)", topReason.Words(), lateCount, all), adviceOf[topReason])
}

// counts returns what the run comes to, given its findings.
func (r *Report) counts(all []Finding) Counts {
	c := Counts{Findings: map[Verdict]int{}, Clauses: map[Verdict]int{}, Checks: map[Verdict]int{}}
	findings := runFindings(groupSymptoms(all))
	for _, f := range findings {
		c.Findings[f.Verdict]++
	}
	for i := range r.Clauses {
		if verdict, isKnown := r.verdictOf(&r.Clauses[i], findings, all); isKnown {
			c.KnownCounts.Clauses++
		} else {
			c.Clauses[verdict]++
		}
	}
	for i := range r.Checks {
		switch check := &r.Checks[i]; {
		case len(check.Clauses) > 0:
		case check.isKnown(all):
			c.KnownCounts.Checks++
		default:
			c.Checks[check.Verdict]++
		}
	}
	return c
}

// verdictOf returns the verdict with which a clause counts, that of its finding if it has one, and whether what is
// wrong with it is known. findings and all are the findings of the run, by clause and by place.
func (r *Report) verdictOf(c *Clause, findings []RunFinding, all []Finding) (v Verdict, isKnown bool) {
	f := Find(findings, func(f *RunFinding) bool { return f.Clause == c.ID })
	switch {
	case f != nil:
		return f.Verdict, false
	case c.isEvaluated():
		v = c.Verdict
	default:
		v = NotSelected
	}
	return v, r.isKnown(c, all)
}

// isEvaluated reports whether a check evaluates the clause, or the catalogue says why none does.
func (c *Clause) isEvaluated() bool { return c.Verdict != NotRun || len(c.Checks) > 0 }

// isOpen reports whether v leaves something that was selected without a result.
func isOpen(v Verdict) bool { return v == Inconclusive || v == NotRun }

// sum returns everything that was counted.
func (t tally) sum() string {
	return cmp.Or(join(t.findingsText(), t.staleText(), t.openText(), t.passText()), "nothing was evaluated")
}

// findingsText returns how many findings there are: "3 findings: 1 fail, 2 warn".
func (t tally) findingsText() string {
	total := 0
	for _, n := range t.Findings {
		total += n
	}
	words := text.Count(total, "finding") + ": " + verdictList(t.Findings)
	if !t.strict && total == t.Findings[Warn] {
		words += " (a warn fails only with --strict)"
	}
	return wordsIf(total, words)
}

// staleText returns how many lines of the file of known findings are no longer found.
func (t tally) staleText() string {
	return wordsIf(t.staleLines, text.Count(t.staleLines, "stale line")+" in the file of known findings")
}

// verdictList returns how often each verdict occurs, the worst first: "1 fail, 2 warn".
func verdictList(counts map[Verdict]int) string {
	var parts []string
	for _, v := range worstFirst {
		parts = append(parts, wordsIf(counts[v], text.GroupDigits(counts[v])+" "+v.String()))
	}
	return JoinWith(", ", parts...)
}

// openText returns what was selected and has no result: "2 clauses inconclusive, 1 check not run". The checks are
// those that name no clause; if nothing but checks of clauses with a finding has no result, it is these checks.
func (t tally) openText() string {
	var parts []string
	for _, v := range [...]Verdict{Inconclusive, NotRun} {
		parts = append(parts, wordsIf(t.Clauses[v], text.Count(t.Clauses[v], "clause")+" "+v.String()),
			wordsIf(t.Checks[v], text.Count(t.Checks[v], "check")+" "+v.String()))
	}
	words := cmp.Or(JoinWith(", ", parts...), wordsIf(t.openChecks, text.Count(t.openChecks, "check")+" inconclusive"))
	return JoinWith(": ", words, wordsIf(len(words), t.machine))
}

// passText returns what passed and what was observed: clauses, or checks where no clause was.
func (t tally) passText() string {
	counts, thing := t.Clauses, "clause"
	if counts[Pass]+counts[Observed] == 0 {
		counts, thing = t.Checks, "check"
	}
	return JoinWith(", ", wordsIf(counts[Pass], text.Count(counts[Pass], thing)+" passed"),
		wordsIf(counts[Observed], fmt.Sprintf("%d observed", counts[Observed])))
}

// wordsIf returns words about a number of things, none if the number is 0.
func wordsIf(n int, words string) string {
	if n == 0 {
		return ""
	}
	return words
}

// join puts semicolons between the parts that are not empty.
func join(parts ...string) string { return JoinWith("; ", parts...) }
