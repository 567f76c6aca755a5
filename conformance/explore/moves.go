package explore

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

func identified(_ *generator, _ *conn, w *oracle.Conn) bool { return w.State == fwp.Identified }
func worker(_ *generator, _ *conn, w *oracle.Conn) bool {
	return w.State == fwp.Identified && w.WID != ""
}
func active(g *generator, c *conn, w *oracle.Conn) bool {
	return worker(g, c, w) && !g.p.world.Quiet(w)
}
func raw(_ *generator, _ *conn, w *oracle.Conn) bool    { return w.State == fwp.NotIdentified }
func anyone(_ *generator, _ *conn, w *oracle.Conn) bool { return w.State < fwp.Ended }
func holding(g *generator, c *conn, w *oracle.Conn) bool {
	return worker(g, c, w) && len(g.held(w.WID)) > 0
}
func waiting(g *generator, c *conn, w *oracle.Conn) bool {
	return active(g, c, w) && len(g.ready()) > 0
}

// moves are all that a connection can do. The weights say how often, before what was
// seen least is preferred.
var moves = []move{
	{"push", 14, identified, func(g *generator, c *conn, _ *oracle.Conn) []Step { return []Step{line(c.number, "PUSH %s", g.job())} }},
	{"fetch", 14, waiting, (*generator).fetch},
	{"fetch-two", 4, waiting, (*generator).fetchTwo},
	{"fetch-side-by-side", 3, waiting, (*generator).fetchSideBySide},
	{"ack", 9, holding, func(g *generator, c *conn, w *oracle.Conn) []Step {
		return []Step{line(c.number, `ACK {"jid":"%s"}`, g.p.symbol(choose(g, g.held(w.WID)).JID))}
	}},
	{"fail", 4, holding, func(g *generator, c *conn, w *oracle.Conn) []Step {
		return []Step{line(c.number, "FAIL %s", g.failure(g.p.symbol(choose(g, g.held(w.WID)).JID)))}
	}},
	{"fail-badly", 1, holding, (*generator).failBadly},
	{"beat", 1, worker, func(g *generator, c *conn, w *oracle.Conn) []Step {
		return []Step{line(c.number, `BEAT {"wid":"%s"}`, g.p.symbol(w.WID))}
	}},
	{"beat-of-nobody", 0.3, worker, func(g *generator, c *conn, _ *oracle.Conn) []Step {
		return []Step{line(c.number, `BEAT {"wid":"$wid%d"}`, 1000000+g.IntN(1000))}
	}},
	{"info", 1, identified, func(_ *generator, c *conn, _ *oracle.Conn) []Step { return []Step{line(c.number, "INFO")} }},
	{"report-anything", 0.7, identified, (*generator).reportAnything},
	{"fetch-empty", 0.12, worker, (*generator).fetchEmpty},
	{"fetch-as-anybody", 0.05, identified, func(g *generator, c *conn, _ *oracle.Conn) []Step {
		return []Step{g.patiently(line(c.number, "FETCH %s", g.queue()))}
	}},
	{"fetch-and-wake", 0.12, active, (*generator).fetchAndWake},
	{"fetch-and-go", 0.12, worker, (*generator).fetchAndGo},
	{"bad-line", 5, anyone, func(g *generator, c *conn, _ *oracle.Conn) []Step { return []Step{line(c.number, "%s", g.badLine())} }},
	{"bad-argument", 2.5, anyone, func(g *generator, c *conn, _ *oracle.Conn) []Step {
		return []Step{line(c.number, "%s", g.badArgument())}
	}},
	{"bad-field", 4, identified, (*generator).badField},
	{"bytes", 0.8, identified, (*generator).bytes},
	{"cut", 0.5, identified, (*generator).cut},
	{"hello-again", 0.2, identified, func(g *generator, c *conn, _ *oracle.Conn) []Step {
		return []Step{line(c.number, "HELLO %s", g.greeting())}
	}},
	{"hello", 2, raw, func(g *generator, c *conn, _ *oracle.Conn) []Step {
		return []Step{line(c.number, "HELLO %s", g.greeting())}
	}},
	{"hello-badly", 2, raw, func(g *generator, c *conn, _ *oracle.Conn) []Step {
		return []Step{line(c.number, "HELLO %s", g.badGreeting())}
	}},
	{"too-early", 1.5, raw, (*generator).tooEarly},
	{"end", 0.3, identified, func(_ *generator, c *conn, _ *oracle.Conn) []Step { return []Step{line(c.number, "END")} }},
	{"end-early", 0.05, raw, func(_ *generator, c *conn, _ *oracle.Conn) []Step { return []Step{line(c.number, "END")} }},
	{"leave", 0.4, anyone, func(g *generator, c *conn, _ *oracle.Conn) []Step { return []Step{g.ending(c.number)} }},
	{"flush", 0.03, func(g *generator, c *conn, w *oracle.Conn) bool { return g.flush && identified(g, c, w) }, (*generator).flushAll},
	{"default", 0.3, func(g *generator, c *conn, w *oracle.Conn) bool { return g.alone && active(g, c, w) }, (*generator).inDefault},
	{"two-words", 0.1, active, (*generator).twoWords},
	{"burst", 0.5, active, (*generator).burst},
	{"life", 1, func(g *generator, c *conn, w *oracle.Conn) bool { return g.longest >= time.Minute && active(g, c, w) }, (*generator).life},
	{"signal", 0.06, func(g *generator, c *conn, w *oracle.Conn) bool { return g.signals && worker(g, c, w) }, (*generator).signal},
	{"restart", 0.02, func(g *generator, c *conn, w *oracle.Conn) bool { return g.restarts && active(g, c, w) }, (*generator).restarting},
	{"wire", 2.5, anyone, (*generator).wire},
}

