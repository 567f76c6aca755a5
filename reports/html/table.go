package html

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/reports"
)

// scroll begins what may be wider than the page. It can be reached with the keyboard.
func (p *page) scroll(name string) {
	p.tables++
	p.raw("<div class=scroll tabindex=0 role=group aria-label=\"%s, part %d\">", esc(cmp.Or(name, "Table")), p.tables)
}

// titles writes the head of a table.
func (p *page) titles(columns []reports.Column) {
	p.raw("<thead><tr>")
	for _, c := range columns {
		if c.Title != "" {
			p.raw("<th scope=col%s>%s</th>", alignment(c), esc(c.Title))
		} else {
			p.raw("<td></td>")
		}
	}
	p.raw("</tr></thead>\n")
}

// table writes rows. name is what it is about. In one with anchors, each row can be linked to.
func (p *page) table(t reports.Table, name string) {
	columns := t.AllColumns()
	width := len(columns)
	var titles []reports.Column // which its cells have on a small screen
	p.scroll(name)
	switch p.raw("<table"); {
	case len(t.Rows) == 0:
	case t.Rows[0].Anchor != "":
		p.raw(" class=clauses")
	case t.Rows[0].Link != "":
		p.raw(" class=findings")
	case t.Titled() && width >= cardsFrom(t):
		p.raw(" class=cards")
		titles = columns
	}
	p.raw(">\n")
	if t.Titled() {
		p.titles(columns)
	}
	p.raw("<tbody>\n")
	for _, row := range t.Rows {
		if p.raw("<tr"); row.Anchor != "" {
			p.raw(" id=\"%s\"", esc(row.Anchor))
		}
		p.raw(">")
		p.cells(row, columns, titles)
		p.raw("</tr>\n")
		for _, line := range row.Detail {
			p.raw("<tr class=detail><td></td><td colspan=%d>%s</td></tr>\n", max(width-1, 1), p.text(line))
		}
	}
	p.raw("</tbody></table></div>\n")
	if !t.Note.IsEmpty() {
		p.raw("<p class=note>%s</p>\n", p.text(t.Note))
	}
}

// cardsFrom returns how many columns a table has whose rows are cards on a small screen: it would be cut there, or long
// words would stand in a narrow column.
func cardsFrom(t reports.Table) int {
	for _, row := range t.Rows {
		for _, cell := range row.Cells {
			if utf8.RuneCountInString(cell.String()) > 2*shortCell {
				return 4
			}
		}
	}
	return 5
}

// cells writes those of a row, with the titles of their columns if they are given.
func (p *page) cells(row reports.Row, columns, titles []reports.Column) {
	for i, column := range columns {
		title := ""
		if i < len(titles) && titles[i].Title != "" {
			title = " data-title=\"" + esc(titles[i].Title) + "\""
		}
		switch {
		case i >= len(row.Cells):
			p.raw("<td></td>")
		case row.Anchor == "":
			p.raw("<td%s%s>%s</td>", alignment(column, row.Cells[i]...), title, p.linkCell(row, i))
		case i == 0:
			p.raw("<th scope=row>%s</th>", p.text(row.Cells[i]))
		default:
			p.raw("<td>%s</td>", p.text(row.Cells[i]))
		}
	}
}

// linkCell returns a cell, whose words are a link to the entry about the row if they are the second ones, a name, and
// lead to no page of their own.
func (p *page) linkCell(row reports.Row, i int) string {
	blanks, cell := indent(row.Cells[i])
	words := p.text(cell)
	if _, ok := p.anchors[row.Link]; i != 1 || !ok || words == "" || p.link != nil {
		return blanks + words
	}
	return blanks + `<a href="#` + esc(row.Link) + `">` + words + `</a>`
}

// indent returns the blanks that a cell begins with, which HTML would leave out, and the cell without them.
func indent(x reports.Text) (blanks string, rest reports.Text) {
	if len(x) == 0 || !strings.HasPrefix(x[0].Text, " ") {
		return "", x
	}
	rest = slices.Clone(x)
	rest[0].Text = strings.TrimLeft(x[0].Text, " ")
	return strings.Repeat("&nbsp;", min(len(x[0].Text)-len(rest[0].Text), 8)), rest
}

// shortCell is how many characters of a cell are kept on one line.
const shortCell = 24

// alignment returns the class of a cell.
func alignment(c reports.Column, spans ...reports.Span) string {
	size := utf8.RuneCountInString(reports.Text(spans).String())
	switch {
	case c.AlignRight:
		return " class=right"
	case 0 < size && size <= shortCell:
		return " class=short"
	case size > 2*shortCell:
		return " class=words"
	}
	return ""
}
