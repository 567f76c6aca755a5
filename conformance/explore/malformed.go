package explore

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/conformance/oracle"
)

// badLine breaks the syntax of the line.
func (g *generator) badLine() string {
	return choose(g, []string{
		"", " ", "INFO ", "INFO x", "info", " INFO", "Info", "IN FO", "INFO\t", "END x", "END ",
		"HELLO", "PUSH", "ACK", "FAIL", "BEAT", "PUSH ", "ACK ", "BEAT ",
		"FETCH ", "FETCH  " + g.queue(), "FETCH " + g.queue() + " ", "FETCH " + g.queue() + "  " + g.queue(), "fetch " + g.queue(),
		"push " + g.job(), "PUSH  " + g.job(), "PUSH " + g.job() + " ", "PUSH\t" + g.job(),
		`ACK  {"jid":"$jid1"}`, `ack {"jid":"$jid1"}`, `BEAT {"wid":"$wid1"} `,
		"XYZZY", "PUSHED {}", "+OK", "$$-1", "*1", "-ERR", "{}", "\x00", "INFO\x00", strings.Repeat("A", 5000),
	})
}

// badArgument gives a verb an argument that is no object, or no JSON.
func (g *generator) badArgument() string {
	verb := choose(g, []string{"PUSH", "PUSH", "ACK", "FAIL", "BEAT"})
	return verb + " " + choose(g, []string{
		"[]", "5", "null", `"x"`, "true", "{", "}", `{"jid":`, "{'jid':1}", "[{}]", "{}", `{"jid":"$jid1",}`, "{} {}", "{}x", "nul",
		`{"jid":"$jid1"`, strings.Repeat("[", 300), `{"a":1e}`, `{"a":01}`, "\u00a0{}", `{"jid" "x"}`,
	})
}

// wrongs are values that most fields must not have; "" leaves the field out.
var wrongs = []string{
	"", "null", "5", "1.5", `"5"`, "[]", "{}", "true", "1e400", "9223372036854775808", "-9223372036854775809", `""`,
	`"2026-13-01T00:00:00Z"`, `"2026-01-01"`, `[1]`, `["x"]`, "0", "-2", "1.0",
}

// badField sends an argument with one value that is missing or not what it should be.
func (g *generator) badField(c *conn, w *oracle.Conn) []Step {
	if g.IntN(12) == 0 {
		later := choose(g, []string{"", `,"at":"$now+3s"`})
		return []Step{line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s x"%s}`, g.jid(), g.queue(), later)}
	}
	verb := choose(g, []string{"PUSH", "PUSH", "PUSH", "ACK", "FAIL", "BEAT"})
	fields, required := g.usualFields(verb, g.p.symbol(w.WID))
	victim := g.IntN(len(fields))
	if fields[victim].name == "queue" && !g.alone {
		victim = 0 // what names no queue goes to one that others use too
	}
	value := choose(g, wrongs)
	var parts []string
	for i, f := range fields {
		if i == victim {
			f.value = value
		} else if i >= required && g.IntN(2) == 0 {
			continue
		}
		if f.value != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", f.name, f.value))
		}
	}
	return []Step{line(c.number, "%s {%s}", verb, strings.Join(parts, ","))}
}

// usualFields are the fields of a verb's argument with values that are well-formed, and
// how many of them must be there.
func (g *generator) usualFields(verb, wid string) (fields []member, required int) {
	switch verb {
	case "PUSH":
		return []member{
			{"jid", `"` + g.jid() + `"`}, {"jobtype", `"t"`}, {"args", "[]"}, {"queue", `"` + g.queue() + `"`}, {"retry", "3"},
			{"reserve_for", "600"}, {"backtrace", "1"}, {"at", `"$now-2h"`}, {"created_at", `"2021-03-04T05:06:07Z"`}, {"custom", "{}"},
		}, 4
	case "ACK":
		return []member{{"jid", `"$jid1"`}}, 1
	case "FAIL":
		return []member{{"jid", `"$jid1"`}, {"errtype", `"E"`}, {"message", `"m"`}, {"backtrace", "[]"}}, 4
	}
	return []member{{"wid", `"` + wid + `"`}, {"rss_kb", "1"}}, 2
}

// badGreeting is a HELLO that must, or should, be declined.
func (g *generator) badGreeting() string {
	if g.p.password != "" && g.IntN(2) == 0 {
		return choose(g, []string{
			`{"v":2}`, `{"pwdhash":"$pwdhash.fewer","v":2}`, `{"pwdhash":"$pwdhash.more","v":2}`, `{"pwdhash":"$pwdhash.wrong","v":2}`,
			`{"pwdhash":"$pwdhash.hex","v":2}`, `{"pwdhash":5,"v":2}`, `{"pwdhash":"","v":2}`, `{"pwdhash":"` + strings.Repeat("ab", 32) + `","v":2}`,
		})
	}
	g.workers++
	wid := fmt.Sprintf("$wid%d", g.workers)
	field := choose(g, []string{
		`"hostname":5,"wid":"$w","pid":1,"labels":[]`, `"hostname":"h","wid":5,"pid":1,"labels":[]`, `"hostname":"h","wid":"$w","pid":"1","labels":[]`,
		`"hostname":"h","wid":"$w","pid":1,"labels":"x"`, `"hostname":"h","wid":"$w","pid":1,"labels":[1]`, `"hostname":"h","wid":"$w","pid":1.5,"labels":[]`,
	})
	typed := `{` + g.hash() + strings.Replace(field, "$w", wid, 1) + `,"v":2}`
	return choose(g, []string{"[]", "5", "null", "{", `{"v":2`, `"x"`, "{]", `{"v":2}x`, typed, typed})
}
