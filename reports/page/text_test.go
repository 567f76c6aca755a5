package page

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/transcript"
	"github.com/fwpsuite/fwp/reports"
)

// The blocks and texts of the tests, short.
type (
	block = reports.Block
	table = reports.Table
)

var cells = reports.Cells

func heading(level int, t reports.Text) block { return reports.Heading{Level: level, Text: t} }
func prose(lines ...reports.Text) block       { return reports.Prose{Lines: lines} }
func code(lines ...string) block              { return reports.Code{Lines: lines} }

func fields(labelWidth int, f ...reports.Field) block {
	return reports.Fields{LabelWidth: labelWidth, Fields: f}
}

// field is a field of words that are wrapped, and exact one of lines that are not.
func field(label, value string) reports.Field {
	return reports.Field{Label: label, Lines: reports.LinesOf(value), Wrap: true}
}

func exact(label string, lines ...string) reports.Field {
	return reports.Field{Label: label, Lines: reports.TextsOf(lines)}
}

// spans returns a text of a plain part behind a styled one.
func spans(style reports.Style, first, rest string) reports.Text {
	return reports.Text{{Text: first, Style: style}, {Text: rest}}
}

// asText returns a page of these blocks as text of 20 characters a line.
func asText(color bool, blocks ...block) string {
	return string(Text(reports.Page{Blocks: blocks}, TextOptions{Color: color, Width: 20}))
}

// What a report shows of a conversation can be pasted into the tests of a law or a fake.
func TestAConversationIsPrintedAsTestsReadIt(t *testing.T) {
	t.Parallel()
	conversation := reports.Transcript{Entries: []reports.Entry{
		{Line: reports.Line{At: 5 * time.Millisecond, Conn: "worker", From: reports.FromClient, Text: `PUSH {"a":"\\n"}`}},
		{Line: reports.Line{Conn: "a", From: reports.FromSuite, Text: "the server is restarted"}},
		{Line: reports.Line{At: 2 * time.Second, From: reports.FromServer, Text: "+OK"}, Mark: "expected -"},
	}}
	events, err := transcript.Parse(string(Text(reports.Page{Blocks: []block{conversation}}, TextOptions{Width: 100})))
	require.NoError(t, err)
	assert.Equal(t, "0.005 s worker C: PUSH {\"a\":\"\\\\n\"}\n> 2.000 s S: +OK\n", transcript.Text(events))
}

func TestBlocksAsText(t *testing.T) {
	t.Parallel()
	w := reports.PlainText
	finding := heading(2, append(spans(reports.Bad, "fail", "  "),
		reports.StyledText(reports.Strong, "a clause with a name")...))
	tests := map[string]struct {
		blocks []block
		want   string
	}{
		"nothing": {nil, ""},
		"a section": {[]block{heading(1, w("A")), prose(w("words that are wrapped here"), w("b"))},
			"A\n  words that are\n  wrapped here\n  b\n"},
		"headings": {[]block{heading(1, w("A")), finding, heading(3, w("c")), prose(w("d"))},
			"A\n\nfail  a clause with\n      a name\n  c\n    d\n"},
		"lines of prose": {[]block{prose(w("a b\nc")), prose(w("d"))}, "a b\nc\n\nd\n"},
		"words beside a lead": {[]block{prose(spans(reports.Plain, "to fix: ", "do this and also that"))},
			"to fix: do this and\n        also that\n"},
		"a long word": {[]block{prose(w("a " + strings.Repeat("x", 30)))}, "a\n" + strings.Repeat("x", 30) + "\n"},
		"escapes":     {[]block{prose(w("a\x1b[2J")), code("b\a")}, "a\\x1b[2J\n\n  b\\x07\n"},
		"fields": {[]block{fields(3, field("a", "words that are wrapped"), exact("b", "words that are not wrapped", "x"),
			exact("c"))}, "a    words that are\n     wrapped\nb    words that are not wrapped\n     x\n"},
		"fields of a finding": {[]block{finding, fields(0, field("a", "b")), code("c")},
			"fail  a clause with\n      a name\n\n  a  b\n\n    c\n"},
		"a table": {[]block{table{Columns: []reports.Column{{}, {Title: "n", AlignRight: true, Width: 3}, {IsUnit: true}},
			Rows: []reports.Row{cells("ab", "1", "/s", "x"), cells("c", "22")}}}, "      n\nab    1 /s  x\nc    22\n"},
		"columns without a cell": {[]block{table{Rows: []reports.Row{cells("", "a", "", "b"), cells("", "ccc")}}},
			"a    b\nccc\n"},
		"a table that is narrow": {[]block{table{Wrap: true,
			Rows: []reports.Row{cells("ab", "words that are wrapped"), cells("c", "d")}}},
			"ab  words that are\n    wrapped\nc  d\n"},
		"a table without room": {[]block{table{Wrap: true,
			Rows: []reports.Row{cells("a long name of a check", "many words")}}},
			"a long name of a check  many\n                        words\n"},
		"details and a note": {[]block{heading(1, w("A")), table{Note: w("note"),
			Rows: []reports.Row{{Cells: []reports.Text{w("a")}, Detail: []reports.Text{w("b")}}, cells("c")}},
			prose(w("d"))}, "A\n  a\n    b\n  c\n  note\n\n  d\n"},
		"a conclusion": {[]block{heading(1, w("A")), reports.Conclusion{Facts: "took 1 s",
			Words: w("in one line, however long it is")}}, "A\n\ntook 1 s\nin one line, however long it is\n"},
		"a conversation": {[]block{reports.Transcript{Title: "said", Entries: []reports.Entry{
			{Line: reports.Line{Conn: "c", From: reports.FromClient, Text: "INFO"}, Mark: "no reply"},
			{Repeats: 3}, {Omitted: 2}}}},
			"said\n>     0.000 s  c  C:  INFO\n                  ^^  no reply\n  ... 3 more lines like this\n2 lines " +
				"left out; --verbose shows all, and so does JSON\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, asText(false, test.blocks...))
		})
	}
}

