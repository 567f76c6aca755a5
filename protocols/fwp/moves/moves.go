package moves

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/scenarios"
)

// The conditions of moves, in the order in which they get stricter.

func anyone(_ *maker, _ int, w *fwplaw.Conn) bool     { return w.State < fwp.Ended }
func raw(_ *maker, _ int, w *fwplaw.Conn) bool        { return w.State == fwp.NotIdentified }
func identified(_ *maker, _ int, w *fwplaw.Conn) bool { return w.State == fwp.Identified }

func worker(g *maker, c int, w *fwplaw.Conn) bool { return identified(g, c, w) && w.WID != "" }

// active reports whether the connection may fetch. In round trips a worker whose id is unusual may not, since no other
// connection could acknowledge in its place what it has left.
func active(g *maker, c int, w *fwplaw.Conn) bool {
	_, plain := g.law.worker(w.WID)
	return worker(g, c, w) && !g.law.world.Quiet(w) && (plain || !g.steady)
}

func waiting(g *maker, c int, w *fwplaw.Conn) bool {
	if active(g, c, w) {
		for range g.fetchable() {
			return true
		}
	}
	return false
}

func holding(g *maker, c int, w *fwplaw.Conn) bool { return worker(g, c, w) && len(g.held(w.WID)) > 0 }

// Other conditions, whatever the state of the connection.

func alone(g *maker, _ int, _ *fwplaw.Conn) bool       { return g.Terms.Alone }
func mayFlush(g *maker, _ int, _ *fwplaw.Conn) bool    { return g.Terms.Flush }
func maySignal(g *maker, _ int, _ *fwplaw.Conn) bool   { return g.Signals }
func mayRestart(g *maker, _ int, _ *fwplaw.Conn) bool  { return g.Restarts && len(g.Disruptions) == 0 }
func mayDisrupt(g *maker, _ int, _ *fwplaw.Conn) bool  { return len(g.Disruptions) > 0 }
func mayWait(g *maker, _ int, _ *fwplaw.Conn) bool     { return g.Longest >= time.Minute }
func accompanied(g *maker, c int, _ *fwplaw.Conn) bool { return g.companion(c) > 0 }

// both is the condition that both of two are met.
func both(one, other condition) condition {
	return func(g *maker, c int, w *fwplaw.Conn) bool { return one(g, c, w) && other(g, c, w) }
}

// writes makes a move of the line that is written for a connection.
func writes(write func(g *maker, w *fwplaw.Conn) string) func(*maker, int, *fwplaw.Conn) []explore.Step {
	return func(g *maker, c int, w *fwplaw.Conn) []explore.Step {
		return []explore.Step{line(c, "%s", write(g, w))}
	}
}

