package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/fwpsuite/fwp/internal/text"
)

// WriteJSON writes r as one indented JSON object and a final newline; o is what its exit code depends on. The keys are
// those in the struct tags of Report and what it holds, always in the same order; check.schema.json describes them:
//
//	schema         "fwpcheck/3", always the first key
//	findings       the broken clauses, the worst first; symptoms: where they show, each place once
//	took_ns, at_ns an integer, nanoseconds; at_ns of a line of a conversation counts since the check began
//	started        RFC 3339, UTC
//	seed           a string of decimal digits
//	verdict        one of the words of Verdict.String; level: one of the values of Level
//
// Keys that would hold an empty text, list or false are left out, except the lists at the top. Characters are not
// escaped for HTML; control characters and others that could move a terminal's cursor are. The first error of w is
// returned.
func (r *Report) WriteJSON(w io.Writer, o ExitOptions) error {
	return writeJSON(w, r.whole(o))
}

// whole returns r with everything that follows from it.
func (r *Report) whole(o ExitOptions) *Report {
	whole := *r
	whole.Schema, whole.Started = Schema, r.Started.UTC().Round(0)
	whole.Exit, whole.Words = r.Outcome(o)
	all := r.Findings()
	groups := symptoms(all)
	whole.Broken, whole.Symptoms = list(broken(groups)), []Symptom{}
	whole.Counts, whole.Known = r.counts(all), r.known(groups)
	for _, group := range groups {
		s := Symptom{Verdict: group[0].Verdict, Clauses: []string{}, Evidence: group[0].Evidence}
		for _, f := range group {
			if f.Clause != "" {
				s.Clauses = added(s.Clauses, f.Clause)
			}
		}
		whole.Symptoms = append(whole.Symptoms, s)
	}
	whole.Checks, whole.Clauses = list(r.Checks), list(r.Clauses)
	return &whole
}

// writeJSON writes v as one indented JSON object and a final newline. It writes once, and returns the error of that.
func writeJSON(w io.Writer, v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return writeOut(w, text.EscapeJSON(out.Bytes()))
}

// writeOut writes a report that is put together.
func writeOut(w io.Writer, report []byte) error {
	if _, err := w.Write(report); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// encode is json.Marshal without the escapes for HTML: what a nested method has escaped stays escaped.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
