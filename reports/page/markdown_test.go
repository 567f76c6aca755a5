package page

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/reports"
)

func asMarkdown(o MarkdownOptions, blocks ...block) string {
	return string(Markdown(reports.Page{Blocks: blocks}, o))
}

func TestBlocksAsMarkdown(t *testing.T) {
	t.Parallel()
	w := reports.PlainText
	tests := map[string]struct {
		blocks []block
		want   string
	}{
		"nothing":                {nil, ""},
		"headings":               {[]block{heading(1, w("A")), heading(2, w("b\n c"))}, "### A\n\n#### b c\n"},
		"lines of prose":         {[]block{prose(w("a\nb"), w("c"))}, "a\\\nb\\\nc\n"},
		"a finding is in bold":   {[]block{prose(reports.StyledText(reports.Bad, "crash"), w("x"))}, "**crash**\\\nx\n"},
		"blanks are not in bold": {[]block{prose(reports.StyledText(reports.Bad, " "), w("x"))}, "\\\nx\n"},
		"fields": {[]block{fields(0, field("a b", "two words"), exact("c", "as it is", "x|y"), exact("d"))},
			"| | |\n|---|---|\n| a b | two words |\n| c | <code>as it is</code><br><code>x&#124;y</code> |\n"},
		"a table": {[]block{table{Columns: []reports.Column{{Title: "name"}, {Title: "n", AlignRight: true}},
			Rows: []reports.Row{cells("a", "1", "more"), cells("b")}, Note: w("a note")}},
			"| name | n |  |\n|---|--:|---|\n| a | 1 | more |\n| b |  |  |\n\na note\n"},
		"details are in a column of their own": {[]block{table{Rows: []reports.Row{
			{Cells: []reports.Text{w("a")}, Detail: []reports.Text{w("b"), w("c")}}, cells("d")}}},
			"|  |  |\n|---|---|\n| a | b<br>c |\n| d |  |\n"},
		"a table without columns": {[]block{table{Rows: []reports.Row{{}}}}, ""},
		"a script":                {[]block{code("a <b>", "\x1b[2J")}, "```text\na <b>\n\\x1b[2J\n```\n"},
		"a script with a fence":   {[]block{code("````")}, "`````text\n````\n`````\n"},
		"a conversation": {[]block{reports.Transcript{Title: "said", Entries: []reports.Entry{
			{Line: reports.Line{Conn: "c", From: reports.FromServer, Text: "+OK"}}}}},
			"```text\nsaid\n      0.000 s  c  S:  +OK\n```\n"},
		"the outcome is first": {[]block{prose(w("a")), reports.Conclusion{Facts: "took 1 s", Words: w("all well")}},
			"**all well**\n\ntook 1 s\n\na\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, asMarkdown(MarkdownOptions{}, test.blocks...))
		})
	}
}

// Nothing that a server said can become a link, an image, HTML, a mention, a list or an emoji.
func TestMarkdownIsEscaped(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"<b>&":         "&#60;b&#62;&#38;",
		"![x](y)":      "\\!\\[x\\](y)",
		"*a* _b_ `c`":  "\\*a\\* \\_b\\_ \\`c\\`",
		"# a":          "\\# a",
		"- a":          "\\- a",
		"1. a":         "1\\. a",
		"a 1. b":       "a 1. b",
		"12) a":        "12\\) a",
		"@octocat":     "@<!-- -->octocat",
		"see #12":      "see #<!-- -->12",
		"http://x":     "http:<!-- -->//x",
		"at 10:30":     "at 10:30",
		"WWW.x.org":    "WWW.<!-- -->x.org",
		"a|b":          "a\\|b",
		"\x1b[2J":      "\\\\x1b\\[2J",
		"  indented":   "indented",
		"it costs $1^": "it costs \\$1\\^",
	} {
		assert.Equal(t, want+"\n", asMarkdown(MarkdownOptions{}, prose(reports.PlainText(words))), words)
	}
}

