package page

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// MarkdownOptions is how a page is written as Markdown. The zero value writes all of it.
type MarkdownOptions struct {
	// Title is a heading above the page; none if it is empty.
	Title string
	// MaxBytes is how many bytes are written at most, 0 for any number. What is beyond is left out from the beginning of a
	// section on, with a line that says so.
	MaxBytes int
}

// Markdown returns a page in Markdown of GitHub's dialect, with its outcome first. Whatever stands in it is shown
// as it is: nothing in it can become a link, an image, HTML or a mention.
func Markdown(p reports.Page, o MarkdownOptions) []byte {
	m := &markdownWriter{}
	if o.Title != "" {
		m.line("## " + m.escape(o.Title))
	}
	for _, b := range p.Blocks { // the outcome is what is read first
		if c, ok := b.(reports.Conclusion); ok {
			m.paragraph("**" + m.escape(c.Words.String()) + "**")
			m.paragraph(m.escape(c.Facts))
		}
	}
	const cutNote = "\nThe rest of the report is left out, because it is too long.\n"
	for _, section := range sectionsOf(p.Blocks) {
		before := m.out.Len()
		for _, b := range section {
			m.block(b)
		}
		if o.MaxBytes > 0 && m.out.Len() > o.MaxBytes-len(cutNote) {
			m.out.Truncate(before)
			m.out.WriteString(cutNote)
			break
		}
	}
	out := bytes.TrimLeft(m.out.Bytes(), "\n")
	if o.MaxBytes > 0 && len(out) > o.MaxBytes {
		out = nil
	}
	return out
}

// sectionsOf returns the blocks of a page by its headings of level 1 and 2, each of which begins a section.
func sectionsOf(blocks []reports.Block) [][]reports.Block {
	var sections [][]reports.Block
	for _, b := range blocks {
		h, ok := b.(reports.Heading)
		if len(sections) == 0 || ok && h.Level < 3 {
			sections = append(sections, nil)
		}
		last := len(sections) - 1
		sections[last] = append(sections[last], b)
	}
	return sections
}

type markdownWriter struct{ out bytes.Buffer }

func (m *markdownWriter) line(s string) { m.out.WriteString(strings.TrimRight(s, " ") + "\n") }

// paragraph writes lines with a blank one before them.
func (m *markdownWriter) paragraph(lines ...string) {
	m.line("")
	m.line(strings.Join(lines, "\\\n"))
}

func (m *markdownWriter) block(b reports.Block) {
	switch b := b.(type) {
	case reports.Heading:
		m.line("")
		m.line(strings.Repeat("#", b.Level+2) + " " + m.escape(text.OneLine(b.Text.String())))
	case reports.Prose:
		var lines []string
		for _, x := range b.Lines {
			for line := range strings.SplitSeq(strings.TrimRight(x.String(), "\n"), "\n") {
				lines = append(lines, m.text(reports.StyledText(styleOf(x), line)))
			}
		}
		m.paragraph(lines...)
	case reports.Fields:
		m.fields(b)
	case reports.Table:
		m.table(b)
	case reports.Transcript:
		content := string(Text(reports.Page{Blocks: []reports.Block{b}}, TextOptions{}))
		m.fence(strings.Split(strings.TrimRight(content, "\n"), "\n"))
	case reports.Code:
		m.fence(b.Lines)
	}
}

// styleOf returns the style of a text that has only one.
func styleOf(x reports.Text) reports.Style {
	if len(x) == 1 {
		return x[0].Style
	}
	return reports.Plain
}

// fields writes labelled values as a table; those of several lines are blocks below it.
func (m *markdownWriter) fields(f reports.Fields) {
	m.line("")
	m.line("| | |")
	m.line("|---|---|")
	for _, field := range f.VisibleFields() {
		var lines []string
		for _, line := range field.Lines {
			if field.Wrap {
				lines = append(lines, m.text(line))
			} else {
				lines = append(lines, m.code(line.String()))
			}
		}
		m.line("| " + m.escape(field.Label) + " | " + strings.Join(lines, "<br>") + " |")
	}
}

