package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// overview makes the first page: the subjects of each kind at their newest version, and what they do with each clause.
func (b *builder) overview() {
	var p reports.Page
	var counts []string
	for _, g := range b.groups {
		newest, title := g.newestRuns(), text.Plural(g.Title)
		counts = append(counts, text.Count(len(newest), g.Title))
		p.TableSection(title, "the newest version of each", b.subjectTable(newest))
		statement := func(c Clause, _ []reports.Verdict) reports.Text { return reports.PlainText(c.Statement) }
		p.TableSection(title+", findings", "clauses that at least one of them fails",
			b.verdictTable(newest, func(r *run) string { return r.subject.name }, len(newest)+1, "requirement", statement))
		p.Section(title+", all clauses", "")
		p.Add(b.matrix(newest, titleOf))
		p.TableSection(title+", differences", "changes from the version on the left to the one above",
			b.pairTable(newest, false, titleOf))
	}
	p.Section("More", "")
	links := []reports.Text{reports.LinkedText("the clauses", clauseIndex)}
	for _, d := range b.Documents {
		links = append(links, reports.LinkedText(d.Title, documentAddress(d)))
	}
	p.Add(reports.Prose{Lines: links})
	subject := text.Count(len(b.Runs), "report") + " of " + strings.Join(counts, ", ") + "; pages by " + b.Suite
	b.emit(Index, html.Document{Title: Title, Subject: subject, Page: p})
}

// newestRuns returns the newest run of each subject.
func (g *group) newestRuns() (runs []*run) {
	for _, s := range g.subjects {
		runs = append(runs, s.newestRun())
	}
	return runs
}

// subjectTable has a row for each of some subjects.
func (b *builder) subjectTable(newest []*run) reports.Table {
	t := reports.Table{Columns: []reports.Column{
		{Title: "name"}, {Title: "version"}, {Title: "passed", AlignRight: true}, {Title: "outcome"},
		{Title: "versions", AlignRight: true},
	}}
	for _, r := range newest {
		t.Rows = append(t.Rows, reports.Row{Cells: []reports.Text{
			reports.LinkedText(r.subject.name, r.subject.address+pageEnding),
			reports.LinkedText(r.version, r.address+pageEnding),
			reports.PlainText(r.passWords()),
			r.state(), reports.PlainText(fmt.Sprint(len(r.subject.runs))),
		}})
	}
	return t
}

// verdictTable has a row for each clause that one of the runs breaks: the verdict of each run, under its name, and
// words about it in a column of their own.
func (b *builder) verdictTable(
	runs []*run, name func(*run) string, at int, title string, words func(Clause, []reports.Verdict) reports.Text,
) (t reports.Table) {
	t.Columns = []reports.Column{{Title: "clause"}}
	for _, r := range runs {
		t.Columns = append(t.Columns, reports.Column{Title: name(r)})
	}
	t.Columns = slices.Insert(t.Columns, at, reports.Column{Title: title})
	for _, c := range b.clauses {
		row, verdicts := reports.Cells(c.ID), []reports.Verdict{}
		for _, r := range runs {
			verdicts = append(verdicts, r.verdict(c.ID))
			row = row.With(b.cell(r, c.ID))
		}
		if slices.ContainsFunc(verdicts, reports.Verdict.IsBreach) {
			row.Cells = slices.Insert(row.Cells, at, words(c, verdicts))
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// cell returns the verdict of a run on a clause, which leads to the page of the clause.
func (b *builder) cell(r *run, clause string) reports.Text {
	words := r.verdict(clause).Text()
	words[0].Link = b.place(r, clause)
	return words
}

// place returns the address of a run on the page of a clause; empty if the run has nothing about it.
func (b *builder) place(r *run, clause string) string {
	if r.results[clause] == nil {
		return ""
	}
	return b.pages[clause] + "#" + r.address
}

// matrix returns the verdicts of runs as a picture with links, without the clauses that bind none of them.
func (b *builder) matrix(runs []*run, name func(*run) string) reports.Figure {
	var names []string
	var all []*reports.Report
	for _, r := range runs {
		names, all = append(names, name(r)), append(all, r.report)
	}
	f := reports.MatrixOf(names, all...)
	m, _ := f.Drawing.(*reports.Matrix) // it is one
	bound := func(v reports.Verdict) bool { return v != reports.NotApplicable }
	for i := range m.Families {
		m.Families[i].Rows = slices.DeleteFunc(m.Families[i].Rows, func(row reports.MatrixRow) bool {
			return !slices.ContainsFunc(row.Verdicts, bound)
		})
	}
	m.Families = slices.DeleteFunc(m.Families, func(f reports.Family) bool { return len(f.Rows) == 0 })
	return b.linkMatrix(f, runs...)
}

func titleOf(r *run) string   { return r.title }
func versionOf(r *run) string { return r.version }

// linkMatrix returns a picture of the clauses in which each square leads to its clause.
func (b *builder) linkMatrix(f reports.Figure, runs ...*run) reports.Figure {
	m, ok := f.Drawing.(*reports.Matrix)
	if !ok {
		return f
	}
	for _, family := range m.Families {
		for i := range family.Rows {
			row := &family.Rows[i]
			for _, r := range runs {
				row.Links = append(row.Links, b.place(r, row.ID))
			}
		}
	}
	return f
}

// clauseIndex is the address of the list of clauses.
const clauseIndex = "clauses.html"

// clauseList makes the list of clauses.
func (b *builder) clauseList() {
	var p reports.Page
	t := reports.Table{Columns: []reports.Column{
		{Title: "clause"}, {Title: "level"}, {Title: "binds"}, {Title: "broken by"}, {Title: "requirement"},
	}}
	for _, c := range b.clauses {
		var titles []string
		for _, g := range b.groups {
			for _, r := range g.newestRuns() {
				if r.verdict(c.ID).IsBreach() {
					titles = append(titles, r.title)
				}
			}
		}
		t.Rows = append(t.Rows, reports.Row{Anchor: slug(c.ID), Cells: []reports.Text{
			reports.PlainText(c.ID), reports.PlainText(c.Level), reports.PlainText(c.Party),
			reports.StyledText(reports.Bad, strings.Join(titles, ", ")), reports.PlainText(c.Statement),
		}})
	}
	p.Add(t)
	b.emit(clauseIndex, html.Document{
		Title: "The clauses", Subject: text.Count(len(t.Rows), "clause") + "; " + b.Suite, Page: p,
	})
}

func documentAddress(d Document) string { return "documents/" + slug(d.Name) + pageEnding }

// documents makes the pages of the documents.
func (b *builder) documents() {
	for _, d := range b.Documents {
		b.emit(documentAddress(d), html.Document{Title: d.Title, Subject: b.Suite, Page: d.Page})
	}
}
