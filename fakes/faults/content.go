package faults

import (
	"bytes"
	"encoding/json"
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

// leaves changes values from the inside to the outside.
func leaves(change func(any) any) func(any) any {
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		}
		return change(v)
	}
	return walk
}

// texts changes texts, but not keys.
func texts(change func(string) string) func(any) any {
	return leaves(func(v any) any {
		if s, is := v.(string); is {
			return change(s)
		}
		return v
	})
}

// numbers changes a number as it is written, and integers one that is an integer of 64 bits.
func numbers(change func(string) string) func(any) any {
	return func(v any) any {
		if n, is := v.(json.Number); is {
			return json.Number(change(n.String()))
		}
		return v
	}
}

func integers(change func(int64) any) func(any) any {
	return func(v any) any {
		if n, is := integerOf(v); is {
			return change(n)
		}
		return v
	}
}

// topIntegers changes the integers that are elements of args themselves.
func topIntegers(change func(int64) string) func(any) any {
	number := integers(func(n int64) any { return json.Number(change(n)) })
	return func(v any) any {
		args, _ := v.([]any)
		for i := range args {
			args[i] = number(args[i])
		}
		return v
	}
}

func integerOf(v any) (int64, bool) {
	number, _ := v.(json.Number)
	n, err := strconv.ParseInt(number.String(), 10, 64)
	return n, err == nil
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// keys changes the keys of hashes. Of keys that become equal one is kept.
func keys(change func(string) string) func(any) any {
	return leaves(func(v any) any {
		m, is := v.(map[string]any)
		if !is {
			return v
		}
		changed := map[string]any{}
		for k, value := range m {
			changed[change(k)] = value
		}
		return changed
	})
}

// members drops the members of a hash that are not to be kept.
func members(kept func(name string, value any) bool) func(any) any {
	return func(v any) any {
		m, _ := v.(map[string]any)
		for name, value := range m {
			if !kept(name, value) {
				delete(m, name)
			}
		}
		return v
	}
}

func withoutNulls(v any) any {
	return leaves(members(func(_ string, value any) bool { return value != nil }))(v)
}

// dropZeros drops the members of hashes that are 0, false or empty.
func dropZeros(e *event) {
	reshape(e.Object, "args custom", leaves(members(func(_ string, value any) bool {
		return value != json.Number("0") && value != false && value != ""
	})))
}

// shallow replaces what is nested deeper than that by null.
func shallow(v any, depth int) any {
	switch v := v.(type) {
	case []any:
		if depth == 0 {
			return nil
		}
		for i := range v {
			v[i] = shallow(v[i], depth-1)
		}
	case map[string]any:
		if depth == 0 {
			return nil
		}
		for k := range v {
			v[k] = shallow(v[k], depth-1)
		}
	}
	return v
}

// rounded rounds the large integers of a job.
func rounded(e *event) { reshape(e.Object, "args custom", leaves(roundedInteger)) }

// roundedInteger returns what a double precision number keeps of an integer.
func roundedInteger(v any) any {
	if n, is := integerOf(v); is && (n > 1<<53 || n < -1<<53) {
		return json.Number(strconv.FormatFloat(float64(n), 'f', 0, 64))
	}
	return v
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

// cutArgs cuts the texts in args that are too long.
func cutArgs(job *object, limit int) {
	if len(job.Get("args")) > limit {
		reshape(job, "args", func(v any) any {
			args, _ := v.([]any)
			for i, arg := range args {
				if s, is := arg.(string); is {
					args[i] = cut(s, limit)
				}
			}
			return v
		})
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
func asSet(v any) any {
	a, is := v.([]any)
	if !is {
		return v
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(a), func(x any) bool {
		b, _ := json.Marshal(x)
		again := seen[string(b)]
		seen[string(b)] = true
		return again
	})
}

// asList makes an array of a hash whose keys are 0, 1 and so on.
func asList(v any) any {
	m, is := v.(map[string]any)
	if !is || len(m) == 0 {
		return v
	}
	var list []any
	for i := range len(m) {
		x, has := m[strconv.Itoa(i)]
		if !has {
			return v
		}
		list = append(list, x)
	}
	return list
}
