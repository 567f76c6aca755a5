package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// Expectations is what a run came to by a file of known findings.
type Expectations struct {
	// File is its name, and Server the name and version of the server that its lines were held against; empty if
	// they are not known.
	File   string `json:"file"`
	Server string `json:"server,omitempty"`
	// StaleLines holds the lines that are no longer found. They fail the run.
	StaleLines []Expectation `json:"stale"`
	// Generated is how many clauses the checks that generate what they send have found broken, each counted by itself,
	// that are known; GeneratedThen is how many when the file was written.
	Generated     int `json:"generated,omitempty"`
	GeneratedThen int `json:"generated_when_written,omitempty"`
	// Notes holds the lines that somebody should look at. They fail nothing.
	Notes []Expectation `json:"notes,omitempty"`
}

// linePlace returns the place of a line: "fwpcheck.expect:7"; empty for line 0.
func (e *Expectations) linePlace(line int) string {
	switch {
	case line == 0:
		return ""
	case e == nil:
		return fmt.Sprintf("line %d", line)
	}
	return fmt.Sprintf("%s:%d", e.File, line)
}

// Expectation is a line of a file of known findings.
type Expectation struct {
	Line int    `json:"line"` // counted from 1
	Text string `json:"text"`
	// Reason is what is to be said of it, in one sentence without a full stop.
	Reason string `json:"why"`
}

// KnownFinding is a finding that is known: a clause, or a check that names none, and the line that lists it.
type KnownFinding struct {
	Clause  string  `json:"clause,omitempty"`
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Line    int     `json:"line"`
	// SymptomIndex is the place in the list of symptoms, counted from 0; none for a verdict that has no evidence.
	SymptomIndex *int `json:"symptom,omitempty"`
}

// generated says how much generated checks have found that is known, and how much when the file was written; empty if
// they have found nothing.
func (e *Expectations) generated() string {
	if e == nil || e.Generated == 0 {
		return ""
	}
	return fmt.Sprintf("%s of generated checks about listed clauses (%d when the file was written)",
		text.Count(e.Generated, "finding"), e.GeneratedThen)
}

// isNew reports whether a finding is not known.
func isNew(f Finding) bool { return f.KnownLine == 0 }

// WithoutExpectations returns r as it is without a file of known findings: what that lists is found like all else.
func (r *Report) WithoutExpectations() *Report {
	report := *r
	report.Expectations, report.Checks = nil, slices.Clone(r.Checks)
	for i := range report.Checks {
		c := &report.Checks[i]
		c.KnownLine, c.Clauses, c.Findings = 0, slices.Clone(c.Clauses), clearKnownLines(c.Findings)
		for j := range c.Clauses {
			c.Clauses[j].KnownLine = 0
		}
	}
	return &report
}

// dropKnown returns the findings that are not known.
func dropKnown(all []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return !isNew(f) })
}

// shownGroups returns the groups of symptoms that a page shows in full: those with what is not known, and with
// Verbose all.
func shownGroups(groups [][]Finding, o PageOptions) [][]Finding {
	if o.Verbose {
		return groups
	}
	var result [][]Finding
	for _, group := range groups {
		if group = dropKnown(group); len(group) > 0 {
			result = append(result, group)
		}
	}
	return result
}

