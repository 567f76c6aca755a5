package cli

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
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
		{"party", &f.parties, "whom a clause binds: server, client, consumer or producer (S, C, K, P)", allPartyWords},
	} {
		cmd.Flags().StringArrayVar(flag.into, flag.name, nil, flag.usage)
		if err := cmd.RegisterFlagCompletionFunc(flag.name, complete(flag.words)); err != nil {
			panic(err) // no such flag
		}
	}
}

// named pairs the facets with the names of their flags.
func (f facets) named() map[string][]string {
	return map[string][]string{"check": f.checks, "clause": f.clauses, "level": f.levels, "party": f.parties}
}

// pick returns the rows that meet all facets that have patterns. A pattern that no row matches is an error, and so is
// a choice that leaves nothing: a typo must not look like an answer.
func pick[R interface{ facets() facets }](rows []R, want facets) ([]R, error) {
	if err := want.check(rowFacets(rows)); err != nil {
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
		return nil, errors.New("there is nothing of this kind: each flag matches something, but nothing matches all of them")
	}
	return rows, nil
}

// check looks for patterns that match none of the words.
func (f facets) check(all map[string][]string) error {
	patterns := f.named()
	for _, name := range []string{"check", "clause", "level", "party"} {
		for _, pattern := range patterns[name] {
			if _, err := path.Match(pattern, ""); err != nil {
				return fmt.Errorf("--%s %s: not a pattern: %w", name, pattern, err)
			}
			if !matches([]string{pattern}, all[name]) {
				return fmt.Errorf("--%s %s matches nothing%s", name, pattern, meant(name, pattern, all[name]))
			}
		}
	}
	return nil
}

// meant helps with a pattern that matches none of the words.
func meant(name, pattern string, words []string) string {
	if name == "level" { // they are few, and have blanks in them
		return "; the levels are " + strings.Join(levelNames(), ", ")
	}
	return didYouMean(nearest(pattern, words))
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

func matches(patterns, words []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			ok, err := path.Match(pattern, word)
			return ok && err == nil
		})
	})
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
