package reports

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// details appends every symptom with its evidence: the first of those that are alike, and where the others are. With
// Verbose all of them are there, with their whole conversation. A terminal gets the first ten.
func (p *Page) details(r *Report, groups [][]Finding, o PageOptions) {
	if len(groups) == 0 {
		return
	}
	p.Section("DETAILS", "expected and actual")
	blocks := likeSymptoms(groups, o)
	for i, group := range blocks {
		if i == maxFindingDetails && o.isShortened() {
			p.Add(Heading{Level: 2, Text: PlainText(text.Count(len(blocks)-i, "more finding"))},
				Prose{LinesOf("--details all shows what was expected and received in each, and so does JSON.")})
			return
		}
		first := group[0]
		p.findingHead(first)
		p.evidence(&first[0].Evidence, o, NewField("also in", otherPlaces(group)),
			verbatimField("also", otherClauses(group)...), fixes(first))
		if o.Verbose || first[0].Verdict != Warn || o.Exit.Strict || first[0].NoScriptReason != "" {
			p.Add(transcript(&first[0].Evidence, r.conversation(&first[0]), o))
		}
	}
}

// likeSymptoms puts symptoms together that are alike, in the order of the first of each: the same clauses are broken,
// and what was received begins alike, but for the numbers, which differ from check to check. For a terminal those are
// alike beside which the server failed at one place of its source. Those of no clause differ,
// and so do those inside of replies of which different things were expected.
func likeSymptoms(groups [][]Finding, o PageOptions) [][][]Finding {
	number, ofCheck := 0, map[string]string{}
	return groupBy(groups, func(group *[]Finding) string {
		number++
		finding := (*group)[0]
		if o.Verbose || finding.Clause == "" {
			return fmt.Sprint(number)
		}
		if place := finding.exceptionPlace(); place != "" && o.ForTerminal {
			return "exception " + place
		}
		const enough = 40
		received := []rune(numbers.ReplaceAllString(text.FirstLine(finding.Actual), "0"))
		key := string(received[:min(len(received), enough)])
		if len(finding.Differences) > 0 { // inside a reply: it is told apart by what was expected there
			key += "|" + finding.Expected
		}
		clauses := []string{wordsIf(finding.Step, fmt.Sprintf("step %d", finding.Step))}
		for _, f := range *group {
			clauses = append(clauses, f.Verdict.String()+" "+f.Clause)
		}
		key += "|" + strings.Join(clauses, "|")
		if finding.File != "" || len(finding.Differences) > 0 {
			return key
		}
		checkKey := finding.Check + "|" + strings.Join(clauses, "|") // a check that is no script has a block for each clause
		if ofCheck[checkKey] == "" {
			ofCheck[checkKey] = key
		}
		return ofCheck[checkKey]
	})
}

var numbers = regexp.MustCompile(`[0-9]+`)

// otherPlaces returns where the symptoms are that are like the first one: the lines of its own check, and other checks.
func otherPlaces(groups [][]Finding) string {
	var lines, checks []string
	first, count := groups[0][0], 0
	for _, group := range groups[1:] {
		if !mentions(groups[0], group[0].Clause) { // see otherClauses
			continue
		}
		if f := group[0]; f.Check == first.Check && f.Line == 0 {
			count++
		} else if f.Check == first.Check {
			lines = addUnique(lines, fmt.Sprintf("line %d", f.Line))
		} else {
			checks = addUnique(checks, f.Check)
		}
	}
	note := wordsIf(count, fmt.Sprintf("%d more of this check (-v)", count))
	return JoinWith(", ", append(slices.Concat(lines, checks), note)...)
}

// findingHead appends the clauses that a symptom breaks, with their statements, under one heading.
func (p *Page) findingHead(group []Finding) {
	var lines []Text
	for i, f := range group {
		clause := cmp.Or(f.Clause, "(no single clause)")
		if words := f.Level.Words(); words != "" && (f.Verdict != Fail || f.Level.BreachVerdict() == Fail) {
			clause = fmt.Sprintf("%s (%s: %s)", clause, f.Level, words)
		}
		title := append(f.Verdict.Text(), Span{Text: "  "}, Span{Text: clause, Style: Strong})
		if i == 0 {
			p.Add(Heading{Level: 2, Text: title, Anchor: findingAnchor(f.Clause, f.Step, f.Check)})
			lines = LinesOf(f.Statement)
			continue
		}
		lines = append(lines, append(title, Span{Text: ": " + f.Statement}))
	}
	p.Add(Prose{lines})
}

