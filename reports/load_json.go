package reports

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/fwpsuite/fwp/internal/text"
)

// WriteJSON writes l as one indented JSON object and a final newline. The keys are those in the struct tags of
// Load and what it holds, always in the same order; load.schema.json describes them. Lists at the top are never left
// out. The first error of w is returned.
func (l *Load) WriteJSON(w io.Writer) error {
	whole := *l
	whole.Schema, whole.Started = LoadSchema, l.Started.UTC().Round(0)
	whole.Target.HI, whole.Target.Info = asJSON(l.Target.HI), asJSON(l.Target.Info)
	whole.Plan.Workload = asJSON(l.Plan.Workload)
	whole.Phases, whole.Ops, whole.Flows = list(l.Phases), list(l.Ops), list(l.Flows)
	whole.Findings, whole.Thresholds, whole.Series = list(l.Findings), list(l.Thresholds), list(l.Series)
	return writeJSON(w, &whole)
}

// list returns s, or an empty list in the place of none.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// mostRaw is how many bytes of JSON that a server sent a report takes over.
const mostRaw = 64 << 10

// asJSON returns raw without white space, or, for what is not JSON, as a JSON string, which is shortened if raw is very
// long.
func asJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if len(raw) > mostRaw {
		raw = json.RawMessage(text.Shorten(string(raw)))
	}
	var out bytes.Buffer
	if json.Compact(&out, raw) == nil {
		return out.Bytes()
	}
	quoted, err := encode(string(raw))
	if err != nil { // a string always has a form in JSON
		return nil
	}
	return quoted
}