// What is too long for its place is cut at a section, and a place without room has nothing.
func TestMarkdownIsCutAtASection(t *testing.T) {
	t.Parallel()
	var blocks []block
	for _, name := range []string{"one", "two", "three"} {
		blocks = append(blocks, heading(1, reports.PlainText(name)), prose(reports.PlainText(strings.Repeat(name+" ", 20))))
	}
	full := asMarkdown(MarkdownOptions{Title: "a run"}, blocks...)
	assert.True(t, strings.HasPrefix(full, "## a run\n\n### one\n"))
	assert.Equal(t, full, asMarkdown(MarkdownOptions{Title: "a run", MaxBytes: 2 * len(full)}, blocks...))
	short := asMarkdown(MarkdownOptions{Title: "a run", MaxBytes: 300}, blocks...)
	assert.LessOrEqual(t, len(short), 300)
	assert.Contains(t, short, "### two")
	assert.NotContains(t, short, "### three")
	assert.True(t, strings.HasSuffix(short, "\nThe rest of the report is left out, because it is too long.\n"))
	assert.Empty(t, asMarkdown(MarkdownOptions{MaxBytes: 10}, blocks...))
}

// The pages of saved results as Markdown.
func TestMarkdownGolden(t *testing.T) {
	t.Parallel()
	exploration := golden.ReadGolden[reports.Exploration](t, "../testdata/exploration.json.golden")
	for i := 2; i < 1234; i++ { // the saved one is shorter
		exploration.LeftoverJobs = append(exploration.LeftoverJobs, fmt.Sprintf("job-%04d", i))
	}
	for name, r := range map[string]interface {
		Page(o reports.PageOptions) reports.Page
	}{
		"rich": savedReport(t, "rich"), "expected": savedReport(t, "expected"),
		"explored": exploration, "compared": golden.ReadGolden[reports.Comparison](t, "../testdata/comparison.json.golden"),
		"unreachable": &reports.Report{
			Target: reports.Target{URL: "tcp://127.0.0.1:1", Chosen: "from --url"},
			Head:   reports.Head{Trouble: reports.Trouble{Unreachable: "dial tcp 127.0.0.1:1: connection refused"}},
		},
	} {
		title := map[string]string{"explored": "fwpcheck explore", "compared": "fwpcheck compare"}[name]
		golden.File(t, "testdata/"+name+".md.golden", Markdown(r.Page(reports.PageOptions{}),
			MarkdownOptions{Title: cmp.Or(title, "fwpcheck run")}))
	}
}

// What a server said stays text: outside of code nothing of it is active.
func TestMarkdownIsTame(t *testing.T) {
	t.Parallel()
	hostile := "\x1b[2J</failure>]]>\n::error::owned\n![x](http://evil.example/) <script>alert(1)</script> @octocat " +
		"#12 \xff\x00\n```\n# TODO"
	r := savedReport(t, "rich")
	r.Target.HI, r.Checks[1].Findings[0].Actual, r.Checks[1].Findings[0].Expected = hostile, hostile, hostile
	r.Checks[4].Clauses[0].Cause = hostile
	prose, fenced := unfenced(string(Markdown(r.Page(reports.PageOptions{}), MarkdownOptions{})))
	prose = regexp.MustCompile(`<code>.*?</code>`).ReplaceAllString(prose, "") // in which GitHub makes no links
	for _, active := range []string{"<script", "![x](", "http://", "@octocat", "#12", "\x1b"} {
		assert.NotContains(t, prose, active)
	}
	assert.NotContains(t, fenced, "\x1b")
}

// unfenced returns Markdown without its blocks of code, and those.
func unfenced(markdown string) (prose, code string) {
	fence := ""
	for line := range strings.Lines(markdown) {
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(strings.TrimSpace(line), "text")
		case fence != "" && strings.TrimSpace(line) == fence:
			fence = ""
		case fence == "":
			prose += line
		default:
			code += line
		}
	}
	return prose, code
}
