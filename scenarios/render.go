package scenarios

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/session"
)

// Renderer fills in the names of what a client sends. It belongs to one thread of a play; its scope may be shared.
type Renderer struct {
	Grammar  *Grammar
	Scope    *Scope
	Password string // of the server, for computed values

	// State returns the state of the named connection, for values that name one; nil if there is none.
	State func(conn string) session.State
}

// Line returns what is sent for a client line on a connection in a state, one slice a segment.
func (r *Renderer) Line(state session.State, s *Send) ([][]byte, error) {
	texts := make([]string, len(s.Segments))
	for i, t := range s.Segments {
		var err error
		if texts[i], err = r.text(state, t, !s.Raw); err != nil {
			return nil, err
		}
	}
	return r.Grammar.Segments(s, texts)
}

// Hello returns the line with which a client introduces itself on a connection in a state; the fields of the script's
// connect line, nil for none, replace or complement those of the dialect.
func (r *Renderer) Hello(state session.State, hello Hello, changes *Object) (string, error) {
	words, err := parseTemplate(&cursor{line: hello.Words, grammar: r.Grammar})
	if err != nil {
		return "", err
	}
	line, err := r.text(state, words[0], true)
	if err != nil || hello.Fields == nil && changes == nil {
		return line, err
	}
	object, err := r.merged(state, r.Grammar.object(hello.Fields), cmp.Or(changes, &Object{}))
	return line + " " + object, err
}

// Object returns the JSON of an object that a script writes for no connection.
func (r *Renderer) Object(o *Object) (string, error) { return r.merged(nil, &Object{}, o) }

// Template returns the text of a template that no connection sends.
func (r *Renderer) Template(t Template) (string, error) { return r.text(nil, t, false) }

// text fills in the names of a template. In lines (not in raw bytes) it escapes characters.
func (r *Renderer) text(state session.State, t Template, line bool) (string, error) {
	return t.expand(func(name *ref) (string, error) {
		v, err := r.value(state, name)
		if err != nil {
			return "", err
		}
		if s, ok := v.(string); ok && line && name.kind == refPlain {
			return r.escaped(s)
		}
		return plainText(v), nil
	})
}

// escaped returns a value as it stands in a string of a line: with the escapes of JSON, or with those of Go where lines
// have frames, which may be no text.
func (r *Renderer) escaped(s string) (string, error) {
	quoted, err := marshal(s)
	if r.Grammar.Framed() {
		quoted, err = strconv.Quote(s), nil
	}
	if err != nil {
		return "", err
	}
	return quoted[1 : len(quoted)-1], nil
}

// value computes a name of a client line.
func (r *Renderer) value(state session.State, name *ref) (any, error) {
	switch name.kind {
	case refObject:
		defaults := r.Grammar.object(name.formula.Fields(r.Scope.round >= 0))
		return r.merged(state, defaults, name.object)
	case refValue:
		return r.computed(state, name)
	}
	return r.Scope.use(name)
}

// computed returns the value of a computed name, for the connection that sends it or the
// one in the name.
func (r *Renderer) computed(state session.State, name *ref) (string, error) {
	if !name.same {
		if state = r.State(name.conn); state == nil {
			return "", fmt.Errorf("%s: there is no connection %s", name.text, name.conn)
		}
	}
	v, err := name.formula.Value(state, r.Password, name.variant)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name.text, err)
	}
	return v, nil
}

// merged returns an object with the fields of defaults, replaced or complemented by those of changes; fields that are
// absent in changes are left out.
func (r *Renderer) merged(state session.State, defaults, changes *Object) (string, error) {
	var b strings.Builder
	b.WriteByte('{')
	for _, f := range overlay(defaults, changes) {
		if _, out := f.value.(absence); out {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		text, err := r.json(state, f.value)
		if err != nil {
			return "", err
		}
		b.WriteString(strconv.Quote(f.key) + ":" + text)
	}
	b.WriteByte('}')
	return b.String(), nil
}

func overlay(defaults, changes *Object) []field {
	var all []field
	replaced := map[string]bool{}
	for _, f := range defaults.fields {
		for _, w := range changes.fields {
			if w.key == f.key {
				f = w
				replaced[w.key] = true
			}
		}
		all = append(all, f)
	}
	for _, w := range changes.fields {
		if !replaced[w.key] {
			all = append(all, w)
		}
	}
	return all
}

// json returns a value that a script sends.
func (r *Renderer) json(state session.State, n node) (string, error) {
	switch n := n.(type) {
	case literal:
		return marshal(n.value)
	case interpolated:
		s, err := r.text(state, n.parts, false)
		if err != nil {
			return "", err
		}
		return marshal(s)
	case capture:
		v, err := r.value(state, n.ref)
		if err != nil {
			return "", err
		}
		return marshal(v)
	case array:
		texts := make([]string, len(n.elems))
		for i, e := range n.elems {
			var err error
			if texts[i], err = r.json(state, e); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(texts, ",") + "]", nil
	case *Object:
		return r.merged(state, &Object{}, n)
	}
	return "", fmt.Errorf("%s cannot be sent", n)
}

// marshal is json.Marshal without the escapes meant for HTML.
func marshal(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("encode %v: %w", v, err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