// repository is where the pages are that say how to fix a finding.
const repository = "https://github.com/fwpsuite/fwp/blob/main/"

// fixes says where it is written how to fix what a symptom breaks.
func fixes(group []Finding) Field {
	f, places := Field{Label: "fix"}, []string{}
	for _, finding := range group {
		if finding.Fix != "" && !slices.Contains(places, finding.Fix) {
			places = append(places, finding.Fix)
			f.Lines = append(f.Lines, LinkedText(finding.Fix, repository+finding.Fix))
		}
	}
	return f
}

// evidence appends what was expected and received, and whatever else belongs to it.
func (p *Page) evidence(e *Evidence, o PageOptions, fields ...Field) {
	names := e.fieldNames()
	value := func(s string) []Text {
		lines := LinesOf(s)
		for i := range lines {
			if !o.Verbose {
				lines[i] = PlainText(knownJobs{}.shortLine(lines[i].String(), names))
			}
		}
		return lines
	}
	p.Add(Fields{LabelWidth: 8, Fields: slices.Concat([]Field{
		verbatimField("check", e.checkName()...),
		verbatimField("script", e.place()...),
		verbatimField("expected", value(e.Expected)...),
		verbatimField("actual", value(e.Actual)...),
		verbatimField("differs", value(strings.Join(e.Differences, "\n"))...),
		verbatimField("detail", LinesOf(e.Frequency)...),
		verbatimField("closed", LinesOf(e.ConnectionEnd)...),
		verbatimField("printed", TextsOf(e.Printed)...),
		verbatimField("script", LinesOf(wordsIf(len(e.NoScriptReason), "none: "+e.NoScriptReason))...),
		verbatimField("saved", LinesOf(e.Saved)...),
		{Label: "rerun", Lines: LinesOf(e.Reproduce), IsCommand: true},
		{Label: "life", Lines: LinesOf(e.Life), IsCommand: true},
		{Label: "shrink", Lines: LinesOf(e.Shrink), IsCommand: strings.HasPrefix(e.Shrink, "fwpcheck ")},
	}, fields)})
	if e.Script != "" {
		p.Add(Code{strings.Split(strings.TrimRight(e.Script, "\n"), "\n")})
	}
}

// EvidenceOf returns the blocks of a page that show a finding of r, without its clause: what was expected and received,
// and the conversation.
func (r *Report) EvidenceOf(f *Finding, o PageOptions) []Block {
	var p Page
	p.evidence(&f.Evidence, o)
	p.Add(transcript(&f.Evidence, r.conversation(f), o))
	return p.Blocks
}

// checkName returns the name of the check, unless its script has the same.
func (e *Evidence) checkName() []Text {
	if e.File == e.Check {
		return nil
	}
	return LinesOf(e.Check)
}

// place returns where in a script the evidence is, the line itself, and a caret below the place.
func (e *Evidence) place() []Text {
	if e.File == "" {
		return nil
	}
	position := e.File + wordsIf(e.Line, fmt.Sprintf(":%d", e.Line)+wordsIf(e.Col, fmt.Sprintf(":%d", e.Col)))
	lines := []Text{PlainText(position)}
	if e.Source != "" {
		lines = append(lines, PlainText("| "+e.Source))
		if e.Col > 0 {
			before, mark := caret(e)
			lines = append(lines, Text{{Text: "| " + before}, {Text: mark, Style: Bad}})
		}
	}
	return lines
}

// caret returns the blanks and the carets that go below the source line as it is shown, escaped. A place outside of the
// line becomes its end, so that a missing end of line is pointed at.
func caret(e *Evidence) (before, mark string) {
	source := []rune(e.Source)
	from := min(e.Col-1, len(source))
	to := min(from+max(1, e.Width), len(source))
	width := func(part []rune) int { return utf8.RuneCountInString(text.Printable(string(part))) }
	return strings.Repeat(" ", width(source[:from])), strings.Repeat("^", max(1, width(source[from:to])))
}

