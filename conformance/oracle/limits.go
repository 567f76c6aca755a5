package oracle

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/rfc3339"
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
	n, _ := number(l.Fields["reserve_for"])
	twice, extreme := limits(l.Args)
	return n > longestHold || twice || extreme || remote(l.Fields["at"]) || remote(l.Fields["created_at"])
}

// remote reports whether a time is outside the years that a count of seconds in 32 bits has.
func remote(value any) bool {
	text, _ := value.(string)
	t, err := rfc3339.Parse(text)
	return err == nil && (t.UTC().Year() < firstYear || t.UTC().Year() > lastYear)
}

// limits reports whether some JSON has, at any depth, a hash with two members of the same name, and what else a parser
// may refuse: many levels, an integer of more than 64 bits, another number beyond double precision, or the character
// NUL.
func limits(text []byte) (twice, extreme bool) {
	type level struct {
		names map[string]bool // nil for an array
		value bool            // what comes next is the value of a member
	}
	open, d := []*level{{}}, json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for token, err := d.Token(); err == nil && len(open) > 0; token, err = d.Token() {
		top := open[len(open)-1]
		name, is := token.(string)
		isName := is && top.names != nil && !top.value
		twice = twice || top.names[name] && isName
		extreme = extreme || beyond(token) || len(open)-1 > usualNesting
		if top.value = isName; isName {
			top.names[name] = true
		}
		switch token {
		case json.Delim('{'):
			open = append(open, &level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, &level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
	return twice, extreme
}

// beyond reports whether a text or a number is one that a parser may refuse.
func beyond(token json.Token) (is bool) {
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
