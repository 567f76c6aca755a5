package scenarios

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// matches says whether got is of the type and in the range.
func (k kind) matches(got any, sc *scope) bool {
	switch k.word {
	case "any":
		return got != missing{}
	case "string":
		_, ok := got.(string)
		return ok
	case "bool":
		_, ok := got.(bool)
		return ok
	case "array":
		_, ok := got.([]any)
		return ok
	case "object":
		_, ok := got.(map[string]any)
		return ok
	case "time":
		return k.matchesTime(got, sc)
	}
	number, ok := got.(json.Number)
	if !ok {
		return false
	}
	value, ok := exactly(number)
	return ok && (k.word == "number" || value.IsInt()) && within(value, k.lo, k.hi)
}

func within(v *big.Rat, lo, hi *bound) bool {
	if lo != nil {
		if limit, ok := exactly(lo.number); ok && v.Cmp(limit) < 0 {
			return false
		}
	}
	if hi != nil {
		if limit, ok := exactly(hi.number); ok && v.Cmp(limit) > 0 {
			return false
		}
	}
	return true
}

func (k kind) matchesTime(got any, sc *scope) bool {
	s, ok := got.(string)
	if !ok {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return false
	}
	lo, hasLo := sc.instant(k.lo)
	hi, hasHi := sc.instant(k.hi)
	return (!hasLo || t.Add(resolution(s)).After(lo)) && (!hasHi || !t.After(hi))
}

// resolution is the unit in which a time is written: a server that leaves out
// fractions of a second means any moment within it.
func resolution(s string) time.Duration {
	unit := time.Second
	if _, fraction, ok := strings.Cut(s, "."); ok {
		for i := 0; i < len(fraction) && fraction[i] >= '0' && fraction[i] <= '9' && unit > 1; i++ {
			unit /= 10
		}
	}
	return unit
}

// sameInstant compares the texts of times that the suite made: a server may
// write an instant in another way.
func sameInstant(r *ref, a, b string) bool {
	if r == nil || r.kind != refNow {
		return false
	}
	x, errA := time.Parse(time.RFC3339Nano, a)
	y, errB := time.Parse(time.RFC3339Nano, b)
	return errA == nil && errB == nil && x.Equal(y)
}

// sameNumber compares by value, exactly: 1 and 1.0 are equal,
// 9007199254740993 and 9007199254740992 are not.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okA := exactly(a)
	y, okB := exactly(b)
	return okA && okB && x.Cmp(y) == 0
}

// exactly is the value of n; false for digits and exponents that would need more
// memory and time than a number is worth.
func exactly(n json.Number) (*big.Rat, bool) {
	const most = 5000
	if len(n) > most {
		return nil, false
	}
	if i := strings.IndexAny(n.String(), "eE"); i >= 0 {
		if e, err := strconv.Atoi(n.String()[i+1:]); err != nil || e > most || e < -most {
			return nil, false
		}
	}
	return new(big.Rat).SetString(n.String())
}
