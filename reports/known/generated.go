package known

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// covering returns the number of the first line about the clause of a finding, in whatever check; 0 if there is none. A
// crash is never known by a line about something else.
func (j *judge) covering(c *reports.Check, f *reports.Finding) int {
	for i := range j.file.Lines {
		l := &j.file.Lines[i]
		if f.Clause != "" && f.Verdict != reports.Crash && slices.Contains([]Kind{Fails, Warns, Flaky}, l.Kind) &&
			l.Clause != "*" && j.counts(l) && l.matchesClause(f.Clause) {
			j.used[i] = j.used[i] || l.matchesCheck(c.ID) // what the law meets depends on what else is played
			return l.Number
		}
	}
	return 0
}

// isLaw reports whether a check is a rule of the law.
func isLaw(check string) bool { return strings.HasPrefix(check, reports.LawPrefix) }

// unsigned returns a signature without the signs of its numbers, which do not count either.
func unsigned(signature string) string { return strings.ReplaceAll(signature, "-#", "#") }

// behind marks what another breach has left open in a check: of a clause that has a known finding, and none that is
// not, and of the others behind the same breach.
func (j *judge) behind(r *reports.Report) {
	known := map[string]int{}
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if was, some := known[f.Clause]; !some || was > 0 && f.Known == 0 {
				known[f.Clause] = f.Known
			}
		}
	}
	for i := range r.Checks {
		var left []*reports.ClauseVerdict
		line := 0
		for k := range r.Checks[i].Clauses {
			cv := &r.Checks[i].Clauses[k]
			if cv.Verdict == reports.Inconclusive && cv.Beside && cv.Known == 0 {
				left, line = append(left, cv), cmp.Or(line, known[cv.ID])
			}
		}
		for _, cv := range left {
			cv.Known = line
		}
	}
}

// count counts what generated checks have found that is known, and the lines about these checks.
func (j *judge) count(r *reports.Report) {
	for i := range r.Checks {
		c := &r.Checks[i]
		if !j.on.generated(c.ID) {
			continue
		}
		clauses := map[string]bool{}
		for _, f := range c.Findings {
			clauses[f.Clause] = clauses[f.Clause] || f.Known > 0
		}
		for _, known := range clauses {
			if known {
				r.Expectations.Generated++
			}
		}
		for k := range j.file.Lines {
			if l := &j.file.Lines[k]; l.exact() && l.matchesCheck(c.ID) {
				r.Expectations.GeneratedThen++
			}
		}
	}
}
