package measure

import (
	"fmt"
	"strconv"
	"strings"
)

// eachCount calls visit with the name and the place of every count that is not in a histogram. The names are what a
// log's Interval comments hold: "dropped", "push.aside", "push.rejected", "push.response.above".
func (s *Set) eachCount(visit func(name func() string, n *int64)) {
	visit(func() string { return "dropped" }, &s.dropped)
	for op := range Ops {
		visit(func() string { return op.String() + ".aside" }, &s.aside[op])
		for kind := range ErrorKinds {
			visit(func() string { return op.String() + "." + kind.String() }, &s.errors[op][kind])
		}
	}
	for series := range AllSeries {
		visit(func() string { return series.String() + ".below" }, &s.beyond[series].Below)
		visit(func() string { return series.String() + ".above" }, &s.beyond[series].Above)
	}
}

// appendCountNames appends " name=count" for each count that is not zero.
func (s *Set) appendCountNames(dst []byte) []byte {
	s.eachCount(func(name func() string, n *int64) {
		if *n != 0 {
			dst = append(append(append(dst, ' '), name()...), '=')
			dst = strconv.AppendInt(dst, *n, 10)
		}
	})
	return dst
}

// parseCounts adds what appendCountNames wrote.
func (s *Set) parseCounts(text string) error {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return nil
	}
	places := make(map[string]*int64)
	s.eachCount(func(name func() string, n *int64) { places[name()] = n })
	for _, field := range fields {
		name, number, _ := strings.Cut(field, "=")
		n, err := strconv.ParseInt(number, 10, 64)
		switch {
		case places[name] == nil:
			return fmt.Errorf("unknown count %q", name)
		case err != nil || n < 0:
			return fmt.Errorf("count %q: expected a number of 0 or more, got %q", name, number)
		}
		*places[name] += n
	}
	return nil
}
