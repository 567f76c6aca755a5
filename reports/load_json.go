package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteLoadJSON writes l as one indented JSON object and a final newline. The keys are those in the struct tags of
// Load and what it holds, always in the same order; load.schema.json describes them. Lists at the top are never left
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
