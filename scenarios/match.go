package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/fwpsuite/fwp/internal/base/number"
	"github.com/fwpsuite/fwp/internal/base/text"
)

// Difference is one place where a reply is not what a line expects. Path is
// empty for the reply as a whole, else like ".args[2]". Name is that of the expected value, if it has one; Opaque is
// set if that is all of the value, so that the script does not say what is in it.
type Difference struct {
	Path, Want, Got string
	Name            string
	Opaque          bool
}

func (d Difference) String() string {
	if d.Path == "" {
		return fmt.Sprintf("expected %s, got %s", d.Want, d.Got)
	}
	return fmt.Sprintf("%s: expected %s, got %s", d.Path, d.Want, d.Got)
}

// matchJSON compares got with the pattern n and binds the unbound names of n. No
// differences means a match; names that were bound before a mismatch stay bound in sc,
// so callers match in a scope of their own.
func matchJSON(n node, got any, sc *Scope) []Difference {
	var found differences
	equal(n, got, sc, false, cmp.Reporter(&found))
	return found.list
}

// bind gives the unbound names of n the values at their places in got.
func bind(n node, got any, sc *Scope) {
	switch n := n.(type) {
	case interpolated:
		if s, ok := got.(string); ok && n.parts.singleRef() != nil {
			sc.capture(n.parts.singleRef(), s)
		}
	case capture:
		if n.typ == nil || n.typ.matches(got, sc) {
			sc.capture(n.ref, got)
		}
	case alternatives:
		for _, alternative := range n {
			if trial := sc.Attempt(); equal(alternative, got, trial, false) && trial.Commit() {
				return
			}
		}
	default:
		bindInside(n, got, sc)
	}
}

// bindInside binds the names inside objects and arrays.
func bindInside(n node, got any, sc *Scope) {
	switch n := n.(type) {
	case *Object:
		fields, _ := got.(map[string]any)
		for _, f := range n.fields {
			if v, ok := fields[f.key]; ok {
				bind(f.value, v, sc)
			}
		}
	case array:
		elems, _ := got.([]any)
		for i := range min(len(n.elems), len(elems)) {
			bind(n.elems[i], elems[i], sc)
		}
	}
}

// equal reports whether got matches n; it binds as it goes.
func equal(n node, got any, sc *Scope, exact bool, options ...cmp.Option) bool {
	bind(n, got, sc)
	return cmp.Equal(matchingTree(n, sc, exact), prune(n, got, exact), append(options,
		cmp.FilterValues(hasLeaf, cmp.Comparer(leafMatches)), cmp.Comparer(number.Equal))...)
}

// leaf is a place of the expected tree with a rule of its own.
type leaf struct {
	takes  func(got any) bool
	words  string
	name   string // of the value, if it has one
	opaque bool   // that is all of it
}

// missing marks a field that the pattern wants to be absent, or that the
// reply does not have.
type missing struct{}

func hasLeaf(x, y any) bool {
	_, a := x.(*leaf)
	_, b := y.(*leaf)
	return a || b
}

func leafMatches(x, y any) bool {
	if l, ok := x.(*leaf); ok {
		return l.takes(y)
	}
	return y.(*leaf).takes(x)
}

// matchingTree returns the tree of a matching reply: plain values, and leaves where the pattern
// allows several.
func matchingTree(n node, sc *Scope, exact bool) any {
	switch n := n.(type) {
	case literal:
		return n.value
	case absence:
		return missing{}
	case array:
		elems := make([]any, len(n.elems))
		for i, e := range n.elems {
			elems[i] = matchingTree(e, sc, exact || n.exact)
		}
		return elems
	case *Object:
		fields := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			fields[f.key] = matchingTree(f.value, sc, exact || n.exact)
		}
		return fields
	}
	l := &leaf{takes: func(got any) bool { return allows(n, got, sc, exact) }, words: describe(n, sc)}
	switch n := n.(type) {
	case interpolated:
		l.name, l.opaque = n.parts.String(), n.parts.singleRef() != nil
	case capture:
		l.name, l.opaque = n.ref.text, true
	}
	return l
}

// describe describes what a leaf expects: the pattern, and the value of its names.
func describe(n node, sc *Scope) string {
	switch n := n.(type) {
	case interpolated:
		if s, ok := sc.boundText(n.parts); ok {
			return fmt.Sprintf("%s (%s)", strconv.Quote(text.Shorten(s)), n.parts)
		}
		if r := n.parts.singleRef(); r != nil && r.indexed {
			return "one of " + r.text + " that was not received yet"
		}
	case capture:
		if v, ok := sc.lookup(n.ref); ok {
			return fmt.Sprintf("%s (%s)", display(v), n.ref.text)
		}
	}
	return n.String()
}

