package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// subjects makes the pages of the subjects: of each its history, each run, and the badges.
func (b *builder) subjects() {
	for _, g := range b.groups {
		for _, s := range g.subjects {
			b.subject(g, s)
		}
	}
}

func (b *builder) subject(g *group, s *subject) {
	var p reports.Page
	p.TableSection("Versions", "", b.versionTable(s))
	history := b.verdictTable(s.runs, versionOf, 1, "history", func(c Clause, verdicts []reports.Verdict) reports.Text {
		return historyOf(s.versionNames(), verdicts)
	})
	failCount := func(row reports.Row) int { return strings.Count(row.Cells[1].String(), "failing in all") }
	slices.SortStableFunc(history.Rows, func(a, b reports.Row) int { return failCount(a) - failCount(b) })
	p.TableSection("History", "each clause that failed in one of them; those that changed come first", history)
	p.Section("Clauses", "")
	p.Add(b.matrix(s.runs, versionOf))
	newest := s.runs[max(0, len(s.runs)-pairLimit):]
	p.TableSection("Differences", "changes from the version on the left to the one above",
		b.pairTable(newest, true, versionOf))
	p.Add(reports.Prose{Lines: []reports.Text{reports.LinkedText("the badge of the newest version", s.address+badgeEnd)}})
	d := html.Document{Title: s.name, Subject: text.Plural(g.Title) + ", " + text.Count(len(s.runs), "version"), Page: p}
	b.badge(s.address, s.newestRun())
	b.emit(s.address+pageEnding, d)
	for i, r := range s.runs {
		b.badge(r.address, r)
		b.run(s, i)
	}
}

// versionNames returns the versions of a subject.
func (s *subject) versionNames() (versions []string) {
	for _, r := range s.runs {
		versions = append(versions, r.version)
	}
	return versions
}

// versionTable has a row for each run of a subject, the newest first.
func (b *builder) versionTable(s *subject) reports.Table {
	t := reports.Table{Columns: []reports.Column{
		{Title: "version"}, {Title: "since the previous version"}, {Title: "passed", AlignRight: true}, {Title: "outcome"},
		{Title: "suite"},
	}}
	for i, r := range slices.Backward(s.runs) {
		var difference reports.Text
		if i > 0 {
			difference = b.difference(s.runs[i-1], r)
		}
		t.Rows = append(t.Rows, reports.Row{Cells: []reports.Text{
			reports.LinkedText(r.version, r.address+pageEnding), difference, reports.PlainText(r.passWords()), r.state(),
			reports.PlainText(r.report.Version),
		}})
	}
	return t
}

// run makes the page of a run: its report.
func (b *builder) run(s *subject, i int) {
	r := s.runs[i]
	p := r.report.Page(reports.PageOptions{Figures: true})
	for n, block := range p.Blocks {
		if f, ok := block.(reports.Figure); ok {
			p.Blocks[n] = b.linkMatrix(f, r)
		}
	}
	trail := reports.Text{{Text: " / "}, {Text: s.name, Link: s.address + pageEnding}}
	if i > 0 {
		trail = append(trail, reports.Span{Text: " / "},
			reports.Span{Text: "since " + s.runs[i-1].version, Link: pairAddress(s.runs[i-1], r)})
	}
	b.emit(r.address+pageEnding,
		html.Document{Title: r.title, Subject: r.report.Version, Trail: trail, Page: p, Data: r.data})
}

// pairAddress returns the address of what changes from a run to another one: below that of the first.
func pairAddress(from, to *run) string {
	if from.subject == to.subject {
		return from.address + "/to" + to.address[len(to.subject.address):] + pageEnding
	}
	return from.address + "/" + to.address + pageEnding
}

// differences makes the pages of what changes from a run to another one, each that another page leads to.
func (b *builder) differences() {
	for _, pair := range b.pairs {
		from, to := pair[0], pair[1]
		p := b.changes[pair].Page(reports.PageOptions{})
		p.Section("CLAUSES", "each clause, with its verdict, before and after")
		p.Add(b.matrix(pair[:], titleOf))
		trail := reports.Text{{Text: " / "}, {Text: from.title, Link: from.address + pageEnding}, {Text: " / "},
			{Text: to.title, Link: to.address + pageEnding}}
		b.emit(pairAddress(from, to), html.Document{
			Title: "From " + from.title + " to " + to.title, Trail: trail, Page: p,
		})
	}
}

// difference returns what changes from a run to another one in a few words, which lead to its page.
func (b *builder) difference(from, to *run) (t reports.Text) {
	pair := [2]*run{from, to}
	if b.changes[pair] == nil {
		b.pairs = append(b.pairs, pair)
		b.changes[pair] = reports.Compare([]string{from.title, to.title}, []*reports.Report{from.report, to.report})
	}
	counts := map[reports.ChangeKind]int{}
	for _, c := range b.changes[pair].Changes {
		counts[c.Kind]++
	}
	styles := []reports.Style{reports.Bad, reports.Good, reports.Caution}
	for i, kind := range []reports.ChangeKind{reports.Appeared, reports.Disappeared, reports.Changed} {
		if n := counts[kind]; n > 0 {
			words := strings.Repeat(", ", min(len(t), 1)) + fmt.Sprintf("%d %s", n, kind)
			t = append(t, reports.Span{Text: words, Style: styles[i], Link: pairAddress(from, to)})
		}
	}
	if t == nil {
		return reports.LinkedText("the same findings", pairAddress(from, to))
	}
	return t
}

// pairLimit is how many runs are compared each with each: the newest of a subject, and the first subjects of a kind.
const pairLimit = 8

// pairTable has the differences of each two runs, each under its name; with onlyLater from a run to later ones.
func (b *builder) pairTable(runs []*run, onlyLater bool, name func(*run) string) (t reports.Table) {
	if runs = runs[:min(len(runs), pairLimit)]; len(runs) < 2 {
		return t
	}
	to, from := runs, runs
	if onlyLater {
		to, from = runs[1:], runs[:len(runs)-1]
	}
	t.Columns = []reports.Column{{}}
	for _, r := range to {
		t.Columns = append(t.Columns, reports.Column{Title: name(r)})
	}
	for i, r := range from {
		row := reports.Cells(name(r))
		for j, other := range to {
			var cell reports.Text
			if r != other && (!onlyLater || j >= i) {
				cell = b.difference(r, other)
			}
			row = row.With(cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// badgeEnd is how the address of a badge ends, which else is that of the page.
const badgeEnd = ".svg"

// badge makes the badge of a run. It is green only if all clauses have a result, and none is red.
func (b *builder) badge(address string, r *run) {
	verdict, words := reports.Pass, r.passWords()+" pass"
	switch {
	case r.code == reports.ExitFindings:
		verdict = reports.Fail
	case r.decidedCount() == 0:
		verdict, words = reports.Inconclusive, reports.NothingTested
	case r.code != reports.ExitWell || !r.isComplete():
		verdict, words = reports.Inconclusive, "incomplete, "+words
	}
	b.files = append(b.files, File{address + badgeEnd, html.Badge(r.title, words, verdict)})
}
