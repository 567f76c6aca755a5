package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
)

// facets are the words by which rows of a list are picked, and also the patterns that they have to match: one pattern
// at least of each facet that has some.
type facets struct {
	checks, clauses, levels, parties []string
}

// declare makes the flags, as patterns.
func (f *facets) declare(cmd *cobra.Command) {
	for _, flag := range []struct {
		name  string
		into  *[]string
		usage string
		words func() []string
	}{
		{"check", &f.checks, "checks, or their clauses, that match `GLOB`", suiteNames},
		{"clause", &f.clauses, "clauses, or their checks, that match `GLOB`", clauseNames},
		{"level", &f.levels, "a level that matches `GLOB`", levelNames},
		{"party", &f.parties, "clauses that bind `PARTY`: server, client, consumer or producer (S, C, K, P)", allPartyWords},
	} {
		cmd.Flags().StringArrayVar(flag.into, flag.name, nil, flag.usage)
		program.CompleteFlags(cmd, map[string]func() []string{flag.name: flag.words})
	}
}

// and is both facets together.
func (f facets) and(g facets) facets {
	return facets{
		checks: slices.Concat(f.checks, g.checks), clauses: slices.Concat(f.clauses, g.clauses),
		levels: slices.Concat(f.levels, g.levels), parties: slices.Concat(f.parties, g.parties),
	}
}

// named pairs the facets with the names of their flags.
func (f facets) named() map[string][]string {
	return map[string][]string{"check": f.checks, "clause": f.clauses, "level": f.levels, "party": f.parties}
}

// pick returns the rows that meet all facets that have patterns. A pattern that no row matches is an error, and so is
// a choice that leaves nothing: a typo must not look like an answer.
func pick[R interface{ facets() facets }](rows []R, thing string, want facets) ([]R, error) {
	if err := want.check(rowFacets(rows), thing); err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r R) bool {
		words := r.facets().named()
		for name, patterns := range want.named() {
			if len(patterns) > 0 && !matches(patterns, words[name]) {
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

// check looks for patterns that match none of the words.
func (f facets) check(all map[string][]string, thing string) error {
	patterns := f.named()
	for _, name := range []string{"check", "clause", "level", "party"} {
		for _, pattern := range patterns[name] {
			if bad := matchOne(name, pattern, all[name]); bad != nil {
				return badPattern(bad, thing)
			}
		}
	}
	return nil
}

// instead says what may have been meant by a pattern that matches none of the words, or
// where they are shown.
func instead(flag, pattern string, words []string) string {
	if near := text.Candidates(pattern, words); len(near) > 0 && flag != "level" && flag != "party" {
		return text.DidYouMean(near...)
	}
	return map[string]string{
		"check":  "fwpcheck list shows the checks",
		"clause": "fwpcheck list --clauses shows the clauses",
		"fault":  "fwpcheck list --faults shows the faults",
		"level":  "the levels are " + strings.Join(levelNames(), ", "), // they have blanks in them
		"party":  "the parties are server, client, consumer and producer (S, C, K and P)",
	}[flag]
}

func rowFacets[R interface{ facets() facets }](rows []R) map[string][]string {
	all := map[string][]string{}
	for _, r := range rows {
		for name, words := range r.facets().named() {
			all[name] = append(all[name], words...)
		}
	}
	return all
}

// withFolder is what a pattern for checks may match.
func withFolder(check string) []string {
	folder, _, _ := strings.Cut(check, "/")
	return []string{check, folder}
}

// partyWords are the letters of a party, and the words for them.
func partyWords(party string) []string {
	var words []string
	for letter := range strings.SplitSeq(party, ",") {
		words = append(words, letter, strings.TrimSuffix(parties[letter], "s"))
	}
	return words
}

func allPartyWords() []string { return partyWords("S,C,K,P") }
