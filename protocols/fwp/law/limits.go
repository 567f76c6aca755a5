package law

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// What every server has to take. (AMB-14)
const (
	usualFetch   = 8     // queues of a FETCH
	longestHold  = 86400 // seconds of a reservation
	usualLine    = 1000  // bytes of a line
	usualNesting = 32    // levels of JSON
	firstYear    = 1970  // of a time
	lastYear     = 2037
)

// IsLong reports whether a server may refuse a line for its length alone. The specification has no limit; what a client
// usually sends is shorter. (AMB-14)
func (l *Line) IsLong() bool { return len(l.Verb)+len(" ")+len(l.Args) > usualLine }

// IsRefusable reports whether a server may refuse a well-formed line for a value that is too large for it (AMB-14): a
// reservation of more than a day, a time far away, many queues of a FETCH, or JSON beyond the limits that RFC 8259
// (section 9) lets a parser set. A FETCH that names a queue twice may be refused too, and JSON in which a member is
// there twice: what that means is not stated. An ACK has only the jid that was accepted.
func (l *Line) IsRefusable() bool {
	switch l.Verb {
	case fwp.ACK:
		return false
	case fwp.FETCH:
		names := Words(string(l.Args))
		n := len(names)
		slices.Sort(names)
		return n > usualFetch || len(slices.Compact(names)) < n
	}
	n, _ := integer(l.Fields["reserve_for"])
	hasDuplicate, isExtreme := l.limits()
	return n > longestHold || hasDuplicate || isExtreme || isRemote(l.Fields["at"]) || isRemote(l.Fields["created_at"])
}

// isRemote reports whether a time is outside the years that a count of seconds in 32 bits has.
func isRemote(value any) bool {
	text, _ := value.(string)
	t, err := number.ParseTime(text)
	return err == nil && (t.UTC().Year() < firstYear || t.UTC().Year() > lastYear)
}

// limits reports whether the JSON of a line has, at any depth, a hash with two members of the same name, and what else
// a parser may refuse: many levels, an integer of more than 64 bits, another number beyond double precision, or the
// character NUL.
func (l *Line) limits() (hasDuplicate, isExtreme bool) {
	value := any(l.Fields)
	if l.Fields == nil { // it is no object, or nothing is known of the verb
		value, _ = number.Decode(l.Args)
	}
	members, isExtreme := countMembers(value, 0)
	return value != nil && members < countWritten(l.Args), isExtreme
}

// countMembers counts the members of all hashes in a value at a depth, and reports whether a parser may refuse it.
func countMembers(value any, depth int) (members int, isExtreme bool) {
	add := func(inner any) {
		n, isInnerExtreme := countMembers(inner, depth+1)
		members, isExtreme = members+n, isExtreme || isInnerExtreme
	}
	switch v := value.(type) {
	case map[string]any:
		members, isExtreme = len(v), depth >= usualNesting
		for name, inner := range v {
			isExtreme = isExtreme || isBeyondParsers(name)
			add(inner)
		}
	case []any:
		isExtreme = depth >= usualNesting
		for _, inner := range v {
			add(inner)
		}
	default:
		isExtreme = isBeyondParsers(value)
	}
	return members, isExtreme
}

// countWritten counts the members of all hashes in a JSON text: those of a name that is there twice are two.
func countWritten(text []byte) (n int) {
	isQuoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			isQuoted = !isQuoted
		case c == '\\' && isQuoted:
			i++
		case c == ':' && !isQuoted:
			n++
		}
	}
	return n
}

// isBeyondParsers reports whether a text or a number is one that a parser may refuse.
func isBeyondParsers(token any) (ok bool) {
	switch value := token.(type) {
	case string:
		return strings.ContainsRune(value, 0)
	case json.Number:
		_, err := value.Float64()
		if !strings.ContainsAny(string(value), ".eE") {
			_, err = strconv.ParseInt(string(value), 10, 64)
		}
		return err != nil
	}
	return false
}
