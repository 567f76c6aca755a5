package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/reports"
)

var documentsOfTest = []Document{
	{Name: "fwp.md", SHA256: "0"}, {Name: "faktory-worker-lifecycle.md", SHA256: "0", Section: "worker guide: "},
	{Name: "RESP"},
}

func TestParseClauses(t *testing.T) {
	t.Parallel()
	text := `# comment

FWP-A-01 | S,P | MUST | pw long | AMB-01, AMB-02
  One
  two.
  reading: Three
  four.
  source: fwp.md#Link Level 1.2
  source: fwp.md#Link Level 1.4-2
  source: faktory-worker-lifecycle.md#Lifecycle 3

FWP-A-02 | S | note | -
  Five.
  recorded: Six.
  excluded: Seven
  eight.
  source: RESP
`
	got, err := parseClauses("x.txt", text, documentsOfTest)
	require.NoError(t, err)
	want := []Clause{
		{ID: "FWP-A-01", Party: "S,P", Level: reports.LevelMust,
			Section: "Link Level; worker guide: Lifecycle", Special: "pw long",
			Ambiguity: "AMB-01, AMB-02", Statement: "One two.", Reading: "Three four.", Sources: []Source{
				{"fwp.md", "Link Level", "1.2"}, {"fwp.md", "Link Level", "1.4-2"},
				{"faktory-worker-lifecycle.md", "Lifecycle", "3"}}},
		{ID: "FWP-A-02", Party: "S", Level: reports.LevelNote, Section: "RESP",
			Statement: "Five.", Reading: "Six.", Recorded: true,
			ExclusionReason: "Seven eight.", Sources: []Source{{Document: "RESP"}}},
	}
	assert.Equal(t, want, got)
	assert.Equal(t, "fwp.md#Link Level 1.4-2", got[0].Sources[1].String())
	assert.Equal(t, "RESP", got[1].Sources[0].String())
	windows, err := parseClauses("x.txt", strings.ReplaceAll(text, "\n", "\r\n"), documentsOfTest)
	require.NoError(t, err)
	assert.Equal(t, want, windows)
}

func TestParseClausesRefuses(t *testing.T) {
	t.Parallel()
	const head = "FWP-A-01 | S | MUST | -\n"
	cases := []struct{ name, in, want string }{
		{"fields", "FWP-A-01 | S | MUST\n", `x.txt:1: want 4 or 5 fields with " | " between them, got 3`},
		{"level", "\nFWP-A-01 | S | must | -\n", `x.txt:2: level "must" is unknown`},
		{"text first", "  Text.\n", `x.txt:1: text without a clause: "  Text."`},
		{"no gap", head + "FWP-A-02 | S | MUST | -\n", `x.txt:2: no empty line before "FWP-A-02 | S | MUST | -"`},
		{"text after a source", head + "  source: RESP\n  More.\n", `x.txt:3: text after a source: "More."`},
		{"no units", head + "  source: fwp.md#Link Level\n",
			`x.txt:2: source "fwp.md#Link Level": want DOCUMENT#HEADING UNITS, or the name of an external document`},
		{"a word behind the units", head + "  source: fwp.md#Link Level 1.1 0123ab\n",
			`x.txt:2: source "fwp.md#Link Level 1.1 0123ab": want DOCUMENT#HEADING UNITS, or the name of an external document`},
		{"document", head + "  source: fwp.txt#Link Level 1.1\n",
			`x.txt:2: source "fwp.txt#Link Level 1.1": there is no document fwp.txt`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parseClauses("x.txt", c.in, documentsOfTest)
			require.EqualError(t, err, c.want)
		})
	}
}
