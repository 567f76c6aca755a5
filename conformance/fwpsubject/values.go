package fwpsubject

import (
	"fmt"
	"strings"
)

// reservations are how long workers may hold jobs, some beyond what 32 bits of milliseconds have.
var reservations = []string{"60", "61", "90", "600", "1800", "3600", "86400", "3000000", "4295000"}

// jobTypes are names that a server must not change, or mistake for its own.
var jobTypes = []string{"t", "t", "T", "Größe", "a::B", "0", "-x", "a.b_c", "retries", "default", "null",
	"Aa.b:c-d_e*", "long" + strings.Repeat("-long", 60), "00042", "1e3", "a<b>c&d",
	"50% off %s", " t ", "a\u002fb", "t\\t"}

// optional are fields that a job has once in so many times, with their values.
var optional = []struct {
	often  int
	name   string
	values []string
}{
	{2, "retry", []string{"0", "-1", "1", "2", "3", "5", "25", "100", "256", "70000", "2147483647"}},
	{3, "backtrace", []string{"0", "1", "2", "3", "5", "31", "300"}},
	{4, "created_at", []string{`"$now-26h"`, `"$now-700h@+01:00"`, `"$now-3h@-05:30"`}},
	{3, "custom", nil},
	{40, "enqueued_at", []string{`"2001-01-01T00:00:00Z"`}},
	{40, "failure", []string{`{"message":"of the producer"}`}},
}

// job makes up a legal work unit. Not all have the same fields, so that what a server
// mixes up between jobs shows.
func (g *maker) job() string {
	fields := []string{
		`"jid":"` + g.jid() + g.jidEnd() + `"`, `"jobtype":"` + choose(g, jobTypes) + `"`,
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
			var value string
			if f.name == "custom" {
				value = g.custom()
			} else {
				value = choose(g, f.values)
			}
			fields = append(fields, fmt.Sprintf("%q:%s", f.name, value))
		}
	}
	if g.Uses("at") && g.IntN(8) == 0 {
		fields = append(fields, `"at":`+g.at())
	}
	switch {
	case !g.Uses("reserve_for"):
	case g.IntN(3) == 0:
		fields = append(fields, `"reserve_for":`+choose(g, reservations))
	case g.IntN(60) == 0: // AMB-17
		fields = append(fields, `"reserve_for":`+choose(g, []string{"59", "1", "0", "-5"}))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// jidEnd is what is behind the number of a jid, mostly nothing.
func (g *maker) jidEnd() string {
	if g.IntN(12) > 0 {
		return ""
	}
	return deal(g, "jid", []string{"_a", ".b", ":c", "-Ab", "-007", "-long" + strings.Repeat("-long", 40)})
}

// soon is a time in 2 to 15 seconds. A name of a time has one value in all of a play, so
// that none must come twice for long.
func (g *maker) soon() string { return fmt.Sprintf(`"$now+%dms"`, 1500+g.jobs%manyTimes) }

// manyTimes is how many times have names of their own, a millisecond apart.
const manyTimes = 13_000

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
	class, message := "Error", "failed on purpose"
	if g.IntN(4) == 0 {
		class, message = g.class(), g.message()
	}
	return g.failureOf(jid, class, message)
}

// failureOf makes the argument of a FAIL with an errtype and a message, behind which the number of the failure stands.
// Now and then one of its fields is empty or missing.
func (g *maker) failureOf(jid, class, message string) string {
	g.failures++
	n := 1_000_000 + g.failures // as long as all others, so that no text contains another one
	lines := make([]string, g.IntN(5))
	if g.IntN(20) == 0 {
		lines = make([]string, 25)
	}
	for i := range lines {
		lines[i] = fmt.Sprintf(`"%d.go line %d of it"`, n, i+1)
	}
	text := fmt.Sprintf(`,"message":"%s %d"`, message, n)
	if g.IntN(8) == 0 {
		text = choose(g, []string{"", `,"message":""`})
	}
	return fmt.Sprintf(`{"jid":"%s","errtype":"%s%d"%s,"backtrace":[%s]}`, jid, class, n, text, strings.Join(lines, ","))
}

func (g *maker) class() string   { return deal(g, "errtype", classes) }
func (g *maker) message() string { return deal(g, "message", messages) }

// The texts of failures, as they stand in JSON.
var (
	classes  = []string{"a::B", "a.b.", "Größe", "a b*", `\"\\`}
	messages = []string{`first\nsecond`, `\u00e9 é 漢 😀 \ud83d\ude00`, `\"\\\/`,
		"long" + strings.Repeat(" and long", 60), "<&>"}
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
			deal(g, "hostname", hostNames), wid, deal(g, "wid", workerNames),
			choose(g, []string{"1", "4711", "65536", "4194304"}), deal(g, "labels", labels), hash)
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
