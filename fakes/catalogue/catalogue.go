package catalogue

import (
	"cmp"
	"slices"

	"github.com/fwpsuite/fwp/internal/base/allow"
)

// Bug is a way in which a server breaks its specification. E is the event that its hook sees.
type Bug[E any] struct {
	// Name is a slug that never changes.
	Name string

	// Clauses may fail because of it; the first one fails whenever a check examines it. No other clause may fail.
	Clauses []string

	// Summary describes the server's behaviour in one sentence.
	Summary string

	// Hook returns the hook of the bug. Every server needs one of its own, since some have state; the catalogue itself
	// can be shared.
	Hook func() func(*E)
}

// SortBugs returns the bugs of several lists, sorted by name.
func SortBugs[E any](lists ...[]Bug[E]) []Bug[E] {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b Bug[E]) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Variation is a way in which a server differs from others and conforms. C is the configuration of such a server.
type Variation[C any] struct {
	// Name is a slug that never changes.
	Name string

	// Summary describes the server's behaviour in one sentence.
	Summary string

	// Reading is what allows it: a section of the specification, or the number of a clause or of an ambiguity in the list
	// of clauses.
	Reading string

	// Allows is what checks may find on a server like this one, or leave open. Usually there is nothing.
	Allows []allow.Row

	// Configure adds the variation to a configuration; a hook that is set already is called first. Every server needs a
	// call of its own, since some variations have state; the catalogue itself can be shared.
	Configure func(*C)
}

// SortVariations returns the variations of several lists, sorted by name.
func SortVariations[C any](lists ...[]Variation[C]) []Variation[C] {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b Variation[C]) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
