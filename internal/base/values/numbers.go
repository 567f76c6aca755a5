package values

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Integers returns the integers from least to most at which peers differ: both ends, those around zero and around each
// power of two and ten, and those that a narrower type would turn into another integer of the range.
func Integers(low, high int64) []Bucket {
	var all []int64
	add := func(n int64) {
		for _, i := range []int64{n - 1, n, n + 1} {
			if i >= low && i <= high {
				all = append(all, i)
			}
		}
	}
	add(0)
	for bits := range 63 {
		add(1 << bits)
		add(-1 << bits)
	}
	for n := int64(10); n < 1e18; n *= 10 {
		add(n)
		add(-n)
	}
	all = append(all, low, high)
	for _, bits := range []int{7, 8, 15, 16, 31, 32, 53} {
		for _, small := range []int64{max(low, 1) + 7, max(low, 1) * 3} {
			if n := int64(1)<<bits + small; n <= high {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	var buckets []Bucket
	for _, n := range slices.Compact(all) {
		text := strconv.FormatInt(n, 10)
		buckets = append(buckets, fixedBucket(text, text))
	}
	return buckets
}

// Numbers returns numbers of every form and size that JSON has.
func Numbers() []Bucket {
	all := Integers(-1<<63, 1<<63-1)
	for _, text := range []string{
		"-0", "0.0", "1.0", "-1.0", "100.00", "0.1", "-0.1", "0.5", "0.30000000000000004", "3.141592653589793",
		"123456789.125", "4503599627370496.5", "1e0", "1e2", "1E2", "1e+2", "1E+02", "100e-2", "1.5e10", "-2.5E-3",
		"1e-7", "1e15", "1e16", "1e21", "1e22", "1e23", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e308",
		"18446744073709551615", "18446744073709551616", "-9223372036854775809", "100000000000000000000", "1e100",
		"0.1234567890123456789", "12345678901234567890.123456789",
	} {
		all = append(all, fixedBucket(text, text))
	}
	for _, digits := range []int{5, 9, 12, 16, 18} {
		all = append(all, Bucket{fmt.Sprintf("any of %d digits", digits), func(r *rand.Rand) string {
			low := int64(math.Pow10(digits - 1))
			return strconv.FormatInt(low+r.Int64N(9*low), 10)
		}})
	}
	return all
}
