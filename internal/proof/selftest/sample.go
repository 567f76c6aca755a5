package selftest

import (
	"cmp"
	"hash/crc32"
	"slices"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/base/allow"
)

// hash returns a number that depends on two names alone: what is drawn by it stays where others are added.
func hash(name, id string) uint32 { return crc32.ChecksumIEEE([]byte(name + " " + id)) }

// sample returns about one of n checks for what has a name, a bug or a variation, and at least one. Another name, or
// another check, leaves the sample as it is. What the rows of a variation name is always in it: nothing else shows that
// a row allows nothing any more.
func sample(n uint32, name string, checks []conformance.Check, rows ...allow.Row) []conformance.Check {
	return thin(n, checks, func(c conformance.Check) uint32 {
		ids := append(Clauses(c), c.Describe().ID)
		if slices.ContainsFunc(rows, func(row allow.Row) bool {
			return slices.ContainsFunc(row.Places, func(at string) bool { return slices.Contains(ids, at) })
		}) {
			return 0
		}
		return hash(name, c.Describe().ID)
	})
}

// thin returns about one of n of a list, and at least one, by a number of each.
func thin[T any](n uint32, all []T, number func(T) uint32) (result []T) {
	for _, item := range all {
		if number(item)%n == 0 {
			result = append(result, item)
		}
	}
	if len(result) == 0 && len(all) > 0 {
		result = append(result, slices.MinFunc(all, func(a, b T) int { return cmp.Compare(number(a), number(b)) }))
	}
	return result
}
