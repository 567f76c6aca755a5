package fwpsubject

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

func identified(_ *maker, _ int, w *oracle.Conn) bool { return w.State == fwp.Identified }
func worker(_ *maker, _ int, w *oracle.Conn) bool {
	return w.State == fwp.Identified && w.WID != ""
}
func active(g *maker, c int, w *oracle.Conn) bool {
	return worker(g, c, w) && !g.law.world.Quiet(w)
}
func raw(_ *maker, _ int, w *oracle.Conn) bool    { return w.State == fwp.NotIdentified }
func anyone(_ *maker, _ int, w *oracle.Conn) bool { return w.State < fwp.Ended }
func holding(g *maker, c int, w *oracle.Conn) bool {
	return worker(g, c, w) && len(g.held(w.WID)) > 0
}
func waiting(g *maker, c int, w *oracle.Conn) bool {
	return active(g, c, w) && len(g.ready()) > 0
}

// moves are all that a connection can do. The weights say how often, before what was
// seen least is preferred.
var moves = []move{
	{"push", 14, identified, func(g *maker, c int, _ *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, "PUSH %s", g.job())}
	}},
	{"fetch", 14, waiting, (*maker).fetch},
	{"fetch-two", 4, waiting, (*maker).fetchTwo},
	{"fetch-side-by-side", 3, waiting, (*maker).fetchSideBySide},
	{"ack", 9, holding, func(g *maker, c int, w *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, `ACK {"jid":"%s"}`, g.law.symbol(choose(g, g.held(w.WID)).JID))}
	}},
	{"fail", 4, holding, func(g *maker, c int, w *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, "FAIL %s", g.failure(g.law.symbol(choose(g, g.held(w.WID)).JID)))}
	}},
	{"fail-badly", 1, holding, (*maker).failBadly},
	{"beat", 1, worker, func(g *maker, c int, w *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, `BEAT {"wid":"%s"}`, g.law.symbol(w.WID))}
	}},
	{"beat-of-nobody", 0.3, worker, func(g *maker, c int, _ *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, `BEAT {"wid":"$wid%d"}`, 1000000+g.IntN(1000))}
	}},
	{"info", 1, identified, func(_ *maker, c int, _ *oracle.Conn) []explore.Step { return []explore.Step{line(c, "INFO")} }},
	{"report-anything", 0.7, identified, (*maker).reportAnything},
	{"fetch-empty", 0.12, worker, (*maker).fetchEmpty},
	{"fetch-as-anybody", 0.05, identified, func(g *maker, c int, _ *oracle.Conn) []explore.Step {
		return []explore.Step{g.patiently(line(c, "FETCH %s", g.queue()))}
	}},
	{"fetch-and-wake", 0.12, active, (*maker).fetchAndWake},
	{"fetch-and-go", 0.12, worker, (*maker).fetchAndGo},
	{"bad-line", 5, anyone, func(g *maker, c int, _ *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, "%s", g.badLine())}
	}},
	{"bad-argument", 2.5, anyone, func(g *maker, c int, _ *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, "%s", g.badArgument())}
	}},
	{"bad-field", 4, identified, (*maker).badField},
	{"bytes", 0.8, identified, (*maker).bytes},
	{"cut", 0.5, identified, (*maker).cut},
	{"hello-again", 0.2, identified, func(g *maker, c int, _ *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, "HELLO %s", g.greeting())}
	}},
	{"hello", 2, raw, func(g *maker, c int, _ *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, "HELLO %s", g.greeting())}
	}},
	{"hello-badly", 2, raw, func(g *maker, c int, _ *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, "HELLO %s", g.badGreeting())}
	}},
	{"too-early", 1.5, raw, (*maker).tooEarly},
	{"end", 0.3, identified, func(_ *maker, c int, _ *oracle.Conn) []explore.Step { return []explore.Step{line(c, "END")} }},
	{"end-early", 0.05, raw, func(_ *maker, c int, _ *oracle.Conn) []explore.Step { return []explore.Step{line(c, "END")} }},
	{"leave", 0.4, anyone, func(g *maker, c int, _ *oracle.Conn) []explore.Step { return []explore.Step{g.ending(c)} }},
	{"flush", 0.03, func(g *maker, c int, w *oracle.Conn) bool { return g.Terms.Flush && identified(g, c, w) }, (*maker).flushAll},
	{"default", 0.3, func(g *maker, c int, w *oracle.Conn) bool { return g.Terms.Alone && active(g, c, w) }, (*maker).inDefault},
	{"two-words", 0.1, active, (*maker).twoWords},
	{"burst", 0.5, active, (*maker).burst},
	{"life", 1, func(g *maker, c int, w *oracle.Conn) bool { return g.Longest >= time.Minute && active(g, c, w) }, (*maker).life},
	{"signal", 0.06, func(g *maker, c int, w *oracle.Conn) bool { return g.Signals && worker(g, c, w) }, (*maker).signal},
	{"restart", 0.02, func(g *maker, c int, w *oracle.Conn) bool { return g.Restarts && active(g, c, w) }, (*maker).restarting},
	{"wire", 2.5, anyone, (*maker).wire},
}

