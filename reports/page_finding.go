package reports

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/text"
)

// findings appends every finding: the first of those that are alike at full length, and of the others the checks.
// With Verbose all have their full length.
func (p *Page) findings(r *Report, o PageOptions) {
	all := r.Findings()
	if len(all) == 0 {
		return
	}
	p.section("FINDINGS", text.Count(len(all), "difference")+" between expected and actual behaviour")
	for _, alike := range likeFindings(all, o) {
		p.finding(&alike[0], o)
		p.moreOf(alike)
	}
}

// likeFindings puts findings together that are alike, in the order of the first of each.
func likeFindings(all []Finding, o PageOptions) [][]Finding {
	var groups [][]Finding
	at := map[string]int{}
	for i := range all {
		symptom := all[i].symptom()
		j, known := at[symptom]
		if o.Verbose || !known || all[i].Clause == "" {
			at[symptom] = len(groups)
			groups = append(groups, all[i:i+1:i+1])
			continue
		}
		groups[j] = append(groups[j], all[i])
	}
	return groups
}

// symptom returns what findings have in common that are alike: verdict, clause, and the beginning of what was received,
// without the numbers, which differ from check to check.
func (f *Finding) symptom() string {
	const enough = 40
	got, _, _ := strings.Cut(f.Actual, "\n")
	begin := []rune(numbers.ReplaceAllString(got, "0"))
	return fmt.Sprintf("%s|%s|%s", f.Verdict, f.Clause, string(begin[:min(len(begin), enough)]))
}

var numbers = regexp.MustCompile(`[0-9]+`)

// moreOf appends the names of the checks that found the same as the first finding.
func (p *Page) moreOf(alike []Finding) {
	var checks []string
	for _, f := range alike[1:] {
		if f.Check != alike[0].Check && !slices.Contains(checks, f.Check) {
			checks = append(checks, f.Check)
		}
	}
	if same := len(alike) - 1 - len(checks); same > 0 {
		p.add(Prose{[]Text{Words(fmt.Sprintf("and %d more like this in the same checks (--verbose shows all)", same))}})
	}
	if len(checks) > 0 {
		p.add(Prose{[]Text{Words(fmt.Sprintf("and in %s (--verbose shows all): %s", text.Count(len(checks),
			"more check"), strings.Join(checks, ", ")))}})
	}
}

// finding appends one finding, its conversation and whatever else belongs to it.
func (p *Page) finding(f *Finding, o PageOptions, more ...Field) {
	p.findingHead(f)
	p.add(Fields{LabelWidth: 8, Fields: slices.Concat([]Field{
		exact("check", Words(f.Check)),
		exact("script", f.place()...),
		exact("expected", LinesOf(f.Expected)...),
		exact("actual", LinesOf(f.Actual)...),
		exact("differs", LinesOf(strings.Join(f.Differences, "\n"))...),
		exact("detail", LinesOf(f.Seen)...),
		exact("closed", LinesOf(f.Close)...),
		exact("rerun", LinesOf(f.Reproduce)...),
	}, more)})
	p.add(transcript(f.Conversation, o))
}

// findingHead appends the verdict, the clause and the statement of a finding.
func (p *Page) findingHead(f *Finding) {
	clause := f.Clause
	if clause == "" {
		clause = "(no single clause)"
	}
	if words := f.Level.Words(); words != "" {
		clause = fmt.Sprintf("%s (%s: %s)", clause, f.Level, words)
	}
	p.add(Heading{2, append(f.Verdict.Text(), Span{"  ", Plain}, Span{clause, Strong})}, Prose{LinesOf(f.Statement)})
}

// place returns where in a script a finding is, the line itself, and a caret below the place.
func (f *Finding) place() []Text {
	if f.File == "" {
		return nil
	}
	where := f.File
	if f.Line > 0 {
		where += fmt.Sprintf(":%d", f.Line)
		if f.Col > 0 {
			where += fmt.Sprintf(":%d", f.Col)
		}
	}
	lines := []Text{Words(where)}
	if f.Source != "" {
		lines = append(lines, Words("| "+f.Source))
		if f.Col > 0 {
			before, under := caret(f)
			lines = append(lines, Text{{"| " + before, Plain}, {under, Bad}})
		}
	}
	return lines
}

// caret returns the blanks and the carets that go below the source line as it is shown, escaped. A place outside of the
// line becomes its end, so that a missing end of line is pointed at.
func caret(f *Finding) (before, under string) {
	source := []rune(f.Source)
	from := min(f.Col-1, len(source))
	to := min(from+max(1, f.Width), len(source))
	width := func(part []rune) int { return utf8.RuneCountInString(text.Printable(string(part))) }
	return strings.Repeat(" ", width(source[:from])), strings.Repeat("^", max(1, width(source[from:to])))
}

// beginning is how many lines of a conversation are always shown.
const beginning = 6

// transcript returns what was sent and received on all connections, with the time since the check began. Of a long
// conversation it has, unless all are wanted, the beginning and the lines around the finding.
func transcript(all []Line, o PageOptions) Transcript {
	t := Transcript{
		Title: "conversation (time since the check began; C: client, S: server, --: the suite, >: the finding)",
	}
	first, last := around(all, o)
	for i, l := range all {
		switch {
		case i == beginning && i < first:
			t.Entries = append(t.Entries, Entry{Omitted: first - i})
		case i == last:
			t.Entries = append(t.Entries, Entry{Omitted: len(all) - i})
		}
		if (i < beginning || i >= first) && i < last {
			t.Entries = append(t.Entries, Entry{Line: l})
		}
	}
	return t
}

// around returns which lines of a long conversation are shown beside its beginning: those from first to before last,
// which lead to the finding (to the end if none is marked) and a few that follow it.
func around(all []Line, o PageOptions) (first, last int) {
	const before, after = 30, 8
	if o.Verbose || len(all) <= beginning+before+after {
		return 0, len(all)
	}
	at := slices.IndexFunc(all, func(l Line) bool { return l.Mark != "" })
	if at < 0 {
		at = len(all) - 1
	}
	return max(at-before, 0), min(at+after, len(all))
}
