package fwpsubject

import (
	"fmt"
	"strings"
)

// What args and custom must be delivered with unchanged, by value, as it stands in JSON.

// numberForms are numbers at the limits of types, and the forms that a number may have.
var numberForms = []string{
	"0", "-1", "255", "256", "-129", "32768", "65536", "2147483647", "2147483648", "-2147483649", "4294967295",
	"4294967296", "4294967297", "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
	"9223372036854775807",
	"-9223372036854775808", "-9223372036854775807", "1000000000000000001",
	"0.1", "-0", "1e2", "1.5e10", "-2.5E-3", "123456789.125", "0.123456789", "1.0", "1e-7",
}

// textForms are texts: each kind of escape, each plane and normal form of Unicode, and what the languages and stores of
// servers replace, trim or take for something else.
var textForms = []string{
	``, ` `, ` both ends `, `a b`, `tab\there`, `line\nbreak`, `carriage\r\nreturn`, `\"quoted\"`, `back\\slash`, `\/`,
	`\b\f\r\u0001\u001f\u007f`, `\u00e9\ud83d\ude00`, `\u0000`, "é漢😀", "\u2028\u2029",
	"\u00e9 e\u0301 \ufb01 \u1e9b\u0323",
	"\U00010348 \U0002f800 \U000e0041 \U0010fffd", "\u202eabc\u200d\u200b\u00ad\ufeff\ufffd", `<a href='x'>&amp;</a>`,
	`--`,
	`*/`, `%20 %s 100%`, `a+b`, `1`, `01`, `1e3`, `true`, `null`, `2026-01-02T03:04:05Z`, `$$2`, `{}`, `[1]`,
	`a.b`, `it's`,
	strings.Repeat("0123456789abcdef", 20),
}

// keyForms are names of members: those that a map may merge, those that an object may have already, and those of the
// fields of a job.
var keyForms = []string{
	"k", "A", "a", "", " ", "0", "1", "-1", "__proto__", "a.b", "a_b", "$$set", "jid", "queue", "retry", "reserve_for",
	"é", `\u00e9`,
	"class", "length", "x y", `\"`, strings.Repeat("key", 30),
}

// array is a job's args, mostly empty; else with several values, or with many.
func (g *maker) array() string {
	if g.IntN(2) == 0 {
		return "[]"
	}
	switch g.IntN(24) {
	case 0:
		return `["$filler(70KiB)"]`
	case 1:
		return "[" + strings.Repeat("7,", 150) + "7]"
	case 2:
		return strings.Repeat("[", 30) + `"deep"` + strings.Repeat("]", 30)
	}
	var values []string
	for range 1 + g.IntN(5) {
		values = append(values, g.value(2))
	}
	if g.IntN(6) == 0 { // one of them twice
		values = append(values, values[0])
	}
	return "[" + strings.Join(values, ",") + "]"
}

// custom is the field custom of a job.
func (g *maker) custom() string {
	if g.IntN(6) == 0 {
		return choose(g, []string{"{}", "null"})
	}
	return g.members(2)
}

// value is a JSON value, with others in it down to a depth.
func (g *maker) value(depth int) string {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch g.IntN(kinds) {
	case 0, 1:
		return deal(g, "number", numberForms)
	case 2, 3, 4:
		return `"` + deal(g, "text", textForms) + `"`
	case 5:
		return choose(g, []string{"null", "true", "false", "[]", "{}"})
	case 6:
		return "[" + g.value(depth-1) + "," + g.value(depth-1) + "]"
	}
	return g.members(depth - 1)
}

// members is a JSON object with members whose names differ, or with those of a list.
func (g *maker) members(depth int) string {
	if g.IntN(8) == 0 {
		return `{"0":` + g.value(0) + `,"1":` + g.value(0) + "}"
	}
	all := make([]string, 0, 3)
	used := map[string]bool{`\u00e9`: true} // the same as another one of the list
	for range 1 + g.IntN(3) {
		if key := deal(g, "key", keyForms); !used[key] {
			used[key] = true
			all = append(all, fmt.Sprintf(`"%s":%s`, key, g.value(max(depth, 0))))
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}
