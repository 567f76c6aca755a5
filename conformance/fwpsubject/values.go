package fwpsubject

import (
	"fmt"
	"strings"
)

// arrays are args that must be delivered unchanged, by value: numbers at the limits of types,
// each kind of value at each depth, each escape, each plane and normal form of Unicode. The
// last is large, and used less often.
var arrays = []string{
	`[]`, `[1,2,3]`, `[9007199254740993]`, `[9223372036854775807,-9223372036854775808]`, `["é漢😀"]`,
	`[{"k":{"n":[null,true,false,1.5e10,""]}}]`, `[[[[[[[[["deep"]]]]]]]]]`,
	`["line\nbreak\ttab \"quoted\" \\ / \u00e9"]`, `[0.1,-0,1e2,123456789.125]`,
	`["$$2","a b","` + "\u2028" + `"]`, `[{"jid":"x","queue":"y","retry":0}]`,
	`[2147483647,2147483648,-2147483649]`, `[4294967295,4294967296,4294967297]`, `[9007199254740991,-9007199254740993]`,
	`[-9223372036854775807,1000000000000000001]`, `[null,[null],{"a":null},[[],{}],{"a":{}},""]`, `[true,[false,{"b":true}]]`,
	`["\b\f\r\/\u0001\u001f\u007f"]`, `["\u00e9\ud83d\ude00\u0000"]`, `["<a href='x'>&amp;</a>","--","*/"]`,
	`["` + "\u00e9" + `","` + "e\u0301" + `","` + "\ufb01" + `","` + "\u1e9b\u0323" + `"]`,
	`["` + "\U00010348" + `","` + "\U0002f800" + `","` + "\U000e0041" + `","` + "\U0010fffd" + `"]`,
	`["` + "\u202e" + `abc` + "\u200d\ufeff\ufffd" + `"]`, `[{"A":1,"a":2,"":3," ":4,"0":5,"-1":6,"__proto__":7}]`,
	`["1","01","1e3","true","null","2026-01-02T03:04:05Z"]`, `["$filler(70KiB)"]`,
}

// alikeNames are ends of names that differ, though only in case, at their end, in a zero or in a character that some
// servers replace.
var alikeNames = [][2]string{
	{"-ab", "-aB"}, {"-0", "-00"}, {"", "-1"}, {"_a", "-a"}, {".a", "_a"}, {"-1", "-01"},
	{"-a-name-of-more-than-40-bytes-1", "-a-name-of-more-than-40-bytes-2"},
}

// jobTypes are names that a server must not change, or mistake for its own.
var jobTypes = []string{"t", "t", "T", "Größe", "a::B", "0", "-x", "a.b_c", "retries", "default", "null",
	"Aa.b:c-d_e*", "long" + strings.Repeat("-long", 60)}

// optional are fields that a job has once in so many times, with their values.
var optional = []struct {
	often  int
	name   string
	values []string
}{
	{2, "retry", []string{"0", "-1", "1", "2", "3", "5", "25"}},
	{3, "backtrace", []string{"0", "1", "2", "3"}},
	{4, "created_at", []string{`"$now-26h"`, `"$now-700h@+01:00"`}},
	{3, "custom", []string{
		`{}`, `{"a":{"b":{"c":[{"d":{}}]}},"A":"\u00e9"}`, `{"k":[1,{"x":9007199254740993}]}`, `{"locale":"de"}`, "null",
	}},
	{40, "enqueued_at", []string{`"2001-01-01T00:00:00Z"`}},
	{40, "failure", []string{`{"message":"of the producer"}`}},
}

