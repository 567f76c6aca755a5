package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

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
	return WriteJSON(w, r.whole(o))
}

// whole returns r with everything that follows from it.
func (r *Report) whole(o ExitOptions) *Report {
	whole := *r
	whole.Schema, whole.Started = Schema, r.Started.UTC().Round(0)
	whole.Exit, whole.Words = r.Outcome(o)
	all := r.Findings()
	groups := symptoms(all)
	whole.Broken, whole.Symptoms = List(broken(groups)), []Symptom{}
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
	whole.Checks, whole.Clauses = List(r.Checks), List(r.Clauses)
	return &whole
}

// WriteJSON writes v as one indented JSON object and a final newline. It writes once, and returns the error of that.
func WriteJSON(w io.Writer, v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return WriteOut(w, text.EscapeJSON(out.Bytes()))
}

// WriteOut writes a report that is put together.
func WriteOut(w io.Writer, report []byte) error {
	if _, err := w.Write(report); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// EncodeJSON is json.Marshal without the escapes for HTML: what a nested method has escaped stays escaped.
func EncodeJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// List returns s, or an empty list in the place of none.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Find returns the first element that satisfies is, or nil.
func Find[T any](all []T, is func(*T) bool) *T {
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// Hide replaces every text of r that comes from the target, or quotes what does, by what hide returns for it.
func (r *Report) Hide(hide func(string) string) { Hide(hide, r) }

// Hide replaces every text of e that comes from the target, or quotes what does, by what hide returns for it.
func (e *Exploration) Hide(hide func(string) string) { Hide(hide, e) }

// Hide replaces every text of c that comes from a target, or quotes what does, by what hide returns for it.
func (c *Comparison) Hide(hide func(string) string) { Hide(hide, c) }

// Hide replaces texts below a result, to which it has a pointer, by what hide returns for them: those of fields with
// the tag from:"target", which come from the target or quote what does.
func Hide(hide func(string) string, result any) { hideBelow(hide, reflect.ValueOf(result), false) }

func hideBelow(hide func(string) string, v reflect.Value, theirs bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			hideBelow(hide, v.Elem(), theirs)
		}
	case reflect.Slice:
		for i := range v.Len() {
			hideBelow(hide, v.Index(i), theirs)
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				hideBelow(hide, value, field.Tag.Get("from") == "target")
			}
		}
	case reflect.String:
		if theirs {
			v.SetString(hide(v.String()))
		}
	}
}
