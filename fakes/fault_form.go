package fakes

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
)

// formFaults change values of jobs as other languages and stores do.
func formFaults() []Fault {
	return slices.Concat(formValueFaults(), formNumberFaults(), formListFaults(), formMemberFaults(), formStampFaults())
}

func formValueFaults() []Fault {
	text := func(change func(string) string) func(*Event) { return contents("args custom", texts(change)) }
	leaf := func(change func(any) any) func(*Event) { return contents("args custom", leaves(change)) }
	return []Fault{
		fault("job-args-set", "WU-03",
			"equal elements of an array in args are delivered once",
			contents("args", leaves(asSet))),
		fault("job-text-line-ends", "WU-03 WU-11", "a CR before an LF is dropped in texts",
			text(strings.NewReplacer("\r\n", "\n").Replace)),
		fault("job-text-tabs", "WU-03 WU-11",
			"a tab in a text becomes a space",
			text(strings.NewReplacer("\t", " ").Replace)),
		fault("job-text-backslash", "WU-03 WU-11",
			"a backslash in a text is dropped",
			text(strings.NewReplacer(`\`, "").Replace)),
		fault("job-text-quoted", "WU-03 WU-11",
			"a quotation mark in a text is doubled",
			text(strings.NewReplacer(`"`, `""`).Replace)),
		fault("job-text-empty-null", "WU-03 WU-11", "an empty text becomes null", leaf(func(v any) any {
			if v == "" {
				return nil
			}
			return v
		})),
		fault("job-text-joiners", "WU-03 WU-11", "characters without a width are dropped",
			text(strings.NewReplacer("\u200b", "", "\u200d", "", "\ufeff", "", "\u200e", "", "\u00ad", "").Replace)),
		fault("job-truth-number", "WU-03 WU-11", "true and false become 1 and 0", leaf(func(v any) any {
			switch v {
			case true:
				return json.Number("1")
			case false:
				return json.Number("0")
			}
			return v
		})),
	}
}

func formNumberFaults() []Fault {
	leaf := func(change func(any) any) func(*Event) { return contents("args custom", leaves(change)) }
	return []Fault{
		fault("job-exponent-dropped", "WU-03 WU-11", "a number loses its exponent", leaf(func(v any) any {
			if n, is := v.(json.Number); is {
				mantissa, _, _ := strings.Cut(strings.ToLower(n.String()), "e")
				return json.Number(mantissa)
			}
			return v
		})),
		fault("job-integer-text", "WU-03 WU-11",
			"an integer beyond 2^53 becomes a text",
			leaf(func(v any) any {
				if n, is := integerOf(v); is && (n > 1<<53 || n < -1<<53) {
					return itoa(n)
				}
				return v
			})),
		fault("job-fraction-cut", "WU-03 WU-11",
			"numbers keep six digits behind the point",
			leaf(func(v any) any {
				n, is := v.(json.Number)
				whole, part, has := strings.Cut(n.String(), ".")
				if !is || !has || strings.ContainsAny(part, "eE") {
					return v
				}
				return json.Number(whole + "." + part[:min(len(part), 6)])
			})),
		fault("job-keys-empty", "WU-03 WU-11",
			"a member with an empty name is dropped",
			leaf(func(v any) any {
				if m, is := v.(map[string]any); is {
					delete(m, "")
				}
				return v
			})),
	}
}

func formListFaults() []Fault {
	leaf := func(change func(any) any) func(*Event) { return contents("args custom", leaves(change)) }
	return []Fault{
		fault("job-keys-array", "WU-03 WU-11",
			"a hash whose keys are 0, 1 and so on becomes an array",
			leaf(asList)),
		fault("job-keys-dollar", "WU-03 WU-11",
			"members whose names begin with a dollar sign are dropped",
			leaf(func(v any) any {
				if m, is := v.(map[string]any); is {
					for name := range m {
						if strings.HasPrefix(name, "$") {
							delete(m, name)
						}
					}
				}
				return v
			})),
	}
}

func formMemberFaults() []Fault {
	return []Fault{
		fault("job-custom-overrides", "WU-11",
			"members of custom with the names of optional fields replace those of the job",
			when(Defaulted, fwp.PUSH, func(e *Event) {
				custom, r := parseObject(e.Object.Get("custom"))
				if r != nil {
					return
				}
				for _, f := range custom.Fields() {
					switch f.Name {
					case "retry", "reserve_for", "queue", "backtrace":
						e.Object.Set(f.Name, string(f.Value))
					}
				}
			})),
		fault("job-failure-text", "WU-13 FAIL-06 WU-09", "failure is a text", delivered(func(job *Object) {
			if f := job.Get("failure"); f != nil {
				job.SetText("failure", string(f))
			}
		})),
	}
}

func formStampFaults() []Fault {
	return []Fault{
		fault("job-created-at-day", "WU-10", "created_at keeps its date only", delivered(func(job *Object) {
			if at := job.Text("created_at"); len(at) > 10 {
				job.SetText("created_at", at[:10]+"T00:00:00Z")
			}
		})),
	}
}

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

func asList(v any) any {
	m, is := v.(map[string]any)
	if !is || len(m) == 0 {
		return v
	}
	var list []any
	for i := range len(m) {
		x, has := m[itoa(int64(i))]
		if !has {
			return v
		}
		list = append(list, x)
	}
	return list
}
