package page

import (
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// table writes rows with aligned columns. Columns in which nothing stands take no room.
func (t *textWriter) table(b reports.Table) {
	columns := layout(b)
	if !t.squeeze(b, columns) {
		t.stackedTable(b)
		return
	}
	if b.Titled() {
		var titles []reports.Text
		for _, c := range b.Columns {
			titles = append(titles, reports.PlainText(c.Title))
		}
		t.row(columns, titles, false)
	}
	for _, row := range b.Rows {
		t.row(columns, row.Cells, b.Wrap)
		for _, line := range row.Detail {
			t.wrap(t.indent+2, line)
		}
	}
	t.wrap(t.indent, b.Note)
}

// minColumn is the least width of a column of words, in characters. In a narrower table the cells of a row are one
// text, which is wrapped.
const minColumn = 20

// squeeze gives the column of words what the others leave of the line, and reports whether that is enough.
func (t *textWriter) squeeze(b reports.Table, columns []textColumn) bool {
	at := slices.IndexFunc(columns, func(c textColumn) bool { return c.IsBrief })
	if b.Wrap {
		at = len(columns) - 1
	}
	if at < 0 {
		return true
	}
	budget := t.width - t.indent
	for i, c := range columns {
		if budget -= c.gap; i != at {
			budget -= c.width
		}
	}
	isEnough := budget >= min(minColumn, columns[at].width)
	if columns[at].IsBrief && budget < columns[at].width {
		for i := range columns[at:] {
			columns[at+i].isTight = true
		}
	}
	columns[at].width = min(columns[at].width, budget)
	return isEnough
}

// detailTable writes a table with the column of words below the others of its row.
func (t *textWriter) detailTable(b reports.Table, at int) {
	dropColumn := func(cells []reports.Text) []reports.Text {
		if at >= len(cells) {
			return cells
		}
		return slices.Delete(slices.Clone(cells), at, at+1)
	}
	narrow := reports.Table{Columns: slices.Delete(b.AllColumns(), at, at+1), Note: b.Note}
	for _, row := range b.Rows {
		shortRow := reports.Row{Cells: dropColumn(row.Cells)}
		if at < len(row.Cells) && !row.Cells[at].IsEmpty() {
			words := text.Brief(text.Printable(row.Cells[at].String()), t.width-t.indent-2)
			shortRow.Detail = append(shortRow.Detail, reports.PlainText(words))
		}
		shortRow.Detail = append(shortRow.Detail, row.Detail...)
		narrow.Rows = append(narrow.Rows, shortRow)
	}
	t.table(narrow)
}

// stackedTable writes a table whose columns have no room.
func (t *textWriter) stackedTable(b reports.Table) {
	if at := slices.IndexFunc(b.Columns, func(c reports.Column) bool { return c.IsBrief }); at >= 0 {
		t.detailTable(b, at)
		return
	}
	for _, row := range b.Rows {
		var rest []string
		for _, cell := range row.Cells[1:] {
			rest = append(rest, cell.String())
		}
		t.wrap(t.indent, slices.Concat(row.Cells[0], reports.PlainText("  "), reports.PlainText(strings.Join(rest, "  "))))
	}
}

// textColumn is a column with the width that it has in text.
type textColumn struct {
	reports.Column
	width   int
	gap     int  // between it and the column before it
	isTight bool // it is the column of words, or behind it, and not all words fit
}

// layout works out the widths of the columns.
func layout(b reports.Table) []textColumn {
	var columns []textColumn
	visible := false
	for i, column := range b.AllColumns() {
		c := textColumn{Column: column, width: len([]rune(column.Title))}
		for _, row := range b.Rows {
			if i < len(row.Cells) {
				c.width = max(c.width, width(row.Cells[i]))
			}
		}
		if c.width = max(c.width, c.Width); c.width > 0 {
			c.gap = gap(c.Column, visible)
			visible = true
		}
		columns = append(columns, c)
	}
	return columns
}

// gap returns how many blanks stand before a column; visible reports whether there is one before it.
func gap(c reports.Column, visible bool) int {
	switch {
	case !visible:
		return 0
	case c.IsUnit:
		return 1
	}
	return 2
}

// spare returns what the cells of a row leave of their columns.
func spare(columns []textColumn, cells []reports.Text) (free int) {
	for i, c := range columns {
		free += c.width
		if i < len(cells) {
			free -= width(cells[i])
		}
	}
	return free
}

// row writes the cells of a row; the last one may be wrapped. Behind a column of words that has too little room, each
// cell takes what it needs, so that the words have the rest.
func (t *textWriter) row(columns []textColumn, cells []reports.Text, wrap bool) {
	var line strings.Builder
	line.WriteString(strings.Repeat(" ", t.indent))
	at := t.indent
	for i, cell := range cells {
		c := columns[i]
		line.WriteString(strings.Repeat(" ", c.gap))
		at += c.gap
		if c.IsBrief {
			if c.isTight {
				c.width += spare(columns[i+1:], cells[i+1:])
			}
			cell = reports.PlainText(text.Brief(text.Printable(cell.String()), c.width))
		} else if c.isTight {
			c.width = width(cell)
		}
		if wrap && i == len(cells)-1 {
			t.leadText(line.String(), at, cell)
			return
		}
		pad := strings.Repeat(" ", max(0, c.width-width(cell)))
		if c.AlignRight {
			line.WriteString(pad + t.paint(cell))
		} else {
			line.WriteString(t.paint(cell) + pad)
		}
		at += c.width
	}
	t.line(line.String())
}
