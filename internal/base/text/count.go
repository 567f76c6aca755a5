package text

import (
	"fmt"
	"regexp"
	"strconv"
)

// Count returns a number and a thing: "1 check", "2 checks", "8,300 replies".
func Count[N ~int | ~int64](n N, thing string) string {
	if n != 1 {
		thing = Plural(thing)
	}
	return GroupDigits(n) + " " + thing
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

// GroupDigits returns n with commas between the thousands: "8,300".
func GroupDigits[N ~int | ~int64](n N) string {
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

// Enum has the words for the values of an enumeration. It never changes.
type Enum[T ~uint8] struct {
	kind  string
	words map[T]string
}

// NewEnum returns the enumeration of the values that have a word, each value one of its own. What is the kind of the
// values, for messages: "verdict".
func NewEnum[T ~uint8](kind string, words map[T]string) Enum[T] { return Enum[T]{kind, words} }

// String returns the word for v, or "verdict 99" if there is none.
func (e Enum[T]) String(v T) string {
	if word, ok := e.words[v]; ok {
		return word
	}
	return fmt.Sprintf("%s %d", e.kind, uint8(v))
}

// MarshalText returns the word for v. A value without one is an error.
func (e Enum[T]) MarshalText(v T) ([]byte, error) {
	if _, ok := e.words[v]; !ok {
		return nil, fmt.Errorf("%s is unknown", e.String(v))
	}
	return []byte(e.words[v]), nil
}

// UnmarshalText sets v to the value of a word. Any other word is an error, and leaves v as it was.
func (e Enum[T]) UnmarshalText(word []byte, v *T) error {
	for value, name := range e.words {
		if name == string(word) {
			*v = value
			return nil
		}
	}
	return fmt.Errorf("%s %q is unknown", e.kind, word)
}
