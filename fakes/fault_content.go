package fakes

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// textFaults are about texts in args and custom that the server changes.
func textFaults() []Fault {
	return []Fault{
		fault("job-text-composed", "WU-03 WU-11",
			"a letter and its combining accent become one character",
			contents("args custom", texts(strings.NewReplacer("e\u0301", "é", "A\u030a", "Å").Replace))),
		fault("job-text-html", "WU-03 WU-11",
			"the characters < > & in texts become entities",
			contents("args custom", texts(strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;").Replace))),
		fault("job-text-ends-at-nul", "WU-03 WU-11 FRAME-09",
			"a text ends at its first U+0000",
			contents("args custom", texts(func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }))),
		fault("job-text-planes", "WU-03 WU-11 FRAME-09",
			"a character beyond U+FFFF becomes U+FFFD",
			contents("args custom", texts(func(s string) string {
				return strings.Map(func(r rune) rune {
					if r > 0xFFFF {
						return '\uFFFD'
					}
					return r
				}, s)
			}))),
		fault("job-text-trimmed", "WU-03 WU-11",
			"texts lose the spaces at their ends",
			contents("args custom", texts(func(s string) string { return strings.Trim(s, " ") }))),
		fault("job-text-number", "WU-03",
			"a text that is a number becomes that number",
			contents("args", leaves(func(v any) any {
				if s, is := v.(string); is && json.Valid([]byte(s)) && strings.Trim(s, "0123456789") == "" {
					return json.Number(s)
				}
				return v
			}))),
	}
}

// emptyFaults are about values in args and custom that the server takes for nothing.
func emptyFaults() []Fault {
	return []Fault{
		fault("job-null-dropped", "WU-03 WU-11",
			"members of hashes that are null are dropped",
			contents("args custom", withoutNulls)),
		fault("job-empty-array-null", "WU-03 WU-11",
			"an empty array within args or custom becomes null",
			contents("args custom", leaves(func(v any) any {
				if a, is := v.([]any); is && len(a) == 0 {
					return nil
				}
				return v
			}))),
		fault("job-empty-hash-array", "WU-03 WU-11",
			"an empty hash within args or custom becomes an empty array",
			contents("args custom", leaves(func(v any) any {
				if m, is := v.(map[string]any); is && len(m) == 0 {
					return []any{}
				}
				return v
			}))),
	}
}

// keyFaults are about keys and depths in args and custom that the server changes.
func keyFaults() []Fault {
	return []Fault{
		fault("job-keys-folded", "WU-03 WU-11",
			"the keys of hashes are in lower case",
			contents("args custom", keys(strings.ToLower))),
		fault("job-keys-split", "WU-03 WU-11",
			"a dot in a key of a hash becomes an underscore",
			contents("args custom", keys(func(s string) string { return strings.ReplaceAll(s, ".", "_") }))),
		fault("job-nesting-cut", "WU-03",
			"what is nested more than eight levels deep becomes null",
			contents("args", func(v any) any { return shallow(v, 8) })),
	}
}

// numberFaults are about numbers in args and custom that the server changes.
func numberFaults() []Fault {
	return []Fault{
		fault("job-integer-32-bits", "WU-03 WU-11",
			"integers keep their last 32 bits",
			contents("args custom", leaves(func(v any) any {
				if n, is := integerOf(v); is {
					return json.Number(itoa(int64(int32(n)))) //nolint:gosec // that is the fault
				}
				return v
			}))),
		fault("job-integer-unsigned", "WU-03 WU-11",
			"negative integers beyond 32 bits lose their sign",
			contents("args custom", leaves(func(v any) any {
				if n, is := integerOf(v); is && n < math.MinInt32 && n != math.MinInt64 {
					return json.Number(itoa(-n))
				}
				return v
			}))),
		fault("job-fraction-single", "WU-03 WU-11",
			"numbers that are not integers have single precision",
			contents("args custom", leaves(func(v any) any {
				n, is := v.(json.Number)
				f, err := strconv.ParseFloat(n.String(), 64)
				if _, integer := integerOf(v); is && err == nil && !integer {
					return json.Number(strconv.FormatFloat(float64(float32(min(f, math.MaxFloat32))), 'g', -1, 64))
				}
				return v
			}))),
	}
}

// customFaults are about values in custom alone that the server changes.
func customFaults() []Fault {
	return []Fault{
		fault("job-custom-integer-rounded", "WU-11",
			"integers in custom beyond 2^53 are rounded",
			contents("custom", leaves(func(v any) any {
				if n, is := integerOf(v); is && (n > 1<<53 || n < -(1<<53)) {
					return json.Number(strconv.FormatFloat(float64(n), 'f', -1, 64))
				}
				return v
			}))),
		fault("job-custom-flat", "WU-11",
			"hashes within custom become texts",
			contents("custom", func(v any) any {
				for k, inner := range v.(map[string]any) {
					if m, is := inner.(map[string]any); is {
						b, _ := json.Marshal(m) // it was JSON
						v.(map[string]any)[k] = string(b)
					}
				}
				return v
			})),
	}
}

// contents changes the values of some fields of each job that is pushed.
func contents(fields string, change func(any) any) func(*Event) {
	return when(Checked, fwp.PUSH, func(e *Event) {
		if e.Err == nil {
			reshape(e.Object, fields, change)
		}
	})
}

// reshape changes the values of some fields of a job.
func reshape(job *Object, fields string, change func(any) any) {
	for name := range strings.FieldsSeq(fields) {
		if given(job, name) == nil {
			continue
		}
		value, err := decode(job.Get(name))
		if err != nil {
			continue
		}
		var b bytes.Buffer
		if json.NewEncoder(&b).Encode(inner(value, change)) == nil {
			job.Set(name, strings.TrimSpace(b.String()))
		}
	}
}

// inner changes a field's value, but not its kind.
func inner(value any, change func(any) any) any {
	changed := change(value)
	switch value.(type) {
	case []any:
		if _, is := changed.([]any); !is {
			return value
		}
	case map[string]any:
		if _, is := changed.(map[string]any); !is {
			return value
		}
	}
	return changed
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

func withoutNulls(v any) any {
	return leaves(func(v any) any {
		m, _ := v.(map[string]any)
		for k, value := range m {
			if value == nil {
				delete(m, k)
			}
		}
		return v
	})(v)
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

func integerOf(v any) (int64, bool) {
	n, is := v.(json.Number)
	if !is {
		return 0, false
	}
	return asInteger(json.RawMessage(n))
}
