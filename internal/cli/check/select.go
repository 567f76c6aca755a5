package check

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/fwpsuite/fwp/conformance"
)

// badSelection returns an error about a selection from these checks in the words of the command line.
func badSelection(err error, checks []conformance.Check) error {
	if errors.Is(err, conformance.ErrAllSlow) {
		return fmt.Errorf("--quick: %w", err)
	}
	if e, ok := errors.AsType[*conformance.SelectionError](err); ok {
		if e.Why == "" && e.Part == "check" {
			e.Why = instead("check", e.Pattern, namesOf(checks))
		}
		return badPattern(e, "check")
	}
	return err
}

// badPattern returns an error about the pattern of a flag.
func badPattern(e *conformance.SelectionError, thing string) error {
	switch {
	case e.Err != nil:
		return fmt.Errorf("--%s %s: not a pattern: %w", e.Part, e.Pattern, e.Err)
	case e.Why != "":
		return fmt.Errorf("--%s %s matches no %s; %s", e.Part, e.Pattern, thing, e.Why)
	}
	return fmt.Errorf("--%s %s matches no %s", e.Part, e.Pattern, thing)
}

// matchOne returns an error if the pattern of a flag is malformed or matches none of the words.
func matchOne(flag, pattern string, words []string) *conformance.SelectionError {
	_, err := path.Match(pattern, "")
	if err == nil && matches([]string{pattern}, words) {
		return nil
	}
	return &conformance.SelectionError{Part: flag, Pattern: pattern, Err: err, Why: instead(flag, pattern, words)}
}

func matches(patterns, words []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return conformance.Match(pattern, word) })
	})
}