// table writes rows. The lines below a row are in its last cell.
func (m *markdownWriter) table(t reports.Table) {
	columns := t.AllColumns()
	if len(columns) == 0 {
		return
	}
	if slices.ContainsFunc(t.Rows, func(r reports.Row) bool { return len(r.Detail) > 0 }) {
		columns = append(columns, reports.Column{})
	}
	count := len(columns)
	titles, rules := make([]string, count), make([]string, count)
	for i, c := range columns {
		titles[i], rules[i] = m.escape(c.Title), "---"
		if c.AlignRight {
			rules[i] = "--:"
		}
	}
	m.line("")
	m.line("| " + strings.Join(titles, " | ") + " |")
	m.line("|" + strings.Join(rules, "|") + "|")
	for _, row := range t.Rows {
		cells := make([]string, count)
		for i, cell := range row.Cells {
			cells[i] = m.text(cell)
		}
		for _, line := range row.Detail {
			cells[count-1] += strings.Repeat("<br>", min(1, len(cells[count-1]))) + m.text(line)
		}
		m.line("| " + strings.Join(cells, " | ") + " |")
	}
	if !t.Note.IsEmpty() {
		m.paragraph(m.text(t.Note))
	}
}

// text returns a text, that of a finding in bold.
func (m *markdownWriter) text(x reports.Text) string {
	var out strings.Builder
	for _, span := range x {
		words := m.escape(span.Text)
		if (span.Style == reports.Bad || span.Style == reports.Strong) && strings.TrimSpace(words) == words && words != "" {
			words = "**" + words + "**"
		}
		out.WriteString(words)
	}
	return out.String()
}

// escape returns a text in which nothing has a meaning in Markdown or HTML: no link, no image, and none of GitHub's
// mentions, issues and emojis, which an empty comment breaks where a backslash does not.
func (m *markdownWriter) escape(s string) string {
	var out strings.Builder
	runes := []rune(text.Printable(strings.TrimLeft(s, " ")))
	for i, r := range runes {
		next := ' '
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		switch {
		case strings.ContainsRune("<>&", r):
			fmt.Fprintf(&out, "&#%d;", r)
		case strings.ContainsRune("\\`*_{}[]|~^$!", r), i == 0 && strings.ContainsRune("#+-=", r):
			out.WriteString("\\" + string(r))
		case strings.ContainsRune(".)", r) && !strings.ContainsFunc(string(runes[:i]), isNoDigit):
			out.WriteString("\\" + string(r)) // "1." would begin a list
		case r == '@', r == '#', r == ':' && !unicode.IsSpace(next) && !unicode.IsDigit(next), linkDot(runes, i):
			out.WriteString(string(r) + "<!-- -->")
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func isNoDigit(r rune) bool { return !unicode.IsDigit(r) }

// linkDot reports whether the character is the point of "www.", which would begin a link.
func linkDot(runes []rune, i int) bool {
	return runes[i] == '.' && i >= 3 && strings.EqualFold(string(runes[i-3:i]), "www")
}

// code returns what is shown as it is within a table.
func (m *markdownWriter) code(s string) string {
	var out strings.Builder
	for _, r := range text.Printable(s) {
		if strings.ContainsRune("<>&|`*_\\[]@:~", r) {
			fmt.Fprintf(&out, "&#%d;", r)
		} else {
			out.WriteRune(r)
		}
	}
	return "<code>" + strings.ReplaceAll(out.String(), "  ", "&nbsp; ") + "</code>"
}

// fence writes lines as they are, within a fence that is longer than any in them.
func (m *markdownWriter) fence(lines []string) {
	fence := "```"
	for _, line := range lines {
		for strings.Contains(line, fence) {
			fence += "`"
		}
	}
	m.line("")
	m.line(fence + "text")
	for _, line := range lines {
		m.line(text.Inert(text.Printable(line)))
	}
	m.line(fence)
}
