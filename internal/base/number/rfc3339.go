package number

import (
	"fmt"
	"strings"
	"time"
)

// ParseTime returns the time that s stands for, or an error if s is no date-time of RFC 3339. A leap second is none
// here.
func ParseTime(s string) (time.Time, error) {
	upper := strings.ToUpper(s)
	if !hasShape(upper) {
		return time.Time{}, fmt.Errorf("%q is not a time as in RFC 3339, such as 2006-01-02T15:04:05Z", s)
	}
	return time.Parse(time.RFC3339, upper)
}

// hasShape reports whether s has the form of a date-time: which numbers are too great is for time.Parse, but for the
// offset.
func hasShape(s string) bool {
	const local = "0000-00-00T00:00:00"
	if len(s) < len(local) || !like(s[:len(local)], local) {
		return false
	}
	zone := s[len(local):]
	if fraction, ok := strings.CutPrefix(zone, "."); ok {
		zone = strings.TrimLeft(fraction, "0123456789")
		if len(zone) == len(fraction) {
			return false
		}
	}
	return zone == "Z" || (like(zone, "+00:00") || like(zone, "-00:00")) && zone[1:3] < "24" && zone[4:] < "60"
}

// like reports whether s is the form but for its digits.
func like(s, form string) bool {
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		if form[i] == '0' && (s[i] < '0' || s[i] > '9') || form[i] != '0' && s[i] != form[i] {
			return false
		}
	}
	return true
}
