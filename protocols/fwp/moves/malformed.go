package moves

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
	"github.com/fwpsuite/fwp/scenarios"
)

// badLine breaks the syntax of the line. A server that takes one for a FETCH may wait for a job.
func (g *maker) badLine(c int, _ *fwplaw.Conn) []explore.Step {
	text := deal(g, "line", append(wideTexts("%s"), []string{
		"", " ", "INFO ", "INFO x", "info", " INFO", "Info", "IN FO", "INFO\t", "END x", "END ",
		"HELLO", "PUSH", "ACK", "FAIL", "BEAT", "PUSH ", "ACK ", "BEAT ",
		"FETCH ", "FETCH  " + g.queue(), "FETCH " + g.queue() + " ", "FETCH " + g.queue() + "  " + g.queue(),
		"fetch " + g.queue(),
		"push " + g.job(), "PUSH  " + g.job(), "PUSH " + g.job() + " ", "PUSH\t" + g.job(),
		`ACK  {"jid":"$jid1"}`, `ack {"jid":"$jid1"}`, `BEAT {"wid":"$wid1"} `,
		"XYZZY", "PUSHED {}", "+OK", "$$-1", "*1", "-ERR", "{}", "\x00", "INFO\x00", strings.Repeat("A", 5000),
	}...))
	step := line(c, "%s", text)
	if strings.HasPrefix(strings.ToUpper(text), fwp.FETCH) {
		step = g.sendAside(step)
	}
	return []explore.Step{step}
}

// badArgument gives a verb an argument that is no object, or no JSON.
func (g *maker) badArgument() string {
	verb := choose(g, []string{"PUSH", "PUSH", "ACK", "FAIL", "BEAT"})
	return verb + " " + deal(g, verb+" argument", append(wideTexts(`{"jid":"%s`), []string{
		"[]", "5", "null", `"x"`, "true", "{", "}", `{"jid":`, "{'jid':1}", "[{}]", "{}", `{"jid":"$jid1",}`, "{} {}",
		"{}x", "nul",
		`{"jid":"$jid1"`, strings.Repeat("[", 300), `{"a":1e}`, `{"a":01}`, "\u00a0{}", `{"jid" "x"}`,
	}...))
}

// wideTexts returns texts of characters of several bytes. An error that quotes one and is cut, at whatever length, is
// cut inside a character for one of them.
func wideTexts(format string) (all []string) {
	for before := range 3 {
		all = append(all, fmt.Sprintf(format, strings.Repeat("A", before)+strings.Repeat("€", 300)))
	}
	return all
}

// wrongNames are wrong values for fields with a name; "" leaves the field out. They
// are not names that other clients might use.
var wrongNames = []string{
	"", "null", "5", "1.5", "[]", "{}", "true", "1e400", "9223372036854775808", "-9223372036854775809", `""`,
	`[1]`, `["x"]`, "0", "-2", "1.0",
}

// wrongTexts are wrong values for most other fields.
var wrongTexts = []string{`"5"`, `"2026-13-01T00:00:00Z"`, `"2026-01-01"`, `"2026-01-02T03:04:05"`}

// nameFields are the fields that hold names.
var nameFields = []string{"jid", "queue", "wid"}

// badField sends an argument with one value that is missing or not what it should be.
func (g *maker) badField(c int, w *fwplaw.Conn) []explore.Step {
	verb := choose(g, []string{fwp.PUSH, fwp.PUSH, fwp.PUSH, fwp.ACK, fwp.FAIL, fwp.BEAT})
	if g.plans != nil { // where jobs are followed, those that were refused are too
		verb = fwp.PUSH
	}
	fields, required := g.plainFields(verb, g.spellName(w.WID))
	victim := g.IntN(len(fields))
	if fields[victim].name == "queue" && !g.Terms.Alone {
		victim = 0 // what names no queue goes to one that others use too
	}
	name := fields[victim].name
	values := wrongNames
	if !slices.Contains(nameFields, name) {
		values = slices.Concat(wrongNames, wrongTexts)
	}
	value := deal(g, verb+" "+name, values)
	var parts []string
	for i, f := range fields {
		switch {
		case i == victim:
			f.value = value
		case f.name == "at" && g.plans != nil: // what is refused is not scheduled either
			f.value = g.momentTime()
		case i >= required && g.IntN(2) == 0:
			continue
		}
		if f.value != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", f.name, f.value))
		}
	}
	return []explore.Step{line(c, "%s {%s}", verb, strings.Join(parts, ","))}
}

// plainValues are well-formed values.
var plainValues = map[model.FieldType]string{
	model.StringField: `"t"`, model.IntField: "600", model.ArrayField: "[]", model.StringsField: "[]",
	model.ObjectField: "{}", model.TimeField: `"2021-03-04T05:06:07Z"`, model.TimeOrBlankField: `"$now-2h"`,
}

