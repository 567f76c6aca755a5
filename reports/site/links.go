package site

import (
	"bytes"
	"regexp"

	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/html"
)

// emit makes a file of a page. Links in it are addresses of the site, and become relative; ids of clauses become links.
func (b *builder) emit(address string, d html.Document) error {
	l := linker{b, address}
	if address != Index {
		d.Trail = append(reports.Linked("All reports", Index), d.Trail...)
	}
	d.Trail = l.text(d.Trail)
	var p reports.Page
	for _, block := range d.Page.Blocks {
		p.Blocks = append(p.Blocks, l.block(block))
	}
	d.Page = p
	var out bytes.Buffer
	if err := html.Write(&out, d); err != nil {
		return err
	}
	b.files = append(b.files, File{address, out.Bytes()})
	return nil
}

// Index is the address of the first page, and Title begins its title.
const Index, Title = "index.html", "Conformance"

// linker makes the links of the page at an address.
type linker struct {
	*builder

	from string
}

// clauseID matches what may be the id of a clause.
var clauseID = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+\b`)

// text returns a text whose links are relative, and in which each id of a clause is one.
func (l linker) text(t reports.Text) (out reports.Text) {
	for _, span := range t {
		if span.Link != "" {
			span.Link = relative(l.from, span.Link)
			out = append(out, span)
			continue
		}
		rest := 0
		for _, at := range clauseID.FindAllStringIndex(span.Text, -1) {
			id := span.Text[at[0]:at[1]]
			if to := l.pages[id]; to != "" && to != l.from {
				out = append(out, reports.Span{Text: span.Text[rest:at[0]], Style: span.Style},
					reports.Span{Text: id, Style: span.Style, Link: relative(l.from, to)})
				rest = at[1]
			}
		}
		out = append(out, reports.Span{Text: span.Text[rest:], Style: span.Style})
	}
	return out
}

func (l linker) texts(all []reports.Text) (out []reports.Text) {
	for _, t := range all {
		for _, line := range t.Lines() {
			out = append(out, l.text(line))
		}
	}
	return out
}

func (l linker) block(b reports.Block) reports.Block {
	switch b := b.(type) {
	case reports.Heading:
		b.Text = l.text(b.Text)
		return b
	case reports.Prose:
		return reports.Prose{Lines: l.texts(b.Lines)}
	case reports.Fields:
		fields := make([]reports.Field, len(b.Fields))
		for i, f := range b.Fields {
			if f.Lines = l.texts(f.Lines); f.Command {
				f.Lines = b.Fields[i].Lines
			}
			fields[i] = f
		}
		b.Fields = fields
		return b
	case reports.Table:
		rows := make([]reports.Row, len(b.Rows))
		for i, r := range b.Rows {
			var cells []reports.Text
			for _, cell := range r.Cells {
				cells = append(cells, l.text(cell))
			}
			r.Cells = cells
			rows[i] = r
		}
		b.Rows, b.Note = rows, l.text(b.Note)
		return b
	case reports.Figure:
		if m, is := b.Of.(*reports.Matrix); is {
			b.Of = l.matrix(m)
		}
		return b
	}
	return b
}

// matrix returns a matrix whose links are relative.
func (l linker) matrix(m *reports.Matrix) *reports.Matrix {
	out := &reports.Matrix{Runs: m.Runs}
	for _, f := range m.Families {
		family := reports.Family{Name: f.Name}
		for _, row := range f.Rows {
			links := make([]string, len(row.Links))
			for i, link := range row.Links {
				links[i] = relative(l.from, link)
			}
			row.Links = links
			family.Rows = append(family.Rows, row)
		}
		out.Families = append(out.Families, family)
	}
	return out
}
