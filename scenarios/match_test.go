package scenarios

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/session"
)

// compareText parses an expectation and holds a bulk string against it.
func compareText(t *testing.T, expectation, got string, sc *Scope) []string {
	t.Helper()
	choices, err := cursorAt(expectation).choices()
	require.NoError(t, err)
	var texts []string
	for _, d := range choices[0].Compare(session.Received{Message: session.Message{Kind: '$', Text: []byte(got)}}, sc) {
		texts = append(texts, d.String())
	}
	return texts
}

// The object behind a text may have more fields, and exactly its own behind an equals sign.
func TestTheObjectBehindAText(t *testing.T) {
	t.Parallel()
	const text = `HI {"v":2,"s":"x"}`
	for expectation, test := range map[string]struct {
		got  string
		want []Difference
	}{
		`+HI {"v":2}`:        {text, nil},
		`+HI ={"v":2}`:       {text, []Difference{{Path: ".s", Want: "nothing more", Got: `"x"`}}},
		`+HI ={"v":2,"s":$}`: {},
		`+HI = {"v":2}`:      {},
		`+HI =={"v":2}`:      {},
		`+={"state":"quiet"}`: {
			`{"state":"quiet","wid":1}`, []Difference{{Path: ".wid", Want: "nothing more", Got: "1"}},
		},
	} {
		choices, err := cursorAt(expectation).choices()
		if test.got == "" {
			require.Error(t, err, expectation)
			continue
		}
		require.NoError(t, err, expectation)
		got := session.Received{Message: session.Message{Kind: '+', Text: []byte(test.got)}}
		assert.Equal(t, test.want, choices[0].Compare(got, NewScope("test")), expectation)
		assert.Equal(t, expectation, choices[0].String())
	}
	choices, err := cursorAt(`+HI ={"v":2}`).choices()
	require.NoError(t, err)
	assert.Equal(t, `a simple string with HI ={"v":2}`, choices[0].Words())
}

func TestMatchJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		expectation, got string
		want             []string
	}{
		"a subset":           {`${"a":1}`, `{"b":2,"a":1}`, nil},
		"a field is missing": {`${"a":1}`, `{"b":2}`, []string{".a: expected 1, got no such field"}},
		"another value":      {`${"a":{"b":[1,2]}}`, `{"a":{"b":[1,3]}}`, []string{".a.b[1]: expected 2, got 3"}},
		"another type":       {`${"a":{"b":1}}`, `{"a":"b"}`, []string{`.a: expected {"b":1}, got "b"`}},
		"exactly":            {`$={"a":1}`, `{"a":1}`, nil},
		"more than exactly":  {`$={"a":1}`, `{"a":1,"b":2}`, []string{".b: expected nothing more, got 2"}},
		"exactly, further down": {`${"a":={"b":{"c":1}}}`, `{"a":{"b":{"c":1,"d":2}}}`,
			[]string{".a.b.d: expected nothing more, got 2"}},
		"absent":           {`${"a":absent}`, `{"b":1}`, nil},
		"not absent":       {`${"a":absent}`, `{"a":null}`, []string{".a: expected no such field, got null"}},
		"null or absent":   {`${"a":null | absent}`, `{}`, nil},
		"neither":          {`${"a":null | absent}`, `{"a":1}`, []string{".a: expected null | absent, got 1"}},
		"whole numbers":    {`${"n":int}`, `{"n":1.0}`, nil},
		"no whole number":  {`${"n":int}`, `{"n":1.5}`, []string{".n: expected int, got 1.5"}},
		"numbers by value": {`${"n":[1,1.50,100]}`, `{"n":[1.0,1.5,1e2]}`, nil},
		"exact beyond 2^53": {`${"n":9007199254740993}`, `{"n":9007199254740992}`,
			[]string{".n: expected 9007199254740993, got 9007199254740992"}},
		"a number is no text": {`${"n":12}`, `{"n":"12"}`, []string{`.n: expected 12, got "12"`}},
		"an exponent bomb":    {`${"n":1}`, `{"n":1e999999999}`, []string{".n: expected 1, got 1e999999999"}},
		"a range":             {`${"n":int(60..)}`, `{"n":60}`, nil},
		"below the range":     {`${"n":int(60..90)}`, `{"n":59}`, []string{".n: expected int(60..90), got 59"}},
		"a time":              {`${"t":time}`, `{"t":"2026-11-20T05:00:00.123456789+05:30"}`, nil},
		"no RFC 3339 time": {`${"t":time}`, `{"t":"2026-11-20 05:00:00"}`,
			[]string{`.t: expected time, got "2026-11-20 05:00:00"`}},
		"a pattern":      {`${"s":/^a.*z$/}`, `{"s":"a to z"}`, nil},
		"an open array":  {`${"a":[1,...]}`, `{"a":[1,2,3]}`, nil},
		"a closed array": {`${"a":[1]}`, `{"a":[1,2]}`, []string{".a[1]: expected nothing more, got 2"}},
		"a short array":  {`${"a":[1,2,...]}`, `{"a":[1]}`, []string{".a[1]: expected 2, got nothing"}},
		"types": {`${"a":any,"b":bool,"s":string,"l":array,"o":object,"n":number}`,
			`{"a":null,"b":true,"s":"","l":[],"o":{},"n":1.5}`, nil},
		"any is not nothing": {`${"a":any}`, `{}`, []string{".a: expected any, got no such field"}},
		"no JSON": {`${"a":1}`, `{"a":1`,
			[]string{`expected JSON, got not JSON: unexpected EOF: "{\"a\":1"`}},
		"JSON and more": {`${"a":1}`, `{"a":1} x`,
			[]string{`expected JSON, got more text after the JSON value: "{\"a\":1} x"`}},
		"the first match binds": {`${"a":"$x","b":"$x"}`, `{"a":"1","b":"1"}`, nil},
		"and must agree":        {`${"a":$x,"b":[$x]}`, `{"a":1,"b":[2]}`, []string{".b[0]: expected 1 ($x), got 2"}},
		"a capture with a type": {`${"a":$n:int}`, `{"a":"1"}`, []string{`.a: expected $n:int, got "1"`}},
		"a name inside a text":  {`${"a":"$x","b":"<$x>"}`, `{"a":"1","b":"<1>"}`, nil},
		"escapes":               {`${"a":"é\n\"$$x"}`, `{"a":"\u00e9\n\"$x"}`, nil},
		"a bound name in a pattern": {`${"a":"$bound"}`, `{"a":"other"}`,
			[]string{`.a: expected "value" ($bound), got "other"`}},
		"a plain text":       {`$"text"`, `text`, nil},
		"another plain text": {`$"text"`, `Text`, []string{`expected "text", got "Text"`}},
		"a text pattern":     {`$/x+/`, `axxb`, nil},
		"any bulk":           {`$`, ``, nil},
		"alternatives bind":  {`${"a":{"k":"$x"} | "$x","b":"$x"}`, `{"a":"v","b":"v"}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := NewScope("test")
			sc.values["$bound"] = "value"
			assert.Equal(t, test.want, compareText(t, test.expectation, test.got, sc))
		})
	}
}

func TestTimesCompareAsInstants(t *testing.T) {
	t.Parallel()
	sc := NewScope("test")
	sc.values["$now"] = "2026-11-20T05:00:00.500000Z"
	sc.values["$now-1s"] = "2026-11-20T04:59:59.500000Z"
	sc.values["$now+1s"] = "2026-11-20T05:00:01.500000Z"
	tests := map[string]struct {
		expectation, got string
		matches          bool
	}{
		"written in another zone":        {`${"t":"$now"}`, `{"t":"2026-11-20T10:30:00.5+05:30"}`, true},
		"another instant":                {`${"t":"$now"}`, `{"t":"2026-11-20T10:30:00.6+05:30"}`, false},
		"in the range":                   {`${"t":time($now-1s..$now+1s)}`, `{"t":"2026-11-20T05:00:00Z"}`, true},
		"after it":                       {`${"t":time($now-1s..$now+1s)}`, `{"t":"2026-11-20T05:00:01.500001Z"}`, false},
		"before it":                      {`${"t":time($now-1s..)}`, `{"t":"2026-11-20T04:59:59.499999Z"}`, false},
		"in whole seconds, within them":  {`${"t":time($now..)}`, `{"t":"2026-11-20T05:00:00Z"}`, true},
		"in whole seconds, before them":  {`${"t":time($now..)}`, `{"t":"2026-11-20T04:59:59Z"}`, false},
		"in milliseconds, within a unit": {`${"t":time($now..)}`, `{"t":"2026-11-20T05:00:00.500Z"}`, true},
		"without its fraction":           {`${"t":"$now"}`, `{"t":"2026-11-20T05:00:00Z"}`, true},
		"in the second before":           {`${"t":"$now"}`, `{"t":"2026-11-20T04:59:59Z"}`, false},
		"in lower case":                  {`${"t":"$now"}`, `{"t":"2026-11-20t05:00:00.5z"}`, true},
		"in the range, in lower case":    {`${"t":time($now-1s..)}`, `{"t":"2026-11-20t05:00:00z"}`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.matches, compareText(t, test.expectation, test.got, sc) == nil)
		})
	}
}

// Whatever a server sends as JSON, matching it ends, soon and without a panic.
func TestHostileJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"deep arrays":          strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"deeper arrays":        strings.Repeat("[", 1<<20),
		"deep objects":         strings.Repeat(`{"a":`, 2500) + "1" + strings.Repeat("}", 2500),
		"a huge exponent":      `{"a":1e999999999,"jid":1e-999999999}`,
		"a huger one":          `{"a":1e99999999999999999999}`,
		"a million digits":     `{"a":` + strings.Repeat("9", 1<<20) + `}`,
		"invalid UTF-8":        "{\"a\":\"\xff\xfe\",\"\xff\":1}",
		"lone surrogates":      `{"a":"\ud800","jid":"\udfff"}`,
		"the same key again":   `{"a":1,` + strings.Repeat(`"a":2,`, 1<<16) + `"a":3}`,
		"a wide array":         `{"a":[` + strings.Repeat("1,", 1<<14) + `1]}`,
		"null":                 "null",
		"nothing":              "",
		"something behind it":  `{} {}`,
		"an unfinished string": `{"a":"`,
	}
	patterns := []string{
		`${"a":1}`, `$={"a":1}`, `${"a":int(1..9)}`, `${"a":number}`, `${"a":any | absent}`, `${"a":[1,...]}`, `${"a":"$x"}`,
		`${"a":$y:int}`,
		`${"a":=[1,2]}`, `$={"a":any}`, `${"a":time}`, `${"a":/x/}`, `${"a":1.5,"b":{"c":[{"d":1}]}}`, `$[1,...]`, `$=[]`,
	}
	for name, got := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, p := range patterns {
				choices, err := cursorAt(p).choices()
				require.NoError(t, err, p)
				a := session.Received{Message: session.Message{Kind: '$', Text: []byte(got)}}
				for _, d := range choices[0].Compare(a, NewScope("x").ReplyAttempt()) {
					assert.Less(t, len(d.String()), 5000, p)
				}
			}
		})
	}
}