// job makes up a legal work unit. Not all have the same fields, so that what a server
// mixes up between jobs shows.
func (g *maker) job() string {
	fields := []string{
		`"jid":"` + g.jid() + `"`, `"jobtype":"` + choose(g, jobTypes) + `"`,
		`"args":` + g.array(),
	}
	if g.IntN(20) == 0 { // an unusual name, which may go wrong only when the job is enqueued
		fields = append(fields, `"queue":"`+g.queue()+`_Odd"`)
		if g.IntN(2) == 0 {
			return "{" + strings.Join(append(fields, `"at":`+g.soon()), ",") + "}"
		}
	} else {
		fields = append(fields, `"queue":"`+g.queue()+`"`)
	}
	for _, f := range optional {
		if g.Uses(f.name) && g.IntN(f.often) == 0 {
			fields = append(fields, fmt.Sprintf("%q:%s", f.name, choose(g, f.values)))
		}
	}
	if g.Uses("at") && g.IntN(8) == 0 {
		fields = append(fields, `"at":`+g.at())
	}
	switch {
	case !g.Uses("reserve_for"):
	case g.IntN(3) == 0:
		fields = append(fields, `"reserve_for":`+choose(g, []string{"60", "61", "90", "600", "1800", "3600"}))
	case g.IntN(60) == 0: // AMB-17
		fields = append(fields, `"reserve_for":`+choose(g, []string{"59", "1", "0", "-5"}))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// array is a job's args, mostly empty.
func (g *maker) array() string {
	last := len(arrays) - 1
	switch {
	case g.IntN(3) > 0:
		return arrays[0]
	case g.IntN(12) == 0:
		return arrays[last]
	}
	return deal(g, "args", arrays[:last])
}

// soon is a time in about two seconds. A name of a time has one value in all of a play, so
// that none must come twice for long.
func (g *maker) soon() string { return fmt.Sprintf(`"$now+%dms"`, 1500+g.jobs%1000) }

// at is when a job is to be enqueued: long ago, soon, or at once.
func (g *maker) at() string {
	soon := func(zone string) string { return fmt.Sprintf(`"$now+%dms%s"`, 3000+g.IntN(6000), zone) }
	return choose(g, []string{
		`"$now-2h"`, `"$now-30h@+05:30"`, fmt.Sprintf(`"$now+%dms"`, 1000+g.IntN(6000)), soon("@-05:30"),
		soon("@+02:00"), "null", `""`,
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// failure makes the argument of a FAIL, its texts its own.
func (g *maker) failure(jid string) string {
	n := g.IntN(1000000)
	lines := make([]string, g.IntN(5))
	if g.IntN(20) == 0 {
		lines = make([]string, 25)
	}
	for i := range lines {
		lines[i] = fmt.Sprintf(`"%d.go line %d of it"`, n, i+1)
	}
	class, message := "Error", fmt.Sprintf("failed %d times", n)
	if g.IntN(6) == 0 {
		class, message = choose(g, classes), fmt.Sprintf("%s %d", choose(g, messages), n)
	}
	return fmt.Sprintf(`{"jid":"%s","errtype":"%s%d","message":"%s","backtrace":[%s]}`,
		jid, class, n, message, strings.Join(lines, ","))
}

// The texts of failures, as they stand in JSON.
var (
	classes  = []string{"a::B", "a.b.", "Größe", "a b*", `\"\\`}
	messages = []string{`first\nsecond`, `\u00e9 é 漢 😀 \ud83d\ude00`, `\"\\\/`, "long" + strings.Repeat(" and long", 60), "<&>"}
)

// greeting is a HELLO that is legal, or one that the text leaves open.
func (g *maker) greeting() string {
	g.workers++
	wid := g.workers
	if g.IntN(3) == 0 {
		wid = 1 + g.IntN(g.workers)
	}
	consumer := fmt.Sprintf(`"hostname":"fwpcheck","wid":"$wid%d","pid":4711,"labels":["fwpcheck"],`, wid)
	changed := strings.Replace(consumer, "4711", "4712", 1)
	hash := g.hash()
	if wid == g.workers && g.IntN(3) == 0 { // a worker that no other connection is of
		return fmt.Sprintf(`{"hostname":"%s","wid":"$wid%d%s","pid":%s,"labels":%s,%s"v":2}`,
			choose(g, hostNames), wid, choose(g, workerNames), choose(g, []string{"1", "4711", "4194304"}), choose(g, labels), hash)
	}
	return choose(g, []string{
		`{` + hash + `"v":2}`, `{` + consumer + hash + `"v":2}`, `{` + consumer + hash + `"v":2}`,
		`{` + changed + hash + `"v":2}`,
		`{` + hash + `"v":2,"fwpcheck":true}`, `{` + hash + `"v":3}`, `{` + hash + `"w":1}`,
	})
}

// What a worker may say of itself.
var (
	hostNames   = []string{"fwpcheck", "a.example.com", "Größe", "h-1_2"}
	workerNames = []string{"", ":1", ".a-B", "_c", "-Ab"}
	labels      = []string{`[]`, `["a"]`, `["a","b","c","d","e","f","g","h","i","j","k","l"]`, `["é 漢","A b"]`}
)

// hash is the field of a HELLO with the right password hash, nothing if none is needed.
func (g *maker) hash() string {
	if g.Terms.Password == "" {
		return ""
	}
	return `"pwdhash":"$pwdhash",`
}
