package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/fwpsuite/fwp/internal/base/text"
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
	return WriteJSON(w, r.jsonReport(o))
}

// jsonReport returns r with everything that follows from it.
func (r *Report) jsonReport(o ExitOptions) *Report {
	output := *r
	output.Head = r.WithOutcome(Schema, r.Outcome(o))
	all := r.Findings()
	groups := groupSymptoms(all)
	output.RunFindings, output.Symptoms = EmptyIfNil(runFindings(groups)), []Symptom{}
	output.Counts, output.KnownFindings = r.counts(all), r.knownFindings(groups)
	for _, group := range groups {
		s := Symptom{Verdict: group[0].Verdict, Clauses: []string{}, Evidence: group[0].Evidence}
		for _, f := range group {
			if f.Clause != "" {
				s.Clauses = addUnique(s.Clauses, f.Clause)
			}
		}
		output.Symptoms = append(output.Symptoms, s)
	}
	output.Checks, output.Clauses = EmptyIfNil(r.Checks), EmptyIfNil(r.Clauses)
	return &output
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

// EmptyIfNil returns s, or an empty list in the place of none.
func EmptyIfNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Find returns the first element that match is true of, or nil.
func Find[T any](all []T, match func(*T) bool) *T {
	for i := range all {
		if match(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// Hide replaces texts below a result, to which it has a pointer, by what hide returns for them: those of fields with
// the tag from:"target", which come from the target or quote what does.
func Hide(hide func(string) string, result any) { hideBelow(hide, reflect.ValueOf(result), false) }

func hideBelow(hide func(string) string, v reflect.Value, isTarget bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			hideBelow(hide, v.Elem(), isTarget)
		}
	case reflect.Slice:
		for i := range v.Len() {
			hideBelow(hide, v.Index(i), isTarget)
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				hideBelow(hide, value, field.Tag.Get("from") == "target")
			}
		}
	case reflect.String:
		if isTarget {
			v.SetString(hide(v.String()))
		}
	}
}

// listLimit is how many bytes a result has of lists that are as long as a peer makes them: of conversations, jobs that
// are left, differences. perLine is what a line of one takes beside its text.
const listLimit, perLine = 2 << 20, 100

// ShortenLists shortens the lists of a result, to which it has a pointer, that hold what the target has sent, if all of
// them have more than 2 MiB: the longest ones, to the same length. What leads to a finding stays longest, and each list
// says how much was left out.
func ShortenLists(result any) {
	lists := listsBelow(nil, reflect.ValueOf(result), false)
	slices.SortStableFunc(lists, func(a, b list) int { return cmp.Compare(a.size(), b.size()) })
	budget := listLimit
	for i, l := range lists {
		share := budget / (len(lists) - i)
		l.shorten(share)
		budget -= min(l.size(), share)
	}
}

// list is a list of texts that are the target's.
type list struct {
	sizes    []int         // of its elements, in bytes
	distance func(int) int // how far an element is from what has to stay
	apply    func(isKept []bool)
}

func (l list) size() (all int) {
	for _, n := range l.sizes {
		all += n
	}
	return all
}

// shorten leaves out what is farthest from what has to stay, so that at most so many bytes remain.
func (l list) shorten(limit int) {
	if l.size() <= limit {
		return
	}
	order := make([]int, len(l.sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.distance(a), l.distance(b)) })
	isKept := make([]bool, len(l.sizes))
	for _, i := range order {
		if limit -= l.sizes[i]; limit < 0 {
			break
		}
		isKept[i] = true
	}
	l.apply(isKept)
}

// listsBelow adds the lists below a value; isTarget is what the tag of its field says, see [Hide].
func listsBelow(all []list, v reflect.Value, isTarget bool) []list {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			all = listsBelow(all, v.Elem(), isTarget)
		}
	case reflect.Slice:
		if texts, ok := reflect.TypeAssert[*[]string](v.Addr()); ok && isTarget {
			return append(all, listOfTexts(texts))
		}
		for i := range v.Len() {
			all = listsBelow(all, v.Index(i), isTarget)
		}
	case reflect.Struct:
		switch holder := v.Addr().Interface().(type) {
		case *Check:
			all = append(all, holder.lines())
		case *Evidence:
			all = append(all, listOfLines(&holder.Conversation, []*int{&holder.MarkedLine}))
		}
		for field, value := range v.Fields() {
			if field.IsExported() {
				all = listsBelow(all, value, field.Tag.Get("from") == "target")
			}
		}
	}
	return all
}

// lines returns the conversation of a check, which its findings have in common.
func (c *Check) lines() list {
	var marks []*int
	for i := range c.Findings {
		if f := &c.Findings[i]; f.Conversation == nil {
			marks = append(marks, &f.MarkedLine)
		}
	}
	return listOfLines(&c.Conversation, marks)
}

// listOfTexts returns a list of which the first texts stay.
func listOfTexts(texts *[]string) list {
	l := list{distance: func(i int) int { return i }, apply: func(isKept []bool) {
		n := slices.Index(isKept, false)
		note := fmt.Sprintf("… and %s more", text.GroupDigits(len(isKept)-n))
		*texts = append(slices.Clone((*texts)[:n]), note)
	}}
	for _, s := range *texts {
		l.sizes = append(l.sizes, len(s))
	}
	return l
}

// listOfLines returns a conversation of which the lines before the marks stay, which are counted from 1; 0 is none.
func listOfLines(lines *[]Line, marks []*int) list {
	all := *lines
	l := list{apply: func(isKept []bool) { *lines = keptLines(all, isKept, marks) }}
	l.distance = func(i int) int {
		nearest := 2*len(all) - i
		for _, m := range marks {
			if to := *m - 1 - i; to >= 0 {
				nearest = min(nearest, to)
			}
		}
		return nearest
	}
	for _, line := range all {
		l.sizes = append(l.sizes, len(line.Text)+perLine)
	}
	return l
}

// keptLines returns the lines that are kept, with a remark in the place of others, and corrects the marks.
func keptLines(all []Line, isKept []bool, marks []*int) []Line {
	var lines []Line
	place, gap := make([]int, len(all)), 0
	for i, line := range all {
		if !isKept[i] {
			gap++
			if i+1 == len(all) || isKept[i+1] {
				lines = append(lines, Line{At: line.At, From: FromSuite, Text: text.Count(gap, "line") +
					" left out: the conversations of a report have 2 MiB together"})
				gap = 0
			}
			continue
		}
		lines = append(lines, line)
		place[i] = len(lines)
	}
	for _, m := range marks {
		if *m > 0 {
			*m = place[*m-1]
		}
	}
	return lines
}
