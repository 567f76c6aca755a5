package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/text"
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

// WriteText writes a page as text. What could move a terminal's cursor, or hide text, is escaped. It writes once, and
// returns the error of that.
func (p Page) WriteText(w io.Writer, o TextOptions) error {
	if o.Width == 0 {
		o.Width = textWidth
	}
	t := &textWriter{color: o.Color, fit: o.Fit, width: o.Width}
	for i, b := range p.Blocks {
		if i > 0 && apart(p.Blocks[i-1], b) {
			t.line("")
		}
		t.block(b)
	}
	return writeOut(w, t.out.Bytes())
}

// apart reports whether a blank line separates two blocks.
func apart(before, b Block) bool {
	switch b := b.(type) {
	case Heading:
		return b.Level < 3
	case Conclusion:
		return true
	}
	_, fields := b.(Fields)
	_, table := b.(Table)
	switch before := before.(type) {
	case Heading:
		return before.Level == 2 && fields
	case Prose:
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

func (t *textWriter) block(b Block) {
	switch b := b.(type) {
	case Heading:
		t.heading(b)
	case Prose:
		for _, line := range b.Lines {
			t.wrapped(t.indent, line)
		}
	case Fields:
		t.fields(b)
	case Table:
		t.table(b)
	case Transcript:
		t.transcript(b)
	case Code:
		for _, line := range b.Lines {
			t.line(strings.Repeat(" ", t.indent+2) + text.Printable(line))
		}
	case Conclusion:
		t.indent = 0
		t.line(text.Printable(b.Facts))
		if !b.Words.Empty() {
			t.line(t.paint(b.Words)) // in one line, whatever its length: tail -n 1 shows it
		}
	}
}

// line writes a line. If it has to be broken, its other lines begin two characters below it.
func (t *textWriter) line(line string) { t.hanging(line, len(line)-len(strings.TrimLeft(line, " "))+2) }

// hanging writes a line. If it has to be broken, its other lines begin with so many blanks.
func (t *textWriter) hanging(line string, hang int) {
	lines := []string{strings.TrimRight(line, " ")}
	if t.fit {
		lines = text.Break(lines[0], t.width, hang)
	}
	t.out.WriteString(strings.Join(lines, "\n") + "\n")
}

// heading writes a heading; what follows is indented below it.
func (t *textWriter) heading(h Heading) {
	at := 0
	if h.Level > 2 {
		at = 2
	}
	if t.indent = at + 2; h.Level == 1 {
		t.line(t.paint(h.Text))
		return
	}
	t.wrapped(at, h.Text)
}

// wrapped writes a text whose last span is wrapped beside the others.
func (t *textWriter) wrapped(indent int, x Text) {
	if len(x) == 0 {
		return
	}
	lead, last := x[:len(x)-1], x[len(x)-1]
	t.beside(strings.Repeat(" ", indent)+t.paint(lead), indent+width(lead), Text{last})
}

// beside writes prose, its first line after lead, whose width is given, and the others below that.
func (t *textWriter) beside(lead string, indent int, x Text) {
	style := Plain
	if len(x) > 0 {
		style = x[0].Style
	}
	lines := fold(joined(x), t.width-indent)
	if len(lines) == 0 {
		t.line(lead)
	}
	for _, line := range lines {
		t.line(lead + t.styled(style, line))
		lead = strings.Repeat(" ", indent)
	}
}

// fields writes labelled values, the values below each other.
func (t *textWriter) fields(f Fields) {
	wide := f.LabelWidth
	for _, field := range f.Fields {
		wide = max(wide, utf8.RuneCountInString(field.Label))
	}
	for _, field := range f.Fields {
		label := field.Label
		for _, line := range field.Lines {
			if line.Empty() && len(field.Lines) == 1 {
				continue
			}
			lead := strings.Repeat(" ", t.indent) + t.styled(Faint, fmt.Sprintf("%-*s", wide, label)) + "  "
			t.value(field, lead, t.indent+wide+2, line)
			label = ""
		}
	}
}

// value writes a line of a field after lead, whose width is given.
func (t *textWriter) value(field Field, lead string, indent int, line Text) {
	switch {
	case field.Prose:
		t.beside(lead, indent, line)
	case field.Command && t.fit:
		for _, part := range text.Continue(text.Printable(joined(line)), t.width-indent) {
			t.hanging(lead+part, indent+2)
			lead = strings.Repeat(" ", indent)
		}
	default:
		t.hanging(lead+t.paint(line), indent)
	}
}

// transcript writes a conversation, with the place of a finding marked.
func (t *textWriter) transcript(b Transcript) {
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
			t.line(indent + t.styled(Faint, omitted))
		case e.More > 0:
			t.line(indent + t.styled(Faint, fmt.Sprintf("  ... %s like this", text.Count(e.More, "more line"))))
		default:
			t.entry(e, conns)
		}
	}
}

// entry writes a line of a conversation whose connections have names of at most so many characters.
func (t *textWriter) entry(e Entry, conns int) {
	mark, style, indent := " ", Plain, strings.Repeat(" ", t.indent)
	if e.Mark != "" {
		mark, style = ">", Bad
	}
	lead := fmt.Sprintf("%s %11s  %-*s  ", mark, seconds(e.Line.At), conns, text.Printable(e.Line.Conn))
	hang := t.indent + utf8.RuneCountInString(lead) + len("C:  ")
	t.hanging(indent+t.styled(style, lead+speaker(e.Line.From)+"  "+text.Printable(e.Line.Text)), hang)
	if e.Mark != "" {
		t.hanging(strings.Repeat(" ", hang-len("C:  "))+t.styled(style, "^^  "+text.Printable(e.Mark)), hang)
	}
}

func speaker(from string) string {
	switch from {
	case FromClient:
		return "C:"
	case FromServer:
		return "S:"
	default:
		return "--"
	}
}

// colors holds the attributes of a terminal (ECMA-48) of each style.
var colors = [...]string{
	Plain: "", Strong: "1", Faint: "2", Good: "32", Bad: "1;31", Caution: "33", Unclear: "35", Optional: "36",
}

// styled puts words between the codes of a style, if there is one and colour was asked for.
func (t *textWriter) styled(style Style, words string) string {
	if !t.color || style == Plain || words == "" {
		return words
	}
	return "\x1b[" + colors[style] + "m" + words + "\x1b[0m"
}

// paint returns a text in the colours of its styles, escaped.
func (t *textWriter) paint(x Text) string {
	var out strings.Builder
	for _, span := range x {
		out.WriteString(t.styled(span.Style, text.Printable(span.Text)))
	}
	return out.String()
}

// joined returns a text without its styles.
func joined(x Text) string {
	var out strings.Builder
	for _, span := range x {
		out.WriteString(span.Text)
	}
	return out.String()
}

// width returns how many characters a text takes on a terminal.
func width(x Text) int { return utf8.RuneCountInString(text.Printable(joined(x))) }

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
