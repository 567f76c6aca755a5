package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// inconclusiveShown is how many known clauses without a result have a line of their own, where not all is shown.
const inconclusiveShown = 8

// known appends what a run came to by a file of known findings: the lines that are stale, those to look at, and what
// is known, a clause a line.
func (p *Page) known(r *Report, groups [][]Finding, o PageOptions) {
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
	var open []string
	same := grouped(all, func(k *Known) string { return k.Verdict.String() + " " + k.Clause + noClauseCheck(k) })
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
	p.section("KNOWN", fmt.Sprintf("as %s lists them", e.File))
	p.add(t)
	if slices.Sort(open); len(open) > 0 {
		p.add(Prose{LinesOf(fmt.Sprintf("inconclusive behind these, and known for that reason: %s; -v shows the lines\n%s",
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
	words := ""
	if same[0].Clause == "" {
		words = "(no clause)"
	}
	if c := find(r.Clauses, func(c *Clause) bool { return c.ID == same[0].Clause }); c != nil {
		words = c.Statement
	}
	return Cells(same[0].Verdict.String(), same[0].Clause, words, shownBy(checks), "line "+ranges(lines))
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
