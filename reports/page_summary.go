package reports

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// summary appends the findings, one a line: what a reader looks at first.
func (p *Page) summary(found []Broken, all []Finding) {
	if len(found) == 0 {
		return
	}
	counts := map[Verdict]int{}
	t := Table{Columns: []Column{{}, {}, {Brief: true}}}
	for _, b := range found {
		counts[b.Verdict]++
		words := b.Statement
		if b.Clause == "" {
			words = "(no clause)"
		}
		t.Rows = append(t.Rows, Row{Cells: []Text{b.Verdict.Text(), Words(b.Clause), Words(words), Words(shownBy(b.Checks))}})
	}
	p.section("FINDINGS", fmt.Sprintf("%d (%s)", len(found), listed(counts)))
	p.add(t)
	if command := rerun(all); command != "" {
		p.add(Fields{Fields: []Field{{Label: "rerun one", Lines: LinesOf(command), Command: true}}})
	}
}

// shownBy returns the first of some checks, and how many more there are.
func shownBy(checks []string) string {
	if len(checks) < 2 {
		return strings.Join(checks, "")
	}
	return fmt.Sprintf("%s +%d", checks[0], len(checks)-1)
}

// rerun returns the command that shows a finding again, with CHECK in the place of the check.
func rerun(all []Finding) string {
	for _, f := range all {
		if before, after, ok := strings.Cut(f.Reproduce, text.ShellQuote(f.Check)); ok {
			return before + "CHECK" + after
		}
	}
	return ""
}

// totals appends the counts, which are the same wherever a report has them.
func (p *Page) totals(c Counts) {
	var f []Field
	for _, of := range []struct {
		label  string
		counts map[Verdict]int
		known  int
	}{{"clauses", c.Clauses, c.Known.Clauses}, {"checks of no clause", c.Checks, c.Known.Checks}} {
		all, words := of.known, listed(of.counts)
		for _, n := range of.counts {
			all += n
		}
		if of.known > 0 {
			words = strings.TrimPrefix(fmt.Sprintf("%s, %d known", words, of.known), ", ")
		}
		if all > 0 {
			f = append(f, field(of.label, fmt.Sprintf("%d: %s", all, words)))
		}
	}
	if len(f) > 0 {
		p.section("TOTALS", "")
		p.add(Fields{Fields: f})
	}
}
