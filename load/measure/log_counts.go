package measure

import (
	"fmt"
	"strconv"
	"strings"
)

// The counts that are not in a histogram have names in a log's comments: "dropped", "carried", "push.aside",
// "push.rejected", "push.response.above".

// appendCounts appends " name=count" for each count that is not zero.
func (s *Set) appendCounts(dst []byte) []byte {
	add := func(n int64, name ...string) {
		if n != 0 {
			dst = append(append(append(dst, ' '), strings.Join(name, ".")...), '=')
			dst = strconv.AppendInt(dst, n, 10)
		}
	}
	add(s.dropped, "dropped")
	add(s.carried, "carried")
	for i := range s.ops {
		o := &s.ops[i]
		add(o.outsideWindow, string(o.op), "aside")
		for kind, n := range o.errors {
			add(n, string(o.op), ErrorKind(kind).String())
		}
	}
	for series, t := range s.all() {
		add(t.clamps.Underflows, series.String(), "below")
		add(t.clamps.Overflows, series.String(), "above")
		add(t.unserved, series.String(), "unserved")
	}
	return dst
}

// parseCounts adds what appendCounts wrote.
func (s *Set) parseCounts(text string) error {
	for field := range strings.FieldsSeq(text) {
		name, number, _ := strings.Cut(field, "=")
		place := s.place(name)
		n, err := strconv.ParseInt(number, 10, 64)
		switch {
		case place == nil:
			return fmt.Errorf("unknown count %q", name)
		case err != nil || n < 0:
			return fmt.Errorf("count %q: expected a number of 0 or more, got %q", name, number)
		}
		*place += n
	}
	return nil
}

// place returns where the count of that name is kept, nil if there is none.
func (s *Set) place(name string) *int64 {
	switch name {
	case "dropped":
		return &s.dropped
	case "carried":
		return &s.carried
	}
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 {
		return nil
	}
	prefix, suffix := name[:dot], name[dot+1:]
	if series, ok := ParseSeries(prefix); ok {
		t := s.series(series)
		places := map[string]*int64{"below": &t.clamps.Underflows, "above": &t.clamps.Overflows, "unserved": &t.unserved}
		if place := places[suffix]; place != nil {
			return place
		}
	}
	if suffix == "aside" {
		return &s.ensureOp(Op(prefix)).outsideWindow
	}
	for kind := range ErrorKinds {
		if suffix == kind.String() {
			return &s.ensureOp(Op(prefix)).errors[kind]
		}
	}
	return nil
}
