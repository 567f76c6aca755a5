package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// clausePages makes the page of each clause: what it says, what each run says of it, and the evidence.
func (b *builder) clausePages() {
	for _, c := range b.clauses {
		var p reports.Page
		p.Add(reports.Prose{Lines: reports.LinesOf(c.Statement)})
		first, rest := split(c.Page)
		p.Add(first...)
		p.TableSection("Results", "with the command that reproduces each", b.resultTable(c.ID))
		for _, g := range b.groups {
			for _, s := range g.subjects {
				b.evidence(&p, s, c.ID)
			}
		}
		if len(rest) > 0 {
			p.Section("How it is tested", "")
			p.Add(rest...)
		}
		b.emit(b.pages[c.ID], html.Document{
			Title: c.ID, Subject: strings.Trim(c.Level+": "+reports.Level(c.Level).Words(), ": "), Page: p,
			Trail: reports.Text{{Text: " / "}, {Text: "The clauses", Link: clauseIndex + "#" + slug(c.ID)}},
		})
	}
}

// split returns the blocks of a page of a clause with its text, and those with what decides it.
func split(p reports.Page) (text, tested []reports.Block) {
	for _, block := range p.Blocks {
		f, ok := block.(reports.Fields)
		if !ok {
			continue // id, level and statement are on the page already
		}
		isText := func(f reports.Field) bool {
			return slices.Contains([]string{"source", "binds", "reading", "resolves"}, f.Label)
		}
		first, rest := f, f
		first.Fields = slices.DeleteFunc(slices.Clone(f.Fields), func(f reports.Field) bool { return !isText(f) })
		rest.Fields = slices.DeleteFunc(slices.Clone(f.Fields), isText)
		text, tested = append(text, first), append(tested, rest)
	}
	return text, tested
}

// resultTable has a row for each run that has a result about a clause, or says why it has none.
func (b *builder) resultTable(clause string) reports.Table {
	t := reports.Table{Columns: []reports.Column{{Title: "tested"}, {Title: "verdict"}, {Title: "why"}}}
	for _, r := range b.allRuns() {
		row := r.results[clause]
		if row == nil || row.Verdicts[0] == reports.NotApplicable {
			continue
		}
		cause, command := row.Causes[0], r.report.Command(clause)
		if f := r.findings[clause]; len(f) > 0 {
			cause, command = cmp.Or(f[0].Signature(), cause), cmp.Or(f[0].Reproduce, command)
		}
		item := reports.Row{Anchor: r.address, Cells: []reports.Text{
			reports.LinkedText(r.title, r.address+pageEnding), row.Verdicts[0].Text(), reports.PlainText(cause),
		}}
		if command != "" {
			item.Detail = []reports.Text{reports.StyledText(reports.Faint, command)}
		}
		t.Rows = append(t.Rows, item)
	}
	return t
}

// evidenceLimit is how many findings about a clause are shown of a subject.
const evidenceLimit = 3

// evidence appends how the newest version of a subject that breaks a clause does so, and which others do it alike.
func (b *builder) evidence(p *reports.Page, s *subject, clause string) {
	var newest *run
	var verdicts []reports.Verdict
	for _, r := range s.runs {
		if verdicts = append(verdicts, r.verdict(clause)); len(r.findings[clause]) > 0 {
			newest = r
		}
	}
	if newest == nil {
		return
	}
	findings := newest.findings[clause]
	p.Section(newest.title, historyOf(s.versionNames(), verdicts).String())
	for i, f := range findings {
		if i == evidenceLimit {
			p.Add(reports.Prose{Lines: []reports.Text{reports.LinkedText(
				fmt.Sprintf("%s more in its report", text.Count(len(findings)-i, "finding")), newest.address+pageEnding)}})
			break
		}
		var versions []string
		for _, r := range slices.Backward(s.runs) {
			if r != newest && hasSimilar(r.findings[clause], &f) {
				versions = append(versions, r.version)
			}
		}
		p.Add(reports.Heading{Level: 2, Text: append(f.Verdict.Text(), reports.Span{Text: "  " + f.Check})})
		p.Add(newest.report.EvidenceOf(&f, reports.PageOptions{})...)
		if len(versions) > 0 {
			p.Add(reports.Fields{Fields: []reports.Field{reports.NewField("the same", strings.Join(versions, ", "))}})
		}
	}
}
