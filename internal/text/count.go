package text

import (
	"regexp"
	"strconv"
)

// Count returns a number and a thing: "1 check", "2 checks", "8,300 replies".
func Count[N ~int | ~int64](n N, thing string) string {
	if n != 1 {
		thing = Plural(thing)
	}
	return Grouped(n) + " " + thing
}

var (
	endsInY    = regexp.MustCompile(`[^aeiou]y$`)
	endsInHiss = regexp.MustCompile(`(?i)(ch|sh|s|x)$`)
)

// Plural returns the regular plural of a noun: "checks", "replies", "FETCHes".
func Plural(thing string) string {
	switch {
	case endsInY.MatchString(thing):
		return thing[:len(thing)-1] + "ies"
	case endsInHiss.MatchString(thing):
		return thing + "es"
	}
	return thing + "s"
}

// Grouped returns n with commas between the thousands: "8,300".
func Grouped[N ~int | ~int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
