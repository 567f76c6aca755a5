// Package page writes pages of results as text, for terminals and files, and as Markdown, for the summaries of CI
// systems. See [reports.Page] for what a page has. HTML is written by reports/html. A renderer escapes control
// characters, so that a hostile server cannot reach the reader's terminal.
package page

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// textWidth is where prose is wrapped.
const textWidth = 100

// TextOptions is how a page is written as text. The zero value is plain text, 100 characters wide.
type TextOptions struct {
	// Color gives styles the colours of a terminal.
	Color bool
	// Width is where prose is wrapped, in characters; 100 if it is 0.
	Width int
	// Fit breaks every line at Width, and not prose alone: for a terminal, which would break it within a word.
	Fit bool
}

// Text returns a page as text. What could move a terminal's cursor, or hide text, is escaped.
func Text(p reports.Page, o TextOptions) []byte {
	t := &textWriter{color: o.Color, fit: o.Fit, width: cmp.Or(o.Width, textWidth)}
	for i, b := range p.Blocks {
		if i > 0 && needsGap(p.Blocks[i-1], b) {
			t.line("")
		}
		t.block(b)
	}
	return t.out.Bytes()
}

// needsGap reports whether a blank line separates two blocks.
func needsGap(before, b reports.Block) bool {
	switch b := b.(type) {
	case reports.Heading:
		return b.Level < 3
	case reports.Conclusion:
		return true
	}
	_, fields := b.(reports.Fields)
	_, table := b.(reports.Table)
	switch before := before.(type) {
	case reports.Heading:
		return before.Level == 2 && fields
	case reports.Prose:
		return !table
	}
	return true
}

// textWriter gathers a page as text.
type textWriter struct {
	out    bytes.Buffer
	color  bool
	fit    bool
	width  int
	indent int // of what stands below the last heading
}

func (t *textWriter) block(b reports.Block) {
	switch b := b.(type) {
	case reports.Heading:
		t.heading(b)
	case reports.Prose:
		for _, line := range b.Lines {
			t.wrap(t.indent, line)
		}
	case reports.Fields:
		t.fields(b)
	case reports.Table:
		t.table(b)
	case reports.Transcript:
		t.transcript(b)
	case reports.Code:
		for _, line := range b.Lines {
			t.line(strings.Repeat(" ", t.indent+2) + text.Printable(line))
		}
	case reports.Conclusion:
		t.indent = 0
		t.line(text.Printable(b.Facts))
		if !b.Words.IsEmpty() {
			t.line(t.paint(b.Words)) // in one line, whatever its length: tail -n 1 shows it
		}
	}
}

// line writes a line. If it has to be broken, its other lines begin two characters below it.
func (t *textWriter) line(line string) {
	t.writeHanging(line, len(line)-len(strings.TrimLeft(line, " "))+2)
}

// writeHanging writes a line. If it has to be broken, its other lines begin with so many blanks.
func (t *textWriter) writeHanging(line string, hang int) {
	lines := []string{strings.TrimRight(line, " ")}
	if t.fit {
		lines = text.Break(lines[0], t.width, hang)
	}
	for _, line := range lines {
		t.out.WriteString(text.Inert(line) + "\n")
	}
}

// heading writes a heading; what follows is indented below it.
func (t *textWriter) heading(h reports.Heading) {
	at := 0
	if h.Level > 2 {
		at = 2
	}
	if t.indent = at + 2; h.Level == 1 {
		t.line(t.paint(h.Text))
		return
	}
	t.wrap(at, h.Text)
}

// wrap writes a text whose last span is wrapped beside the others.
func (t *textWriter) wrap(indent int, x reports.Text) {
	if len(x) == 0 {
		return
	}
	lead, last := x[:len(x)-1], x[len(x)-1]
	t.leadText(strings.Repeat(" ", indent)+t.paint(lead), indent+width(lead), reports.Text{last})
}

// leadText writes prose, its first line after lead, whose width is given, and the others below that.
func (t *textWriter) leadText(lead string, indent int, x reports.Text) {
	style := reports.Plain
	if len(x) > 0 {
		style = x[0].Style
	}
	lines := fold(x.String(), t.width-indent)
	if len(lines) == 0 {
		t.line(lead)
	}
	for _, line := range lines {
		t.line(lead + t.style(style, line))
		lead = strings.Repeat(" ", indent)
	}
}

