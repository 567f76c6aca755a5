package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHolds(t *testing.T) {
	t.Parallel()
	const failure = `{"f":{"type":"Oops","trace":["line one",{"k":["at line two"]}],"n":3}}`
	tests := map[string]struct {
		expectation, got string
		want             []string
	}{
		"a text":                     {`${"f":holds("Oops")}`, failure, nil},
		"a part of a text":           {`${"f":holds("line two")}`, failure, nil},
		"in a string itself":         {`${"f":holds("b")}`, `{"f":"abc"}`, nil},
		"several":                    {`${"f":holds("Oops", "line one","line two")}`, failure, nil},
		"one is missing":             {`${"f":holds("Oops","line three")}`, failure, []string{`.f: expected holds("Oops","line three"), got {"n":3,"trace":["line one",{"k":["at line two"]}],"type":"Oops"}`}},
		"one that must not be there": {`${"f":holds("Oops",!"line three")}`, failure, nil},
		"and is":                     {`${"f":holds("Oops",!"line two")}`, `{"f":["Oops","line two"]}`, []string{`.f: expected holds("Oops",!"line two"), got ["Oops","line two"]`}},
		"keys do not count":          {`${"f":holds(!"trace")}`, failure, nil},
		"nor do numbers":             {`${"f":holds(!"3")}`, failure, nil},
		"no field holds nothing":     {`${"f":holds(!"x")}`, `{}`, []string{`.f: expected holds(!"x"), got no such field`}},
		"or no field":                {`${"f":holds(!"x") | absent}`, `{}`, nil},
		"null holds nothing":         {`${"f":holds(!"x")}`, `{"f":null}`, nil},
		"a computed text":            {`${"f":holds("$filler(12)",!"$filler(13)")}`, `{"f":"<0123456789ab>"}`, nil},
		"a name":                     {`${"a":"$x","f":holds("$x!")}`, `{"a":"hey","f":["hey!"]}`, nil},
		"a name without a value":     {`${"f":holds("$y")}`, failure, []string{`.f: expected holds("$y"), got {"n":3,"trace":["line one",{"k":["at line two"]}],"type":"Oops"}`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, compareText(t, test.expectation, test.got, newScope("test")))
		})
	}
}

func TestHoldsProblems(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`${"f":holds}`:          "holds needs texts in brackets",
		`${"f":holds()}`:        "holds needs at least one text",
		`${"f":holds(!)}`:       `expected a text in double quotes, got ')'`,
		`${"f":holds(12)}`:      `expected a text in double quotes, got '1'`,
		`${"f":holds("a" "b")}`: `expected a comma or ), got '"'`,
		`${"f":holds("a"`:       "this ( is never closed with )",
		`${"f":holds("a",`:      "expected a text in double quotes, but the line ends",
		`${"f":$x:holds("a")}`:  "after $x: comes a type, such as int or time",
		`${"f":holds("a<|>b")}`: "<|> cuts client lines only",
	} {
		_, err := (&cursor{line: line}).choices()
		require.Error(t, err, line)
		assert.Equal(t, want, err.Error(), line)
	}
	_, err := Parse("sent", []byte("connect as producer\nC: PUSH $job{\"args\":[holds(\"a\")]}\n"))
	assert.ErrorContains(t, err, `holds("a") cannot be sent`)
}
