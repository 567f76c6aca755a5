package known

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/reports"
)

// coveringLine returns the number of the first line about the clause of a finding, in whatever check; 0 if there is
// none. A crash is never known by a line about something else.
func (j *judge) coveringLine(c *reports.Check, f *reports.Finding) int {
	for i := range j.file.Lines {
		l := &j.file.Lines[i]
		if f.Clause != "" && f.Verdict != reports.Crash && slices.Contains([]Kind{Fails, Warns, Flaky}, l.Kind) &&
			l.Clause != "*" && j.isInForce(l) && l.matchesClause(f.Clause) {
			j.hasFinding[i] = j.hasFinding[i] || l.matchesCheck(c.ID) // what the law meets depends on what else is played
			return l.Number
		}
	}
	return 0
}

// isLaw reports whether a check is a rule of the law.
func isLaw(check string) bool { return strings.HasPrefix(check, reports.LawPrefix) }

// unsigned returns a signature without the signs of its numbers, which do not count either.
func unsigned(signature string) string { return strings.ReplaceAll(signature, "-#", "#") }

// markBehind marks what another breach has left open in a check: of a clause that has a known finding, and none that is
// not, and of the others behind the same breach.
func (j *judge) markBehind(r *reports.Report) {
	lines := map[string]int{}
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			if previous, ok := lines[f.Clause]; !ok || previous > 0 && f.KnownLine == 0 {
				lines[f.Clause] = f.KnownLine
			}
		}
	}
	for i := range r.Checks {
		var verdicts []*reports.ClauseVerdict
		line := 0
		for k := range r.Checks[i].Clauses {
			cv := &r.Checks[i].Clauses[k]
			if cv.Verdict == reports.Inconclusive && cv.HasOtherBreach && cv.KnownLine == 0 {
				verdicts, line = append(verdicts, cv), cmp.Or(line, lines[cv.ID])
			}
		}
		for _, cv := range verdicts {
			cv.KnownLine = line
		}
	}
}

// count counts what generated checks have found that is known, and the lines about these checks.
func (j *judge) count(r *reports.Report) {
	for i := range r.Checks {
		c := &r.Checks[i]
		if !j.setting.generated(c.ID) {
			continue
		}
		clauses := map[string]bool{}
		for _, f := range c.Findings {
			clauses[f.Clause] = clauses[f.Clause] || f.KnownLine > 0
		}
		for _, isKnown := range clauses {
			if isKnown {
				r.Expectations.Generated++
			}
		}
		for k := range j.file.Lines {
			if l := &j.file.Lines[k]; l.isExact() && l.matchesCheck(c.ID) {
				r.Expectations.GeneratedThen++
			}
		}
	}
}
