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
	// Stale holds the lines that are no longer found. They fail the run.
	Stale []Expectation `json:"stale"`
	// Generated is how many clauses the checks that generate what they send have found broken, each counted by itself,
	// that are known; GeneratedThen is how many when the file was written.
	Generated     int `json:"generated,omitempty"`
	GeneratedThen int `json:"generated_when_written,omitempty"`
	// Notes holds the lines that somebody should look at. They fail nothing.
	Notes []Expectation `json:"notes,omitempty"`
}

// at returns the place of a line: "fwpcheck.expect:7"; empty for line 0.
func (e *Expectations) at(line int) string {
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
	// Why is what is to be said of it, in one sentence without a full stop.
	Why string `json:"why"`
}

// Known is a finding that is known: a clause, or a check that names none, and the line that lists it.
type Known struct {
	Clause  string  `json:"clause,omitempty"`
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Line    int     `json:"line"`
	// Symptom is the place in the list of symptoms, counted from 0; none for a verdict that has no evidence.
	Symptom *int `json:"symptom,omitempty"`
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

// isFresh reports whether a finding is not known.
func isFresh(f Finding) bool { return f.Known == 0 }

// WithoutKnown returns r as it is without a file of known findings: what that lists is found like everything else.
func (r *Report) WithoutKnown() *Report {
	bare := *r
	bare.Expectations, bare.Checks = nil, slices.Clone(r.Checks)
	for i := range bare.Checks {
		c := &bare.Checks[i]
		c.Known, c.Clauses, c.Findings = 0, slices.Clone(c.Clauses), unknown(c.Findings)
		for j := range c.Clauses {
			c.Clauses[j].Known = 0
		}
	}
	return &bare
}

// fresh returns the findings that are not known.
func fresh(all []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return !isFresh(f) })
}

// shownGroups returns the groups of symptoms that a page shows in full: those with what is not known, and with
// Verbose all.
func shownGroups(groups [][]Finding, o PageOptions) [][]Finding {
	if o.Verbose {
		return groups
	}
	var left [][]Finding
	for _, group := range groups {
		if group = fresh(group); len(group) > 0 {
			left = append(left, group)
		}
	}
	return left
}

// known returns what is known, the findings first.
func (r *Report) known(groups [][]Finding) []Known {
	var all []Known
	for i, group := range groups {
		for _, f := range group {
			if f.Known > 0 {
				all = append(all, Known{f.Clause, f.Check, f.Verdict, f.Known, &i})
			}
		}
	}
	for i := range r.Checks {
		c := &r.Checks[i]
		for _, cv := range c.results() {
			if cv.Known > 0 {
				all = append(all, Known{cv.ID, c.ID, cv.Verdict, cv.Known, nil})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Known) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// knownAll reports whether there are findings of which is returns true, and whether all of them are known.
func knownAll(all []Finding, is func(*Finding) bool) (some, known bool) {
	known = true
	for i := range all {
		if f := &all[i]; is(f) {
			some, known = true, known && f.Known > 0
		}
	}
	return some, known
}

// settled reports whether what is broken or inconclusive of a check that names no clause is known.
func (c *Check) settled(all []Finding) bool {
	some, known := knownAll(all, func(f *Finding) bool { return f.Check == c.ID })
	return known && (some || c.Known > 0)
}

// open reports whether the check left something without a result that is not known.
func (c *Check) open() bool {
	for _, cv := range c.Clauses {
		if isOpen(cv.Verdict) && cv.Known == 0 {
			return true
		}
	}
	known := func(cv ClauseVerdict) bool { return cv.Known > 0 }
	return isOpen(c.Verdict) && c.Known == 0 && !slices.ContainsFunc(c.Clauses, known)
}

// settled reports whether what is broken or inconclusive of a clause is known. all are the findings.
func (r *Report) settled(c *Clause, all []Finding) bool {
	some, known := knownAll(all, func(f *Finding) bool { return f.Clause == c.ID })
	switch {
	case some:
		return known
	case !isOpen(c.Verdict):
		return false
	}
	for i := range r.Checks {
		for _, cv := range r.Checks[i].Clauses {
			if cv.ID == c.ID && isOpen(cv.Verdict) {
				some, known = true, known && cv.Known > 0
			}
		}
	}
	return some && known
}

// inconclusiveShown is how many known clauses without a result have a line of their own, where not all is shown.
const inconclusiveShown = 8

// known appends what a run came to by a file of known findings: the lines that are stale, those to look at, and what
// is known, a clause a line.
func (p *Page) known(r *Report, groups [][]Finding, o PageOptions) {
	e := r.Expectations
	if e == nil {
		return
	}
	p.expectations("STALE", "in "+e.File+", but no longer found: remove the line", Bad, e.Stale)
	p.expectations("TO LOOK AT", "in "+e.File, Caution, e.Notes)
	all := r.known(groups)
	if len(all) == 0 {
		return
	}
	t := Table{Columns: []Column{{}, {}, {Brief: true}}}
	var open []string
	same := grouped(all, func(k *Known) string { return k.Verdict.String() + " " + cmp.Or(k.Clause, k.Check) })
	for _, group := range same {
		if group[0].Verdict == Inconclusive && group[0].Clause != "" {
			open = append(open, group[0].Clause)
		}
	}
	if len(open) <= inconclusiveShown || o.Verbose {
		open = nil
	}
	for _, group := range same {
		if !slices.Contains(open, group[0].Clause) || group[0].Verdict != Inconclusive {
			t.Rows = append(t.Rows, r.knownRow(group))
		}
	}
	p.Section("KNOWN", fmt.Sprintf("as %s lists them", e.File))
	p.Add(t)
	if slices.Sort(open); len(open) > 0 {
		p.Add(Prose{LinesOf(fmt.Sprintf("inconclusive because of these, and therefore known too: %s; -v shows the lines\n%s",
			text.Count(len(open), "clause"), strings.Join(open, ", ")))})
	}
}

// knownRow returns the row of a clause, or of a check that names none.
func (r *Report) knownRow(same []Known) Row {
	var checks []string
	var lines []int
	for _, k := range same {
		checks, lines = added(checks, k.Check), added(lines, k.Line)
	}
	words := cmp.Or(r.check(same[0].Check).Title, "(no clause)")
	if same[0].Clause != "" {
		words = cmp.Or(r.clause(same[0].Clause), &Clause{}).Statement
	}
	return same[0].Verdict.row(same[0].Clause, words, shownBy(checks), "line "+ranges(lines))
}

// ranges returns sorted numbers as text: "4, 7-12".
func ranges(numbers []int) string {
	const most = 6
	var all []string
	for i := 0; i < len(numbers); i++ {
		first := numbers[i]
		for i+1 < len(numbers) && numbers[i+1] == numbers[i]+1 {
			i++
		}
		switch last := numbers[i]; {
		case len(all) == most:
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
func (p *Page) expectations(title, what string, style Style, lines []Expectation) {
	if len(lines) == 0 {
		return
	}
	p.Section(title, what)
	for _, l := range lines {
		p.Add(Heading{Level: 3, Text: append(Styled(style, fmt.Sprintf("line %d: ", l.Line)), Words(l.Text)...)},
			Prose{LinesOf(l.Why)})
	}
}