// prune returns got without the fields and elements that the pattern does not mention.
func prune(n node, got any, exact bool) any {
	switch n := n.(type) {
	case *Object:
		fields, ok := got.(map[string]any)
		if !ok {
			return got
		}
		return pruneFields(n, fields, exact || n.exact)
	case array:
		elems, ok := got.([]any)
		if !ok {
			return got
		}
		if n.isOpenEnded && len(elems) > len(n.elems) {
			elems = elems[:len(n.elems)]
		}
		out := make([]any, len(elems))
		for i, e := range elems {
			out[i] = e
			if i < len(n.elems) {
				out[i] = prune(n.elems[i], e, exact || n.exact)
			}
		}
		return out
	}
	return got
}

func pruneFields(n *Object, got map[string]any, exact bool) map[string]any {
	out := make(map[string]any, len(n.fields))
	if exact {
		maps.Copy(out, got)
	}
	for _, f := range n.fields {
		if v, ok := got[f.key]; ok {
			out[f.key] = prune(f.value, v, exact)
		} else {
			out[f.key] = missing{}
		}
	}
	return out
}

// matcher is a leaf other than a list of alternatives.
type matcher interface {
	matches(got any, sc *Scope) bool
}

// allows reports whether got is a value that the leaf n allows.
func allows(n node, got any, sc *Scope, exact bool) bool {
	switch n := n.(type) {
	case matcher:
		return n.matches(got, sc)
	case alternatives:
		return slices.ContainsFunc(n, func(alternative node) bool { return equal(alternative, got, sc.Attempt(), exact) })
	}
	return false
}

func (t interpolated) matches(got any, sc *Scope) bool {
	s, ok := got.(string)
	want, isKnown := sc.boundText(t.parts)
	return ok && isKnown && (s == want || isSameInstant(t.parts.singleRef(), s, want))
}

func (c capture) matches(got any, sc *Scope) bool {
	if c.typ != nil && !c.typ.matches(got, sc) {
		return false
	}
	want, ok := sc.lookup(c.ref)
	return ok && cmp.Equal(want, got, cmp.Comparer(number.Equal))
}

func (p pattern) matches(got any, _ *Scope) bool {
	s, ok := got.(string)
	return ok && p.re.MatchString(s)
}

// differences is the cmp.Reporter: it collects the paths that differ, in a text that is
// the same in each run (the text of cmp.Diff is not).
type differences struct {
	path cmp.Path
	list []Difference
}

func (d *differences) PushStep(s cmp.PathStep) { d.path = append(d.path, s) }
func (d *differences) PopStep()                { d.path = d.path[:len(d.path)-1] }

func (d *differences) Report(r cmp.Result) {
	if r.Equal() {
		return
	}
	want, got := d.path.Last().Values()
	diff := Difference{Path: pathText(d.path), Want: "nothing more", Got: "nothing"}
	if want.IsValid() {
		diff.Want = display(want.Interface())
		if l, ok := reflect.TypeAssert[*leaf](want); ok {
			diff.Name, diff.Opaque = l.name, l.opaque
		}
	}
	if got.IsValid() {
		diff.Got = display(got.Interface())
	}
	d.list = append(d.list, diff)
}

func pathText(p cmp.Path) string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case cmp.MapIndex:
			b.WriteString("." + s.Key().String())
		case cmp.SliceIndex:
			i, j := s.SplitKeys()
			b.WriteString("[" + strconv.Itoa(max(i, j)) + "]")
		}
	}
	return b.String()
}

// display returns a value as messages print it.
func display(v any) string {
	switch v := v.(type) {
	case *leaf:
		return v.words
	case missing:
		return "no such field"
	}
	return text.Shorten(rendered(v))
}

// rendered returns a tree that may have leaves inside as text, keys in order.
func rendered(v any) string {
	switch v := v.(type) {
	case *leaf:
		return v.words
	case missing:
		return "absent"
	case []any:
		return "[" + join(v, ",", rendered) + "]"
	case map[string]any:
		field := func(key string) string { return strconv.Quote(key) + ":" + rendered(v[key]) }
		return "{" + join(slices.Sorted(maps.Keys(v)), ",", field) + "}"
	}
	b, _ := json.Marshal(v) // a JSON scalar always marshals
	return string(b)
}
