package fwpsubject

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// The conditions of moves, in the order in which they get stricter.

func anyone(_ *maker, _ int, w *oracle.Conn) bool     { return w.State < fwp.Ended }
func raw(_ *maker, _ int, w *oracle.Conn) bool        { return w.State == fwp.NotIdentified }
func identified(_ *maker, _ int, w *oracle.Conn) bool { return w.State == fwp.Identified }

func worker(g *maker, c int, w *oracle.Conn) bool  { return identified(g, c, w) && w.WID != "" }
func active(g *maker, c int, w *oracle.Conn) bool  { return worker(g, c, w) && !g.law.world.Quiet(w) }
func waiting(g *maker, c int, w *oracle.Conn) bool { return active(g, c, w) && len(g.ready()) > 0 }
func holding(g *maker, c int, w *oracle.Conn) bool { return worker(g, c, w) && len(g.held(w.WID)) > 0 }

// writes makes a move of the line that is written for a connection.
func writes(write func(g *maker, w *oracle.Conn) string) func(*maker, int, *oracle.Conn) []explore.Step {
	return func(g *maker, c int, w *oracle.Conn) []explore.Step {
		return []explore.Step{line(c, "%s", write(g, w))}
	}
}

// fixed makes a move of a line that is always the same.
func fixed(text string) func(*maker, int, *oracle.Conn) []explore.Step {
	return writes(func(*maker, *oracle.Conn) string { return text })
}

