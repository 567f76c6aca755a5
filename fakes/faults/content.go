package faults

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// contents changes the values of some fields of each job that is pushed.
func contents(fields string, change func(any) any) func(*event) {
	return do(func(e *event) { reshape(e.Object, fields, change) }, valid(fwp.PUSH))
}

// leaf changes values within args and custom, from the inside to the outside.
func leaf(change func(any) any) func(*event) { return contents("args custom", leaves(change)) }

// replacing replaces parts of the texts within args and custom.
func replacing(oldnew ...string) func(*event) {
	return contents("args custom", texts(strings.NewReplacer(oldnew...).Replace))
}

// reshape changes the values of some fields of a job, but not their kinds.
func reshape(job *object, fields string, change func(any) any) {
	for name := range strings.FieldsSeq(fields) {
		var value any
		d := json.NewDecoder(bytes.NewReader(job.Given(name)))
		d.UseNumber()
		if d.Decode(&value) != nil {
			continue
		}
		changed := change(value)
		if _, is := changed.([]any); !is && name == "args" {
			continue
		}
		if _, is := changed.(map[string]any); !is && name == "custom" {
			continue
		}
		var b bytes.Buffer
		if json.NewEncoder(&b).Encode(changed) == nil {
			job.Set(name, strings.TrimSpace(b.String()))
		}
	}
}

// inside changes what an array or a hash holds, and reports whether the value is one.
func inside(v any, change func(any) any) (is bool) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = change(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = change(v[k])
		}
	default:
		return false
	}
	return true
}

// elements changes the elements of an array, or the members of a hash, themselves.
func elements(change func(any) any) func(any) any {
	return func(v any) any {
		inside(v, change)
		return v
	}
}

// leaves changes values from the inside to the outside.
func leaves(change func(any) any) func(any) any {
	var walk func(any) any
	walk = func(v any) any { return change(elements(walk)(v)) }
	return walk
}

// shallow replaces what is nested deeper than that by null.
func shallow(depth int) func(any) any {
	return func(v any) any {
		if inside(v, shallow(depth-1)) && depth <= 0 {
			return nil
		}
		return v
	}
}

// only changes the values that are decoded as one type.
func only[T any](change func(T) any) func(any) any {
	return func(v any) any {
		if t, is := v.(T); is {
			return change(t)
		}
		return v
	}
}

// turns replaces one text or truth value by another value.
func turns(from, to any) func(any) any {
	return func(v any) any {
		if v == from {
			return to
		}
		return v
	}
}

// texts changes texts, but not keys.
func texts(change func(string) string) func(any) any {
	return leaves(only(func(s string) any { return change(s) }))
}

// numbers changes a number as it is written, and integers one that is an integer of 64 bits.
func numbers(change func(string) string) func(any) any {
	return only(func(n json.Number) any { return json.Number(change(n.String())) })
}

func integers(change func(int64) any) func(any) any {
	return only(func(number json.Number) any {
		if n, err := number.Int64(); err == nil {
			return change(n)
		}
		return number
	})
}

// keys changes the keys of hashes. Of keys that become equal one is kept.
func keys(change func(string) string) func(any) any {
	return leaves(only(func(m map[string]any) any {
		changed := map[string]any{}
		for k, value := range m {
			changed[change(k)] = value
		}
		return changed
	}))
}

// withoutNulls drops the members of hashes that are null.
func withoutNulls(v any) any {
	return leaves(only(func(m map[string]any) any {
		maps.DeleteFunc(m, func(_ string, value any) bool { return value == nil })
		return m
	}))(v)
}

// rounded rounds the large integers of a job.
func rounded(e *event) { reshape(e.Object, "args custom", leaves(roundedInteger)) }

// roundedInteger returns what a double precision number keeps of an integer.
func roundedInteger(v any) any {
	return integers(func(n int64) any {
		if n > 1<<53 || n < -1<<53 {
			return json.Number(strconv.FormatFloat(float64(n), 'f', 0, 64))
		}
		return v
	})(v)
}

// roundArgs rounds the numbers of args beyond 2^53, as encoding/json does.
func roundArgs(e *event) {
	var args []any
	large := func(arg any) bool {
		f, is := arg.(float64)
		return is && (f >= 1<<53 || f <= -(1<<53))
	}
	if json.Unmarshal(e.Object.Get("args"), &args) == nil && slices.ContainsFunc(args, large) {
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

// asSet drops the elements of an array that are there already.
func asSet(a []any) any {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(a), func(x any) bool {
		b, _ := json.Marshal(x)
		again := seen[string(b)]
		seen[string(b)] = true
		return again
	})
}

// asList makes an array of a hash whose keys are 0, 1 and so on.
func asList(m map[string]any) any {
	var list []any
	for i := range len(m) {
		x, has := m[strconv.Itoa(i)]
		if !has {
			return m
		}
		list = append(list, x)
	}
	if list == nil {
		return m
	}
	return list
}
