package reports

import "strings"

// table writes rows with aligned columns. Columns in which nothing stands take no room.
func (t *textWriter) table(b Table) {
	columns := layout(b)
	if titles := titlesOf(b.Columns); titles != nil {
		t.row(columns, titles, false)
	}
	for _, row := range b.Rows {
		t.row(columns, row.Cells, b.Wrap)
		for _, line := range row.Detail {
			t.wrapped(t.indent+2, line)
		}
	}
	t.wrapped(t.indent, b.Note)
}

// textColumn is a column with the width that it has in text.
type textColumn struct {
	Column
	width int
	gap   int // between it and the column before it
}

// layout works out the widths of the columns.
func layout(b Table) []textColumn {
	var columns []textColumn
	visible, count := false, len(b.Columns)
	for _, row := range b.Rows {
		count = max(count, len(row.Cells))
	}
	for i := range count {
		var c textColumn
		if i < len(b.Columns) {
			c.Column = b.Columns[i]
		}
		c.width = len([]rune(c.Title))
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
func gap(c Column, visible bool) int {
	switch {
	case !visible:
		return 0
	case c.Unit:
		return 1
	}
	return 2
}

// titlesOf returns the titles of columns, nil if they have none.
func titlesOf(columns []Column) []Text {
	var titles []Text
	some := false
	for _, c := range columns {
		titles = append(titles, Words(c.Title))
		some = some || c.Title != ""
	}
	if !some {
		return nil
	}
	return titles
}

// row writes the cells of a row; the last one may be wrapped.
func (t *textWriter) row(columns []textColumn, cells []Text, wrap bool) {
	var line strings.Builder
	line.WriteString(strings.Repeat(" ", t.indent))
	at := t.indent
	for i, cell := range cells {
		c := columns[i]
		line.WriteString(strings.Repeat(" ", c.gap))
		at += c.gap
		if wrap && i == len(cells)-1 {
			t.beside(line.String(), at, cell)
			return
		}
		pad := strings.Repeat(" ", max(0, c.width-width(cell)))
		if c.Right {
			line.WriteString(pad + t.paint(cell))
		} else {
			line.WriteString(t.paint(cell) + pad)
		}
		at += c.width
	}
	t.line(line.String())
}