// push is a PUSH of a job; more is what else stands in it, behind a comma.
func push(conn int, jid, queue, more string) explore.Step {
	return line(conn, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s"%s}`, jid, queue, more)
}

// ack is an ACK of a job.
func ack(conn int, jid string) explore.Step { return line(conn, `ACK {"jid":"%s"}`, jid) }

// moves are all that a connection can do. The weights are how often, before what was
// seen least is preferred.
var moves = []move{
	{"push", 14, identified, writes(func(g *maker, _ *oracle.Conn) string { return "PUSH " + g.job() })},
	{"fetch", 14, waiting, (*maker).fetch},
	{"fetch-two", 4, waiting, (*maker).fetchTwo},
	{"fetch-many", 0.4, waiting, (*maker).fetchMany},
	{"alike", 0.5, active, (*maker).alike},
	{"fetch-side-by-side", 3, waiting, (*maker).fetchSideBySide},
	{"ack", 9, holding, func(g *maker, c int, w *oracle.Conn) []explore.Step {
		return []explore.Step{ack(c, g.oneHeld(w))}
	}},
	{"fail", 4, holding, writes(func(g *maker, w *oracle.Conn) string { return "FAIL " + g.failure(g.oneHeld(w)) })},
	{"fail-badly", 1, holding, (*maker).failBadly},
	{"beat", 1, worker, writes(func(g *maker, w *oracle.Conn) string {
		return `BEAT {"wid":"` + g.law.symbol(w.WID) + `"}`
	})},
	{"beat-of-itself", 0.05, worker, writes(func(g *maker, w *oracle.Conn) string {
		more := deal(g, "BEAT", []string{`"rss_kb":0`, `"current_state":"quiet"`, `"rss_kb":2147483648,"current_state":"terminate"`})
		return fmt.Sprintf(`BEAT {"wid":"%s",%s}`, g.law.symbol(w.WID), more)
	})},
	{"beat-of-nobody", 0.3, worker, writes(func(g *maker, _ *oracle.Conn) string {
		return fmt.Sprintf(`BEAT {"wid":"$wid%d"}`, 1000000+g.IntN(1000))
	})},
	{"info", 1, identified, fixed("INFO")},
	{"report-anything", 0.7, identified, (*maker).reportAnything},
	{"fetch-empty", 0.12, worker, (*maker).fetchEmpty},
	{"fetch-as-anybody", 0.05, identified, func(g *maker, c int, _ *oracle.Conn) []explore.Step {
		return []explore.Step{g.patiently(line(c, "FETCH %s", g.queue()))}
	}},
	{"fetch-and-wake", 0.3, active, (*maker).fetchAndWake},
	{"fetch-and-go", 0.12, worker, (*maker).fetchAndGo},
	{"bad-line", 5, anyone, writes(func(g *maker, _ *oracle.Conn) string { return g.badLine() })},
	{"bad-argument", 2.5, anyone, writes(func(g *maker, _ *oracle.Conn) string { return g.badArgument() })},
	{"bad-field", 4, identified, (*maker).badField},
	{"bytes", 0.8, identified, (*maker).bytes},
	{"cut", 0.5, identified, (*maker).cut},
	{"hello-again", 0.2, identified, writes(func(g *maker, _ *oracle.Conn) string { return "HELLO " + g.greeting() })},
	{"hello", 2, raw, writes(func(g *maker, _ *oracle.Conn) string { return "HELLO " + g.greeting() })},
	{"hello-badly", 5, raw, writes(func(g *maker, _ *oracle.Conn) string { return "HELLO " + g.badGreeting() })},
	{"too-early", 3, raw, writes(func(g *maker, _ *oracle.Conn) string { return g.tooEarly() })},
	{"end", 0.3, identified, fixed("END")},
	{"end-early", 0.05, raw, fixed("END")},
	{"leave", 0.4, anyone, func(g *maker, c int, _ *oracle.Conn) []explore.Step { return []explore.Step{g.ending(c)} }},
	{"flush", 0.1, func(g *maker, c int, w *oracle.Conn) bool {
		return g.Terms.Flush && identified(g, c, w)
	}, (*maker).flushAll},
	{"default", 0.3, func(g *maker, c int, w *oracle.Conn) bool {
		return g.Terms.Alone && active(g, c, w)
	}, (*maker).inDefault},
	{"two-words", 0.1, active, (*maker).twoWords},
	{"burst", 0.5, active, (*maker).burst},
	{"life", 2, func(g *maker, c int, w *oracle.Conn) bool {
		return g.Longest >= time.Minute && active(g, c, w)
	}, (*maker).life},
	{"signal", 0.12, func(g *maker, c int, w *oracle.Conn) bool {
		return g.Signals && worker(g, c, w)
	}, (*maker).signal},
	{"restart", 0.04, func(g *maker, c int, w *oracle.Conn) bool {
		return g.Restarts && active(g, c, w)
	}, (*maker).restarting},
	{"wire", 2.5, anyone, (*maker).wire},
}

func (g *maker) ending(conn int) explore.Step {
	endings := []scenarios.Ending{scenarios.Closed, scenarios.Reset, scenarios.HalfShut}
	return explore.End(conn, choose(g, endings))
}

// oneHeld draws from the jobs that a worker holds.
func (g *maker) oneHeld(w *oracle.Conn) string { return g.law.symbol(choose(g, g.held(w.WID)).JID) }

// freshQueue names a queue that no other move uses.
func (g *maker) freshQueue() string {
	g.lastQueue++
	return fmt.Sprintf("$queue%d", g.lastQueue)
}

// fetch fetches a job that is enqueued.
func (g *maker) fetch(c int, w *oracle.Conn) []explore.Step {
	j := choose(g, g.ready())
	return []explore.Step{line(c, "FETCH %s", g.law.symbol(j.Queue))}
}

// fetchTwo fetches from two queues, one of which certainly has a job.
func (g *maker) fetchTwo(c int, _ *oracle.Conn) []explore.Step {
	j := choose(g, g.ready())
	first, second := g.law.symbol(j.Queue), g.queue()
	if second == first { // a server may refuse that
		second = g.queue()
	}
	if g.IntN(2) == 0 {
		first, second = second, first
	}
	return []explore.Step{line(c, "FETCH %s %s", first, second)}
}

// fetchSideBySide lets two workers fetch at the same time from two queues.
func (g *maker) fetchSideBySide(c int, _ *oracle.Conn) []explore.Step {
	for _, other := range g.Free() {
		if w := g.law.world.Conns[other]; other != c && active(g, other, w) {
			a, b := choose(g, g.ready()), choose(g, g.ready())
			if a.Queue == b.Queue { // which worker gets which job would depend on luck
				break
			}
			return []explore.Step{
				ahead(line(c, "FETCH %s", g.law.symbol(a.Queue))),
				ahead(line(other, "FETCH %s", g.law.symbol(b.Queue))),
				build().Await(c), build().Await(other),
			}
		}
	}
	return []explore.Step{line(c, "FETCH %s", g.law.symbol(choose(g, g.ready()).Queue))}
}

// patiently lets the other connections go on while a FETCH may wait for two seconds,
// unless time is simulated.
func (g *maker) patiently(s explore.Step) explore.Step {
	s.Ahead = g.Longest == 0
	return s
}

// fetchEmpty waits for a job that is not pushed, while other connections go on.
func (g *maker) fetchEmpty(c int, _ *oracle.Conn) []explore.Step {
	if g.Longest > 0 && g.IntN(2) == 0 {
		return []explore.Step{line(c, "FETCH %s", g.all())}
	}
	first := g.freshQueue() // always empty, so that it does not depend on luck which FETCH gets a job
	return []explore.Step{ahead(line(c, "FETCH %s %s", first, g.all()))}
}

// fetchMany names up to dozens of queues, all but one of which are empty.
func (g *maker) fetchMany(c int, _ *oracle.Conn) []explore.Step {
	names := make([]string, deal(g, "queues", []int{3, 8, 12, 40}))
	for i := range names {
		names[i] = g.freshQueue()
	}
	names[g.IntN(len(names))] = g.law.symbol(choose(g, g.ready()).Queue)
	return []explore.Step{line(c, "FETCH %s", strings.Join(names, " "))}
}

// fetchAndWake pushes a job while a worker waits for it, or two jobs while two workers do.
func (g *maker) fetchAndWake(c int, _ *oracle.Conn) []explore.Step {
	queue := g.freshQueue()
	for _, other := range g.Free() {
		if w := g.law.world.Conns[other]; other != c && active(g, other, w) && g.IntN(3) == 0 {
			return []explore.Step{
				ahead(line(c, "FETCH %s", queue)), ahead(line(other, "FETCH %s", queue)), explore.Wait(100 * time.Millisecond),
				push(controlProducer, g.jid(), queue, ""), push(controlProducer, g.jid(), queue, ""),
				build().Await(c), build().Await(other),
			}
		}
	}
	more := ""
	if g.IntN(3) == 0 {
		more = " " + g.freshQueue() + " " + g.freshQueue()
	}
	return []explore.Step{
		ahead(line(c, "FETCH %s%s", queue, more)), explore.Wait(100 * time.Millisecond),
		push(controlProducer, g.jid(), queue, `,"retry":0`), build().Await(c),
	}
}

// fetchAndGo has a worker leave while it waits, and pushes a job then.
func (g *maker) fetchAndGo(c int, _ *oracle.Conn) []explore.Step {
	queue := g.freshQueue()
	if len(g.queues) > 0 {
		g.queues[g.IntN(len(g.queues))] = g.lastQueue
	}
	moment := explore.Wait(100 * time.Millisecond)
	job := push(controlProducer, g.jid(), queue, `,"reserve_for":60,"retry":3`)
	steps := []explore.Step{ahead(line(c, "FETCH %s", queue)), moment, g.ending(c), moment, job}
	if g.Longest > 4*time.Minute { // after which the job must be back
		steps = append(steps, explore.Wait(260*time.Second), line(controlWorker, "FETCH %s", queue))
	}
	return steps
}

func (g *maker) failBadly(c int, w *oracle.Conn) []explore.Step {
	jid := g.oneHeld(w)
	tail := choose(g, []string{
		`"errtype":5`, `"message":[]`, `"backtrace":"x"`, `"backtrace":[1]`, `"backtrace":{}`, `"errtype":{},"message":1`,
	})
	return []explore.Step{line(c, `FAIL {"jid":"%s",%s}`, jid, tail), ack(c, jid)}
}

// reportAnything reports a job that the client may not hold.
func (g *maker) reportAnything(c int, _ *oracle.Conn) []explore.Step {
	jid := fmt.Sprintf("$jid%d", 1+g.IntN(g.jobs+2))
	if g.IntN(2) == 0 {
		return []explore.Step{ack(c, jid)}
	}
	return []explore.Step{line(c, "FAIL %s", g.failure(jid))}
}

// tooEarly is a command that may only be sent after HELLO.
func (g *maker) tooEarly() string {
	if g.Terms.Flush && g.IntN(20) == 0 {
		return fwp.FLUSH
	}
	return deal(g, "early", []string{
		"INFO", "FETCH " + g.queue(), "PUSH " + g.job(), `ACK {"jid":"$jid1"}`, `BEAT {"wid":"$wid1"}`,
		"FAIL " + g.failure("$jid1"), "PUSH " + g.job(), "INFO",
	})
}

// flushAll sends a FLUSH, right or malformed, and fetches what may still be there.
func (g *maker) flushAll(c int, w *oracle.Conn) []explore.Step {
	queue := g.freshQueue()
	flush, fetch := line(c, "%s", deal(g, "FLUSH", []string{"FLUSH", "FLUSH x"})), line(c, "FETCH %s", queue)
	if w.WID == "" || g.Longest < scheduled || g.IntN(2) == 0 {
		steps := []explore.Step{push(c, g.jid(), queue, ""), flush, line(c, "INFO")}
		if w.WID != "" {
			steps = append(steps, g.patiently(fetch))
		}
		return steps
	}
	held, failed := g.jid(), g.jid() // one of each kind of jobs, one of which fails only when it was cleared
	return []explore.Step{
		push(c, held, queue, ""), fetch, push(c, failed, queue, ""), fetch, line(c, "FAIL %s", g.failure(failed)),
		push(c, g.jid(), queue, `,"at":`+g.soon()), flush, line(c, "FAIL %s", g.failure(held)), explore.Wait(scheduled),
		fetch, fetch,
	}
}

// inDefault uses the queue default, by its name or by none.
func (g *maker) inDefault(c int, _ *oracle.Conn) []explore.Step {
	jid := g.jid()
	job := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[]}`, jid)
	switch g.IntN(4) {
	case 0:
		return []explore.Step{job, line(c, "FETCH"), ack(c, jid)}
	case 1:
		return []explore.Step{job, line(c, "FETCH default"), ack(c, jid)}
	case 2:
		return []explore.Step{line(c, "PUSH %s", g.job()), g.patiently(line(c, "FETCH"))}
	}
	return []explore.Step{job, line(c, "FETCH %s default", g.queue())}
}

// phrase is the name of a queue that has two words, for which two queues would have to be
// fetched from. (FWP-WU-16)
func (g *maker) phrase() string {
	return g.freshQueue() + " " + g.freshQueue()
}

// twoWords pushes a job to a queue whose name is two words for a FETCH.
func (g *maker) twoWords(c int, _ *oracle.Conn) []explore.Step {
	queue := g.phrase()
	fetch := g.patiently(line(c, "FETCH %s", queue))
	if g.Longest > scheduled && g.IntN(2) == 0 {
		return []explore.Step{push(c, g.jid(), queue, `,"at":`+g.soon()), explore.Wait(scheduled), fetch}
	}
	return []explore.Step{push(c, g.jid(), queue, ""), fetch}
}

// burst pushes many jobs, and fetches and acknowledges all of them.
func (g *maker) burst(c int, _ *oracle.Conn) []explore.Step {
	queue := g.freshQueue()
	var pushes, rest []explore.Step
	for range 10 + g.IntN(30) {
		jid := g.jid()
		pushes = append(pushes, push(c, jid, queue, ""))
		rest = append(rest, line(c, "FETCH %s", queue), ack(c, jid))
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

// scheduled is how long a move waits for a job that is scheduled in a few seconds.
const scheduled = 170 * time.Second

// ages are how long a move waits for a job to come back: before it may, and after it must.
var ages = []time.Duration{20 * time.Second, 40 * time.Second, 70 * time.Second, 170 * time.Second, 260 * time.Second}

// alike has a worker hold two jobs whose names a careless server may take for one, and reports the one that it fetched
// last.
func (g *maker) alike(c int, _ *oracle.Conn) []explore.Step {
	names, jid, queue := deal(g, "alike", alikeNames), g.jid(), g.freshQueue()
	first, last := jid+names[0], jid+names[1]
	fetch := line(c, "FETCH %s", queue)
	steps := []explore.Step{push(c, first, queue, ""), fetch, push(c, last, queue, `,"retry":0`), fetch}
	written := last
	if g.IntN(3) == 0 { // the same name, with an escape
		written = strings.NewReplacer("-", `\u002d`, "_", `\u005f`).Replace(last)
	}
	if g.IntN(3) == 0 {
		return append(steps, line(c, "FAIL %s", g.failure(written)), ack(c, first))
	}
	return append(steps, ack(c, written), ack(c, first))
}

// life follows one job through failures or the end of its reservation.
func (g *maker) life(c int, _ *oracle.Conn) []explore.Step {
	jid, queue := g.jid(), g.freshQueue()
	if g.IntN(8) == 0 { // the name of the queue is one that a server may stumble over later
		if queue += "_Odd"; g.IntN(2) == 0 {
			queue = g.phrase()
		}
		job := push(c, jid, queue, `,"at":`+g.soon())
		return []explore.Step{job, explore.Wait(scheduled), line(c, "FETCH %s", queue)}
	}
	fields := deal(g, "life", []string{
		"", `,"retry":0`, `,"retry":-1`, `,"retry":1`, `,"retry":2`, `,"retry":3`, `,"retry":1,"backtrace":2`,
		`,"backtrace":1`,
	}) + choose(g, []string{"", `,"reserve_for":60`, `,"reserve_for":60`, `,"reserve_for":1`, `,"reserve_for":3600`})
	fetch := line(c, "FETCH %s", queue)
	steps := []explore.Step{push(c, jid, queue, fields), fetch}
	end := deal(g, "end of a life", []string{"fail", "fail", "expire", "ack"})
	for range 1 + g.IntN(3) {
		switch end {
		case "fail":
			steps = append(steps, line(c, "FAIL %s", g.failure(jid)))
			if g.IntN(4) == 0 { // it must not be back yet
				steps = append(steps, fetch)
			}
		case "ack":
			steps = append(steps, ack(c, jid))
		}
		steps = append(steps, explore.Wait(choose(g, ages)), fetch)
	}
	return steps
}