// knownFindings returns what is known, the findings first.
func (r *Report) knownFindings(groups [][]Finding) []KnownFinding {
	var all []KnownFinding
	for i, group := range groups {
		for _, f := range group {
			if f.KnownLine > 0 {
				all = append(all, KnownFinding{f.Clause, f.Check, f.Verdict, f.KnownLine, &i})
			}
		}
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		for _, cv := range c.verdicts() {
			if cv.KnownLine > 0 {
				all = append(all, KnownFinding{cv.ID, c.ID, cv.Verdict, cv.KnownLine, nil})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b KnownFinding) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// matchKnown reports whether match is true of any finding, and whether all of these are known.
func matchKnown(all []Finding, match func(*Finding) bool) (exists, isKnown bool) {
	isKnown = true
	for i := range all {
		if f := &all[i]; match(f) {
			exists, isKnown = true, isKnown && f.KnownLine > 0
		}
	}
	return exists, isKnown
}

// isKnown reports whether what is broken or inconclusive of a check that names no clause is known.
func (c *Check) isKnown(all []Finding) bool {
	exists, isKnown := matchKnown(all, func(f *Finding) bool { return f.Check == c.ID })
	return isKnown && (exists || c.KnownLine > 0)
}

// hasOpen reports whether the check left something without a result that is not known.
func (c *Check) hasOpen() bool {
	for _, cv := range c.Clauses {
		if isOpen(cv.Verdict) && cv.KnownLine == 0 {
			return true
		}
	}
	isKnown := func(cv ClauseVerdict) bool { return cv.KnownLine > 0 }
	return isOpen(c.Verdict) && c.KnownLine == 0 && !slices.ContainsFunc(c.Clauses, isKnown)
}

// isKnown reports whether what is broken or inconclusive of a clause is known. all are the findings.
func (r *Report) isKnown(c *Clause, all []Finding) bool {
	exists, isKnown := matchKnown(all, func(f *Finding) bool { return f.Clause == c.ID })
	switch {
	case exists:
		return isKnown
	case !isOpen(c.Verdict):
		return false
	}
	for i := range r.Checks {
		for _, cv := range r.Checks[i].Clauses {
			if cv.ID == c.ID && isOpen(cv.Verdict) {
				exists, isKnown = true, isKnown && cv.KnownLine > 0
			}
		}
	}
	return exists && isKnown
}

// inconclusiveShown is how many known clauses without a result have a line of their own, where not all is shown.
const inconclusiveShown = 8

// knownFindings appends what a run came to by a file of known findings: the lines that are stale, those to look at, and
// what is known, a clause a line.
func (p *Page) knownFindings(r *Report, groups [][]Finding, o PageOptions) {
	e := r.Expectations
	if e == nil {
		return
	}
	p.expectations("STALE", "in "+e.File+", but no longer found: remove the line", Bad, e.StaleLines)
	p.expectations("TO LOOK AT", "in "+e.File, Caution, e.Notes)
	all := r.knownFindings(groups)
	if len(all) == 0 {
		return
	}
	t := Table{Columns: []Column{{}, {}, {IsBrief: true}}}
	var clauses []string
	findings := groupBy(all, func(k *KnownFinding) string { return k.Verdict.String() + " " + cmp.Or(k.Clause, k.Check) })
	for _, group := range findings {
		if group[0].Verdict == Inconclusive && group[0].Clause != "" {
			clauses = append(clauses, group[0].Clause)
		}
	}
	if len(clauses) <= inconclusiveShown || o.Verbose {
		clauses = nil
	}
	for _, group := range findings {
		if !slices.Contains(clauses, group[0].Clause) || group[0].Verdict != Inconclusive {
			t.Rows = append(t.Rows, r.knownRow(group))
		}
	}
	p.Section("KNOWN", fmt.Sprintf("as %s lists them", e.File))
	p.Add(t)
	if slices.Sort(clauses); len(clauses) > 0 {
		p.Add(Prose{LinesOf(fmt.Sprintf("inconclusive because of these, and therefore known too: %s; -v shows the lines\n%s",
			text.Count(len(clauses), "clause"), strings.Join(clauses, ", ")))})
	}
}

// knownRow returns the row of a clause, or of a check that names none.
func (r *Report) knownRow(group []KnownFinding) Row {
	var checks []string
	var lines []int
	for _, k := range group {
		checks, lines = addUnique(checks, k.Check), addUnique(lines, k.Line)
	}
	words := cmp.Or(r.checkByID(group[0].Check).Title, "(no clause)")
	if group[0].Clause != "" {
		words = cmp.Or(r.clauseByID(group[0].Clause), &Clause{}).Statement
	}
	return group[0].Verdict.row(group[0].Clause, words, checksText(checks), "line "+ranges(lines))
}

// ranges returns sorted numbers as text: "4, 7-12".
func ranges(numbers []int) string {
	const limit = 6
	var all []string
	for i := 0; i < len(numbers); i++ {
		first := numbers[i]
		for i+1 < len(numbers) && numbers[i+1] == numbers[i]+1 {
			i++
		}
		switch last := numbers[i]; {
		case len(all) == limit:
			return fmt.Sprintf("%s, ... %d", strings.Join(all, ", "), numbers[len(numbers)-1])
		case last == first:
			all = append(all, fmt.Sprint(first))
		case last == first+1:
			all = append(all, fmt.Sprint(first), fmt.Sprint(last))
		default:
			all = append(all, fmt.Sprintf("%d-%d", first, last))
		}
	}
	return strings.Join(all, ", ")
}

// expectations appends lines of a file of known findings.
func (p *Page) expectations(title, words string, style Style, lines []Expectation) {
	if len(lines) == 0 {
		return
	}
	p.Section(title, words)
	for _, l := range lines {
		p.Add(Heading{Level: 3, Text: append(StyledText(style, fmt.Sprintf("line %d: ", l.Line)), PlainText(l.Text)...)},
			Prose{LinesOf(l.Reason)})
	}
}
