package reports

import (
	"fmt"
	"strings"
)

// known appends what a run came to by a file of known findings: the lines that are stale, those to look at, and what
// is known, a clause a line.
func (p *Page) known(r *Report, groups [][]Finding) {
	e := r.Expectations
	if e == nil {
		return
	}
	p.expectations("STALE", "in "+e.File+", and no longer so: remove it", Bad, e.Stale)
	p.expectations("TO LOOK AT", "in "+e.File, Caution, e.Notes)
	all := r.known(groups)
	if len(all) == 0 {
		return
	}
	t := Table{Columns: []Column{{}, {}, {Brief: true}}}
	for _, same := range grouped(all, func(k *Known) string { return k.Verdict.String() + " " + k.Clause + noClauseCheck(k) }) {
		var checks, lines []string
		for _, k := range same {
			checks, lines = added(checks, k.Check), added(lines, fmt.Sprint(k.Line))
		}
		words := ""
		if same[0].Clause == "" {
			words = "(no clause)"
		}
		if c := find(r.Clauses, func(c *Clause) bool { return c.ID == same[0].Clause }); c != nil {
			words = c.Statement
		}
		t.Rows = append(t.Rows, Cells(same[0].Verdict.String(), same[0].Clause, words, shownBy(checks),
			"line "+strings.Join(lines, ", ")))
	}
	p.section("KNOWN", fmt.Sprintf("as %s lists them", e.File))
	p.add(t)
}

// noClauseCheck returns the check of what names no clause.
func noClauseCheck(k *Known) string {
	if k.Clause == "" {
		return k.Check
	}
	return ""
}

// expectations appends lines of a file of known findings.
func (p *Page) expectations(title, what string, style Style, lines []Expectation) {
	if len(lines) == 0 {
		return
	}
	p.section(title, what)
	for _, l := range lines {
		p.add(Heading{3, append(Styled(style, fmt.Sprintf("line %d: ", l.Line)), Words(l.Text)...)}, Prose{LinesOf(l.Why)})
	}
}