func (g *maker) ending(conn int) explore.Step {
	return explore.End(conn, choose(g, []scenarios.Ending{scenarios.Closed, scenarios.Reset, scenarios.HalfShut}))
}

// fetch fetches a job that is there, and mostly reports it.
func (g *maker) fetch(c int, w *oracle.Conn) []explore.Step {
	j := choose(g, g.ready())
	return []explore.Step{line(c, "FETCH %s", g.law.symbol(j.Queue))}
}

// fetchTwo asks for two queues, of which one has a job for certain.
func (g *maker) fetchTwo(c int, _ *oracle.Conn) []explore.Step {
	j := choose(g, g.ready())
	first, second := g.law.symbol(j.Queue), g.queue()
	if g.IntN(2) == 0 {
		first, second = second, first
	}
	return []explore.Step{line(c, "FETCH %s %s", first, second)}
}

// fetchSideBySide has two workers fetch at the same time from two queues.
func (g *maker) fetchSideBySide(c int, _ *oracle.Conn) []explore.Step {
	for _, other := range g.Free() {
		if w := g.law.world.Conns[other]; other != c && active(g, other, w) {
			a, b := choose(g, g.ready()), choose(g, g.ready())
			if a.Queue == b.Queue { // who gets which would be a matter of luck
				break
			}
			first, second := line(c, "FETCH %s", g.law.symbol(a.Queue)), line(other, "FETCH %s", g.law.symbol(b.Queue))
			first.Ahead, second.Ahead = true, true
			return []explore.Step{first, second, build().Await(c), build().Await(other)}
		}
	}
	return []explore.Step{line(c, "FETCH %s", g.law.symbol(choose(g, g.ready()).Queue))}
}

// patiently has the others go on while a FETCH may wait for two seconds, unless time
// is theirs anyway.
func (g *maker) patiently(s explore.Step) explore.Step {
	s.Ahead = g.Longest == 0
	return s
}

// fetchEmpty waits for a job that does not come, while others go on.
func (g *maker) fetchEmpty(c int, _ *oracle.Conn) []explore.Step {
	if g.Longest > 0 && g.IntN(2) == 0 {
		return []explore.Step{line(c, "FETCH %s", g.all())}
	}
	g.lastQueue++ // nobody pushes to it, so that it is no matter of luck who gets what comes
	return []explore.Step{ahead(line(c, "FETCH $queue%d %s", g.lastQueue, g.all()))}
}

