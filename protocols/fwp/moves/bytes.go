package moves

import (
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/scenarios"
)

// Fuzzed bytes use names of their own, from fuzzedNames on. Whatever changed bytes may do
// to the jobs, queues and workers with these names, the judged conversations know nothing
// of them; and no digits that a mutation appends to one make it the name of another.
const fuzzedNames = 5_000_000

// fuzz makes up bytes, in segments: a whole conversation with some places changed, or
// something that the grammar does not have, but nothing that could touch jobs of other
// clients. early means that the connection has not greeted.
func (g *maker) fuzz(early bool) []string {
	for range 8 {
		text := g.invalidBytes()
		if g.IntN(2) == 0 {
			text = g.mutateBytes(build().Tokenize(g.conversation(early)))
		}
		if segments := g.cutTokens(text); g.isHarmless(segments) {
			return segments
		} else if all := strings.Join(segments, ""); g.isHarmless([]string{all}) {
			return []string{all} // it is where it was cut that is dangerous
		}
	}
	return []string{"\r\n"}
}

// conversation writes the lines of a worker, always the same, that greets, pushes a job to a queue of its
// own, and does it; some lines are left out, and some are repeated.
func (g *maker) conversation(early bool) string {
	jid, queue := fmt.Sprintf("$jid%d", fuzzedNames+g.Round), fmt.Sprintf("$queue%d", fuzzedNames+g.Round)
	report := choose(g, []string{
		`ACK {"jid":"` + jid + `"}`,
		`FAIL {"jid":"` + jid + `","errtype":"E","message":"é","backtrace":["l","m"]}`,
	})
	hello := introduction(scenarios.Consumer, fmt.Sprintf("$wid%d", fuzzedNames), g.Terms.Password != "")
	push := g.fuzzedPush(`"args":[1,-2.5e3,"x\u00e9",{"a":[null,true]}],"retry":0,"reserve_for":60`)
	var b strings.Builder
	for _, l := range []struct {
		text  string
		count int // in how many conversations of 8 it is
	}{
		{hello, 1 + 6*b2i(early)}, {push, 5}, {"FETCH " + queue, 4}, {report, 4},
		{fmt.Sprintf(`BEAT {"wid":"$wid%d"}`, fuzzedNames), 3}, {"INFO", 4}, {"END", 1},
	} {
		if g.IntN(8) < l.count {
			b.WriteString(strings.Repeat(l.text+"\r\n", 1+b2i(g.IntN(8) == 0)))
		}
	}
	if b.Len() == 0 {
		return "INFO\r\n"
	}
	return b.String()
}

// cutTokens cuts tokens at up to three places.
func (g *maker) cutTokens(t explore.Tokens) []string {
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
