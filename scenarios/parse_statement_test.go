package scenarios

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseWindow(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for text, want := range map[string]Window{
		"":                  {},
		"..2s":              {To: 2 * s},
		"1.5s..":            {From: 1500 * time.Millisecond},
		"1s..1m30s":         {From: s, To: 90 * s},
		"1.5s..2.5s":        {From: 1500 * time.Millisecond, To: 2500 * time.Millisecond},
		"..2s after client": {To: 2 * s, After: "client"},
	} {
		w, err := parseReplyWindow(text, 0)
		require.NoError(t, err, text)
		assert.Equal(t, text, w.written)
		w.written = ""
		assert.Equal(t, want, w, text)
	}
	for text, want := range map[string]string{
		"..":                  `".." is not a valid time window`,
		"2s":                  `"2s" is not a valid time window`,
		"..2":                 `"2" is not a valid duration`,
		"0s..1s":              `"0s" is not a valid duration`,
		"2s..1s":              "the time window ends before it begins",
		"1s..1s":              "the time window ends before it begins",
		"1s..2s after client": `"1s..2s after client" is not a valid time window`,
		"1s.. after client":   `"1s.. after client" is not a valid time window`,
		"..2s after a client": `"..2s after a client" is not a valid time window`,
		"..2s after":          `"..2s after" is not a valid time window`,
	} {
		_, err := parseReplyWindow(text, 0)
		assert.EqualError(t, err, want, text)
	}
}

// parsed returns the steps of a script.
func parsed(t *testing.T, text string) []Step {
	t.Helper()
	s, err := Parse(likeFWP{}, "script", []byte(text))
	require.NoError(t, err)
	return s.Steps
}

func TestMarksGoOnUntilTheNextOnes(t *testing.T) {
	t.Parallel()
	steps := parsed(t, "S: +\nclause A-1 MUST NOT B-2\nC: INFO\nS: +\nsilence 1s\neventually\nS: +\nend\n"+
		"eventually 1s..\nS: +\nend\nrecord C-3 SHOULD\nS: +\nsetup\nS: +\n")
	clause := []ClauseMark{{Clause: "A-1", Level: "MUST NOT"}, {Clause: "B-2"}}
	var got [][]ClauseMark
	for _, s := range steps {
		if marks, ok := marksOf(s); ok {
			got = append(got, marks)
		}
		if b, ok := s.(*Block); ok {
			got = append(got, b.Steps[0].(*Expect).Marks)
		}
	}
	record := []ClauseMark{{Clause: "C-3", Level: "SHOULD", Record: true}}
	assert.Equal(t, [][]ClauseMark{nil, clause, clause, clause, clause, clause, record, nil}, got)
}

func TestFormsOfClientLines(t *testing.T) {
	t.Parallel()
	tests := map[string]Send{
		"C: INFO":              {},
		"C[a]: INFO":           {Conn: "a"},
		"C bad: INFO":          {Bad: true},
		"C bytewise bad: INFO": {Bad: true, Bytewise: true},
		"C raw: \"INFO\"":      {Raw: true},
		"C:  <close> ":         {Ending: Closed},
		"C: <half-close>":      {Ending: HalfClosed},
		"C: <reset>":           {Ending: Reset},
	}
	for line, want := range tests {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			got := *parsed(t, line+"\n")[0].(*Send)
			if want.Ending == Open {
				require.Len(t, got.Segments, 1)
				assert.Equal(t, "INFO", got.Segments[0].String())
			}
			got.Statement, got.Segments, got.quoted = Statement{}, nil, nil
			assert.Equal(t, want, got)
		})
	}
}