// A command is broken before its flags where the lines have to fit, and is as it is where they need not.
func TestCommandsAreBrokenBeforeTheirFlags(t *testing.T) {
	t.Parallel()
	command := fields(0, reports.Field{
		Label: "rerun", Lines: reports.LinesOf("fwpcheck run --url tcp://x:1 --check push/accepted"), IsCommand: true,
	})
	page := reports.Page{Blocks: []block{command}}
	assert.Equal(t, "rerun  fwpcheck run --url tcp://x:1 --check push/accepted\n", string(Text(page, TextOptions{})))
	output := string(Text(page, TextOptions{Width: 40, Fit: true}))
	assert.Greater(t, strings.Count(output, "\n"), 1)
	for line := range strings.Lines(output) {
		assert.LessOrEqual(t, len(line), 41, line)
	}
}

func TestStylesAreColours(t *testing.T) {
	t.Parallel()
	good := reports.Row{Cells: []reports.Text{reports.StyledText(reports.Good, "a"), reports.PlainText("b")}}
	assert.Equal(t, "\x1b[1;31mbad\x1b[0m\n", asText(true, prose(reports.StyledText(reports.Bad, "bad"))))
	assert.Equal(t, "\x1b[32ma\x1b[0m    b\n", asText(true, table{Columns: []reports.Column{{Width: 3}},
		Rows: []reports.Row{good}}))
	assert.Equal(t, "plain\n", asText(true, prose(reports.PlainText("plain"))))
}

// Where the words of a table have to be cut, each row cuts no more than its other cells need.
func TestWordsHaveTheRestOfTheRow(t *testing.T) {
	t.Parallel()
	words := table{Columns: []reports.Column{{}, {IsBrief: true}}, Rows: []reports.Row{
		cells("a", "one two three four five six seven", "b"), cells("c", "one two three four five six seven", "a long one"),
		cells("d", "one", "e"),
	}}
	text := func(width int) string {
		return string(Text(reports.Page{Blocks: []block{words}}, TextOptions{Width: width}))
	}
	assert.Equal(t, ""+
		"a  one two three four five six seven  b\n"+
		"c  one two three four …      a long one\n"+
		"d  one                                e\n", text(39))
	assert.Equal(t, ""+
		"a  one two three four five six seven  b\n"+
		"c  one two three four five six seven  a long one\n"+
		"d  one                                e\n", text(60))
}

// savedReport reads the golden file of a report; that of rich has findings of every kind.
func savedReport(t *testing.T, name string) *reports.Report {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + name + ".json.golden")
	require.NoError(t, err)
	r, err := reports.ReadJSON(data)
	require.NoError(t, err)
	return r
}

// The page of a report that was saved is that of the report that was written, in text and in colour.
func TestASavedReportAsText(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../testdata/rich.txt.golden")
	require.NoError(t, err)
	page := savedReport(t, "rich").Page(reports.PageOptions{})
	assert.Equal(t, string(want), string(Text(page, TextOptions{})))
	coloured := string(Text(page, TextOptions{Color: true}))
	assert.NotEqual(t, string(want), coloured)
	for _, attribute := range append(colors[1:], "0") {
		coloured = strings.ReplaceAll(coloured, "\x1b["+attribute+"m", "")
	}
	assert.Equal(t, string(want), coloured)
}

// On a terminal no line is longer than it is wide, but for words that cannot be broken.
func TestLinesFit(t *testing.T) {
	t.Parallel()
	page := savedReport(t, "rich").Page(reports.PageOptions{Verbose: true})
	for _, width := range []int{20, 40, 72} {
		out := string(Text(page, TextOptions{Width: width, Fit: true}))
		for line := range strings.Lines(out) {
			assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), width, line)
			assert.Equal(t, strings.TrimRight(line, " \n")+"\n", line)
		}
	}
}
