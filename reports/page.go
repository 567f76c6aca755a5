package reports

import (
	"slices"
	"strings"
)

// Page is a result for people: blocks in the order in which they are read. Results become pages once, with their method
// Page, and a renderer such as that of reports/page writes a page of any result. Texts in it are not escaped: a
// renderer does that for its output.
type Page struct{ Blocks []Block }

// PageOptions is how a result becomes a page. The zero value is a page of a normal length.
type PageOptions struct {
	// ShowInvalid shows the figures of an INVALID load, which are no results, under a heading that says so.
	ShowInvalid bool
	// Verbose shows everything that the result has: every check, whole conversations, all jobs.
	Verbose bool
	// Figures adds pictures, for outputs that can draw them.
	Figures bool
	// ForTerminal has the list of findings at the end, where a terminal stands then, and not more of it than fits there.
	ForTerminal bool
	// AllDetails shows the evidence of all findings, for a terminal too.
	AllDetails bool
	// Exit is what the exit code is computed with, which is on the page.
	Exit ExitOptions
}

// Block is a part of a page: Heading, Wrap, Fields, Table, Transcript, Code, Figure, Tiles or Conclusion.
type Block interface{ block() }

// Heading begins a section, which lasts until the next heading of its level or above.
type Heading struct {
	// Level is 1 for a section of the page, 2 for an entry such as a finding, 3 for an entry of a compact list.
	Level int
	Text  Text
	// Anchor is what the entry can be linked to by, for outputs that have links; empty: not at all. Of several the first
	// has it.
	Anchor string
}

// Prose is a paragraph. Each of its texts begins on a line of its own and is wrapped, as is each line of a text that
// has several.
type Prose struct{ Lines []Text }

// Fields are labelled values.
type Fields struct {
	// LabelWidth is the least width of the labels in characters, for outputs that align them.
	LabelWidth int
	Fields     []Field
}

// VisibleFields returns the fields that have something to show.
func (f *Fields) VisibleFields() []Field {
	empty := func(f Field) bool { return len(f.Lines) == 0 || len(f.Lines) == 1 && f.Lines[0].IsEmpty() }
	return slices.DeleteFunc(slices.Clone(f.Fields), empty)
}

// Field is a value with a label. One without lines is left out.
type Field struct {
	Label string
	Lines []Text
	// Wrap is set if the lines are wrapped. If not they are shown as they are: what was received.
	Wrap bool
	// IsCommand is set if the lines are commands of a shell, to copy.
	IsCommand bool
}

// Table has rows of cells.
type Table struct {
	// Columns is how they are aligned; columns beyond the last one are aligned left.
	Columns []Column
	Rows    []Row
	// Wrap breaks the last cell of a row into several lines where it is too long.
	Wrap bool
	// Note stands below the table, if there is one.
	Note Text
}

// Column is a column of a table.
type Column struct {
	Title string
	// AlignRight aligns it right.
	AlignRight bool
	// IsBrief shortens its cells to what the other cells of the row leave of the line.
	IsBrief bool
	// IsUnit is set if it holds the unit of the number before it.
	IsUnit bool
	// Width is its least width in characters, so that the columns of several reports are alike.
	Width int
}

// RowsOf returns a row for each of some things.
func RowsOf[T any](all []T, row func(*T) Row) []Row {
	var rows []Row
	for i := range all {
		rows = append(rows, row(&all[i]))
	}
	return rows
}

// AllColumns returns as many columns as the widest row has cells, or more if Columns has more.
func (t *Table) AllColumns() []Column {
	columns := slices.Clone(t.Columns)
	for _, row := range t.Rows {
		columns = append(columns, make([]Column, max(0, len(row.Cells)-len(columns)))...)
	}
	return columns
}

// Titled reports whether a column has a title.
func (t *Table) Titled() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Title != "" })
}

// Row is a row of a table.
type Row struct {
	// Anchor is what the row can be linked to by, for outputs that have links; empty: not at all. It is in the first cell.
	Anchor string
	// Link is the Anchor of what the row is about, for outputs that have links.
	Link  string
	Cells []Text
	// Detail holds lines that stand below the row.
	Detail []Text
}

// Transcript is a conversation.
type Transcript struct {
	Title   string
	Entries []Entry
	// All is the whole conversation, for outputs that can fold it; empty where it is not wanted, or the entries are all.
	All []Entry
}

// Tiles are a few numbers that a reader sees first. Text and Markdown have none.
type Tiles struct{ Tiles []Tile }

// Tile is a number with a word.
type Tile struct {
	Value, Word string
	Style       Style
}