// fetchAndWake has a job come while a worker waits for it.
func (g *maker) fetchAndWake(c int, _ *oracle.Conn) []explore.Step {
	g.lastQueue++
	queue := fmt.Sprintf("$queue%d", g.lastQueue)
	return []explore.Step{ahead(line(c, "FETCH %s", queue)), explore.Wait(100 * time.Millisecond),
		line(controlProducer, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","retry":0}`, g.jid(), queue),
		build().Await(c)}
}

// fetchAndGo has a worker go away while it waits, and a job come after.
func (g *maker) fetchAndGo(c int, _ *oracle.Conn) []explore.Step {
	g.lastQueue++
	g.queues = append(g.queues[:0:0], g.queues...)
	if len(g.queues) > 0 {
		g.queues[g.IntN(len(g.queues))] = g.lastQueue
	}
	queue := fmt.Sprintf("$queue%d", g.lastQueue)
	moment := explore.Wait(100 * time.Millisecond)
	push := line(controlProducer, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","reserve_for":60,"retry":3}`, g.jid(), queue)
	steps := []explore.Step{ahead(line(c, "FETCH %s", queue)), moment, g.ending(c), moment, push}
	if g.Longest > 4*time.Minute { // after which the job must be back
		steps = append(steps, explore.Wait(260*time.Second), line(controlWorker, "FETCH %s", queue))
	}
	return steps
}

func (g *maker) failBadly(c int, w *oracle.Conn) []explore.Step {
	jid := g.law.symbol(choose(g, g.held(w.WID)).JID)
	tail := choose(g, []string{`"errtype":5`, `"message":[]`, `"backtrace":"x"`, `"backtrace":[1]`, `"backtrace":{}`, `"errtype":{},"message":1`})
	return []explore.Step{line(c, `FAIL {"jid":"%s",%s}`, jid, tail), line(c, `ACK {"jid":"%s"}`, jid)}
}

// reportAnything reports what the client does not hold.
func (g *maker) reportAnything(c int, _ *oracle.Conn) []explore.Step {
	jid := fmt.Sprintf("$jid%d", 1+g.IntN(g.jobs+2))
	if g.IntN(2) == 0 {
		return []explore.Step{line(c, `ACK {"jid":"%s"}`, jid)}
	}
	return []explore.Step{line(c, "FAIL %s", g.failure(jid))}
}

// tooEarly says before HELLO what only comes after it.
func (g *maker) tooEarly(c int, _ *oracle.Conn) []explore.Step {
	return []explore.Step{line(c, "%s", deal(g, "early", []string{
		"INFO", "FETCH " + g.queue(), "PUSH " + g.job(), `ACK {"jid":"$jid1"}`, `BEAT {"wid":"$wid1"}`, "FAIL " + g.failure("$jid1"),
		"PUSH " + g.job(), "INFO",
	}))}
}

// flushAll purges everything, or must not, and looks whether a job is still there.
func (g *maker) flushAll(c int, w *oracle.Conn) []explore.Step {
	g.lastQueue++
	queue := fmt.Sprintf("$queue%d", g.lastQueue)
	steps := []explore.Step{
		line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s"}`, g.jid(), queue),
		line(c, "%s", deal(g, "FLUSH", []string{"FLUSH", "FLUSH x"})), line(c, "INFO"),
	}
	if w.WID != "" {
		steps = append(steps, g.patiently(line(c, "FETCH %s", queue)))
	}
	return steps
}

// inDefault uses the queue that has a name already.
func (g *maker) inDefault(c int, _ *oracle.Conn) []explore.Step {
	jid := g.jid()
	push := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[]}`, jid)
	switch g.IntN(4) {
	case 0:
		return []explore.Step{push, line(c, "FETCH"), line(c, `ACK {"jid":"%s"}`, jid)}
	case 1:
		return []explore.Step{push, line(c, "FETCH default"), line(c, `ACK {"jid":"%s"}`, jid)}
	case 2:
		return []explore.Step{line(c, "PUSH %s", g.job()), g.patiently(line(c, "FETCH"))}
	}
	return []explore.Step{push, line(c, "FETCH %s default", g.queue())}
}

// phrase is the name of a queue that has two words, for which two queues would have to be
// fetched from. (FWP-WU-16)
func (g *maker) phrase() string {
	g.lastQueue += 2
	return fmt.Sprintf("$queue%d $queue%d", g.lastQueue-1, g.lastQueue)
}

// twoWords has a job in a queue whose name no FETCH can say in one word.
func (g *maker) twoWords(c int, _ *oracle.Conn) []explore.Step {
	queue := g.phrase()
	fetch := g.patiently(line(c, "FETCH %s", queue))
	if g.Longest > scheduled && g.IntN(2) == 0 {
		push := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","at":%s}`, g.jid(), queue, g.soon())
		return []explore.Step{push, explore.Wait(scheduled), fetch}
	}
	return []explore.Step{line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s"}`, g.jid(), queue), fetch}
}

// burst pushes many jobs, and has them all done.
func (g *maker) burst(c int, _ *oracle.Conn) []explore.Step {
	g.lastQueue++
	var pushes, rest []explore.Step
	for range 10 + g.IntN(30) {
		jid := g.jid()
		pushes = append(pushes, line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"$queue%d"}`, jid, g.lastQueue))
		rest = append(rest, line(c, "FETCH $queue%d", g.lastQueue), line(c, `ACK {"jid":"%s"}`, jid))
	}
	if g.IntN(2) == 0 {
		return append(pushes, rest...)
	}
	var mixed []explore.Step
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
func (g *maker) life(c int, _ *oracle.Conn) []explore.Step {
	g.lastQueue++
	jid, queue := g.jid(), fmt.Sprintf("$queue%d", g.lastQueue)
	if g.IntN(8) == 0 { // the name of the queue is one that a server may stumble over later
		if queue += "_Odd"; g.IntN(2) == 0 {
			queue = g.phrase()
		}
		push := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","at":%s}`, jid, queue, g.soon())
		return []explore.Step{push, explore.Wait(scheduled), line(c, "FETCH %s", queue)}
	}
	fields := choose(g, []string{
		"", `,"retry":0`, `,"retry":-1`, `,"retry":1`, `,"retry":2`, `,"retry":3`, `,"retry":1,"backtrace":2`, `,"backtrace":1`,
	}) + choose(g, []string{"", `,"reserve_for":60`, `,"reserve_for":60`, `,"reserve_for":1`, `,"reserve_for":3600`})
	push := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s"%s}`, jid, queue, fields)
	fetch := line(c, "FETCH %s", queue)
	steps := []explore.Step{push, fetch}
	end := choose(g, []string{"fail", "fail", "expire", "ack"})
	for range 1 + g.IntN(3) {
		switch end {
		case "fail":
			steps = append(steps, line(c, "FAIL %s", g.failure(jid)))
			if g.IntN(4) == 0 { // it must not be back yet
				steps = append(steps, fetch)
			}
		case "ack":
			steps = append(steps, line(c, `ACK {"jid":"%s"}`, jid))
		}
		steps = append(steps, explore.Wait(choose(g, ages)), fetch)
	}
	return steps
}