// fields writes labelled values, the values below each other.
func (t *textWriter) fields(f reports.Fields) {
	labelWidth := f.LabelWidth
	for _, field := range f.Fields {
		labelWidth = max(labelWidth, utf8.RuneCountInString(field.Label))
	}
	for _, field := range f.VisibleFields() {
		label := field.Label
		for _, line := range field.Lines {
			lead := strings.Repeat(" ", t.indent) + t.style(reports.Faint, fmt.Sprintf("%-*s", labelWidth, label)) + "  "
			t.value(field, lead, t.indent+labelWidth+2, line)
			label = ""
		}
	}
}

// value writes a line of a field after lead, whose width is given.
func (t *textWriter) value(field reports.Field, lead string, indent int, line reports.Text) {
	switch {
	case field.Wrap:
		t.leadText(lead, indent, line)
	case field.IsCommand && t.fit:
		for _, part := range text.Continue(text.Printable(line.String()), t.width-indent) {
			t.writeHanging(lead+part, indent+2)
			lead = strings.Repeat(" ", indent)
		}
	default:
		t.writeHanging(lead+t.paint(line), indent)
	}
}

// transcript writes a conversation, with the place of a finding marked.
func (t *textWriter) transcript(b reports.Transcript) {
	conns := 0
	for _, e := range b.Entries {
		conns = max(conns, utf8.RuneCountInString(text.Printable(e.Line.Conn)))
	}
	indent := strings.Repeat(" ", t.indent)
	t.line(indent + text.Printable(b.Title))
	for _, e := range b.Entries {
		switch {
		case e.Omitted > 0:
			omitted := fmt.Sprintf("%s left out; --verbose shows all, and so does JSON", text.Count(e.Omitted, "line"))
			t.line(indent + t.style(reports.Faint, omitted))
		case e.Repeats > 0:
			t.line(indent + t.style(reports.Faint, fmt.Sprintf("  ... %s like this", text.Count(e.Repeats, "more line"))))
		default:
			t.entry(e, conns)
		}
	}
}

// entry writes a line of a conversation whose connections have names of at most so many characters.
func (t *textWriter) entry(e reports.Entry, conns int) {
	mark, style, indent := " ", reports.Plain, strings.Repeat(" ", t.indent)
	if e.Mark != "" {
		mark, style = ">", reports.Bad
	}
	at := fmt.Sprintf("%.3f s", e.Line.At.Seconds())
	lead := fmt.Sprintf("%s %11s  %-*s  ", mark, at, conns, text.Printable(e.Line.Conn))
	hang := t.indent + utf8.RuneCountInString(lead) + len("C:  ")
	t.writeHanging(indent+t.style(style, lead+e.Line.Speaker()+"  "+text.Printable(e.Line.Text)), hang)
	if e.Mark != "" {
		t.writeHanging(strings.Repeat(" ", hang-len("C:  "))+t.style(style, "^^  "+text.Printable(e.Mark)), hang)
	}
}

// colors holds the attributes of a terminal (ECMA-48) of each style.
var colors = [...]string{
	reports.Plain: "", reports.Strong: "1", reports.Faint: "2", reports.Good: "32", reports.Bad: "1;31",
	reports.Caution: "33", reports.Unclear: "35", reports.Optional: "36",
}

// style puts words between the codes of a style, if there is one and colour was asked for.
func (t *textWriter) style(style reports.Style, words string) string {
	if !t.color || style == reports.Plain || words == "" {
		return words
	}
	return "\x1b[" + colors[style] + "m" + words + "\x1b[0m"
}

// paint returns a text in the colours of its styles, escaped.
func (t *textWriter) paint(x reports.Text) string {
	var out strings.Builder
	for _, span := range x {
		out.WriteString(t.style(span.Style, text.Printable(span.Text)))
	}
	return out.String()
}

// width returns how many characters a text takes on a terminal.
func width(x reports.Text) int { return utf8.RuneCountInString(text.Printable(x.String())) }

// fold wraps each line of prose, escaped. A word that is too long for a line is not broken: it may be a URL, or what
// was received.
func fold(prose string, width int) []string {
	var out []string
	for line := range strings.Lines(prose) {
		words := strings.Fields(line)
		for i := range words {
			words[i] = text.Printable(words[i])
		}
		out = append(out, text.Wrap(strings.Join(words, " "), width)...)
	}
	return out
}