// Entry is a line of a conversation; or a number of lines like the one before; or how many are left out of it in all.
type Entry struct {
	Line Line
	// Mark is what is wrong with the line; empty on all others.
	Mark             string
	Repeats, Omitted int
}

// Code is a text whose lines are shown as they are, a script for example.
type Code struct{ Lines []string }

// Conclusion is what the result comes to, at the end of a page.
type Conclusion struct {
	Facts string // how long it took, the seed, the exit code
	Words Text   // the outcome in words
}

func (Heading) block()    {}
func (Prose) block()      {}
func (Fields) block()     {}
func (Table) block()      {}
func (Transcript) block() {}
func (Code) block()       {}
func (Conclusion) block() {}
func (Tiles) block()      {}

// Text is a line of words, parts of which have a style. Where it is wrapped, the last span is, beside the others.
type Text []Span

// Span is a part of a text in one style.
type Span struct {
	Text  string
	Style Style
	// Link is the address that the text leads to, for outputs that have links; empty: none. It is never a peer's.
	Link string
}

// Style is the meaning of a part of a text.
type Style uint8

// The styles.
const (
	Plain    Style = iota
	Strong         // a heading or a name
	Faint          // less important than what surrounds it
	Good           // as it should be
	Bad            // a finding
	Caution        // worth a look
	Unclear        // without a result
	Optional       // an observation
)

// PlainText returns a text without a style.
func PlainText(s string) Text { return Text{{Text: s}} }

// StyledText returns a text in one style.
func StyledText(style Style, s string) Text { return Text{{Text: s, Style: style}} }

// LinkedText returns a text that leads to an address.
func LinkedText(s, address string) Text { return Text{{Text: s, Link: address}} }

// LinesOf returns the lines of s as texts without a style: none for an empty s.
func LinesOf(s string) []Text {
	if s == "" {
		return nil
	}
	var lines []Text
	for line := range strings.SplitSeq(strings.TrimRight(s, "\n"), "\n") {
		lines = append(lines, PlainText(strings.TrimSuffix(line, "\r")))
	}
	return lines
}

// Cells returns a row of cells without a style.
func Cells(cells ...string) Row { return Row{Cells: TextsOf(cells)} }

// With returns the row with cells that have styles behind its own.
func (r Row) With(cells ...Text) Row {
	r.Cells = append(r.Cells, cells...)
	return r
}

// TextsOf returns texts without a style.
func TextsOf(lines []string) []Text {
	var texts []Text
	for _, line := range lines {
		texts = append(texts, PlainText(line))
	}
	return texts
}

// String returns a text without its styles.
func (t Text) String() string {
	var out strings.Builder
	for _, span := range t {
		out.WriteString(span.Text)
	}
	return out.String()
}

// Lines returns the lines of a text, which has several only if it is one span.
func (t Text) Lines() []Text {
	if len(t) != 1 || !strings.Contains(t[0].Text, "\n") {
		return []Text{t}
	}
	var lines []Text
	for line := range strings.SplitSeq(strings.TrimRight(t[0].Text, "\n"), "\n") {
		lines = append(lines, StyledText(t[0].Style, line))
	}
	return lines
}

// IsEmpty reports whether there is nothing to read.
func (t Text) IsEmpty() bool { return t.String() == "" }

// Add appends blocks, without those that have nothing to show.
func (p *Page) Add(blocks ...Block) {
	for _, b := range blocks {
		if !isVacant(b) {
			p.Blocks = append(p.Blocks, b)
		}
	}
}

// isVacant reports whether a block shows nothing.
func isVacant(b Block) bool {
	switch b := b.(type) {
	case Prose:
		return len(b.Lines) == 0
	case Fields:
		return len(b.Fields) == 0
	case Table:
		return len(b.Rows) == 0
	case Transcript:
		return len(b.Entries) == 0
	case Tiles:
		return len(b.Tiles) == 0
	}
	return false
}

// Section appends a heading of level 1, and words behind it that explain what follows.
func (p *Page) Section(title, words string) {
	if words == "" {
		p.Add(Heading{Level: 1, Text: StyledText(Strong, title)})
		return
	}
	p.Add(Heading{Level: 1, Text: Text{{Text: title, Style: Strong}, {Text: ": "}, {Text: words}}})
}

// TableSection appends a section with a table, if that has rows.
func (p *Page) TableSection(title, words string, t Table) {
	if len(t.Rows) > 0 {
		p.Section(title, words)
		p.Add(t)
	}
}

// NewField returns a field with one value that is wrapped.
func NewField(label, value string) Field {
	return Field{Label: label, Lines: LinesOf(value), Wrap: true}
}

// verbatimField returns a field whose lines are shown as they are.
func verbatimField(label string, lines ...Text) Field { return Field{Label: label, Lines: lines} }
