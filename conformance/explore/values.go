package explore

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/conformance/oracle"
)

// args are arrays that must come back as they are, by value.
var args = []string{
	`[]`, `[1,2,3]`, `[9007199254740993]`, `[9223372036854775807,-9223372036854775808]`, `["é漢😀"]`,
	`[{"k":{"n":[null,true,false,1.5e10,""]}}]`, `[[[[[[[[["deep"]]]]]]]]]`, `["line\nbreak\ttab \"quoted\" \\ / \u00e9"]`,
	`[0.1,-0,1e2,123456789.125]`, `["$$2","a b","` + "\u2028" + `"]`, `[{"jid":"x","queue":"y","retry":0}]`, `["$filler(70KiB)"]`,
}

// job makes up a legal work unit. Fields come and go, so that what belongs to one job
// may show in another.
func (g *generator) job() string {
	fields := []string{fmt.Sprintf(`"jid":"%s"`, g.jid()), `"jobtype":"` + choose(g, []string{"t", "Größe", "a::B"}) + `"`}
	array := args[0]
	if g.IntN(3) == 0 {
		array = args[g.IntN(len(args)-1+b2i(g.IntN(12) == 0))]
	}
	fields = append(fields, `"args":`+array, fmt.Sprintf(`"queue":"%s%s"`, g.queue(), choose(g, []string{"", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "_Odd"})))
	add := func(often int, name string, values ...string) {
		if g.IntN(often) == 0 {
			fields = append(fields, fmt.Sprintf("%q:%s", name, choose(g, values)))
		}
	}
	if strings.Contains(fields[len(fields)-1], "_Odd") && g.IntN(2) == 0 {
		return "{" + strings.Join(append(fields, `"at":"$now+2s"`), ",") + "}"
	}
	add(2, "retry", "0", "-1", "1", "2", "3", "5", "25")
	add(3, "reserve_for", "60", "61", "90", "600", "1800", "3600")
	add(3, "backtrace", "0", "1", "2", "3")
	add(8, "at", `"$now-2h"`, `"$now-30h@+05:30"`, fmt.Sprintf(`"$now+%dms"`, 1000+g.IntN(6000)), fmt.Sprintf(`"$now+%dms@-05:30"`, 3000+g.IntN(6000)),
		fmt.Sprintf(`"$now+%dms@+02:00"`, 3000+g.IntN(6000)), "null", `""`)
	add(4, "created_at", `"$now-26h"`, `"$now-700h@+01:00"`)
	add(3, "custom", `{}`, `{"k":[1,{"x":9007199254740993}]}`, `{"locale":"de"}`, "null")
	add(40, "enqueued_at", `"2001-01-01T00:00:00Z"`)
	add(40, "failure", `{"message":"of the producer"}`)
	add(60, "reserve_for", "59", "1", "0", "-5")
	if len(fields) > 2 && strings.Count(strings.Join(fields, ","), `"reserve_for"`) > 1 {
		fields = fields[:len(fields)-1]
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// failure makes the argument of a FAIL, its texts its own.
func (g *generator) failure(jid string) string {
	n := g.IntN(1000000)
	lines := make([]string, g.IntN(5))
	for i := range lines {
		lines[i] = fmt.Sprintf(`"%d.go line %d of it"`, n, i+1)
	}
	return fmt.Sprintf(`{"jid":"%s","errtype":"Error%d","message":"failed %d times","backtrace":[%s]}`, jid, n, n, strings.Join(lines, ","))
}

// badLine breaks the syntax of the line.
func (g *generator) badLine() string {
	return choose(g, []string{
		"", " ", "INFO ", "INFO x", "info", " INFO", "Info", "IN FO", "INFO\t", "END x", "END ", "HELLO", "PUSH", "ACK", "FAIL", "BEAT", "PUSH ", "ACK ", "BEAT ",
		"FETCH ", "FETCH  " + g.queue(), "FETCH " + g.queue() + " ", "FETCH " + g.queue() + "  " + g.queue(), "fetch " + g.queue(),
		"push " + g.job(), "PUSH  " + g.job(), "PUSH " + g.job() + " ", "PUSH\t" + g.job(), `ACK  {"jid":"$jid1"}`, `ack {"jid":"$jid1"}`, `BEAT {"wid":"$wid1"} `,
		"XYZZY", "PUSHED {}", "+OK", "$$-1", "*1", "-ERR", "{}", "\x00", "INFO\x00", strings.Repeat("A", 5000),
	})
}

// badArgument gives a verb an argument that is no object, or no JSON.
func (g *generator) badArgument() string {
	verb := choose(g, []string{"PUSH", "PUSH", "ACK", "FAIL", "BEAT"})
	return verb + " " + choose(g, []string{
		"[]", "5", "null", `"x"`, "true", "{", "}", `{"jid":`, "{'jid':1}", "[{}]", "{}", `{"jid":"$jid1",}`, "{} {}", "{}x", "nul", `{"jid":"$jid1"`, strings.Repeat("[", 300), `{"a":1e}`, `{"a":01}`, "\u00a0{}", `{"jid" "x"}`,
	})
}

var wrongs = []string{"", "null", "5", "1.5", `"5"`, "[]", "{}", "true", "1e400", "9223372036854775808", "-9223372036854775809", `""`, `"2026-13-01T00:00:00Z"`, `"2026-01-01"`, `[1]`, `["x"]`, "0", "-2", "1.0"}

// badField sends an argument with one value that is missing or not what it should be.
func (g *generator) badField(c *conn, w *oracle.Conn) []Step {
	if g.IntN(12) == 0 {
		return []Step{line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s x"%s}`, g.jid(), g.queue(), choose(g, []string{"", `,"at":"$now+3s"`}))}
	}
	verb := choose(g, []string{"PUSH", "PUSH", "PUSH", "ACK", "FAIL", "BEAT"})
	fields := map[string][][2]string{
		"PUSH": {{"jid", `"` + g.jid() + `"`}, {"jobtype", `"t"`}, {"args", "[]"}, {"queue", `"` + g.queue() + `"`}, {"retry", "3"}, {"reserve_for", "600"}, {"backtrace", "1"}, {"at", `"$now-2h"`}, {"created_at", `"2021-03-04T05:06:07Z"`}, {"custom", "{}"}},
		"ACK":  {{"jid", `"$jid1"`}},
		"FAIL": {{"jid", `"$jid1"`}, {"errtype", `"E"`}, {"message", `"m"`}, {"backtrace", "[]"}},
		"BEAT": {{"wid", `"` + g.p.symbol(w.WID) + `"`}, {"rss_kb", "1"}},
	}[verb]
	victim := g.IntN(len(fields))
	if verb == "PUSH" && victim == 3 && !g.alone {
		victim = 0 // what names no queue goes to one that others use too
	}
	value := choose(g, wrongs)
	var parts []string
	for i, f := range fields {
		if i == victim {
			f[1] = value
		} else if verb == "PUSH" && i > 3 && g.IntN(2) == 0 {
			continue
		}
		if f[1] != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", f[0], f[1]))
		}
	}
	return []Step{line(c.number, "%s {%s}", verb, strings.Join(parts, ","))}
}

// greeting is a HELLO that is legal, or one that the text leaves open.
func (g *generator) greeting() string {
	g.workers++
	wid := g.workers
	if g.IntN(3) == 0 {
		wid = 1 + g.IntN(g.workers)
	}
	consumer := fmt.Sprintf(`"hostname":"fwpcheck","wid":"$wid%d","pid":4711,"labels":["fwpcheck"],`, wid)
	hash := ""
	if g.p.password != "" {
		hash = `"pwdhash":"$pwdhash",`
	}
	return choose(g, []string{
		`{` + hash + `"v":2}`, `{` + consumer + hash + `"v":2}`, `{` + consumer + hash + `"v":2}`,
		`{` + strings.Replace(consumer, "4711", "4712", 1) + hash + `"v":2}`, `{` + hash + `"v":2,"fwpcheck":true}`, `{` + hash + `"v":3}`, `{` + hash + `"w":1}`,
	})
}

// badGreeting is a HELLO that must, or should, be declined.
func (g *generator) badGreeting() string {
	if g.p.password != "" && g.IntN(2) == 0 {
		return choose(g, []string{`{"v":2}`, `{"pwdhash":"$pwdhash.fewer","v":2}`, `{"pwdhash":"$pwdhash.more","v":2}`, `{"pwdhash":"$pwdhash.wrong","v":2}`,
			`{"pwdhash":"$pwdhash.hex","v":2}`, `{"pwdhash":5,"v":2}`, `{"pwdhash":"","v":2}`, `{"pwdhash":"` + strings.Repeat("ab", 32) + `","v":2}`})
	}
	hash := ""
	if g.p.password != "" {
		hash = `"pwdhash":"$pwdhash",`
	}
	g.workers++
	bad := choose(g, []string{
		`"hostname":5,"wid":"$widN","pid":1,"labels":[]`, `"hostname":"h","wid":5,"pid":1,"labels":[]`, `"hostname":"h","wid":"$widN","pid":"1","labels":[]`,
		`"hostname":"h","wid":"$widN","pid":1,"labels":"x"`, `"hostname":"h","wid":"$widN","pid":1,"labels":[1]`, `"hostname":"h","wid":"$widN","pid":1.5,"labels":[]`,
	})
	return choose(g, []string{"[]", "5", "null", "{", `{"v":2`, `"x"`, "{]", `{"v":2}x`,
		`{` + hash + strings.Replace(bad, "$widN", fmt.Sprintf("$wid%d", g.workers), 1) + `,"v":2}`,
		`{` + hash + strings.Replace(bad, "$widN", fmt.Sprintf("$wid%d", g.workers), 1) + `,"v":2}`})
}
