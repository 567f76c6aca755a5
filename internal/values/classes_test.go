package values_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/internal/values"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// classes returns the classes of a value, each behind its part.
func classes(value string) (all []string) {
	values.Classify([]byte(value), now, func(part, class string) { all = append(all, strings.TrimSpace(part+" "+class)) })
	return all
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		`null`: {"null"}, `true`: {"true"}, `1.5`: {"number with a fraction"}, `1E2`: {"number with an exponent"},
		`0`: {"0"}, `-0`: {"-0"}, `3`: {"3"}, `-1`: {"-(1)"}, `4`: {"about 2^2"}, `11`: {"about 10^1"}, `12`: {"below 2^4"},
		`255`: {"about 2^8"}, `257`: {"about 2^8"}, `258`: {"below 2^9"}, `-32768`: {"-(about 2^15)"},
		`18446744073709551615`: {"about 2^64"}, `18446744073709551616`: {"integer beyond 2^64"},
		`1e999`: {"number with an exponent"}, `1000001`: {"about 10^6"},
		``: {"not JSON"}, `x`: {"not JSON"}, `1 2`: {"1", "not JSON"}, `"a`: {"not JSON"}, `[1,]`: {"items 1", "not JSON"},
		`{"a"}`: {"names 1 bytes", "not JSON"}, `{"a" 1}`: {"names 1 bytes", "not JSON"}, `NaN`: {"not JSON"},
		`"\`:            {"not JSON"},
		`[]`:            {"array", "0 elements", "depth 0"},
		` [ 1 , [ ] ] `: {"items 1", "items array", "array", "2 elements", "depth 1"},
		`{"a":{"b":[]}}`: {
			"names 1 bytes", "names 1 bytes", "items array", "items object", "object", "1 elements", "depth 2",
		},
		`""`: {"0 bytes"}, `"a b"`: {"3 bytes", "spaces between"}, `" "`: {"1 bytes", "spaces between", "a space first",
			"a space last"}, `"007"`: {"3 bytes", "like a number"}, `"null"`: {"about 2^2 bytes", "like a literal"},
		`"+OK"`: {"3 bytes", "like a reply"}, `"{}"`: {"2 bytes", "like JSON"}, `"<"`: {"1 bytes", "angle brackets"},
		`"\u0000"`: {"1 bytes", "NUL"}, `"\u0007"`: {"1 bytes", "control characters"}, `"\n"`: {"1 bytes", "short escapes"},
		`"\/\"\\"`: {"3 bytes", "quotes", "backslashes", "escaped slash"},
		`"\u00e9"`: {"2 bytes", `\u in small letters`, "category Ll"},
		`"\u00C9"`: {"2 bytes", `\u in capitals`, "category Lu"}, `"\ud83d\ude00"`: {"about 2^2 bytes", `\u in small letters`,
			"escaped pair"},
		`"😀"`: {"about 2^2 bytes", "plane 1", "category So"}, "\"\x7f\"": {"1 bytes", "DEL"},
		"\"\ufffe\"": {"3 bytes", "no character"},
		`"2020-02-29T23:00:00.25+05:30"`: {"below 2^5 bytes", "2 digits of a second", "offset of minutes", "month 2",
			"hour 23", "past", "29 February"},
		`"2026-03-04T05:06:17Z"`: {"below 2^5 bytes", "0 digits of a second", "Z", "month 3", "hour 5", "in 20 s"},
		`"2026-13-04T05:06:17Z"`: {"below 2^5 bytes"},
	} {
		assert.Equal(t, want, classes(value), value)
	}
}

// TestClassifyAnything: whatever the bytes are, there is an end, and what is JSON is read to its end.
func TestClassifyAnything(t *testing.T) {
	t.Parallel()
	assert.Contains(t, classes(strings.Repeat("[", 1<<20)), "not JSON")
	r := rand.New(rand.NewPCG(1, 1))
	seeds := []string{
		`{"a":[1,-2.5e3,"x\u00e9\n",null,true],"b":{"c":[[]]}}`, `["2020-02-29T23:00:00.25+05:30","\ud83d\ude00",17]`,
	}
	for range 20_000 {
		value := []byte(seeds[r.IntN(len(seeds))])
		for range r.IntN(3) {
			value[r.IntN(len(value))] = byte(r.IntN(256))
		}
		if json.Valid(value) {
			assert.NotContains(t, classes(string(value)), "not JSON", string(value))
		} else {
			classes(string(value)) // it may be taken for JSON: names are not decoded
		}
	}
}

// TestClassesOf: all values of all generators are JSON, and fall into more than one class.
func TestClassesOf(t *testing.T) {
	t.Parallel()
	for name, all := range map[string][]values.Bucket{
		"texts": values.Texts(), "lengths": values.Lengths(300), "numbers": values.Numbers(), "instants": values.Instants(),
		"arrays": values.Arrays(300, 40), "objects": values.Objects(100, 40),
	} {
		classes := values.ClassesOf(all, now)
		assert.NotContains(t, classes[values.Whole], "not JSON", name)
		assert.Greater(t, len(classes[values.Whole]), 10, name)
	}
}

func BenchmarkClassify(b *testing.B) {
	job := []byte(`"0123456789abcdef with a few words"`)
	for b.Loop() {
		values.Classify(job, now, func(string, string) {})
	}
}
