package scenarios

import (
	"encoding/json"
	"math/big"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/number"
)

// simpleKinds are the types without a range: what is of the type, and a value of it.
var simpleKinds = map[string]struct {
	isSet  func(got any) bool
	sample any
}{
	"any":    {func(got any) bool { return got != missing{} }, nil},
	"string": {isType[string], "text"},
	"bool":   {isType[bool], true},
	"array":  {isType[[]any], []any{}},
	"object": {isType[map[string]any], map[string]any{}},
}

func isType[T any](got any) bool {
	_, ok := got.(T)
	return ok
}

// matches reports whether got is of the type and in the range.
func (k kind) matches(got any, sc *Scope) bool {
	if simple, ok := simpleKinds[k.word]; ok {
		return simple.isSet(got)
	}
	if k.word == "time" {
		return k.matchesTime(got, sc)
	}
	n, ok := got.(json.Number)
	if !ok {
		return false
	}
	value, ok := number.Rational(n)
	return ok && (k.word == "number" || value.IsInt()) && isInRange(value, k.lo, k.hi)
}

func isInRange(v *big.Rat, lo, hi *bound) bool {
	if lo != nil {
		if limit, ok := number.Rational(lo.number); ok && v.Cmp(limit) < 0 {
			return false
		}
	}
	if hi != nil {
		if limit, ok := number.Rational(hi.number); ok && v.Cmp(limit) > 0 {
			return false
		}
	}
	return true
}

func (k kind) matchesTime(got any, sc *Scope) bool {
	s, ok := got.(string)
	if !ok {
		return false
	}
	t, err := number.ParseTime(s)
	if err != nil {
		return false
	}
	lo, hasLo := sc.instant(k.lo)
	hi, hasHi := sc.instant(k.hi)
	return (!hasLo || t.Add(resolution(s)).After(lo)) && (!hasHi || !t.After(hi))
}

// resolution returns the unit in which a time is written: a time without fractions of a
// second stands for any moment within that second.
func resolution(s string) time.Duration {
	unit := time.Second
	if _, fraction, ok := strings.Cut(s, "."); ok {
		for i := 0; i < len(fraction) && fraction[i] >= '0' && fraction[i] <= '9' && unit > 1; i++ {
			unit /= 10
		}
	}
	return unit
}

// isSameInstant compares a time of the server with one that the engine made: a server may write an instant in another
// way, and in fewer digits.
func isSameInstant(r *ref, got, want string) bool {
	if r == nil || r.kind != refNow {
		return false
	}
	x, errGot := number.ParseTime(got)
	y, errWant := number.ParseTime(want)
	return errGot == nil && errWant == nil && x.Sub(y).Abs() < resolution(got)
}

// asNumber returns the text of a part as a number where the type asks for one and it is one, else as it is.
func (k *kind) asNumber(text []byte) any {
	if k != nil && (k.word == "int" || k.word == "number") && numberLength(string(text)) == len(text) {
		return json.Number(text)
	}
	return string(text)
}
