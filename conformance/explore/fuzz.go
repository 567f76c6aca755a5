package explore

import (
	"fmt"
	"strings"
)

// Fuzzed bytes use names of their own, from fuzzedNames on. Whatever changed bytes may do
// to the jobs, queues and workers with these names, the judged conversations know nothing
// of them; and no digits that a mutation appends to one make it the name of another.
const fuzzedNames = 5_000_000

// fuzz makes up bytes, in segments: a whole conversation of which some places were
// changed, or something that the grammar has no place for. Never anything that could
// touch what is not ours. early means that the connection has not greeted.
func (g *generator) fuzz(early bool) []string {
	for range 8 {
		text := g.monster()
		if g.IntN(2) == 0 {
			text = g.mutated(tokenize(g.conversation(early)))
		}
		if segments := g.segmented(text); g.p.harmless(segments) {
			return segments
		} else if whole := strings.Join(segments, ""); g.p.harmless([]string{whole}) {
			return []string{whole} // it is where it was cut that is dangerous
		}
	}
	return []string{"\r\n"}
}

// conversation writes the lines of a worker that greets, pushes a job to a queue of its
// own, and does it; some are left out, and some come twice.
func (g *generator) conversation(early bool) string {
	jid, queue := fmt.Sprintf("$jid%d", fuzzedNames+g.round), fmt.Sprintf("$queue%d", fuzzedNames+g.round)
	report := choose(g, []string{
		`ACK {"jid":"` + jid + `"}`,
		`FAIL {"jid":"` + jid + `","errtype":"E","message":"é","backtrace":["l","m"]}`,
	})
	push := g.pushed(`"args":[1,-2.5e3,"x\u00e9",{"a":[null,true]}],"retry":0,"reserve_for":60`)
	var b strings.Builder
	for _, l := range []struct {
		text string
		of   int // in how many conversations of 8 it is
	}{
		{fuzzedHello(g.p.password != ""), 1 + 6*b2i(early)}, {push, 5}, {"FETCH " + queue, 4}, {report, 4},
		{fmt.Sprintf(`BEAT {"wid":"$wid%d"}`, fuzzedNames), 3}, {"INFO", 4}, {"END", 1},
	} {
		if g.IntN(8) < l.of {
			b.WriteString(strings.Repeat(l.text+"\r\n", 1+b2i(g.IntN(8) == 0)))
		}
	}
	if b.Len() == 0 {
		return "INFO\r\n"
	}
	return b.String()
}

// fuzzedHello is the HELLO of the worker that all these conversations are of.
func fuzzedHello(protected bool) string {
	hash := ""
	if protected {
		hash = `"pwdhash":"$pwdhash",`
	}
	return fmt.Sprintf(`HELLO {"hostname":"fwpcheck","wid":"$wid%d","pid":4711,"labels":["fwpcheck"],%s"v":2}`, fuzzedNames, hash)
}

// tokens are a text in pieces that mutations do not go through: bytes, and names.
type tokens []string

// tokenize splits a text as it stands in steps.
func tokenize(text string) tokens {
	var all tokens
	for len(text) > 0 {
		end := 1
		if text[0] == '$' {
			if end = nameEnd(text); strings.HasPrefix(text, "$filler(") {
				end = max(end, strings.IndexByte(text, ')')+1)
			}
		}
		if strings.HasPrefix(text, "$$") {
			all, text = append(all, "$"), text[2:]
			continue
		}
		all, text = append(all, text[:end]), text[end:]
	}
	return all
}

// String writes tokens as they stand in steps.
func (t tokens) String() string {
	var b strings.Builder
	for _, s := range t {
		if s == "$" {
			b.WriteByte('$')
		}
		b.WriteString(s)
	}
	return b.String()
}

// segmented cuts tokens at up to three places.
func (g *generator) segmented(t tokens) []string {
	cuts := 0
	if g.IntN(2) == 0 {
		cuts = 1 + g.IntN(3)
	}
	var all []string
	for ; cuts > 0 && len(t) > 1; cuts-- {
		at := 1 + g.IntN(len(t)-1)
		all, t = append(all, t[:at].String()), t[at:]
	}
	return append(all, t.String())
}
