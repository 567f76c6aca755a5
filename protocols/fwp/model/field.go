package model

import (
	"encoding/json"

	"github.com/fwpsuite/fwp/internal/base/number"
)

// Field is a row of the specification's tables: one field of the JSON object that follows a verb. (HELLO Command;
// Work units; ACK, FAIL and BEAT Command)
type Field struct {
	Name string
	Type FieldType
	// Clause is that by which a server refuses a value of another type, or an object without the field if that is
	// Required. Empty: what it does then is left open.
	Clause        string
	Required      bool // a client must send it
	IsWorkerField bool // of a HELLO: a worker sends all such fields, and any other client none
	ReadOnly      bool // only a server may set it
	MayBeMissing  bool // a server may take an object without it although it is Required (AMB-35)
	Should        bool // to refuse it is only recommended, whatever else the clause requires
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

// Accepts reports whether value is of the type t. The value must come from encoding/json, with numbers as json.Number.
func (t FieldType) Accepts(value any) bool {
	switch v := value.(type) {
	case string:
		if t == TimeField || t == TimeOrBlankField && v != "" {
			_, err := number.ParseTime(v)
			return err == nil
		}
		return t == StringField || t == TimeOrBlankField
	case json.Number:
		return t == IntField && number.IsInt(v)
	case []any:
		for _, e := range v {
			if _, ok := e.(string); !ok {
				return t == ArrayField
			}
		}
		return t == ArrayField || t == StringsField
	case map[string]any:
		return t == ObjectField
	}
	return false
}
