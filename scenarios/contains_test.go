package scenarios

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
			assert.Equal(t, test.want, compareText(t, test.expectation, test.got, newScope("test")))
		})
	}
}

func TestContainsProblems(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`${"f":contains}`:          "contains needs texts in brackets",
		`${"f":contains()}`:        "contains needs at least one text",
		`${"f":contains(!)}`:       `expected a text in double quotes, got ')'`,
		`${"f":contains(12)}`:      `expected a text in double quotes, got '1'`,
		`${"f":contains("a" "b")}`: `expected a comma or ), got '"'`,
		`${"f":contains("a"`:       "this ( is never closed with )",
		`${"f":contains("a",`:      "expected a text in double quotes, got the end of the line",
		`${"f":$x:contains("a")}`:  "expected a type after $x:, such as int or time",
		`${"f":contains("a<|>b")}`: "<|> cuts client lines only",
	} {
		_, err := cursorAt(line).choices()
		require.Error(t, err, line)
		assert.Equal(t, want, err.Error(), line)
	}
	_, err := Parse(likeFWP{}, "sent", []byte("connect as producer\nC: PUSH $job{\"args\":[contains(\"a\")]}\n"))
	assert.ErrorContains(t, err, `contains("a") cannot be sent`)
}
