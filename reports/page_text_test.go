package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asText returns a page of these blocks as text of 20 characters a line.
func asText(t *testing.T, color bool, blocks ...Block) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, Page{blocks}.WriteText(&out, TextOptions{Color: color, Width: 20}))
	return out.String()
}

func TestBlocksAsText(t *testing.T) {
	t.Parallel()
	heading := Heading{2, Text{{"fail", Bad}, {"  ", Plain}, {"a clause with a name", Strong}}}
	tests := map[string]struct {
		blocks []Block
		want   string
	}{
		"nothing": {nil, ""},
		"a section": {[]Block{Heading{1, Words("A")},
			Prose{[]Text{Words("words that are wrapped here"), Words("b")}}}, "A\n  words that are\n  wrapped here\n  b\n"},
		"headings": {[]Block{Heading{1, Words("A")}, heading, Heading{3, Words("c")},
			Prose{[]Text{Words("d")}}}, "A\n\nfail  a clause with\n      a name\n  c\n    d\n"},
		"lines of prose": {[]Block{Prose{[]Text{Words("a b\nc")}}, Prose{[]Text{Words("d")}}}, "a b\nc\n\nd\n"},
		"words beside a lead": {[]Block{Prose{[]Text{{{"to fix: ", Plain}, {"do this and also that", Plain}}}}},
			"to fix: do this and\n        also that\n"},
		"a long word": {[]Block{Prose{[]Text{Words("a " + strings.Repeat("x", 30))}}},
			"a\n" + strings.Repeat("x", 30) + "\n"},
		"escapes": {[]Block{Prose{[]Text{Words("a\x1b[2J")}}, Code{[]string{"b\a"}}},
			"a\\x1b[2J\n\n  b\\x07\n"},
		"fields": {[]Block{Fields{3,
			[]Field{field("a", "words that are wrapped"), exact("b", Words("words that are not wrapped"), Words("x")),
				exact("c")}}}, "a    words that are\n     wrapped\nb    words that are not wrapped\n     x\n"},
		"fields of a finding": {[]Block{heading, Fields{0, []Field{field("a", "b")}}, Code{[]string{"c"}}},
			"fail  a clause with\n      a name\n\n  a  b\n\n    c\n"},
		"a table": {[]Block{Table{Columns: []Column{{}, {Title: "n", Right: true, Width: 3}, {Unit: true}},
			Rows: []Row{Cells("ab", "1", "/s", "x"), Cells("c", "22")}}}, "      n\nab    1 /s  x\nc    22\n"},
		"columns without a cell": {[]Block{Table{Rows: []Row{Cells("", "a", "", "b"), Cells("", "ccc")}}}, "a    b\nccc\n"},
		"a table that is narrow": {[]Block{Table{Wrap: true,
			Rows: []Row{Cells("ab", "words that are wrapped"), Cells("c", "d")}}}, "ab  words that are\n    wrapped\nc  d\n"},
		"details and a note": {[]Block{Heading{1, Words("A")},
			Table{Note: Words("note"), Rows: []Row{{Cells: []Text{Words("a")}, Detail: []Text{Words("b")}}, Cells("c")}},
			Prose{[]Text{Words("d")}}}, "A\n  a\n    b\n  c\n  note\n\n  d\n"},
		"a conclusion": {[]Block{Heading{1, Words("A")}, Conclusion{"took 1 s",
			Words("in one line, however long it is")}}, "A\n\ntook 1 s\nin one line, however long it is\n"},
		"a conversation": {[]Block{Transcript{"said",
			[]Entry{{Line: Line{Conn: "c", From: FromClient, Text: "INFO"}, Mark: "no reply"}, {More: 3}, {Omitted: 2}}}},
			"said\n>     0.000 s  c  C:  INFO\n                  ^^  no reply\n  ... 3 more lines like this\n2 lines " +
				"left out; --verbose shows all, and so does JSON\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, asText(t, false, test.blocks...))
		})
	}
}

func TestStylesAreColours(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "\x1b[1;31mbad\x1b[0m\n", asText(t, true, Prose{[]Text{Styled(Bad, "bad")}}))
	assert.Equal(t, "\x1b[32ma\x1b[0m    b\n", asText(t, true,
		Table{Columns: []Column{{Width: 3}}, Rows: []Row{{Cells: []Text{Styled(Good, "a"), Words("b")}}}}))
	assert.Equal(t, "plain\n", asText(t, true, Prose{[]Text{Words("plain")}}))
}

func TestLinesOf(t *testing.T) {
	t.Parallel()
	assert.Empty(t, LinesOf(""))
	assert.Equal(t, []Text{Words("a"), Words(""), Words("b")}, LinesOf("a\r\n\nb\n"))
}

// Where the words of a table have to be cut, each row cuts no more than its other cells need.
func TestWordsHaveTheRestOfTheRow(t *testing.T) {
	t.Parallel()
	table := Table{Columns: []Column{{}, {Brief: true}}, Rows: []Row{
		Cells("a", "one two three four five six seven", "b"), Cells("c", "one two three four five six seven", "a long one"),
		Cells("d", "one", "e"),
	}}
	text := func(width int) string {
		var out strings.Builder
		require.NoError(t, Page{[]Block{table}}.WriteText(&out, TextOptions{Width: width}))
		return out.String()
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
