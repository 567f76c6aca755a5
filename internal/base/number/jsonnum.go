package number

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Rational returns the value of n. It returns false if n is not a number, and for more
// than 5000 digits or a greater exponent, which would take too much memory and time.
func Rational(n json.Number) (*big.Rat, bool) {
	const limit = 5000
	if len(n) > limit {
		return nil, false
	}
	if i := strings.IndexAny(n.String(), "eE"); i >= 0 {
		if e, err := strconv.Atoi(n.String()[i+1:]); err != nil || e > limit || e < -limit {
			return nil, false
		}
	}
	return new(big.Rat).SetString(n.String())
}

// Equal reports whether two numbers have the same value: 1 and 1.0 are equal,
// 9007199254740993 and 9007199254740992 are not. Numbers without a value that
// [Rational] returns are equal if they are written alike.
func Equal(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okA := Rational(a)
	y, okB := Rational(b)
	return okA && okB && x.Cmp(y) == 0
}

// EqualValues reports whether two values of JSON are the same, their numbers, which are json.Number, as same has it:
// [Equal], or a function with more leniency.
func EqualValues(a, b any, same func(a, b json.Number) bool) bool {
	values := func(a, b any) bool { return EqualValues(a, b, same) }
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		return ok && same(a, n)
	case []any:
		list, ok := b.([]any)
		return ok && slices.EqualFunc(a, list, values)
	case map[string]any:
		object, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, object, values)
	}
	return a == b
}

// IsInt reports whether the value of n is an integer: 1e3 and 1.0 are.
func IsInt(n json.Number) bool {
	x, ok := Rational(n)
	return ok && x.IsInt()
}

// Exceeds reports whether text may be JSON, behind a word, of more than most values, which would take much memory and
// time to decode. It allocates nothing and takes linear time; other text counts as JSON with its punctuation.
func Exceeds(text []byte, limit int) bool {
	if len(text) <= limit { // a value has at least one byte
		return false
	}
	isQuoted := false
	for i := 0; i < len(text) && limit > 0; i++ {
		switch c := text[i]; {
		case c == '"':
			isQuoted = !isQuoted
		case c == '\\' && isQuoted:
			i++
		case !isQuoted && (c == ',' || c == ':' || c == '[' || c == '{'):
			limit--
		}
	}
	return limit == 0
}

// Decode returns the one JSON value in b, with its numbers as they are written. It is an
// error if more than white space follows.
func Decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text after the JSON value")
	}
	return v, nil
}

// Object returns the fields of the one JSON object in b, as Decode reads them; nil if b holds anything else.
func Object(b []byte) map[string]any {
	if !bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) { // as most replies are
		return nil
	}
	v, _ := Decode(b)
	fields, _ := v.(map[string]any)
	return fields
}
