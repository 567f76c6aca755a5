package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Made is a message that a choice accepts, or the end of the connection.
type Made struct {
	Sign   string // that of its form, as "+" or "$-1"
	Text   string
	Ending Ending // if not Open
}

// Make returns a message that the choice accepts, for the server's side of a script. Value returns the value of a name
// that is not computed. The error says what no message can be made of.
func (ch *Choice) Make(value func(Name) any) (Made, error) {
	if ch.ending != Open {
		return Made{Ending: ch.ending}, nil
	}
	m := Made{Text: ch.prefix}
	if ch.form != nil {
		m.Sign = ch.form.Sign
	}
	switch {
	case ch.any || len(ch.parts) > 0 || ch.re != nil:
		return m, fmt.Errorf("no message can be made of %s", ch)
	case ch.exact != nil:
		m.Text = *ch.exact
	case ch.json != nil:
		v, err := makeValue(ch.json, value)
		if err != nil {
			return m, err
		}
		text, err := marshal(v)
		m.Text += text
		return m, err
	}
	return m, nil
}

// makeValue returns a value that a node accepts.
func makeValue(n node, value func(Name) any) (any, error) {
	switch n := n.(type) {
	case literal:
		return n.value, nil
	case interpolated:
		return n.parts.Expand(func(name Name) string {
			if text, ok := name.Computed(time.Now()); ok {
				return text
			}
			return fmt.Sprint(value(name))
		}), nil
	case capture:
		if text, ok := (Name{n.ref}).Computed(time.Now()); ok {
			return text, nil
		}
		return value(Name{n.ref}), nil
	case kind:
		return n.makeValue(), nil
	case alternatives:
		return makeValue(n[0], value)
	case array:
		list := make([]any, len(n.elems))
		for i, e := range n.elems {
			v, err := makeValue(e, value)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case *Object:
		return n.makeValue(value)
	}
	return nil, fmt.Errorf("no value can be made of %s", n)
}

func (o *Object) makeValue(value func(Name) any) (any, error) {
	fields := map[string]any{}
	for _, f := range o.fields {
		if _, ok := f.value.(absence); ok {
			continue
		}
		v, err := makeValue(f.value, value)
		if err != nil {
			return nil, err
		}
		fields[f.key] = v
	}
	return fields, nil
}

// makeValue returns a value of the type, at the beginning of the range.
func (k kind) makeValue() any {
	if simple, ok := simpleKinds[k.word]; ok {
		return simple.sample
	}
	if k.word == "time" {
		return time.Now().UTC().Format(timeForm)
	}
	if k.lo != nil {
		return k.lo.number
	}
	if k.hi != nil {
		return k.hi.number
	}
	return 1
}

// PlaceholderText returns the text of a client's line with each name replaced by a mark, and the names by their marks.
func (s *Send) PlaceholderText() (text string, names map[string]Name) {
	names = map[string]Name{}
	var marked func(t Template) string
	marked = func(t Template) string {
		return t.Expand(func(n Name) string {
			if n.ref.kind == refObject {
				return marked(n.ref.fields())
			}
			mark := "\u27e6" + n.String() + "\u27e7"
			names[mark] = n
			return mark
		})
	}
	for _, t := range s.Segments {
		text += marked(t)
	}
	return text, names
}

// fields returns the text of a computed object, as a script would write it without its name.
func (r *ref) fields() Template {
	object := &Object{fields: overlay(r.grammar.object(r.formula.Fields(r.indexed)), r.object)}
	for i, f := range object.fields {
		if c, ok := f.value.(capture); ok { // the mark of its name is a string
			object.fields[i].value = interpolated{Template{{ref: c.ref}}}
		}
	}
	object.fields = slices.DeleteFunc(object.fields, func(f field) bool {
		_, ok := f.value.(absence)
		return ok
	})
	segments, err := parseTemplate(&cursor{line: object.String(), grammar: r.grammar})
	if err != nil || len(segments) != 1 {
		return Template{{source: "{}"}}
	}
	return segments[0]
}

// Flat returns the steps of a script in their order, those of blocks too. The error names a step that only the client's
// side of a script can have.
func (s *Script) Flat() ([]Step, error) {
	var all []Step
	for _, step := range s.Steps {
		block, ok := step.(*Block)
		if o, isOperate := step.(*Operate); isOperate && !o.Action.OnWorker() {
			return nil, fmt.Errorf("%s: line %d: a server that plays a script cannot play %s",
				cmp.Or(s.Name, "script"), o.Line, o.Action)
		}
		switch {
		case !ok:
			all = append(all, step)
		case block.Kind == Repeat:
			return nil, fmt.Errorf("%s: line %d: a server that plays a script cannot play repeat",
				cmp.Or(s.Name, "script"), block.Line)
		default:
			all = append(all, block.Steps...)
		}
	}
	return all, nil
}