func (g *generator) ending(conn int) Step {
	return Step{Kind: End, Conn: conn, Ending: choose(g, []scenarios.Ending{scenarios.Closed, scenarios.Reset, scenarios.HalfShut})}
}

// fetch fetches a job that is there, and mostly reports it.
func (g *generator) fetch(c *conn, w *oracle.Conn) []Step {
	j := choose(g, g.ready())
	return []Step{line(c.number, "FETCH %s", g.p.symbol(j.Queue))}
}

// fetchTwo asks for two queues, of which one has a job for certain.
func (g *generator) fetchTwo(c *conn, _ *oracle.Conn) []Step {
	j := choose(g, g.ready())
	first, second := g.p.symbol(j.Queue), g.queue()
	if g.IntN(2) == 0 {
		first, second = second, first
	}
	return []Step{line(c.number, "FETCH %s %s", first, second)}
}

// fetchSideBySide has two workers fetch at the same time from two queues.
func (g *generator) fetchSideBySide(c *conn, _ *oracle.Conn) []Step {
	for _, other := range g.strangers() {
		if w := g.p.world.Conns[other.number]; other != c && active(g, other, w) {
			a, b := choose(g, g.ready()), choose(g, g.ready())
			if a.Queue == b.Queue { // who gets which would be a matter of luck
				break
			}
			first, second := line(c.number, "FETCH %s", g.p.symbol(a.Queue)), line(other.number, "FETCH %s", g.p.symbol(b.Queue))
			first.Ahead, second.Ahead = true, true
			return []Step{first, second, {Kind: Await, Conn: c.number}, {Kind: Await, Conn: other.number}}
		}
	}
	return []Step{line(c.number, "FETCH %s", g.p.symbol(choose(g, g.ready()).Queue))}
}

// patiently has the others go on while a FETCH may wait for two seconds, unless time
// is theirs anyway.
func (g *generator) patiently(s Step) Step {
	s.Ahead = g.longest == 0
	return s
}

// fetchEmpty waits for a job that does not come, while others go on.
func (g *generator) fetchEmpty(c *conn, _ *oracle.Conn) []Step {
	if g.longest > 0 && g.IntN(2) == 0 {
		return []Step{line(c.number, "FETCH %s", g.all())}
	}
	g.lastQueue++ // nobody pushes to it, so that it is no matter of luck who gets what comes
	s := line(c.number, "FETCH $queue%d %s", g.lastQueue, g.all())
	s.Ahead = true
	return []Step{s}
}