func TestContains(t *testing.T) {
	t.Parallel()
	const failure = `{"f":{"type":"Oops","trace":["line one",{"k":["at line two"]}],"n":3}}`
	tests := map[string]struct {
		expectation, got string
		want             []string
	}{
		"a text":             {`${"f":contains("Oops")}`, failure, nil},
		"a part of a text":   {`${"f":contains("line two")}`, failure, nil},
		"in a string itself": {`${"f":contains("b")}`, `{"f":"abc"}`, nil},
		"several":            {`${"f":contains("Oops", "line one","line two")}`, failure, nil},
		"one is missing": {`${"f":contains("Oops","line three")}`, failure,
			[]string{`.f: expected contains("Oops","line three"), ` +
				`got {"n":3,"trace":["line one",{"k":["at line two"]}],"type":"Oops"}`}},
		"one that must not be there": {`${"f":contains("Oops",!"line three")}`, failure, nil},
		"and is": {`${"f":contains("Oops",!"line two")}`, `{"f":["Oops","line two"]}`,
			[]string{`.f: expected contains("Oops",!"line two"), got ["Oops","line two"]`}},
		"keys do not count": {`${"f":contains(!"trace")}`, failure, nil},
		"nor do numbers":    {`${"f":contains(!"3")}`, failure, nil},
		"no field contains nothing": {`${"f":contains(!"x")}`, `{}`,
			[]string{`.f: expected contains(!"x"), got no such field`}},
		"or no field":           {`${"f":contains(!"x") | absent}`, `{}`, nil},
		"null contains nothing": {`${"f":contains(!"x")}`, `{"f":null}`, nil},
		"a computed text":       {`${"f":contains("$filler(12)",!"$filler(13)")}`, `{"f":"<0123456789ab>"}`, nil},
		"a name":                {`${"a":"$x","f":contains("$x!")}`, `{"a":"hey","f":["hey!"]}`, nil},
		"a name without a value": {`${"f":contains("$y")}`, failure,
			[]string{`.f: expected contains("$y"), got {"n":3,"trace":["line one",{"k":["at line two"]}],"type":"Oops"}`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, compareText(t, test.expectation, test.got, NewScope("test")))
		})
	}
}

