package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// docs/clauses.md is written from the catalogue and the scripts: go test ./protocols/fwp/suite -run Document -update
func TestClausesDocument(t *testing.T) {
	t.Parallel()
	golden.Document(t, "../../../docs/clauses.md", clausesDocument(t),
		"go test ./protocols/fwp/suite -run Document -update")
}

func clausesDocument(t *testing.T) string {
	t.Helper()
	by := deciders(t)
	var b strings.Builder
	clauses := Clauses()
	server := len(slices.DeleteFunc(slices.Clone(clauses), func(c conformance.Clause) bool { return !c.BindsServer() }))
	client := len(slices.DeleteFunc(slices.Clone(clauses), func(c conformance.Clause) bool { return !c.BindsClient() }))
	fmt.Fprintf(&b, `# The clauses

Written by `+"`go test ./protocols/fwp/suite -run Document -update`"+`; do not edit. A clause is a numbered requirement of
the specification: %d of them, of which %d bind servers and %d clients.
`+"`fwpcheck explain ID`"+` tells more about each: where exactly it is stated, and which planted bugs its checks catch.

Party: S binds a server, C any client, K a consumer, P a producer. Levels, from MUST to note, are described in
[verdicts.md](verdicts.md). A reading outranks its statement. A check is the script of that name below
`+"`protocols/fwp/script/scripts`"+`. A rule is the breach that protocols/fwp/clientrules finds in what clients send
([how to fix workers](how-to-fix-workers.md)).
`, len(clauses), server, client)
	files, err := clauseFiles.ReadDir(".")
	require.NoError(t, err)
	for _, file := range files {
		text, err := clauseFiles.ReadFile(file.Name())
		require.NoError(t, err)
		part := conformance.Catalogue(fstest.MapFS{file.Name(): {Data: text}}, documents)
		title, _, ok := strings.Cut(strings.TrimPrefix(string(text), "# "), ". ")
		require.True(t, ok, "%s begins with a comment whose first sentence is its title", file.Name())
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		b.WriteString("| id | party | level | statement | reading | checks | rules | source |\n")
		b.WriteString("|---|---|---|---|---|---|---|---|\n")
		for _, c := range part {
			row := []string{
				c.ID, c.Party, string(c.Level), c.Statement, documentedReading(c), documentedChecks(c, by[c.ID]),
				documentedRules(c), c.Section,
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
	}
	return b.String()
}

func documentedReading(c conformance.Clause) string {
	if c.Recorded {
		return strings.TrimSpace("*Recorded only.* " + c.Reading)
	}
	return c.Reading
}

func documentedChecks(c conformance.Clause, checks []string) string {
	switch {
	case c.ExclusionReason != "":
		return "*Excluded.* " + c.ExclusionReason
	case !c.BindsServer():
		return ""
	case len(checks) == 0:
		return "**none yet**"
	}
	return strings.Join(checks, ", ")
}

// documentedRules lists the breaches that protocols/fwp/clientrules finds of a clause, or why there are none.
func documentedRules(c conformance.Clause) string {
	rules := ClientBreaches(c.ID)
	switch {
	case c.UnwatchedReason != "":
		return "*None.* " + c.UnwatchedReason
	case c.BindsClient() && len(rules) == 0:
		return "**none yet**"
	}
	return strings.Join(rules, ", ")
}
