package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDocsListEveryReason(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "docs", "verdicts.md"))
	require.NoError(t, err)
	for code, words := range reasonWords {
		assert.Contains(t, string(doc), "| `"+string(code)+"` | "+words+" |")
	}
}

// Results with one code are one group, whatever their words; needs are told apart.
func TestOpenResultsAreGroupedByTheirReason(t *testing.T) {
	t.Parallel()
	open := func(check, why string, code ReasonCode) Check {
		v := Inconclusive
		if strings.HasPrefix(string(code), "needs-") {
			v = Skipped
		}
		return Check{ID: check, Verdict: v, Clauses: []ClauseVerdict{
			{ID: "FWP-" + check, Verdict: v, Why: why, Reason: code}}}
	}
	r := &Report{Checks: []Check{
		open("a", "line 4: expected +OK, got -ERR", ReasonSetUp), open("b", "line 9: expected +OK, got -NO", ReasonSetUp),
		open("c", "late by 120 ms", ReasonLag),
		open("d", "needs a password", "needs-password"), open("e", "needs a kill", "needs-kill"),
		open("f", "words alone", ""),
	}}
	var got []string
	for _, g := range r.openGroups() {
		var checks []string
		for _, row := range g.rows {
			checks = append(checks, row.check)
		}
		got = append(got, strings.Join(checks, " ")+": "+g.words())
	}
	want := []string{
		"a b: a line that prepares the check did not match", "c: late by 120 ms", "d: needs a password", "e: needs a kill",
		"f: words alone",
	}
	slices.Sort(got)
	assert.Equal(t, want, got)

	var out bytes.Buffer
	require.NoError(t, r.Page(PageOptions{}).WriteText(&out, TextOptions{}))
	assert.Contains(t, out.String(), "for example a: line 4: expected +OK, got -ERR")
	out.Reset()
	require.NoError(t, r.Page(PageOptions{Verbose: true}).WriteText(&out, TextOptions{}))
	assert.Contains(t, out.String(), "FWP-b: line 9: expected +OK, got -NO")
}
