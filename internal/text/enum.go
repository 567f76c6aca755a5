package text

import "fmt"

// Enum has the words for the values of an enumeration. It never changes.
type Enum[T ~uint8] struct {
	what  string
	words map[T]string
}

// NewEnum returns the enumeration of the values that have a word, each value one of its own. What is the kind of the
// values, for messages: "verdict".
func NewEnum[T ~uint8](what string, words map[T]string) Enum[T] { return Enum[T]{what, words} }

// String returns the word for v, or "verdict 99" if there is none.
func (e Enum[T]) String(v T) string {
	if word, is := e.words[v]; is {
		return word
	}
	return fmt.Sprintf("%s %d", e.what, uint8(v))
}

// MarshalText returns the word for v. A value without one is an error.
func (e Enum[T]) MarshalText(v T) ([]byte, error) {
	if _, is := e.words[v]; !is {
		return nil, fmt.Errorf("%s is unknown", e.String(v))
	}
	return []byte(e.words[v]), nil
}

// UnmarshalText sets v to the value of a word. Any other word is an error, and leaves v as it was.
func (e Enum[T]) UnmarshalText(word []byte, v *T) error {
	for value, is := range e.words {
		if is == string(word) {
			*v = value
			return nil
		}
	}
	return fmt.Errorf("%s %q is unknown", e.what, word)
}
