package scenarios

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/internal/session"
)

// Assume returns how a message departs from the choice if it does so in values alone: it is of the kind that is
// expected, and the fields and the named parts that differ have no value that a name of the play has. Then the names
// that the choice binds get the values that came. In every other case it returns nil, and binds nothing: a value of
// the play that stands elsewhere than it should means that the server has confused things, and a name without a value
// means that lines behind this one cannot be sent.
func (ch *Choice) Assume(a session.Received, sc *Scope) []Difference {
	if ch.form == nil || ch.form.Kind != a.Message.Kind {
		return nil
	}
	attempt := sc.ReplyAttempt()
	differences := ch.Compare(a, attempt)
	for _, d := range differences {
		if d.Name == "" && !strings.Contains(d.Path, ".") || attempt.has(d.Got) {
			return nil
		}
	}
	if !ch.isBound(attempt) || !attempt.Commit() {
		return nil
	}
	return differences
}

// Places returns where the choice looks at values, as the paths of differences.
func (ch *Choice) Places() []string {
	all := placesOf(ch.json, "")
	for i, n := range ch.parts {
		all = append(all, placesOf(n, fmt.Sprintf("[%d]", i))...)
	}
	return all
}

func placesOf(n node, path string) (all []string) {
	switch n := n.(type) {
	case *Object:
		for _, f := range n.fields {
			all = append(all, placesOf(f.value, path+"."+f.key)...)
		}
		return all
	case array:
		for i, e := range n.elems {
			all = append(all, placesOf(e, fmt.Sprintf("%s[%d]", path, i))...)
		}
		return all
	}
	return []string{path}
}

// isBound reports whether all names of the choice have values.
func (ch *Choice) isBound(sc *Scope) bool {
	for _, top := range append([]node{ch.json}, ch.parts...) {
		for n := range parts(top) {
			isKnown := true
			switch n := n.(type) {
			case interpolated:
				_, isKnown = sc.boundText(n.parts)
			case capture:
				_, isKnown = sc.lookup(n.ref)
			}
			if !isKnown {
				return false
			}
		}
	}
	return true
}

// Has reports whether a text is the value of a name.
func (sc *Scope) Has(value string) bool { return sc.has(display(value)) }

// has reports whether a value, as messages print it, is that of a name.
func (sc *Scope) has(value string) bool {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	for s := sc; s != nil; s = s.parent {
		for _, v := range s.values {
			if display(v) == value {
				return true
			}
		}
		for _, name := range s.indexed {
			for _, v := range name.values {
				if display(v) == value {
					return true
				}
			}
		}
	}
	return false
}
