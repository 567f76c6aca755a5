package moves

import (
	"encoding/json"
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// alikeNames are ends of names that differ, though only in case, at their end, in a zero, in a character that some
// servers replace, or in what JSON escapes.
var alikeNames = [][2]string{
	{"-ab", "-aB"}, {"-0", "-00"}, {"", "-1"}, {"_a", "-a"}, {".a", "_a"}, {"-1", "-01"},
	{"-abcdefghijklmnopq-1", "-abcdefghijklmnopq-2"}, {"-12", "-1"},
	{"-a-name-of-more-than-40-bytes-1", "-a-name-of-more-than-40-bytes-2"},
	{":a", ".a"}, {"-e\u0301", "-\u00e9"}, {"-ß", "-ss"}, {"-😀", "-😁"}, {"-ÄÖ", "-äö"}, {"-數", "-数"},
	{`-"`, "-'"}, {`-\`, "-/"}, {`-\n`, "-n"}, {`-\u0061`, "-a"}, {"-%41", "-A"}, {"-a*", "-ab"}, {"-{}", "-[]"},
	{"-<b>", "-&lt;b&gt;"}, {"-a b", "-a  b"}, {"-x", "-x "}, {"-1e3", "-1000"},
}

// lengths are those of names at which servers differ. One of more than plainLength may be refused.
var lengths = []int{63, 64, 65, 127, 128, 129, 255, 256}

const plainLength = 64

// longName returns a name that is as long, or one that is longer.
func (g *maker) longName(name, end string, length int) string {
	return name + "-" + strings.Repeat("x", max(0, length-len(g.Fill(name+end))-1)) + end
}

// jobID makes up the jid of a job that goes a way. Now and then those of two jobs in a row are alike.
func (g *maker) jobID(way string) string {
	if hasWord(way, wayAwaited) {
		return g.jid()
	}
	if twin := g.twin; twin != "" {
		g.twin = ""
		return twin
	}
	jid := g.jid()
	if plain := 12 - 8*b2i(g.isSteady); g.IntN(plain) > 0 {
		return jid
	}
	n := g.Deal("jid"+way, len(alikeNames)+len(lengths))
	if n < len(alikeNames) {
		g.twin = jid + alikeNames[n][1]
		return jid + alikeNames[n][0]
	}
	length := lengths[n-len(alikeNames)]
	g.twin = g.longName(jid, "2", length)
	return g.longName(jid, "1", length)
}

// alikeQueues are ends of names of queues that every server takes, and that a careless one may take for one. They are
// part of the names of steps: what names one queue has nothing to do with another.
var alikeQueues = []string{
	"", "a", "ab", "b1", "b01", "b10", "nameofmorethan40bytes1", "nameofmorethan40bytes2", "-b",
}

// oddQueues are ends of names that a server may refuse, and that it must not take for one of the others.
var oddQueues = []string{
	"-Ab", "_1", ".1", "-a.", ":a", "*", "-a?", "-[ab]", "%", "%61", "-1e0", ".0", `"ab"`, `\u0061`, "/", "/../a", "-é",
	"-ÄÖ", "-очередь", "-漢字-😀", "-{}", "-a\u00a0b", "-a\u3000b",
}

// oddQueue makes up the name of a queue that a server may refuse, for a job that goes a way.
func (g *maker) oddQueue(way string) string {
	queue := g.freshQueue()
	if len(g.queues) > 0 {
		queue = g.queues[0]
	}
	n := g.Deal("queue name"+way, len(oddQueues)+len(lengths))
	if n < len(oddQueues) {
		return queue + oddQueues[n]
	}
	return g.longName(queue, choose(g, []string{"1", "2"}), lengths[n-len(oddQueues)])
}

// spellName writes a name of the play as the texts of JSON in steps have it, without quotes, now and then with escapes
// that mean the same.
func (g *maker) spellName(name string) string {
	text := quoteJSON(g.law.symbol(name))
	if g.IntN(4) == 0 {
		return escapeName(text)
	}
	return text
}

// quoteJSON writes a text as JSON does, without quotes.
func quoteJSON(text string) string {
	quoted, _ := json.Marshal(text) // strings can always be written
	return string(quoted[1 : len(quoted)-1])
}

// escapeName writes the same name with an escape.
func escapeName(name string) string {
	return strings.NewReplacer("-", `\u002d`, "_", `\u005f`, ".", `\u002e`).Replace(name)
}

// alikeQueueNames are ends of names of two queues. The second of some would stand for the first one as a pattern.
var alikeQueueNames = [][2]string{
	{"-ab", "-aB"}, {"-0", "-00"}, {"-1", "-01"}, {"_a", "-a"}, {".a", "-a"}, {"-a", ".a"}, {"-ab", "-a*"}, {"-ab", "-a?"},
	{"-\u00e9", "-e\u0301"}, {"-e\u0301", "-\u00e9"}, {"-ÄÖ", "-äö"}, {"-ß", "-ss"}, {"-數", "-数"}, {"-\u212b", "-\u00c5"},
	{"-a", "-a\u00a0b"}, {"-a", "-a\u3000b"},
	{"-ab", "-a"}, {"-a", "-ab"}, {"-ab", "-a%"}, {"-ab", "-a[b]"}, {"-a", "-a "}, {"-a", "-a/../-a"},
	{"-a-name-of-more-than-40-bytes-1", "-a-name-of-more-than-40-bytes-2"},
	{"-" + strings.Repeat("64-bytes", 8) + "-1", "-" + strings.Repeat("64-bytes", 8) + "-2"},
	{"-" + strings.Repeat("255-byte", 32) + "-1", "-" + strings.Repeat("255-byte", 32) + "-2"},
}

// fillAlike fills two queues whose names a careless server may take for one, and fetches from the second; or it
// leaves that one empty.
func (g *maker) fillAlike(c int, _ *fwplaw.Conn) []explore.Step {
	names, queue := deal(g, "alike queues", alikeQueueNames), g.freshQueue()
	first, second := queue+names[0], queue+names[1]
	isPlain := !strings.ContainsAny(names[1], "*?%[ /")
	spelling := first
	if isPlain && g.IntN(3) == 0 {
		spelling = escapeName(first)
	}
	firstJID, secondJID := g.jid(), g.jid()
	steps := []explore.Step{push(c, firstJID, spelling, "")}
	if isPlain && g.IntN(3) > 0 {
		return append(steps, push(c, secondJID, second, ""), line(c, "FETCH %s", second), line(c, "FETCH %s", first),
			ack(c, firstJID), ack(c, secondJID))
	}
	empty := g.sendAside(line(c, "FETCH %s", strings.TrimSpace(second)))
	if strings.HasSuffix(second, " ") { // the blank belongs to the name of the queue, or the PUSH is refused
		steps = []explore.Step{push(c, firstJID, second, "")}
	}
	if empty.Ahead {
		return append(steps, empty)
	}
	return append(steps, empty, line(c, "FETCH %s", first), ack(c, firstJID))
}