// fetchAndWake has a job come while a worker waits for it.
func (g *generator) fetchAndWake(c *conn, _ *oracle.Conn) []Step {
	g.lastQueue++
	queue := fmt.Sprintf("$queue%d", g.lastQueue)
	s := line(c.number, "FETCH %s", queue)
	s.Ahead = true
	return []Step{s, {Kind: Wait, For: 100 * time.Millisecond},
		line(neighbourProducer, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","retry":0}`, g.jid(), queue),
		{Kind: Await, Conn: c.number}}
}

// fetchAndGo has a worker go away while it waits, and a job come after.
func (g *generator) fetchAndGo(c *conn, _ *oracle.Conn) []Step {
	g.lastQueue++
	g.queues = append(g.queues[:0:0], g.queues...)
	if len(g.queues) > 0 {
		g.queues[g.IntN(len(g.queues))] = g.lastQueue
	}
	queue := fmt.Sprintf("$queue%d", g.lastQueue)
	s := line(c.number, "FETCH %s", queue)
	s.Ahead = true
	moment := Step{Kind: Wait, For: 100 * time.Millisecond}
	push := line(neighbourProducer, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","reserve_for":60,"retry":3}`, g.jid(), queue)
	steps := []Step{s, moment, g.ending(c.number), moment, push}
	if g.longest > 4*time.Minute { // after which the job must be back
		steps = append(steps, Step{Kind: Wait, For: 260 * time.Second}, line(neighbourWorker, "FETCH %s", queue))
	}
	return steps
}

func (g *generator) failBadly(c *conn, w *oracle.Conn) []Step {
	jid := g.p.symbol(choose(g, g.held(w.WID)).JID)
	tail := choose(g, []string{`"errtype":5`, `"message":[]`, `"backtrace":"x"`, `"backtrace":[1]`, `"backtrace":{}`, `"errtype":{},"message":1`})
	return []Step{line(c.number, `FAIL {"jid":"%s",%s}`, jid, tail), line(c.number, `ACK {"jid":"%s"}`, jid)}
}

// reportAnything reports what the client does not hold.
func (g *generator) reportAnything(c *conn, _ *oracle.Conn) []Step {
	jid := fmt.Sprintf("$jid%d", 1+g.IntN(g.jobs+2))
	if g.IntN(2) == 0 {
		return []Step{line(c.number, `ACK {"jid":"%s"}`, jid)}
	}
	return []Step{line(c.number, "FAIL %s", g.failure(jid))}
}

// tooEarly says before HELLO what only comes after it.
func (g *generator) tooEarly(c *conn, _ *oracle.Conn) []Step {
	return []Step{line(c.number, "%s", deal(g, "early", []string{
		"INFO", "FETCH " + g.queue(), "PUSH " + g.job(), `ACK {"jid":"$jid1"}`, `BEAT {"wid":"$wid1"}`, "FAIL " + g.failure("$jid1"),
		"PUSH " + g.job(), "INFO",
	}))}
}

// flushAll purges everything, or must not, and looks whether a job is still there.
func (g *generator) flushAll(c *conn, _ *oracle.Conn) []Step {
	g.lastQueue++
	queue := fmt.Sprintf("$queue%d", g.lastQueue)
	steps := []Step{
		line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s"}`, g.jid(), queue),
		line(c.number, "%s", deal(g, "FLUSH", []string{"FLUSH", "FLUSH x"})), line(c.number, "INFO"),
	}
	if c.wid != "" {
		steps = append(steps, g.patiently(line(c.number, "FETCH %s", queue)))
	}
	return steps
}

// inDefault uses the queue that has a name already.
func (g *generator) inDefault(c *conn, _ *oracle.Conn) []Step {
	jid := g.jid()
	push := line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[]}`, jid)
	switch g.IntN(4) {
	case 0:
		return []Step{push, line(c.number, "FETCH"), line(c.number, `ACK {"jid":"%s"}`, jid)}
	case 1:
		return []Step{push, line(c.number, "FETCH default"), line(c.number, `ACK {"jid":"%s"}`, jid)}
	case 2:
		return []Step{line(c.number, "PUSH %s", g.job()), g.patiently(line(c.number, "FETCH"))}
	}
	return []Step{push, line(c.number, "FETCH %s default", g.queue())}
}

// phrase is the name of a queue that has two words, for which two queues would have to be
// fetched from. (FWP-WU-16)
func (g *generator) phrase() string {
	g.lastQueue += 2
	return fmt.Sprintf("$queue%d $queue%d", g.lastQueue-1, g.lastQueue)
}

// twoWords has a job in a queue whose name no FETCH can say in one word.
func (g *generator) twoWords(c *conn, _ *oracle.Conn) []Step {
	queue := g.phrase()
	fetch := g.patiently(line(c.number, "FETCH %s", queue))
	if g.longest > scheduled && g.IntN(2) == 0 {
		push := line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","at":%s}`, g.jid(), queue, g.soon())
		return []Step{push, {Kind: Wait, For: scheduled}, fetch}
	}
	return []Step{line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s"}`, g.jid(), queue), fetch}
}

