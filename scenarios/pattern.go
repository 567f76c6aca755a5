package scenarios

import (
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// node is a JSON value as a script expects or sends it: JSON with a few more
// leaves.
type node interface {
	String() string // as a script writes it
}

type (
	// literal is nil, a bool, a string without names, or a json.Number.
	literal struct{ value any }
	// interpolated is a string with names in it.
	interpolated struct{ parts Template }
	// capture is a name in the place of a whole value; typ may be nil.
	capture struct {
		ref *ref
		typ *kind
	}
	// kind is a type word with an optional range.
	kind struct {
		word   string
		lo, hi *bound
	}
	// pattern is a regular expression that a string must match somewhere.
	pattern struct{ re *regexp.Regexp }
	// absence stands for a field that must not be there.
	absence struct{}
	// alternatives is the list of alternatives at one place.
	alternatives []node
	// array matches element by element; isOpenEnded allows more elements at its end.
	array struct {
		elems              []node
		isOpenEnded, exact bool
	}
	// Object is a JSON object as a script writes it. As an expectation it matches a
	// subset of fields unless it is exact. [ParseObject] makes one.
	Object struct {
		fields []field
		exact  bool
		source string // as written, of a client's introduction
	}
	field struct {
		key   string
		value node
	}
	// bound is one end of a range: a number, or a time behind a name.
	bound struct {
		number json.Number
		time   *ref
	}
)

// kindWords are the type words of the language.
var kindWords = []string{"any", "string", "int", "number", "bool", "array", "object", "time"}

func (l literal) String() string {
	if s, ok := l.value.(string); ok && !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	b, _ := json.Marshal(l.value) // a parsed JSON scalar always marshals
	return string(b)
}
func (t interpolated) String() string { return strconv.Quote(t.parts.String()) }
func (p pattern) String() string      { return "/" + p.re.String() + "/" }
func (absence) String() string        { return "absent" }

func (k kind) String() string {
	if k.lo == nil && k.hi == nil {
		return k.word
	}
	return k.word + "(" + k.lo.String() + ".." + k.hi.String() + ")"
}

func (b *bound) String() string {
	switch {
	case b == nil:
		return ""
	case b.time != nil:
		return b.time.text
	}
	return b.number.String()
}

func (c capture) String() string {
	if c.typ != nil {
		return c.ref.text + ":" + c.typ.String()
	}
	return c.ref.text
}

func (e alternatives) String() string {
	return join(e, " | ", node.String)
}

func (a array) String() string {
	text := join(a.elems, ",", node.String)
	switch {
	case a.isOpenEnded && text != "":
		text += ",..."
	case a.isOpenEnded:
		text = "..."
	}
	return exactSign(a.exact) + "[" + text + "]"
}

func (o *Object) String() string {
	field := func(f field) string { return strconv.Quote(f.key) + ":" + f.value.String() }
	return exactSign(o.exact) + "{" + join(o.fields, ",", field) + "}"
}

// join returns the texts of a list with separators in between.
func join[T any](list []T, separator string, text func(T) string) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = text(v)
	}
	return strings.Join(texts, separator)
}

func exactSign(exact bool) string {
	if exact {
		return "="
	}
	return ""
}

// parts returns a value and all values in it.
func parts(n node) iter.Seq[node] {
	return func(yield func(node) bool) { visitParts(n, yield) }
}

func visitParts(n node, yield func(node) bool) bool {
	if n == nil || !yield(n) {
		return n == nil
	}
	switch n := n.(type) {
	case array:
		return !slices.ContainsFunc(n.elems, func(e node) bool { return !visitParts(e, yield) })
	case alternatives:
		return !slices.ContainsFunc(n, func(e node) bool { return !visitParts(e, yield) })
	case *Object:
		return !slices.ContainsFunc(n.fields, func(f field) bool { return !visitParts(f.value, yield) })
	}
	return true
}

// constant returns an error if n cannot be sent: it has types, patterns or
// alternatives.
func constant(n node, at, width int) error {
	switch n := n.(type) {
	case literal, interpolated, absence:
		return nil
	case capture:
		if n.typ == nil {
			return nil
		}
	case array:
		for _, e := range n.elems {
			if err := constant(e, at, width); err != nil {
				return err
			}
		}
		if !n.isOpenEnded {
			return nil
		}
	case *Object:
		for _, f := range n.fields {
			if err := constant(f.value, at, width); err != nil {
				return err
			}
		}
		return nil
	}
	return errorAt(at, width, "types, patterns, alternatives and ... work only in S: lines", "%s cannot be sent", n)
}