// plainFields returns the fields of a verb's argument with well-formed values. A client
// sends at least the first of them, as many as are required: those and the queue, which
// would be default otherwise. The state of a worker is left out, since it has an effect.
func (g *maker) plainFields(verb, wid string) (fields []member, required int) {
	names := map[string]string{"jid": "$jid1", "wid": wid}
	if verb == fwp.PUSH {
		names = map[string]string{"jid": g.jid(), "queue": g.queue()}
	}
	for _, f := range model.Fields(verb) {
		if f.ReadOnly || f.Name == "current_state" {
			continue
		}
		value := plainValues[f.Type]
		if name, named := names[f.Name]; named {
			value = `"` + name + `"`
		}
		fields = append(fields, member{f.Name, value})
		if f.Required || f.Name == "queue" {
			required = len(fields)
		}
	}
	return fields, required
}

// badGreeting is a HELLO that must, or should, be declined.
func (g *maker) badGreeting() string {
	if g.Terms.Password != "" && g.IntN(2) == 0 {
		return g.badHash()
	}
	g.workers++
	wid := fmt.Sprintf("$wid%d", g.workers)
	field := deal(g, "HELLO field", []string{
		`"hostname":5,"wid":"$w","pid":1,"labels":[]`, `"hostname":"h","wid":5,"pid":1,"labels":[]`,
		`"hostname":"h","wid":"$w","pid":"1","labels":[]`,
		`"hostname":"h","wid":"$w","pid":1,"labels":"x"`, `"hostname":"h","wid":"$w","pid":1,"labels":[1]`,
		`"hostname":"h","wid":"$w","pid":1.5,"labels":[]`,
	})
	typed := `{` + g.hash() + strings.Replace(field, "$w", wid, 1) + `,"v":2}`
	return deal(g, "HELLO", []string{
		"[]", "5", "null", "{", `{"v":2`, `"x"`, "{]", `{"v":2}x`, `{"v":2,}`, typed, typed, typed, typed,
	})
}

// badHash is a HELLO of a producer or a worker whose hash is wrong in one way, or missing, with any version.
func (g *maker) badHash() string {
	hash := deal(g, "hash", []string{
		"", `"$pwdhash.plain"`, `"$pwdhash.once"`, `"$pwdhash.fewer"`, `"$pwdhash.more"`, `"$pwdhash.wrong"`,
		`"$pwdhash.hex"`, `"$pwdhash.shorter"`, `"$pwdhash.nopassword"`, `"$pwdhash.nosalt"`, `"$pwdhash.saltfirst"`,
		`"$pwdhash.cut"`, `"$pwdhash.half"`, `"$pwdhash.long"`, `"$pwdhash.first"`, `"$pwdhash.last"`, `5`, `""`,
		`["$pwdhash"]`, `{"pwdhash":"$pwdhash"}`, `"` + strings.Repeat("ab", 32) + `"`,
	})
	var fields []string
	if hash != "" {
		fields = append(fields, `"pwdhash":`+hash)
	}
	if g.IntN(2) == 0 {
		wid := 1 + g.IntN(g.workers+1)
		g.workers = max(g.workers, wid)
		fields = append(fields, fmt.Sprintf(`"hostname":"fwpcheck","wid":"$wid%d","pid":4711,"labels":["fwpcheck"]`, wid))
	}
	if other := deal(g, "beside a hash", []string{
		"", "", "", `"username":"u"`, `"user":"u","password":"p"`, `"password":""`, `"token":"t"`, `"admin":true`,
		`"i":1,"s":""`, `"pwdhash2":"$pwdhash"`, `"auth":null`, `"anonymous":true`,
	}); other != "" { // none stands for a hash
		fields = append(fields, other)
	}
	v := deal(g, "v", []string{"2", "2", "2", "2", "2", "", "1", "3"})
	if strings.Contains(hash, "once") { // how clients of another version hash is open (AMB-08)
		v = "2"
	}
	if v != "" {
		fields = append(fields, `"v":`+v)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// guessHashes has one client after the other greet with a wrong hash, and again without one.
func (g *maker) guessHashes(c int, _ *fwplaw.Conn) []explore.Step {
	var steps []explore.Step
	for range 4 {
		steps = append(steps, explore.End(c, scenarios.Closed), build().Open(c, scenarios.Raw, ""),
			line(c, "HELLO %s", g.badHash()), line(c, `HELLO {"v":2}`))
	}
	return steps
}

// refuseThenServe sends what must be refused about a job in hand, or about the worker itself, and then what must be
// served.
func (g *maker) refuseThenServe(c int, w *fwplaw.Conn) []explore.Step {
	jid := g.heldJID(w)
	bad := deal(g, "refused in hand", []string{
		`ACK {"jid":["` + jid + `"]}`, `FAIL {"jid":["` + jid + `"],"errtype":"E","message":"m","backtrace":[]}`,
		`ACK {"jid":{"jid":"` + jid + `"}}`, `ACK ["` + jid + `"]`, `ACK "` + jid + `"`,
		`BEAT {"wid":5,"current_state":"quiet"}`, `BEAT {"current_state":"terminate"}`,
		`BEAT {"wid":["` + g.spellName(w.WID) + `"]}`,
	})
	return []explore.Step{line(c, "%s", bad), line(c, `BEAT {"wid":"%s"}`, g.spellName(w.WID)), ack(c, jid)}
}