func TestContainsProblems(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`${"f":contains}`:          "contains needs texts in parentheses",
		`${"f":contains()}`:        "contains needs at least one text",
		`${"f":contains(!)}`:       `expected a text in double quotes, got ')'`,
		`${"f":contains(12)}`:      `expected a text in double quotes, got '1'`,
		`${"f":contains("a" "b")}`: `expected a comma or ), got '"'`,
		`${"f":contains("a"`:       "this ( is not closed with )",
		`${"f":contains("a",`:      "expected a text in double quotes, got the end of the line",
		`${"f":$x:contains("a")}`:  "expected a type after $x:, such as int or time",
		`${"f":contains("a<|>b")}`: "<|> works only in client lines",
	} {
		_, err := cursorAt(line).choices()
		require.Error(t, err, line)
		assert.Equal(t, want, err.Error(), line)
	}
	_, err := Parse(likeFWP{}, "sent", []byte("connect as producer\nC: PUSH $job{\"args\":[contains(\"a\")]}\n"))
	assert.ErrorContains(t, err, `contains("a") cannot be sent`)
}

// TestNumbersAndWordsEnd holds what the parser takes for a number or a word against regular expressions, which take ten
// times as long.
func TestNumbersAndWordsEnd(t *testing.T) {
	t.Parallel()
	number := regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?`)
	word := regexp.MustCompile(`^\pL+`)
	for _, text := range []string{
		"", "-", "0", "-0", "01", "-01.5", "12", "12.", "12.5", "12.5.", "12..20", "1e", "1e+", "1e+5x", "1E-3,", "1.5e7}",
		"1e5.5", ".5", "+1", "--1", "1 2", "x1", "int", "int(1..2)", "true,", "ünder-", "日本 x", "a1", "_a", "e5",
	} {
		assert.Equal(t, number.FindString(text), text[:numberLength(text)], "%q", text)
		assert.Equal(t, word.FindString(text), text[:letters(text)], "%q", text)
	}
}