func TestFormsOfBlocks(t *testing.T) {
	t.Parallel()
	tests := map[string]Block{
		"repeat 3":                {Count: 3},
		"repeat 3 by 2 consumers": {Count: 3, By: 2, Role: Consumer},
		"repeat 3 by 1 producer":  {Count: 3, By: 1, Role: Producer},
		"repeat 3 by 2 raw":       {Count: 3, By: 2},
		"repeat 3 ..90s":          {Count: 3, Limit: 90 * time.Second},
		"repeat 3 by 2 raw ..1s":  {Count: 3, By: 2, Limit: time.Second},
		"unordered":               {Kind: Unordered},
		"table":                   {Kind: Table},
		"eventually":              {Kind: Eventually},
		"eventually ..2s":         {Kind: Eventually, Window: Window{To: 2 * time.Second, written: "..2s"}},
	}
	for line, want := range tests {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			got := *parsed(t, line+"\nS: +\nend\n")[0].(*Block)
			assert.Len(t, got.Steps, 1)
			got.Statement, got.Steps = Statement{}, nil
			assert.Equal(t, want, got)
		})
	}
}

func TestPlacesCountCharacters(t *testing.T) {
	t.Parallel()
	steps := parsed(t, "  C: é$jid\nsilence 1s on é\n S[a]:   +é\n")
	assert.Equal(t, Pos{Line: 1, Col: 6, Width: 5}, steps[0].Place())
	assert.Equal(t, Pos{Line: 2, Col: 1, Width: 15}, steps[1].Place())
	assert.Equal(t, Pos{Line: 3, Col: 8, Width: 4}, steps[2].Place())
}

// likeFWP is what the tests in the package know of a dialect; protocols/fwp/script, which
// has the real one, imports this one.
type likeFWP struct{ Dialect }

func (likeFWP) Grammar() *Grammar {
	return &Grammar{
		Encoding: "RESP",
		Forms: []Form{
			{Sign: "+", Kind: '+', Value: LineValue, Words: "a simple string"},
			{Sign: "-", Kind: '-', Value: LineValue, Words: "an error", Refusal: true},
			{Sign: "$-1", Kind: '_', Words: "a null bulk string", Short: "null"},
			{Sign: "$", Kind: '$', Value: BlockValue, Words: "a bulk string"},
			{Sign: ":", Kind: ':', Value: NumberValue, Words: "an integer"},
			{Sign: "*", Kind: '*', Value: PartsValue, Words: "an array"},
		},
		Names: Names{Families: []string{"jid", "queue", "wid"}, Client: "wid", Computed: []Computed{
			{Name: "job", Fields: func(bool) []Field { return nil }},
			{Name: "pwdhash", Needs: NeedPassword, Variants: []string{
				"fewer", "more", "hex", "wrong", "shorter", "nopassword", "nosalt", "saltfirst",
				"cut", "half", "long", "first", "last", "upper",
			}},
		}},
		Replies: Replies{MayBeLate: map[string]Wait{"FETCH": {Kind: '_', Minimum: 2 * time.Second}}},
		Timing:  Timing{Delays: []string{"at", "FAIL"}},
	}
}

// cursorAt is a cursor at the beginning of a line.
func cursorAt(line string) *cursor { return &cursor{line: line, grammar: likeFWP{}.Grammar()} }

func TestAProblemShowsItsPlaceHarmlessly(t *testing.T) {
	t.Parallel()
	padding := strings.Repeat("x", 250)
	for _, test := range []struct {
		source     string
		col, width int
		want       string
	}{
		{"S: +OK", 4, 3, "    S: +OK\n       ^^^"},
		{"S:\t+OK", 7, 1, "    S: +OK\n          ^"},
		{"S: \x1b[2J\u202e+OK", 9, 3, "    S: \\x1b[2J\\u202e+OK\n                    ^^^"},
		{padding + "y" + padding, 251, 1, "    …" + padding[:200] + "y" + padding[:200] + "…\n" + strings.Repeat(" ", 205) + "^"},
		{"", 9, 0, "    \n    ^"},
	} {
		p := &Problem{File: "a.fwp", Pos: Pos{Line: 2, Col: test.col, Width: test.width}, Source: test.source, Message: "why"}
		assert.Equal(t, "a.fwp:2:"+strings.TrimPrefix(p.Error(), "a.fwp:2:"), p.Error())
		_, excerpt, _ := strings.Cut(p.Error(), "why\n")
		assert.Equal(t, test.want, excerpt)
	}
}
