package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
)

// WriteJSON writes l as one indented JSON object and a final newline. The keys are those in the struct tags of
// Load and what it holds, always in the same order; load.schema.json describes them. Lists at the top are never left
// out. The first error of w is returned.
func (l *Load) WriteJSON(w io.Writer, o reports.ExitOptions) error {
	doc := *l
	doc.Head, doc.LoadFrom = l.WithOutcome(LoadSchema, l.Outcome(o)), l.LoadFrom.UTC().Round(0)
	doc.Target.HI, doc.Target.Info = asJSON(l.Target.HI), asJSON(l.Target.Info)
	doc.Plan.Workload = asJSON(l.Plan.Workload)
	doc.Phases, doc.Ops, doc.Flows = reports.EmptyIfNil(l.Phases), reports.EmptyIfNil(l.Ops), reports.EmptyIfNil(l.Flows)
	doc.Findings, doc.Thresholds, doc.Series = reports.EmptyIfNil(l.Findings),
		reports.EmptyIfNil(l.Thresholds), reports.EmptyIfNil(l.Series)
	return reports.WriteJSON(w, &doc)
}

// maxRaw is how many bytes of JSON that a server sent a report takes over.
const maxRaw = 64 << 10

// asJSON returns raw without white space, or, for what is not JSON, as a JSON string, which is shortened if raw is very
// long.
func asJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if len(raw) > maxRaw {
		raw = json.RawMessage(text.Shorten(string(raw)))
	}
	var out bytes.Buffer
	if json.Compact(&out, raw) == nil {
		return out.Bytes()
	}
	quoted, err := reports.EncodeJSON(string(raw))
	if err != nil { // a string always has a form in JSON
		return nil
	}
	return quoted
}

// ReadLoad reads a report that [Load.WriteJSON] has written. The error says why it is none.
func ReadLoad(data []byte) (*Load, error) {
	l := new(Load)
	return l, readAs(data, LoadSchema, l)
}

// ReadLoadComparison reads a comparison that WriteJSON has written. The error says why it is none.
func ReadLoadComparison(data []byte) (*LoadComparison, error) {
	c := new(LoadComparison)
	return c, readAs(data, LoadComparisonSchema, c)
}

// readAs reads a result of one schema.
func readAs(data []byte, schema string, into any) error {
	if err := reports.CheckBounds(data); err != nil {
		return fmt.Errorf("not a report of fwpbench: %w", err)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("not a report in JSON: %w", err)
	}
	if head.Schema != schema {
		return fmt.Errorf("its schema is %q, and %q is needed", head.Schema, schema)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	return nil
}

// Hide replaces every text of l that comes from the target, or quotes what does, by what hide returns for it. The jids
// of jobs stay, because they tell jobs apart.
func (l *Load) Hide(hide func(string) string) {
	if len(l.Target.HI) > 0 {
		l.Target.HI = []byte(strings.TrimPrefix(hide("HI "+string(l.Target.HI)), "HI "))
	}
	l.Target.Info = []byte(hide(string(l.Target.Info)))
	reports.Hide(hide, l)
	for i := range l.Findings {
		f := &l.Findings[i]
		for _, texts := range [][]string{f.JIDs, f.Notes} {
			for j := range texts {
				if f.quotes() {
					texts[j] = hide(texts[j])
				}
			}
		}
	}
}
