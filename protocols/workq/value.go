package workq

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// The bounds of numbers. (add; Glossary, Priority)
const (
	MaxTTR      = 86_400_000 // milliseconds
	MinPriority = math.MinInt32
	MaxPriority = math.MaxInt32

	maxUint64 = math.MaxUint64
)

// IsID reports whether word is a UUID in canonical hexadecimal form, in upper or lower case. The specification asks
// for version 4, and its examples have version 1, so IsID accepts every version. (add)
func IsID(word string) bool {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(word) != len(form) {
		return false
	}
	for i := range len(form) {
		if form[i] == '-' && word[i] != '-' || form[i] == 'x' && !isHex(word[i]) {
			return false
		}
	}
	return true
}

func isHex(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// IsName reports whether word is a job name: letters, digits, "_", "-" and ".", at least one. (add)
func IsName(word string) bool {
	for i := range len(word) {
		b := word[i]
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
		if !letter && b != '_' && b != '-' && b != '.' {
			return false
		}
	}
	return word != ""
}

// Number returns the value of an unsigned decimal number. ok is false if word is not one, or is greater than limit.
func Number(word string, limit uint64) (v uint64, ok bool) {
	if word == "" || strings.Trim(word, "0123456789") != "" {
		return 0, false
	}
	v, err := strconv.ParseUint(word, 10, 64)
	return v, err == nil && v <= limit
}

// Time returns the instant of an RFC 3339 time in UTC, such as "2020-02-02T00:00:00Z". ok is false for any other
// form. (schedule)
func Time(word string) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339, word)
	return at, err == nil && strings.HasSuffix(word, "Z")
}