// conversation returns the conversation of a finding: that of its check, unless it has one of its own.
func (r *Report) conversation(f *Finding) []Line {
	if f.Conversation != nil {
		return f.Conversation
	}
	return r.checkByID(f.Check).Conversation
}

// fieldNames returns the names of the fields that the evidence is about.
func (e *Evidence) fieldNames() []string {
	var names []string
	for _, s := range append(slices.Clone(e.Differences), e.Expected) {
		for _, match := range fieldName.FindAllStringSubmatch(s, -1) {
			names = addUnique(names, match[1]+match[2])
		}
	}
	return names
}

// A server that fails at one place of its source breaks many clauses. Where it prints the place, as with a traceback,
// the findings beside which it did are shown as one cause.

// sourcePlaces are the notations of a place in a source file. In a Python traceback the place of the error is the last
// one, elsewhere the first.
var (
	pythonPlace = regexp.MustCompile(`File "([^"]+)", line ([0-9]+)`)
	sourcePlace = regexp.MustCompile(`([\w./~@-]+\.` +
		`(?:go|rb|exs?|erl|rs|php|[cm]?[jt]s|java|kt|cs|c|cc|cpp)):(?:line )?([0-9]+)`)
)

// exceptionPlace returns the place in the source of the server at which it failed, by what it printed beside a finding:
// "server.py:51"; empty if it printed none.
func (e *Evidence) exceptionPlace() string {
	printed := strings.Join(e.Printed, "\n")
	if all := pythonPlace.FindAllStringSubmatch(printed, -1); all != nil {
		return all[len(all)-1][1] + ":" + all[len(all)-1][2]
	}
	if !strings.Contains(printed, "\n") { // a line of a log is no traceback
		return ""
	}
	for _, place := range sourcePlace.FindAllStringSubmatch(printed, -1) {
		if !strings.Contains(place[1], "/runtime/") && !strings.Contains(place[1], "node:") { // of the language
			return place[1] + ":" + place[2]
		}
	}
	return ""
}

// sourceFailure is a place in the source of a server, and how many findings it was printed beside.
type sourceFailure struct {
	place string
	count int
}

// sourceFailures returns those of several findings, the one of most findings first.
func sourceFailures(groups [][]Finding) (all []sourceFailure) {
	clauses := map[string]map[string]bool{}
	for _, group := range groups {
		place := group[0].exceptionPlace()
		for _, f := range group {
			if place != "" && f.KnownLine == 0 {
				if clauses[place] == nil {
					clauses[place] = map[string]bool{}
					all = append(all, sourceFailure{place: place})
				}
				clauses[place][f.Clause+f.Verdict.String()] = true
			}
		}
	}
	for i := range all {
		all[i].count = len(clauses[all[i].place])
	}
	all = slices.DeleteFunc(all, func(c sourceFailure) bool { return c.count < 2 })
	slices.SortStableFunc(all, func(a, b sourceFailure) int { return b.count - a.count })
	return all
}

// firstCauses appends where in its source the server failed, since that is repaired first.
func (p *Page) firstCauses(groups [][]Finding) {
	const limit = 3
	all := sourceFailures(groups)
	var lines []Text
	for _, c := range all[:min(limit, len(all))] {
		words := c.place + ": the server failed there beside " + text.Count(c.count, "finding")
		lines = append(lines, PlainText(words))
	}
	if len(lines) > 0 {
		p.Add(Fields{Fields: []Field{{Label: "begin at", Lines: lines}}})
	}
}

// otherClauses returns what other symptoms of the same cause break: "fail FWP-FAIL-02 in fail/malformed".
func otherClauses(groups [][]Finding) (lines []Text) {
	var clauses []string
	checks := map[string][]string{}
	for _, group := range groups[1:] {
		for _, f := range group {
			if mentions(groups[0], f.Clause) {
				continue
			}
			key := f.Verdict.String() + " " + f.Clause
			if !slices.Contains(clauses, key) {
				clauses = append(clauses, key)
			}
			checks[key] = addUnique(checks[key], f.Check)
		}
	}
	for _, key := range clauses {
		lines = append(lines, PlainText(key+" in "+checksText(checks[key])))
	}
	return lines
}
