package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
)

// facets are the words by which the rows of a list are selected, or patterns for them, by the name of the flag.
type facets map[string][]string

// facetFlags are the flags that take patterns.
var facetFlags = []struct {
	name, usage string
	words       func() []string
}{
	{"check", "checks, or their clauses, that match `GLOB`", suiteNames},
	{"clause", "clauses, or their checks, that match `GLOB`", clauseNames},
	{"level", "a level that matches `GLOB`", levelNames},
	{"party", "clauses that bind `PARTY`: server, client, consumer or producer (S, C, K, P)", allPartyWords},
}

// declareFacets adds the flags to a command.
func declareFacets(cmd *cobra.Command) {
	for _, flag := range facetFlags {
		cmd.Flags().StringArray(flag.name, nil, flag.usage)
		program.CompleteFlags(cmd, map[string]func() []string{flag.name: flag.words})
	}
}

// facetsGiven returns the patterns that were given.
func facetsGiven(cmd *cobra.Command) facets {
	want := facets{}
	for _, flag := range facetFlags {
		want[flag.name], _ = cmd.Flags().GetStringArray(flag.name) // it is one
	}
	return want
}

// add adds the words of other.
func (f facets) add(other facets) {
	for name, words := range other {
		f[name] = append(f[name], words...)
	}
}

// pick returns the rows that match one of the patterns of each flag that has some. A pattern that matches no row is an
// error, and so are patterns that leave nothing: a typo must not look like an answer.
func (f facets) pick(rows []row, thing string) ([]row, error) {
	all := facets{}
	for _, r := range rows {
		all.add(r.facets)
	}
	for _, flag := range facetFlags {
		for _, pattern := range f[flag.name] {
			if bad := matchOne(flag.name, pattern, all[flag.name]); bad != nil {
				return nil, badPattern(bad, thing)
			}
		}
	}
	rows = slices.DeleteFunc(rows, func(r row) bool {
		for name, patterns := range f {
			if len(patterns) > 0 && !matches(patterns, r.facets[name]) {
				return true
			}
		}
		return false
	})
	if len(rows) == 0 {
		return nil, fmt.Errorf("no %s matches all of the flags, although each flag matches some", thing)
	}
	return rows, nil
}

// instead returns what to write instead of a pattern that matches none of the words.
func instead(flag, pattern string, words []string) string {
	if near := text.Candidates(pattern, words); len(near) > 0 && flag != "level" && flag != "party" {
		return text.DidYouMean(near...)
	}
	return map[string]string{
		"check":  "fwpcheck list shows the checks",
		"clause": "fwpcheck list --clauses shows the clauses",
		"fault":  "fwpcheck list --faults shows the faults",
		"level":  "the levels are " + strings.Join(levelNames(), ", "), // names with blanks, such as MUST NOT
		"party":  "the parties are server, client, consumer and producer (S, C, K and P)",
	}[flag]
}

// partyWords returns the letters of a party, and the words for them.
func partyWords(party string) []string {
	var words []string
	for letter := range strings.SplitSeq(party, ",") {
		words = append(words, letter, strings.TrimSuffix(parties[letter], "s"))
	}
	return words
}

func allPartyWords() []string { return partyWords("S,C,K,P") }