// fixed makes a move of a line that is always the same.
func fixed(text string) func(*maker, int, *fwplaw.Conn) []explore.Step {
	return writes(func(*maker, *fwplaw.Conn) string { return text })
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
	{"push", 14, identified, writes(func(g *maker, _ *fwplaw.Conn) string { return "PUSH " + g.job() })},
	{"fetch", 14, waiting, (*maker).fetch},
	{"fetch-two", 4, waiting, (*maker).fetchTwo},
	{"fetch-many", 0.4, waiting, (*maker).fetchMany},
	{"alike-queues", 0.8, active, (*maker).fillAlike},
	{"alike-workers", 0.4, both(worker, accompanied), (*maker).alikeWorkers},
	{"same-worker", 0.5, both(active, accompanied), (*maker).sameWorker},
	{"fetch-side-by-side", 3, waiting, (*maker).fetchSideBySide},
	{"third", 0.6, active, (*maker).third},
	{"ack", 9, holding, func(g *maker, c int, w *fwplaw.Conn) []explore.Step {
		return []explore.Step{ack(c, g.oneHeld(w))}
	}},
	{"fail", 4, holding, writes(func(g *maker, w *fwplaw.Conn) string { return "FAIL " + g.failure(g.oneHeld(w)) })},
	{"fail-badly", 1, holding, (*maker).failBadly},
	{"beat", 1, worker, writes(func(g *maker, w *fwplaw.Conn) string {
		more := ""
		if g.IntN(2) == 0 {
			more = `,"rss_kb":` + g.value("rss_kb", memories())
		}
		return fmt.Sprintf(`BEAT {"wid":"%s"%s}`, g.spelled(w.WID), more)
	})},
	{"beat-of-itself", 0.05, worker, writes(func(g *maker, w *fwplaw.Conn) string {
		more := deal(g, "BEAT", []string{`"current_state":"quiet"`, `"current_state":"terminate"`})
		return fmt.Sprintf(`BEAT {"wid":"%s","rss_kb":%s,%s}`, g.spelled(w.WID), g.value("rss_kb", memories()), more)
	})},
	{"beat-unknown-worker", 0.3, worker, writes(func(g *maker, w *fwplaw.Conn) string {
		return fmt.Sprintf(`BEAT {"wid":"%s"}`, deal(g, "unknown worker", []string{
			fmt.Sprintf("$wid%d", 1000000+g.IntN(1000)), " " + g.spelled(w.WID) + " ", g.spelled(w.WID) + `\r\nx`,
			g.spelled(w.WID) + "x",
		}))
	})},
	{"introduce", 0.4, identified, (*maker).introduce},
	{"state-in-hand", 0.4, both(active, accompanied), (*maker).stateInHand},
	{"info", 1, identified, fixed("INFO")},
	{"report-anything", 0.7, identified, (*maker).reportAnything},
	{"fetch-empty", 0.12, worker, (*maker).fetchEmpty},
	{"fetch-as-anybody", 0.05, identified, func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
		return []explore.Step{g.patiently(line(c, "FETCH %s", g.queue()))}
	}},
	{"fetch-and-wake", 0.3, active, (*maker).fetchAndWake},
	{"fetch-and-go", 0.12, worker, (*maker).fetchAndGo},
	{"guesses", 1, func(g *maker, _ int, w *fwplaw.Conn) bool {
		return g.Terms.Password != "" && w.State < fwp.Ended
	}, (*maker).guesses},
	{"bystander", 1, identified, (*maker).bystander},
	{"refused-in-hand", 0.4, holding, (*maker).refusedInHand},
	{"bad-syntax", 2, identified, (*maker).badSyntax},
	{"form", 1, worker, (*maker).form},
	{"buffer", 0.2, func(g *maker, c int, w *fwplaw.Conn) bool {
		return w.State <= fwp.Identified && w.WID == ""
	}, writes(func(g *maker, _ *fwplaw.Conn) string { return g.bufferful() })},
	{"bad-line", 5, anyone, (*maker).badLine},
	{"bad-argument", 2.5, anyone, writes(func(g *maker, _ *fwplaw.Conn) string { return g.badArgument() })},
	{"bad-field", 4, identified, (*maker).badField},
	{"bytes", 0.8, identified, (*maker).bytes},
	{"cut", 0.5, identified, (*maker).cut},
	{"hello-again", 0.2, identified, writes(func(g *maker, _ *fwplaw.Conn) string { return "HELLO " + g.greeting() })},
	{"hello", 2, raw, writes(func(g *maker, _ *fwplaw.Conn) string { return "HELLO " + g.greeting() })},
	{"hello-badly", 5, raw, (*maker).helloBadly},
	{"too-early", 3, raw, writes(func(g *maker, _ *fwplaw.Conn) string { return g.tooEarly() })},
	{"end", 0.3, identified, fixed("END")},
	{"end-early", 0.05, raw, fixed("END")},
	{"leave", 0.4, anyone, func(g *maker, c int, _ *fwplaw.Conn) []explore.Step { return []explore.Step{g.ending(c)} }},
	{"flush", 0.2, both(mayFlush, identified), (*maker).flushAll},
	{"flush-and-wake", 0.1, both(mayFlush, active), (*maker).flushAndWake},
	{"default", 0.6, both(alone, active), (*maker).inDefault},
	{"default-at-once", 0.2, both(alone, active), (*maker).inDefaultAtOnce},
	{"two-words", 0.1, active, (*maker).twoWords},
	{"burst", 0.5, active, (*maker).burst},
	{"push-line", 0.5, identified, (*maker).pushLine},
	{"lives", 0.5, both(mayWait, active), (*maker).lives},
	{"signal", 0.2, both(maySignal, worker), (*maker).signal},
	{"restart", 0.08, both(mayRestart, active), (*maker).disrupting},
	{"disrupt", 2, both(mayDisrupt, active), (*maker).disrupting},
	{"wire", 2.5, anyone, (*maker).wire},
}

// endings are the ways in which a client leaves.
var endings = []scenarios.Ending{scenarios.Closed, scenarios.Reset, scenarios.HalfShut}

func (g *maker) ending(conn int) explore.Step {
	return explore.End(conn, choose(g, endings))
}

// oneHeld draws from the jobs that a worker holds.
func (g *maker) oneHeld(w *fwplaw.Conn) string { return g.spelled(choose(g, g.held(w.WID)).JID) }

