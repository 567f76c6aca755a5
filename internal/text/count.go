package text

import "strconv"

// Count returns a number and a thing whose plural ends in s: "1 check", "2 checks", "8,300 checks".
func Count[N ~int | ~int64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Grouped(n) + " " + thing
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
