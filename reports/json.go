package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes r as one indented JSON object and a final newline. The keys are those in the struct tags of
// Report, Target, Clause, Check, ClauseVerdict, Finding and Line, always in the same order:
//
//	schema         "fwpcheck/2", always the first key
//	took_ns, at_ns an integer, nanoseconds; at_ns of a line of a conversation counts since the check began
//	started        RFC 3339, UTC
//	seed           a string of decimal digits
//	verdict        one of the words of Verdict.String; level: one of the values of Level
//
// Keys that would hold an empty text, list or false are left out, except "checks" and "clauses". Characters are not
// escaped for HTML. The first error of w is returned.
func (r *Report) WriteJSON(w io.Writer) error {
	whole := *r
	whole.Schema, whole.Started = Schema, r.Started.UTC().Round(0)
	whole.Checks, whole.Clauses = list(r.Checks), list(r.Clauses)
	return writeJSON(w, &whole)
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
	return writeOut(w, out.Bytes())
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