// freshQueue names a queue that no other move uses.
func (g *maker) freshQueue() string {
	g.lastQueue++
	return fmt.Sprintf("$queue%d", g.lastQueue)
}

// fetch fetches a job that is enqueued.
func (g *maker) fetch(c int, w *fwplaw.Conn) []explore.Step {
	j := choose(g, g.ready())
	return []explore.Step{line(c, "FETCH %s", g.law.symbol(j.Queue))}
}

// fetchTwo fetches from two queues, one of which certainly has a job.
func (g *maker) fetchTwo(c int, _ *fwplaw.Conn) []explore.Step {
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
func (g *maker) fetchSideBySide(c int, _ *fwplaw.Conn) []explore.Step {
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
func (g *maker) fetchEmpty(c int, _ *fwplaw.Conn) []explore.Step {
	if g.Longest > 0 && g.IntN(2) == 0 {
		return []explore.Step{line(c, "FETCH %s", g.all())}
	}
	first := g.freshQueue() // always empty, so that it does not depend on luck which FETCH gets a job
	return []explore.Step{ahead(line(c, "FETCH %s %s", first, g.all()))}
}

// fetchAndGo has a worker leave while it waits, and pushes a job then.
func (g *maker) fetchAndGo(c int, _ *fwplaw.Conn) []explore.Step {
	queue := g.freshQueue()
	if len(g.queues) > 0 {
		g.queues[g.IntN(len(g.queues))] = queue
	}
	moment := explore.Wait(100 * time.Millisecond)
	job := push(controlProducer, g.jid(), queue, `,"reserve_for":60,"retry":3`)
	steps := []explore.Step{ahead(line(c, "FETCH %s", queue)), moment, g.ending(c), moment, job}
	if g.Longest > 4*time.Minute { // after which the job must be back
		steps = append(steps, explore.Wait(260*time.Second), line(controlWorker, "FETCH %s", queue))
	}
	return steps
}

func (g *maker) failBadly(c int, w *fwplaw.Conn) []explore.Step {
	jid := g.oneHeld(w)
	tail := choose(g, []string{
		`"errtype":5`, `"message":[]`, `"backtrace":"x"`, `"backtrace":[1]`, `"backtrace":{}`, `"errtype":{},"message":1`,
	})
	return []explore.Step{line(c, `FAIL {"jid":"%s",%s}`, jid, tail), ack(c, jid)}
}

// reportAnything reports a job that the client may not hold.
func (g *maker) reportAnything(c int, _ *fwplaw.Conn) []explore.Step {
	jid := fmt.Sprintf("$jid%d", 1+g.IntN(g.jobs+2))
	if g.IntN(2) == 0 {
		return []explore.Step{ack(c, jid)}
	}
	return []explore.Step{line(c, "FAIL %s", g.failure(jid))}
}

// tooEarly is a command that may only be sent after HELLO.
func (g *maker) tooEarly() string {
	if g.Terms.Flush && g.IntN(6) == 0 {
		return fwp.FLUSH
	}
	return deal(g, "early", []string{
		"INFO", "FETCH " + g.queue(), "PUSH " + g.job(), `ACK {"jid":"` + g.inHand() + `"}`, `BEAT {"wid":"$wid1"}`,
		"FAIL " + g.failure(g.inHand()), "PUSH " + g.job(), "INFO",
	})
}

// inHand is a job that some worker holds.
func (g *maker) inHand() string {
	for _, n := range slices.Sorted(maps.Keys(g.law.world.Conns)) {
		if held := g.held(g.law.world.Conns[n].WID); len(held) > 0 {
			return g.spelled(choose(g, held).JID)
		}
	}
	return "$jid1"
}

// flushAll sends a FLUSH, right or malformed, and fetches what may still be there.
func (g *maker) flushAll(c int, w *fwplaw.Conn) []explore.Step {
	queue := g.freshQueue()
	flush, fetch := line(c, "%s", deal(g, "FLUSH", []string{"FLUSH", "FLUSH x", "FLUSH"})), line(c, "FETCH %s", queue)
	if g.IntN(6) == 0 && w.WID != "" { // what is scheduled for later than 32 bits can say
		far := push(c, g.jid(), queue, `,"at":"2040-01-02T03:04:05Z"`)
		return []explore.Step{far, line(c, "FETCH %s", queue), line(c, "FLUSH")}
	}
	if w.WID == "" || g.Longest < scheduled || g.IntN(2) == 0 {
		if queue += choose(g, []string{"", "-a-name-of-more-than-40-bytes"}); g.IntN(3) == 0 && g.Terms.Alone {
			queue = "default"
		}
		fetch = line(c, "FETCH %s", queue)
		steps := []explore.Step{push(c, g.jid(), queue, ""), flush, line(c, "INFO")}
		if w.WID != "" {
			steps = append(steps, g.patiently(fetch))
		}
		return steps
	}
	held, failed, dead := g.jid(), g.jid(), g.jid() // one of each kind; one fails only when it was cleared
	return []explore.Step{
		push(c, held, queue, ""), fetch, push(c, failed, queue, ""), fetch, line(c, "FAIL %s", g.failure(failed)),
		push(c, dead, queue, `,"retry":-1`), fetch, line(c, "FAIL %s", g.failure(dead)),
		push(c, g.jid(), queue, `,"at":`+g.soon()), flush, line(c, "FAIL %s", g.failure(held)), explore.Wait(scheduled),
		fetch, fetch,
	}
}

// flushAndWake clears everything while a worker waits for a job, and pushes it then.
func (g *maker) flushAndWake(c int, _ *fwplaw.Conn) []explore.Step {
	queue, moment := g.freshQueue(), explore.Wait(300*time.Millisecond)
	return []explore.Step{
		ahead(line(c, "FETCH %s", queue)), moment, line(controlProducer, "FLUSH"), moment,
		push(controlProducer, g.jid(), queue, ""), build().Await(c),
	}
}

// inDefaultAtOnce has a job come at once from the queue default, or from one whose name a server may use for itself.
func (g *maker) inDefaultAtOnce(c int, _ *fwplaw.Conn) []explore.Step {
	jid := g.jid()
	job := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[]}`, jid)
	switch deal(g, "default at once", []int{0, 1, 2}) {
	case 0: // the queue of the PUSH before does not count, which is refused
		bad := line(c, `PUSH {"jid":"%s","jobtype":"t","args":{},"queue":"%s"}`, g.jid(), g.freshQueue())
		return []explore.Step{bad, job, line(c, "FETCH"), ack(c, jid)}
	case 1:
		return []explore.Step{job, line(c, "FETCH default"), ack(c, jid)}
	}
	queue := deal(g, "server's", ofServers)
	return []explore.Step{push(c, jid, queue, ""), line(c, "FETCH %s", queue), ack(c, jid)}
}

// inDefault uses the queue default, by its name or by none, or one whose name a server may use for itself.
func (g *maker) inDefault(c int, _ *fwplaw.Conn) []explore.Step {
	jid := g.jid()
	job := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[]}`, jid)
	switch deal(g, "default", []int{0, 1, 2, 3, 4}) {
	case 0: // the queues of the FETCH before do not count, also if it was refused
		queue := g.freshQueue()
		first := line(c, choose(g, []string{"FETCH %s", "FETCH  %s"}), queue) // served, or refused
		before := []explore.Step{push(c, g.jid(), queue, ""), first}
		if g.IntN(2) == 0 { // or it finds nothing
			before = []explore.Step{g.patiently(first)}
		}
		return append(before, push(c, g.jid(), queue, ""), g.patiently(line(c, "FETCH")))
	case 1:
		return []explore.Step{line(c, "PUSH %s", g.job()), g.patiently(line(c, "FETCH"))}
	case 2:
		if g.Longest < scheduled {
			break
		}
		later := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"at":%s}`, jid, g.soon())
		return []explore.Step{later, explore.Wait(scheduled), line(c, "FETCH")}
	case 3: // a job that is scheduled is in no queue
		queue := deal(g, "server's, empty", ofServers)
		later := push(c, jid, g.freshQueue(), `,"at":`+g.soon())
		return []explore.Step{later, g.patiently(line(c, "FETCH %s", queue))}
	}
	return []explore.Step{job, line(c, "FETCH %s default", g.queue())}
}

// ofServers are names that a server may use for its own purposes.
var ofServers = []string{"retries", "dead", "scheduled", "working", "queues"}

// phrase is the name of a queue that has two words, for which two queues would have to be
// fetched from. (FWP-WU-16)
func (g *maker) phrase() string {
	return g.freshQueue() + " " + g.freshQueue()
}

// twoWords pushes a job to a queue whose name is two words for a FETCH.
func (g *maker) twoWords(c int, _ *fwplaw.Conn) []explore.Step {
	queue := g.phrase()
	fetch := g.patiently(line(c, "FETCH %s", queue))
	if g.Longest > scheduled && g.IntN(2) == 0 {
		return []explore.Step{push(c, g.jid(), queue, `,"at":`+g.soon()), explore.Wait(scheduled), fetch}
	}
	return []explore.Step{push(c, g.jid(), queue, ""), fetch}
}
