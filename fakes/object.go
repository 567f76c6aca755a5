package fakes

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// Field is one member of an [Object]: its name, decoded, and its value as it was
// sent.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Object is a JSON object whose members keep their order and, byte for byte, their
// values, so that a work unit comes back as it was given. Of members with the same
// name the last counts. Its methods work on a nil Object, which has no members. It is
// not safe for concurrent use.
type Object struct {
	fields []Field
}

// Get returns the value of the member, nil if there is none.
func (o *Object) Get(name string) json.RawMessage {
	if o == nil {
		return nil
	}
	for _, f := range slices.Backward(o.fields) {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// Text returns the value of a member that is a string, "" if there is none.
func (o *Object) Text(name string) string {
	s, _ := asString(o.Get(name))
	return s
}

// Int returns the value of a member that is an integer, and whether it is one.
func (o *Object) Int(name string) (int64, bool) {
	return asInteger(o.Get(name))
}

// Set gives the member a value, which must be valid JSON; a new member comes last.
func (o *Object) Set(name, value string) {
	if o == nil {
		return
	}
	for i := len(o.fields) - 1; i >= 0; i-- {
		if o.fields[i].Name == name {
			o.fields[i].Value = json.RawMessage(value)
			return
		}
	}
	o.fields = append(o.fields, Field{Name: name, Value: json.RawMessage(value)})
}

// SetText is Set with a string that is not yet JSON.
func (o *Object) SetText(name, text string) { o.Set(name, quote(text)) }

// Delete removes the member.
func (o *Object) Delete(name string) {
	if o == nil {
		return
	}
	o.fields = slices.DeleteFunc(o.fields, func(f Field) bool { return f.Name == name })
}

// Fields returns the members in order. They may be changed in place.
func (o *Object) Fields() []Field {
	if o == nil {
		return nil
	}
	return o.fields
}

// Append appends the object to dst as JSON without white space of its own.
func (o *Object) Append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, f := range o.Fields() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, f.Name)
		dst = append(dst, ':')
		dst = append(dst, f.Value...)
	}
	return append(dst, '}')
}

func (o *Object) clone() *Object {
	if o == nil {
		return nil
	}
	fields := make([]Field, len(o.fields), len(o.fields)+2)
	copy(fields, o.fields)
	return &Object{fields: fields}
}

// parseObject splits a JSON text into its members, which alias b.
func parseObject(b []byte) (*Object, *Refusal) {
	if !json.Valid(b) {
		return nil, refuse(AboutJSON, "the argument is not valid JSON")
	}
	if b[0] != '{' || b[len(b)-1] != '}' {
		return nil, refuse(AboutObject, "the argument is not a JSON object with nothing around it")
	}
	o := &Object{fields: make([]Field, 0, 12)}
	for i := next(b, 1); b[i] != '}'; {
		end := skipValue(b, i)
		name, _ := asString(b[i:end])
		i = next(b, next(b, end)+1) // over the colon
		end = skipValue(b, i)
		o.fields = append(o.fields, Field{Name: name, Value: b[i:end:end]})
		if i = next(b, end); b[i] == ',' {
			i = next(b, i+1)
		}
	}
	return o, nil
}

// next is the place of the first byte from i on that is no white space. It and
// skipValue are only right on valid JSON.
func next(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n' {
		i++
	}
	return i
}

// skipValue is the place after the value that starts at i.
func skipValue(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = closingQuote(b, i)
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// closingQuote is the place of the quote that ends the string which starts at i.
func closingQuote(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}

func asString(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return name(inner), true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// name gives the members of a work unit without allocating.
func name(b []byte) string {
	for _, known := range [...]string{"jid", "jobtype", "args", "queue", "reserve_for", "retry",
		"at", "backtrace", "created_at", "custom", "wid", "default"} {
		if string(b) == known {
			return known
		}
	}
	return string(b)
}

// asInteger takes digits and a sign only: the tables say Integer, so 1e2 and 60.0
// are refused with the rest.
func asInteger(raw json.RawMessage) (int64, bool) {
	if len(raw) == 0 || len(raw) > 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

func quote(s string) string { return string(appendQuoted(nil, s)) }

// appendQuoted leaves everything as it is that JSON does not force to be escaped.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = append(dst, `\u00`...)
			dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
