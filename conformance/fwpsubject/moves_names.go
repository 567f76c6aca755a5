package fwpsubject

import (
	"strings"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/oracle"
)

// alikeNames are ends of names that differ, though only in case, at their end, in a zero or in a character that some
// servers replace.
var alikeNames = [][2]string{
	{"-ab", "-aB"}, {"-0", "-00"}, {"", "-1"}, {"_a", "-a"}, {".a", "_a"}, {"-1", "-01"},
	{"-abcdefghijklmnopq-1", "-abcdefghijklmnopq-2"}, {"-12", "-1"},
	{"-a-name-of-more-than-40-bytes-1", "-a-name-of-more-than-40-bytes-2"},
}

// alikeQueueNames are the same for queues. The second of some would stand for the first one as a pattern.
var alikeQueueNames = [][2]string{
	{"-ab", "-aB"}, {"-0", "-00"}, {"-1", "-01"}, {"_a", "-a"}, {".a", "-a"}, {"-a", ".a"}, {"-ab", "-a*"}, {"-ab", "-a?"},
	{"-ab", "-a"}, {"-a", "-ab"}, {"-ab", "-a%"}, {"-ab", "-a[b]"}, {"-a", "-a "}, {"-a", "-a/../-a"},
	{"-a-name-of-more-than-40-bytes-1", "-a-name-of-more-than-40-bytes-2"},
	{"-" + strings.Repeat("64-bytes", 8) + "-1", "-" + strings.Repeat("64-bytes", 8) + "-2"},
	{"-" + strings.Repeat("255-byte", 32) + "-1", "-" + strings.Repeat("255-byte", 32) + "-2"},
}

// alike has a worker hold two jobs whose names a careless server may take for one, and reports the one that it fetched
// last.
func (g *maker) alike(c int, _ *oracle.Conn) []explore.Step {
	names, jid, queue := deal(g, "alike", alikeNames), g.jid(), g.freshQueue()
	first, last := jid+names[0], jid+names[1]
	fetch := line(c, "FETCH %s", queue)
	if g.Longest > scheduled && g.IntN(2) == 0 { // the last one comes back, whatever becomes of the first
		return []explore.Step{
			push(c, first, queue, `,"retry":0`), fetch, push(c, last, queue, `,"retry":3`), fetch,
			line(c, "FAIL %s", g.failure(last)), ack(c, first), explore.Wait(scheduled), fetch,
		}
	}
	steps := []explore.Step{push(c, first, queue, ""), fetch, push(c, last, queue, `,"retry":0`), fetch}
	written := last
	if g.IntN(3) == 0 {
		written = escaped(last)
	}
	if g.IntN(3) == 0 {
		return append(steps, line(c, "FAIL %s", g.failure(written)), ack(c, first))
	}
	return append(steps, ack(c, written), ack(c, first))
}

// escaped writes the same name with an escape.
func escaped(name string) string {
	return strings.NewReplacer("-", `\u002d`, "_", `\u005f`, ".", `\u002e`).Replace(name)
}

// alikeQueues fills two queues whose names a careless server may take for one, and fetches from the second; or it
// leaves that one empty.
func (g *maker) alikeQueues(c int, _ *oracle.Conn) []explore.Step {
	names, queue := deal(g, "alike queues", alikeQueueNames), g.freshQueue()
	first, second := queue+names[0], queue+names[1]
	plain := !strings.ContainsAny(names[1], "*?%[ /")
	written := first
	if plain && g.IntN(3) == 0 {
		written = escaped(first)
	}
	one, other := g.jid(), g.jid()
	steps := []explore.Step{push(c, one, written, "")}
	if plain && g.IntN(3) > 0 {
		return append(steps, push(c, other, second, ""), line(c, "FETCH %s", second), line(c, "FETCH %s", first),
			ack(c, one), ack(c, other))
	}
	empty := g.patiently(line(c, "FETCH %s", strings.TrimSpace(second)))
	if strings.HasSuffix(second, " ") { // the blank belongs to the name of the queue, or the PUSH is refused
		steps = []explore.Step{push(c, one, second, "")}
	}
	if empty.Ahead {
		return append(steps, empty)
	}
	return append(steps, empty, line(c, "FETCH %s", first), ack(c, one))
}