// burst pushes many jobs, and has them all done.
func (g *generator) burst(c *conn, _ *oracle.Conn) []Step {
	g.lastQueue++
	var pushes, rest []Step
	for range 10 + g.IntN(30) {
		jid := g.jid()
		pushes = append(pushes, line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"$queue%d"}`, jid, g.lastQueue))
		rest = append(rest, line(c.number, "FETCH $queue%d", g.lastQueue), line(c.number, `ACK {"jid":"%s"}`, jid))
	}
	if g.IntN(2) == 0 {
		return append(pushes, rest...)
	}
	var mixed []Step
	for i := range pushes {
		mixed = append(mixed, pushes[i], rest[2*i], rest[2*i+1])
	}
	return mixed
}

// scheduled is how long is waited for a job that was put off for a few seconds.
const scheduled = 170 * time.Second

// ages are how long is waited for a job to come back: before it may, and after it must.
var ages = []time.Duration{20 * time.Second, 40 * time.Second, 70 * time.Second, 170 * time.Second, 260 * time.Second}

// life follows one job through failures or the end of its reservation.
func (g *generator) life(c *conn, _ *oracle.Conn) []Step {
	g.lastQueue++
	jid, queue := g.jid(), fmt.Sprintf("$queue%d", g.lastQueue)
	if g.IntN(8) == 0 { // the name of the queue is one that a server may stumble over later
		if queue += "_Odd"; g.IntN(2) == 0 {
			queue = g.phrase()
		}
		push := line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","at":%s}`, jid, queue, g.soon())
		return []Step{push, {Kind: Wait, For: scheduled}, line(c.number, "FETCH %s", queue)}
	}
	fields := choose(g, []string{
		"", `,"retry":0`, `,"retry":-1`, `,"retry":1`, `,"retry":2`, `,"retry":3`, `,"retry":1,"backtrace":2`, `,"backtrace":1`,
	}) + choose(g, []string{"", `,"reserve_for":60`, `,"reserve_for":60`, `,"reserve_for":1`, `,"reserve_for":3600`})
	push := line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s"%s}`, jid, queue, fields)
	fetch := line(c.number, "FETCH %s", queue)
	steps := []Step{push, fetch}
	end := choose(g, []string{"fail", "fail", "expire", "ack"})
	for range 1 + g.IntN(3) {
		switch end {
		case "fail":
			steps = append(steps, line(c.number, "FAIL %s", g.failure(jid)))
			if g.IntN(4) == 0 { // it must not be back yet
				steps = append(steps, fetch)
			}
		case "ack":
			steps = append(steps, line(c.number, `ACK {"jid":"%s"}`, jid))
		}
		steps = append(steps, Step{Kind: Wait, For: choose(g, ages)}, fetch)
	}
	return steps
}
