package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/text"
)

// findings writes every finding: the first of those that are alike at full length, and of the others the checks.
// With Verbose all have their full length.
func (t *textWriter) findings(r *Report) {
	all := r.Findings()
	if len(all) == 0 {
		return
	}
	t.section("FINDINGS", text.Count(len(all), "departure")+" from what is expected")
	for _, alike := range t.likeFindings(all) {
		t.line("")
		t.finding(&alike[0])
		t.moreOf(alike)
	}
}

// likeFindings puts findings together that are alike, in the order of the first of each.
func (t *textWriter) likeFindings(all []Finding) [][]Finding {
	var groups [][]Finding
	at := map[string]int{}
	for i := range all {
		symptom := all[i].symptom()
		j, known := at[symptom]
		if t.Verbose || !known || all[i].Clause == "" {
			at[symptom] = len(groups)
			groups = append(groups, all[i:i+1:i+1])
			continue
		}
		groups[j] = append(groups[j], all[i])
	}
	return groups
}

// symptom is what findings have in common that are alike: the clause, and how what came begins, without the numbers
// and names that differ from check to check.
func (f *Finding) symptom() string {
	const enough = 40
	got, _, _ := strings.Cut(f.Got, "\n")
	begin := []rune(numbers.ReplaceAllString(got, "0"))
	return fmt.Sprintf("%s|%s|%s", f.Verdict, f.Clause, string(begin[:min(len(begin), enough)]))
}

var numbers = regexp.MustCompile(`[0-9]+`)

// moreOf names the checks that found the same as the first finding.
func (t *textWriter) moreOf(alike []Finding) {
	var checks []string
	for _, f := range alike[1:] {
		if name := text.Printable(f.Check); name != text.Printable(alike[0].Check) && !slices.Contains(checks, name) {
			checks = append(checks, name)
		}
	}
	same := len(alike) - 1 - len(checks)
	if same > 0 {
		t.line("")
		t.prose("  ", fmt.Sprintf("and %d more like this in the same checks (--verbose shows all)", same))
	}
	if len(checks) == 0 {
		return
	}
	t.line("")
	t.prose("  ", fmt.Sprintf("and in %s (--verbose shows all): %s", text.Count(len(checks), "more check"), strings.Join(checks, ", ")))
}

// finding writes one finding: its clause, its place, what was expected and what came, and the conversation.
func (t *textWriter) finding(f *Finding) {
	clause := f.Clause
	if clause == "" {
		clause = "(no single clause)"
	}
	if words := f.Level.Words(); words != "" {
		clause = fmt.Sprintf("%s (%s: %s)", clause, f.Level, words)
	}
	t.line("%s  %s", t.word(f.Verdict, 0), t.paint(bold, text.Printable(clause)))
	t.prose("  ", f.Statement)
	t.line("")
	t.field("check", text.Printable(f.Check))
	t.place(f)
	t.field("expected", lines(f.Expected)...)
	t.field("got", lines(f.Got)...)
	t.field("differs", cleanAll(f.Differences)...)
	t.field("seen", lines(f.Seen)...)
	t.field("closed", lines(f.Close)...)
	t.field("rerun", lines(f.Reproduce)...)
	t.conversation(f.Conversation)
}

// field writes a label and one or more lines that belong to it; without lines, nothing.
func (t *textWriter) field(label string, values ...string) {
	for _, value := range values {
		if value == "" && len(values) == 1 {
			continue
		}
		t.line("  %s  %s", t.paint(dim, fmt.Sprintf("%-8s", label)), value)
		label = ""
	}
}

// place writes where in a script the departure was seen, the line itself, and a caret below the place.
func (t *textWriter) place(f *Finding) {
	if f.File == "" {
		return
	}
	where := f.File
	if f.Line > 0 {
		where += fmt.Sprintf(":%d", f.Line)
		if f.Col > 0 {
			where += fmt.Sprintf(":%d", f.Col)
		}
	}
	rows := []string{text.Printable(where)}
	if f.Source != "" {
		rows = append(rows, "| "+text.Printable(f.Source))
		if f.Col > 0 {
			before, under := caret(f)
			rows = append(rows, "| "+before+t.paint(red, under))
		}
	}
	t.field("script", rows...)
}

// caret returns the blanks and the carets that go below the cleaned source line. Places outside of the line are
// drawn back to its end, so that a missing end of line is pointed at.
func caret(f *Finding) (before, under string) {
	source := []rune(f.Source)
	from := min(f.Col-1, len(source))
	to := min(from+max(1, f.Width), len(source))
	width := func(part []rune) int { return utf8.RuneCountInString(text.Printable(string(part))) }
	return strings.Repeat(" ", width(source[:from])), strings.Repeat("^", max(1, width(source[from:to])))
}

// conversation writes what was said on all connections, with the time since the check began.
func (t *textWriter) conversation(said []Line) {
	if len(said) == 0 {
		return
	}
	conns := 0
	for _, l := range said {
		conns = max(conns, utf8.RuneCountInString(text.Printable(l.Conn)))
	}
	t.line("")
	t.line("  conversation (time since the check began; C: client, S: server, --: the suite, >: the departure)")
	first, last := t.around(said)
	for i, l := range said {
		switch {
		case i == beginning && i < first:
			t.leftOut(first - i)
		case i == last:
			t.leftOut(len(said) - i)
		}
		if i >= beginning && i < first || i >= last {
			continue
		}
		mark, attribute := " ", ""
		if l.Mark != "" {
			mark, attribute = ">", red
		}
		line := fmt.Sprintf("%s %11s  %-*s  %s  %s", mark, seconds(l.At), conns, text.Printable(l.Conn), speaker(l.From), text.Printable(l.Text))
		t.line("  %s", t.paint(attribute, line))
		if l.Mark != "" {
			indent := strings.Repeat(" ", 2+2+11+2+conns+2)
			t.line("%s%s", indent, t.paint(attribute, "^^  "+text.Printable(l.Mark)))
		}
	}
}

// beginning is how many lines of a conversation are always shown.
const beginning = 6

// around says which lines of a long conversation are shown beside its beginning: those from first to before last, which
// lead to the departure (to the end if none is marked) and a few that follow it.
func (t *textWriter) around(said []Line) (first, last int) {
	const before, after = 30, 8
	if t.Verbose || len(said) <= beginning+before+after {
		return 0, len(said)
	}
	at := slices.IndexFunc(said, func(l Line) bool { return l.Mark != "" })
	if at < 0 {
		at = len(said) - 1
	}
	return max(at-before, 0), min(at+after, len(said))
}

// leftOut stands for lines that are not shown.
func (t *textWriter) leftOut(n int) {
	t.line("  %s", t.paint(dim, fmt.Sprintf("... %s left out; --verbose shows all, and so does JSON", text.Count(n, "line"))))
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

func cleanAll(all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, lines(s)...)
	}
	return out
}
