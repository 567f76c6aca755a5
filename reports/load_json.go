package reports

import (
	"bytes"
	_ "embed" // for the schema
	"encoding/json"
	"fmt"
	"io"
)

//go:embed load.schema.json
var loadSchema string

// LoadJSONSchema returns the JSON Schema (draft 2020-12) of what WriteLoadJSON writes.
func LoadJSONSchema() string { return loadSchema }

// WriteLoadJSON writes l as one indented JSON object and a final newline. The keys are those in the struct tags of
// Load and what it holds, always in the same order; LoadJSONSchema describes them. Lists at the top are never left
// out. The first error of w is returned.
func WriteLoadJSON(w io.Writer, l *Load) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(l); err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// ReadLoadJSON reads what WriteLoadJSON wrote. A result of another schema is an error; keys that are not known are
// passed over, because a later version may add some. Input after the object is left unread, or partly read into a
// buffer.
func ReadLoadJSON(r io.Reader) (*Load, error) {
	var l Load
	if err := json.NewDecoder(r).Decode(&l); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	if l.Schema != LoadSchema {
		return nil, fmt.Errorf("read result: schema is %q, want %q", l.Schema, LoadSchema)
	}
	for _, raw := range []*json.RawMessage{&l.Target.HI, &l.Target.Info, &l.Plan.Workload} {
		*raw = asJSON(*raw)
	}
	return &l, nil
}

type plainLoad Load

// MarshalJSON implements json.Marshaler; see WriteLoadJSON for the format.
func (l Load) MarshalJSON() ([]byte, error) {
	l.Schema = LoadSchema
	l.Started = l.Started.UTC().Round(0)
	l.Target.HI, l.Target.Info, l.Plan.Workload = asJSON(l.Target.HI), asJSON(l.Target.Info), asJSON(l.Plan.Workload)
	l.Phases, l.Ops, l.Flows = list(l.Phases), list(l.Ops), list(l.Flows)
	l.Findings, l.Thresholds, l.Series = list(l.Findings), list(l.Thresholds), list(l.Series)
	return encode((*plainLoad)(&l))
}

// list returns s, or an empty list in the place of none.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// asJSON returns raw without white space, or, where a server sent what is no JSON, as a JSON string: a report is not
// lost to that.
func asJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var out bytes.Buffer
	if json.Compact(&out, raw) == nil {
		return out.Bytes()
	}
	text, err := encode(string(raw))
	if err != nil { // a string always has a form in JSON
		return nil
	}
	return text
}
