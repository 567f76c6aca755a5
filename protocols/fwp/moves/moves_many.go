package moves

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/base/values"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// fetchMany names up to dozens of queues, all but a few of which are empty.
func (g *maker) fetchMany(c int, _ *fwplaw.Conn) []explore.Step {
	names := make([]string, deal(g, "queues", values.Sizes(maxQueues)[3:]))
	for i := range names {
		names[i] = g.freshQueue()
	}
	var fullQueues []string
	for range min(3, len(names)-1) {
		fullQueues = append(fullQueues, g.law.symbol(choose(g, g.readyJobs()).Queue))
	}
	for _, queue := range unique(fullQueues) {
		names[g.IntN(len(names))] = queue
	}
	return []explore.Step{line(c, "FETCH %s", strings.Join(names, " "))}
}

// burst pushes many jobs, and fetches and reports all of them: at once, or when all are in hand, or one by one.
func (g *maker) burst(c int, _ *fwplaw.Conn) []explore.Step {
	return g.burstOf(deal(g, "burst", values.Sizes(maxJobs)[2:]), c)
}

// largeBurst is a burst of a size that takes its time.
func (g *maker) largeBurst(c int, _ *fwplaw.Conn) []explore.Step {
	return g.burstOf(deal(g, "many", []int{257, 513, 1025}), c)
}

// hugeBurst is a burst that is larger than what a server may keep at hand of a queue.
func (g *maker) hugeBurst(c int, _ *fwplaw.Conn) []explore.Step {
	return g.burstOf(deal(g, "heap", []int{4097}), c)
}

// burstOf is a burst of n jobs. Half of the bursts find a queue that has had a job before.
func (g *maker) burstOf(n, c int) []explore.Step {
	queue, before := g.freshQueue(), g.IntN(2)
	var pushes, fetches, acks []explore.Step
	for range before + n {
		jid := g.jid()
		pushes = append(pushes, push(c, jid, queue, ""))
		fetches = append(fetches, line(c, "FETCH %s", queue))
		acks = append(acks, ack(c, jid))
	}
	mixed := slices.Concat(pushes[:before], fetches[:before], acks[:before])
	pushes, fetches, acks = pushes[before:], fetches[before:], acks[before:]
	switch g.IntN(3) {
	case 0:
		g.Shuffle(len(acks), func(i, j int) { acks[i], acks[j] = acks[j], acks[i] })
		return slices.Concat(mixed, pushes, fetches, acks)
	case 1:
		mixed, pushes = append(mixed, pushes...), nil
	}
	for i := range fetches {
		if len(pushes) > 0 {
			mixed = append(mixed, pushes[i])
		}
		mixed = append(mixed, fetches[i], acks[i])
	}
	return mixed
}

// pushLine pushes a job in a line of a length at which buffers end, its CRLF included.
func (g *maker) pushLine(c int, _ *fwplaw.Conn) []explore.Step {
	const minimum = 200 // bytes, in which any line without a text fits
	sizes := slices.DeleteFunc(values.Sizes(maxBytes), func(n int) bool { return n < minimum })
	length := deal(g, "length of a line", sizes)
	before := fmt.Sprintf(`PUSH {"jid":"%s","jobtype":"t","queue":"%s","args":["`, g.jid(), g.queue())
	const behind = `"]}`
	filler := strings.Repeat("0123456789abcdef", length/16+1)[:length-len(g.Fill(before))-len(behind)-len("\r\n")]
	return []explore.Step{line(c, "%s%s%s", before, filler, behind)}
}

// wakes are what else stands in a job that a worker waits for: what wakes the worker may have a limit of its own, such
// as the 8,000 bytes of a NOTIFY of PostgreSQL.
var wakes = []string{`,"retry":0`, `,"custom":{"a":"$filler(10KiB)"}`}

// fetchAndWake pushes a job while a worker waits for it, or two jobs while two workers do.
func (g *maker) fetchAndWake(c int, _ *fwplaw.Conn) []explore.Step {
	const ms = time.Millisecond
	if g.isSteady {
		return g.wakeAll(c, wayAwaited)
	}
	queue := g.freshQueue()
	moment := explore.Wait(deal(g, "moment", []time.Duration{100 * ms, 300 * ms, 700 * ms}))
	for _, other := range g.Free() {
		if w := g.law.world.Conns[other]; other != c && mayFetch(g, other, w) && g.IntN(3) == 0 {
			return []explore.Step{
				sendAhead(line(c, "FETCH %s", queue)), sendAhead(line(other, "FETCH %s", queue)), moment,
				push(controlProducer, g.jid(), queue, ""), push(controlProducer, g.jid(), queue, ""),
				build().Await(c), build().Await(other),
			}
		}
	}
	queues := ""
	if g.IntN(3) == 0 {
		queues = " " + g.freshQueue() + " " + g.freshQueue()
	}
	return []explore.Step{
		sendAhead(line(c, "FETCH %s%s", queue, queues)), moment,
		push(controlProducer, g.jid(), queue, deal(g, "wakes", wakes)), build().Await(c),
	}
}

// wakeAll pushes jobs with values that go a way, one for each worker: all have waited for as long.
func (g *maker) wakeAll(c int, way string) (steps []explore.Step) {
	waiting := []int{c}
	for _, other := range g.Free() {
		if other != c && mayFetch(g, other, g.law.world.Conns[other]) {
			waiting = append(waiting, other)
		}
	}
	queues := make([]string, len(waiting))
	for i, conn := range waiting {
		queues[i] = g.freshQueue()
		steps = append(steps, sendAhead(line(conn, "FETCH %s", queues[i])))
	}
	steps = append(steps, explore.Wait(5*time.Millisecond))
	for _, queue := range queues {
		steps = append(steps, line(controlProducer, "PUSH %s", g.jobOf(way, queue)))
	}
	for _, conn := range waiting {
		steps = append(steps, build().Await(conn))
	}
	return steps
}
