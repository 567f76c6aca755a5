package bugs

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// contents changes the values of some fields of each job that is pushed.
func contents(fields string, change func(any) any) func(*event) {
	return do(func(e *event) { reshape(e.Object, fields, change) }, isValid(fwp.PUSH))
}

// reshape changes the values of some fields of a job, but not their kinds.
func reshape(job *object, fields string, change func(any) any) {
	for name := range strings.FieldsSeq(fields) {
		var value any
		d := json.NewDecoder(bytes.NewReader(job.NonNull(name)))
		d.UseNumber()
		if d.Decode(&value) != nil {
			continue
		}
		result := change(value)
		if _, ok := result.([]any); !ok && name == "args" {
			continue
		}
		if _, ok := result.(map[string]any); !ok && name == "custom" {
			continue
		}
		var b bytes.Buffer
		if json.NewEncoder(&b).Encode(result) == nil {
			job.Set(name, strings.TrimSpace(b.String()))
		}
	}
}

// mapElements changes the elements of an array, or the members of a hash, themselves.
func mapElements(change func(any) any) func(any) any {
	return func(v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = change(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = change(v[k])
			}
		}
		return v
	}
}

// mapLeaves changes values from the inside to the outside.
func mapLeaves(change func(any) any) func(any) any {
	var walk func(any) any
	walk = func(v any) any { return change(mapElements(walk)(v)) }
	return walk
}

// typedChange changes the values that are decoded as one type.
func typedChange[T any](change func(T) any) func(any) any {
	return func(v any) any {
		if t, ok := v.(T); ok {
			return change(t)
		}
		return v
	}
}

// mapTexts changes texts, but not keys.
func mapTexts(change func(string) string) func(any) any {
	return mapLeaves(typedChange(func(s string) any { return change(s) }))
}

// withoutNulls drops the members of hashes that are null.
func withoutNulls(v any) any {
	return mapLeaves(typedChange(func(m map[string]any) any {
		maps.DeleteFunc(m, func(_ string, value any) bool { return value == nil })
		return m
	}))(v)
}

// roundArgs rounds the numbers of args beyond 2^53, as encoding/json does.
func roundArgs(e *event) {
	var args []any
	isLarge := func(arg any) bool {
		f, ok := arg.(float64)
		return ok && (f >= 1<<53 || f <= -(1<<53))
	}
	if json.Unmarshal(e.Object.Get("args"), &args) == nil && slices.ContainsFunc(args, isLarge) {
		setArgs(e.Object, args)
	}
}

func setArgs(job *object, args any) {
	if b, err := json.Marshal(args); err == nil {
		job.Set("args", string(b))
	}
}

// reverseArgs reverses the args.
func reverseArgs(e *event) {
	var args []json.RawMessage
	if json.Unmarshal(e.Object.Get("args"), &args) == nil {
		slices.Reverse(args)
		setArgs(e.Object, args)
	}
}

// cut shortens a text to at most limit bytes without splitting a character.
func cut(s string, limit int) string { return strings.ToValidUTF8(s[:min(limit, len(s))], "") }

// ascii returns a question mark for what is not ASCII.
func ascii(r rune) rune {
	if r > '~' {
		return '?'
	}
	return r
}
