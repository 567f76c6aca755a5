package site

import (
	"fmt"
	"slices"

	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// mostPaired is how many runs are compared each with each: the newest of a subject, and the first subjects of a kind.
const mostPaired = 8

// subject makes the pages of a subject: its history, each run, the differences of runs, and the badges.
func (b *builder) subject(g *group, s *subject) error {
	newestFirst := slices.Clone(s.runs)
	slices.Reverse(newestFirst)
	var p reports.Page
	p.TableSection("Versions", "", b.versionTable(s, newestFirst))
	p.TableSection("History", "each clause that was red in one of them", b.historyTable(s))
	p.Section("Clauses", "")
	p.Add(b.matrix(s.runs, versionOf))
	p.TableSection("Differences", "what changes from the version on the left to the one above", b.pairTable(s.paired(), true, versionOf))
	p.Add(reports.Prose{Lines: []reports.Text{reports.Linked("the badge of the newest version", s.address+badgeEnd)}})
	d := html.Document{Title: s.name, Subject: text.Plural(g.Title) + ", " + text.Count(len(s.runs), "version"), Page: p}
	if err := b.emit(s.address+page, d); err != nil {
		return err
	}
	b.badge(s.address, s.newest())
	for i, r := range s.runs {
		if err := b.run(s, i); err != nil {
			return err
		}
		b.badge(r.address, r)
	}
	return b.pairs(s)
}

// versionTable has a row for each run of a subject.
func (b *builder) versionTable(s *subject, runs []*run) reports.Table {
	t := reports.Table{Columns: []reports.Column{
		{Title: "version"}, {Title: "since the one before"}, {Title: "passed", Right: true}, {Title: "outcome"},
		{Title: "suite"},
	}}
	for i, r := range runs {
		var since reports.Text
		if i+1 < len(runs) {
			since = b.difference(runs[i+1], r)
		}
		t.Rows = append(t.Rows, reports.Row{Cells: []reports.Text{
			reports.Linked(r.version, r.address+page), since, reports.Words(r.passed()), r.state(),
			reports.Words(r.report.Version),
		}})
	}
	return t
}

// historyTable has a row for each clause that was red, with its verdict in each version: first those that changed.
func (b *builder) historyTable(s *subject) reports.Table {
	t := reports.Table{Columns: []reports.Column{{Title: "clause"}, {Title: "history"}}}
	for _, r := range s.runs {
		t.Columns = append(t.Columns, reports.Column{Title: r.version})
	}
	var always []reports.Row
	for _, c := range b.clauses {
		versions, verdicts := s.verdicts(c.ID)
		row := reports.Row{Cells: []reports.Text{reports.Words(c.ID), historyOf(versions, verdicts)}}
		for _, r := range s.runs {
			row.Cells = append(row.Cells, b.cell(r, c.ID))
		}
		switch {
		case row.Cells[1] == nil:
		case allRed(verdicts):
			always = append(always, row)
		default:
			t.Rows = append(t.Rows, row)
		}
	}
	t.Rows = append(t.Rows, always...)
	return t
}

// verdicts returns the verdict on a clause in each version.
func (s *subject) verdicts(clause string) (versions []string, verdicts []reports.Verdict) {
	for _, r := range s.runs {
		versions, verdicts = append(versions, r.version), append(verdicts, r.verdict(clause))
	}
	return versions, verdicts
}

// run makes the page of a run: its report.
func (b *builder) run(s *subject, i int) error {
	r := s.runs[i]
	p := r.report.Page(reports.PageOptions{Figures: true})
	for n, block := range p.Blocks {
		if f, is := block.(reports.Figure); is {
			p.Blocks[n] = b.linked(f, r)
		}
	}
	trail := reports.Text{{Text: " / "}, {Text: s.name, Link: s.address + page}}
	if i > 0 {
		trail = append(trail, reports.Span{Text: " / "},
			reports.Span{Text: "since " + s.runs[i-1].version, Link: pairAddress(s.runs[i-1], r)})
	}
	return b.emit(r.address+page, html.Document{Title: r.title, Subject: r.report.Version, Trail: trail, Page: p, Data: r.data})
}

// paired returns the runs of a subject that are compared each with each.
func (s *subject) paired() []*run { return s.runs[max(0, len(s.runs)-mostPaired):] }

// pairs makes the pages of the differences of the runs of a subject.
func (b *builder) pairs(s *subject) error {
	each := len(s.runs) - len(s.paired())
	for i, r := range s.runs {
		for j := i + 1; j < len(s.runs); j++ {
			if j > i+1 && i < each {
				break // those that are not neighbours are too many
			}
			if err := b.pair(r, s.runs[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// acrossPages makes the pages of the differences of the subjects of a kind, at their newest versions.
func (b *builder) acrossPages(g *group) error {
	newest := g.newest()
	for i, r := range newest[:min(len(newest), mostPaired)] {
		for j, other := range newest[:min(len(newest), mostPaired)] {
			if i != j {
				if err := b.pair(r, other); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pairAddress returns the address of what changes from a run to another one: below that of the first.
func pairAddress(from, to *run) string {
	if from.of == to.of {
		return from.address + "/to" + to.address[len(to.of.address):] + page
	}
	return from.address + "/" + to.address + page
}

// pair makes the page of what changes from a run to another one.
func (b *builder) pair(from, to *run) error {
	p := b.compared(from, to).Page(reports.PageOptions{})
	p.Section("CLAUSES", "the verdict on each, before and after")
	p.Add(b.matrix([]*run{from, to}, titleOf))
	trail := reports.Text{{Text: " / "}, {Text: from.title, Link: from.address + page}, {Text: " / "},
		{Text: to.title, Link: to.address + page}}
	return b.emit(pairAddress(from, to), html.Document{Title: "From " + from.title + " to " + to.title, Trail: trail, Page: p})
}

// compared returns what changes from a run to another one.
func (b *builder) compared(from, to *run) *reports.Changes {
	key := [2]*run{from, to}
	if b.changes[key] == nil {
		b.changes[key] = reports.Compare([]string{from.title, to.title}, []*reports.Report{from.report, to.report})
	}
	return b.changes[key]
}

// difference returns what changes from a run to another one in a few words, which lead to its page.
func (b *builder) difference(from, to *run) reports.Text {
	counts := map[reports.ChangeKind]int{}
	for _, c := range b.compared(from, to).Changes {
		counts[c.Kind]++
	}
	var t reports.Text
	for _, of := range []struct {
		kind  reports.ChangeKind
		style reports.Style
	}{{reports.Appeared, reports.Bad}, {reports.Went, reports.Good}, {reports.Changed, reports.Caution}} {
		if n := counts[of.kind]; n > 0 {
			if len(t) > 0 {
				t = append(t, reports.Span{Text: ", "})
			}
			t = append(t, reports.Span{Text: fmt.Sprintf("%d %s", n, of.kind), Style: of.style, Link: pairAddress(from, to)})
		}
	}
	if t == nil {
		t = reports.Linked("the same findings", pairAddress(from, to))
	}
	return t
}

// pairTable has the differences of each two runs, each under its name; with later only to the later ones.
func (b *builder) pairTable(runs []*run, later bool, name func(*run) string) (t reports.Table) {
	if runs = runs[:min(len(runs), mostPaired)]; len(runs) < 2 {
		return t
	}
	to, from := runs, runs
	if later {
		to, from = runs[1:], runs[:len(runs)-1]
	}
	t.Columns = []reports.Column{{}}
	for _, r := range to {
		t.Columns = append(t.Columns, reports.Column{Title: name(r)})
	}
	for i, r := range from {
		row := reports.Row{Cells: []reports.Text{reports.Words(name(r))}}
		for j, other := range to {
			var cell reports.Text
			if r != other && (!later || j >= i) {
				cell = b.difference(r, other)
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// badgeEnd is how the address of a badge ends, which else is that of the page.
const badgeEnd = ".svg"

// badge makes the badge of a run. It is green only if all clauses have a result, and none is red.
func (b *builder) badge(address string, r *run) {
	verdict, words := reports.Pass, r.passed()+" pass"
	switch {
	case r.code == reports.ExitFindings:
		verdict = reports.Fail
	case r.code != reports.ExitWell, !r.complete():
		verdict, words = reports.Inconclusive, "incomplete, "+words
	}
	b.files = append(b.files, File{address + badgeEnd, html.Badge(r.title, words, verdict)})
}
