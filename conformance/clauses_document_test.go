package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sample = `A Title
-------

# Outer ` + "`CODE`" + `

First sentence, e.g. Heroku,
goes   on. Second (one.) Third! ` + "`four` is fourth.\tand not fifth." + `
- one. still one
- two
  goes on

| a | b |
|---|:--|
| 1 |   |
|2|3

` + "```" + `
x  y

# no heading
` + "```" + `

## Inner

# not alone
text

Plain Heading

1. item

#### Inner

last
`

func TestCut(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range cut(sample) {
		got = append(got, "# "+strings.Join(p.headings, "/"))
		for _, u := range p.units {
			got = append(got, u.String()+" "+u.text)
		}
	}
	want := []string{
		"# ", "# A Title",
		"# Outer CODE",
		"1.1 First sentence, e.g. Heroku, goes on.", "1.2 Second (one.)", "1.3 Third!", "1.4 `four` is fourth. and not fifth.",
		"2.1 one. still one", "2.2 two goes on",
		"3.0 a | b", "3.1 1", "3.2 2 | 3",
		"4.1 x y", "4.2 # no heading",
		"# Outer CODE/Inner", "1.1 # not alone text",
		"# Plain Heading", "1.1 item",
		"# Plain Heading///Inner", "1.1 last",
	}
	assert.Equal(t, want, got)
	for _, same := range []string{strings.ReplaceAll(sample, "\n", "\r\n"), strings.ReplaceAll(sample, " still", "\t  still "), sample + "\n\n"} {
		assert.Equal(t, cut(sample), cut(same), "white space makes no difference")
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	d := cut(sample)
	tests := map[string]struct{ heading, units, want string }{
		"one":            {"Outer CODE", "1.2", "Second (one.)"},
		"some":           {"Outer CODE", "1.2-1.3", "Second (one.)|Third!"},
		"a block":        {"Outer CODE", "2", "one. still one|two goes on"},
		"blocks":         {"Outer CODE", "2.2-3.0", "two goes on|a | b"},
		"whole blocks":   {"Outer CODE", "3-4", "a | b|1|2 | 3|x y|# no heading"},
		"the first":      {"Inner", "1", "# not alone text"},
		"one of several": {"Plain Heading///Inner", "1", "last"},
		"no heading":     {"Out", "1", `no heading "Out"`},
		"no block":       {"Outer CODE", "5", `no units 5 below "Outer CODE"`},
		"no unit":        {"Outer CODE", "1.1-1.5", `no units 1.1-1.5 below "Outer CODE"`},
		"backwards":      {"Outer CODE", "1.3-1.2", `no units 1.3-1.2 below "Outer CODE"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			units, err := d.units(Source{Heading: test.heading, Units: test.units})
			if err != nil {
				require.EqualError(t, err, test.want)
				return
			}
			var texts []string
			for _, u := range units {
				texts = append(texts, u.text)
			}
			require.Equal(t, test.want, strings.Join(texts, "|"))
		})
	}
}

// The value is that of `printf 'Second (one.)\nThird!' | sha256sum`.
func TestHashOf(t *testing.T) {
	t.Parallel()
	units, err := cut(sample).units(Source{Heading: "Outer CODE", Units: "1.2-1.3"})
	require.NoError(t, err)
	assert.Equal(t, "4211a397a914", hashOf(units))
}
