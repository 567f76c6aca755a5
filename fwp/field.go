package fwp

import (
	"encoding/json"

	"github.com/fwpsuite/fwp/internal/jsonnum"
	"github.com/fwpsuite/fwp/internal/rfc3339"
)

// Field is a row of the specification's tables: one field of the JSON object that follows a verb. (HELLO Command;
// Work units; ACK, FAIL and BEAT Command)
type Field struct {
	Name     string
	Type     FieldType
	Required bool // a client must send it
	Worker   bool // of a HELLO: a worker sends all such fields, and any other client none
	ReadOnly bool // only a server may set it
}

// FieldType is the JSON type of a field, or a narrower one.
type FieldType string

// The types.
const (
	StringField      FieldType = "string"
	IntField         FieldType = "int" // a number without a fraction: 1, 1.0 and 1e3
	ArrayField       FieldType = "array"
	StringsField     FieldType = "strings" // an array of strings
	ObjectField      FieldType = "object"
	TimeField        FieldType = "time"          // a string, an RFC 3339 time
	TimeOrBlankField FieldType = "time or blank" // the same, or an empty string
)

// Is reports whether value is of the type t. The value must come from encoding/json, with numbers as json.Number.
func (t FieldType) Is(value any) bool {
	switch v := value.(type) {
	case string:
		if t == TimeField || t == TimeOrBlankField && v != "" {
			_, err := rfc3339.Parse(v)
			return err == nil
		}
		return t == StringField || t == TimeOrBlankField
	case json.Number:
		return t == IntField && jsonnum.IsInt(v)
	case []any:
		for _, e := range v {
			if _, is := e.(string); !is {
				return t == ArrayField
			}
		}
		return t == ArrayField || t == StringsField
	case map[string]any:
		return t == ObjectField
	}
	return false
}

// Fields returns the fields of a verb's JSON object in the order of the specification. It returns nil for a verb
// without an object.
func Fields(verb string) []Field {
	switch verb {
	case HELLO:
		return []Field{
			{Name: "v", Type: IntField, Required: true},
			{Name: "pwdhash", Type: StringField},
			{Name: "hostname", Type: StringField, Worker: true},
			{Name: "wid", Type: StringField, Worker: true},
			{Name: "pid", Type: IntField, Worker: true},
			{Name: "labels", Type: StringsField, Worker: true},
		}
	case PUSH:
		return []Field{
			{Name: "jid", Type: StringField, Required: true},
			{Name: "jobtype", Type: StringField, Required: true},
			{Name: "args", Type: ArrayField, Required: true},
			{Name: "queue", Type: StringField},
			{Name: "reserve_for", Type: IntField},
			{Name: "at", Type: TimeOrBlankField},
			{Name: "retry", Type: IntField}, {Name: "backtrace", Type: IntField},
			{Name: "created_at", Type: TimeField},
			{Name: "custom", Type: ObjectField},
			{Name: "enqueued_at", Type: TimeField, ReadOnly: true},
			{Name: "failure", Type: ObjectField, ReadOnly: true},
		}
	case ACK:
		return []Field{{Name: "jid", Type: StringField, Required: true}}
	case FAIL:
		return []Field{
			{Name: "jid", Type: StringField, Required: true},
			{Name: "errtype", Type: StringField, Required: true},
			{Name: "message", Type: StringField, Required: true},
			{Name: "backtrace", Type: StringsField, Required: true},
		}
	case BEAT:
		return []Field{
			{Name: "wid", Type: StringField, Required: true},
			{Name: "current_state", Type: StringField}, {Name: "rss_kb", Type: IntField},
		}
	}
	return nil
}
