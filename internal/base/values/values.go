package values

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Bucket is a class of values. Its name is unique in its type, stable, and short enough for a table.
type Bucket struct {
	Name string
	// Make returns a value of the bucket as a JSON text in one line.
	Make func(*rand.Rand) string
}

// Sizes returns the sizes from 0 to most at which peers differ: the smallest, and those around each power of two and
// ten, in ascending order.
func Sizes(limit int) []int {
	all := []int{0, 1, 2, 3}
	for _, base := range []int{2, 10} {
		for n := base * base; n <= limit; n *= base {
			all = append(all, n-1, n, n+1)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(n int) bool { return n > limit })
}

// fixedBucket returns a bucket with one value.
func fixedBucket(name, value string) Bucket {
	return Bucket{name, func(*rand.Rand) string { return value }}
}

// sizedBuckets returns a bucket for each size.
func sizedBuckets(kind string, limit int, value func(r *rand.Rand, n int) string) (all []Bucket) {
	for _, n := range Sizes(limit) {
		all = append(all, Bucket{fmt.Sprintf("%s %d", kind, n), func(r *rand.Rand) string { return value(r, n) }})
	}
	return all
}

// letters returns n letters and digits. A text that was cut, shifted or repeated differs from it.
func letters(r *rand.Rand, n int) string {
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}
