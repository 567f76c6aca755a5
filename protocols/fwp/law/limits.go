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
	fewQueues    = 8     // queues of a FETCH
	longestHold  = 86400 // seconds of a reservation
	usualLine    = 1000  // bytes of a line
	usualNesting = 32    // levels of JSON
	firstYear    = 1970  // of a time
	lastYear     = 2037
)

// Long reports whether a server may refuse a line for its length alone. The specification has no limit; what a client
// usually sends is shorter. (AMB-14)
func (l *Line) Long() bool { return len(l.Verb)+len(" ")+len(l.Args) > usualLine }

// Refusable reports whether a server may refuse a well-formed line for a value that is too large for it (AMB-14): a
// reservation of more than a day, a time far away, many queues of a FETCH, or JSON beyond the limits that RFC 8259
// (section 9) lets a parser set. A FETCH that names a queue twice may be refused too, and JSON in which a member is
// there twice: what that means is not stated. An ACK has only the jid that was accepted.
func (l *Line) Refusable() bool {
	switch l.Verb {
	case fwp.ACK:
		return false
	case fwp.FETCH:
		names := Words(string(l.Args))
		n := len(names)
		slices.Sort(names)
		return n > fewQueues || len(slices.Compact(names)) < n
	}
	n, _ := integer(l.Fields["reserve_for"])
	twice, extreme := l.limits()
	return n > longestHold || twice || extreme || remote(l.Fields["at"]) || remote(l.Fields["created_at"])
}

// remote reports whether a time is outside the years that a count of seconds in 32 bits has.
func remote(value any) bool {
	text, _ := value.(string)
	t, err := number.ParseTime(text)
	return err == nil && (t.UTC().Year() < firstYear || t.UTC().Year() > lastYear)
}

// limits reports whether the JSON of a line has, at any depth, a hash with two members of the same name, and what else
// a parser may refuse: many levels, an integer of more than 64 bits, another number beyond double precision, or the
// character NUL.
func (l *Line) limits() (twice, extreme bool) {
	value := any(l.Fields)
	if l.Fields == nil { // it is no object, or nothing is known of the verb
		value, _ = number.Decode(l.Args)
	}
	members, extreme := weighed(value, 0)
	return value != nil && members < writtenMembers(l.Args), extreme
}

// weighed counts the members of all hashes in a value at a depth, and reports whether a parser may refuse it.
func weighed(value any, depth int) (members int, extreme bool) {
	add := func(inner any) {
		n, is := weighed(inner, depth+1)
		members, extreme = members+n, extreme || is
	}
	switch v := value.(type) {
	case map[string]any:
		members, extreme = len(v), depth >= usualNesting
		for name, inner := range v {
			extreme = extreme || beyond(name)
			add(inner)
		}
	case []any:
		extreme = depth >= usualNesting
		for _, inner := range v {
			add(inner)
		}
	default:
		extreme = beyond(value)
	}
	return members, extreme
}

// writtenMembers counts the members of all hashes in a JSON text: those of a name that is there twice are two.
func writtenMembers(text []byte) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ':' && !quoted:
			n++
		}
	}
	return n
}

// beyond reports whether a text or a number is one that a parser may refuse.
func beyond(token any) (is bool) {
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
