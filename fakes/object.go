package fakes

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Field is one member of an [Object]: its decoded name, and its value as it was sent.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Object is a JSON object. Its members keep their order and the bytes of their values, so that a work unit is
// delivered as it was pushed. Of members with the same name, the last one counts. The methods work on a nil Object,
// which has no members. It is not safe for concurrent use.
type Object struct {
	fields []Field
	buf    []byte // holds the values that were set; they do not overlap
}

// Get returns the value of a member, or nil if there is none.
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

// Text returns the value of a member if it is a string, else "".
func (o *Object) Text(name string) string {
	s, _ := asString(o.Get(name))
	return s
}

// Int returns the value of a member, and whether it is an integer.
func (o *Object) Int(name string) (int64, bool) {
	return asInteger(o.Get(name))
}

// NonNull returns the value of a member, or nil if there is none or it is null.
func (o *Object) NonNull(name string) json.RawMessage {
	if raw := o.Get(name); !isNull(raw) {
		return raw
	}
	return nil
}

// Time returns the value of a member, and whether it is an RFC 3339 time.
func (o *Object) Time(name string) (time.Time, bool) { return asTime(o.Get(name)) }

// Texts returns the value of a member, and whether it is an array of strings.
func (o *Object) Texts(name string) ([]string, bool) { return asStrings(o.Get(name)) }

// Set sets a member to a value, which must be valid JSON. A new member is the last one.
func (o *Object) Set(name, value string) {
	if o != nil {
		o.set(name, append(o.buf, value...))
	}
}

// SetInt sets a member to an integer.
func (o *Object) SetInt(name string, n int64) {
	if o != nil {
		o.set(name, strconv.AppendInt(o.buf, n, 10))
	}
}

// SetTime sets a member to a time in UTC.
func (o *Object) SetTime(name string, t time.Time) {
	if o != nil {
		o.set(name, appendStamp(o.buf, t))
	}
}

// set sets the member to the value that was appended to o.buf.
func (o *Object) set(name string, buf []byte) {
	value := json.RawMessage(buf[len(o.buf):len(buf):len(buf)])
	o.buf = buf
	for i, f := range slices.Backward(o.fields) {
		if f.Name == name {
			o.fields[i].Value = value
			return
		}
	}
	o.fields = append(o.fields, Field{Name: name, Value: value})
}

// SetText sets a member to a string, which it encodes as JSON.
func (o *Object) SetText(name, text string) { o.Set(name, quote(text)) }

// Delete removes a member.
func (o *Object) Delete(name string) {
	if o == nil {
		return
	}
	o.fields = slices.DeleteFunc(o.fields, func(f Field) bool { return f.Name == name })
}

// Fields returns the members in order. The caller may change them in place.
func (o *Object) Fields() []Field {
	if o == nil {
		return nil
	}
	return o.fields
}

// Append appends the object to dst as JSON, without white space of its own.
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

// text returns the object as JSON.
func (o *Object) text() []byte {
	size := len("{}")
	for _, f := range o.Fields() {
		size += len(f.Name) + len(f.Value) + len(`"":,`)
	}
	return o.Append(make([]byte, 0, size))
}

// Clone returns a copy, or nil for nil. The values of the copy must not be changed in place.
func (o *Object) Clone() *Object {
	if o == nil {
		return nil
	}
	fields := make([]Field, len(o.fields), len(o.fields)+2)
	copy(fields, o.fields)
	return &Object{fields: fields}
}

// isString reports whether a valid JSON value is a string.
func isString(raw json.RawMessage) bool { return len(raw) >= 2 && raw[0] == '"' }

func asString(raw json.RawMessage) (string, bool) {
	if !isString(raw) {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return internString(inner), true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// internedNames are those that are read often.
var internedNames = [...]string{
	"jid", "jobtype", "args", "queue", "reserve_for", "retry", "at", "backtrace", "created_at", "custom", "wid",
	defaultQueue,
}

// internString returns b as a string, without allocating if it is a frequent name.
func internString(b []byte) string {
	for _, candidate := range internedNames {
		if string(b) == candidate {
			return candidate
		}
	}
	return string(b)
}

// asInteger accepts digits and a sign only: the tables require an integer, so 1e2 and
// 60.0 are refused.
func asInteger(raw json.RawMessage) (int64, bool) {
	if len(raw) == 0 || len(raw) > 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

func quote(s string) string { return string(appendQuoted(nil, s)) }

// appendQuoted escapes only the characters that JSON requires to be escaped.
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
