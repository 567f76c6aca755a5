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

func isOpen(_ *maker, _ int, w *fwplaw.Conn) bool       { return w.State < fwp.Ended }
func isRaw(_ *maker, _ int, w *fwplaw.Conn) bool        { return w.State == fwp.NotIdentified }
func isIdentified(_ *maker, _ int, w *fwplaw.Conn) bool { return w.State == fwp.Identified }

func isWorker(g *maker, c int, w *fwplaw.Conn) bool { return isIdentified(g, c, w) && w.WID != "" }

// mayFetch reports whether the connection may fetch. In round trips a worker whose id is unusual may not, since no
// other connection could acknowledge in its place what it has left.
func mayFetch(g *maker, c int, w *fwplaw.Conn) bool {
	_, isPlain := g.law.worker(w.WID)
	return isWorker(g, c, w) && !g.law.world.IsQuiet(w) && (isPlain || !g.isSteady)
}

func hasReadyJobs(g *maker, c int, w *fwplaw.Conn) bool {
	if mayFetch(g, c, w) {
		for range g.fetchableJobs() {
			return true
		}
	}
	return false
}

func holdsJobs(g *maker, c int, w *fwplaw.Conn) bool {
	return isWorker(g, c, w) && len(g.heldJobs(w.WID)) > 0
}

// Other conditions, whatever the state of the connection.

func isAlone(g *maker, _ int, _ *fwplaw.Conn) bool      { return g.Terms.Alone }
func mayFlush(g *maker, _ int, _ *fwplaw.Conn) bool     { return g.Terms.Flush }
func maySignal(g *maker, _ int, _ *fwplaw.Conn) bool    { return g.Signals }
func mayRestart(g *maker, _ int, _ *fwplaw.Conn) bool   { return g.Restarts && len(g.Disruptions) == 0 }
func mayDisrupt(g *maker, _ int, _ *fwplaw.Conn) bool   { return len(g.Disruptions) > 0 }
func mayWait(g *maker, _ int, _ *fwplaw.Conn) bool      { return g.LongestWait >= time.Minute }
func hasCompanion(g *maker, c int, _ *fwplaw.Conn) bool { return g.companion(c) > 0 }

// combine is the condition that both of two are met.
func combine(first, second condition) condition {
	return func(g *maker, c int, w *fwplaw.Conn) bool { return first(g, c, w) && second(g, c, w) }
}

// moveOf makes a move of the line that is written for a connection.
func moveOf(write func(g *maker, w *fwplaw.Conn) string) func(*maker, int, *fwplaw.Conn) []explore.Step {
	return func(g *maker, c int, w *fwplaw.Conn) []explore.Step {
		return []explore.Step{line(c, "%s", write(g, w))}
	}
}

// fixedMove makes a move of a line that is always the same.
func fixedMove(text string) func(*maker, int, *fwplaw.Conn) []explore.Step {
	return moveOf(func(*maker, *fwplaw.Conn) string { return text })
}

// push is a PUSH of a job; fields is what else stands in it, behind a comma.
func push(conn int, jid, queue, fields string) explore.Step {
	return line(conn, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s"%s}`, jid, queue, fields)
}

// ack is an ACK of a job.
func ack(conn int, jid string) explore.Step { return line(conn, `ACK {"jid":"%s"}`, jid) }

// moves are all that a connection can do. The weights are how often, before what was
// seen least is preferred.
var moves = []move{
	{"push", 14, isIdentified, moveOf(func(g *maker, _ *fwplaw.Conn) string { return "PUSH " + g.job() })},
	{"fetch", 14, hasReadyJobs, (*maker).fetch},
	{"fetch-two", 4, hasReadyJobs, (*maker).fetchTwo},
	{"fetch-many", 0.4, hasReadyJobs, (*maker).fetchMany},
	{"alike-queues", 0.8, mayFetch, (*maker).fillAlike},
	{"alike-workers", 0.4, combine(isWorker, hasCompanion), (*maker).alikeWorkers},
	{"same-worker", 0.5, combine(mayFetch, hasCompanion), (*maker).sameWorker},
	{"fetch-side-by-side", 3, hasReadyJobs, (*maker).fetchSideBySide},
	{"third", 0.6, mayFetch, (*maker).thirdClient},
	{"ack", 9, holdsJobs, func(g *maker, c int, w *fwplaw.Conn) []explore.Step {
		return []explore.Step{ack(c, g.heldJID(w))}
	}},
	{"fail", 4, holdsJobs, moveOf(func(g *maker, w *fwplaw.Conn) string { return "FAIL " + g.failure(g.heldJID(w)) })},
	{"fail-badly", 1, holdsJobs, (*maker).failMalformed},
	{"beat", 1, isWorker, moveOf(func(g *maker, w *fwplaw.Conn) string {
		fields := ""
		if g.IntN(2) == 0 {
			fields = `,"rss_kb":` + g.value("rss_kb", memories())
		}
		return fmt.Sprintf(`BEAT {"wid":"%s"%s}`, g.spellName(w.WID), fields)
	})},
	{"beat-of-itself", 0.05, isWorker, moveOf(func(g *maker, w *fwplaw.Conn) string {
		fields := deal(g, "BEAT", []string{`"current_state":"quiet"`, `"current_state":"terminate"`})
		return fmt.Sprintf(`BEAT {"wid":"%s","rss_kb":%s,%s}`, g.spellName(w.WID), g.value("rss_kb", memories()), fields)
	})},
	{"beat-unknown-worker", 0.3, isWorker, moveOf(func(g *maker, w *fwplaw.Conn) string {
		return fmt.Sprintf(`BEAT {"wid":"%s"}`, deal(g, "unknown worker", []string{
			fmt.Sprintf("$wid%d", 1000000+g.IntN(1000)), " " + g.spellName(w.WID) + " ", g.spellName(w.WID) + `\r\nx`,
			g.spellName(w.WID) + "x",
		}))
	})},
	{"introduce", 0.4, isIdentified, (*maker).introduce},
	{"state-in-hand", 0.4, combine(mayFetch, hasCompanion), (*maker).stateInHand},
	{"info", 1, isIdentified, fixedMove("INFO")},
	{"report-anything", 0.7, isIdentified, (*maker).reportAnything},
	{"fetch-empty", 0.12, isWorker, (*maker).fetchEmpty},
	{"fetch-as-anybody", 0.05, isIdentified, func(g *maker, c int, _ *fwplaw.Conn) []explore.Step {
		return []explore.Step{g.sendAside(line(c, "FETCH %s", g.queue()))}
	}},
	{"fetch-and-wake", 0.3, mayFetch, (*maker).fetchAndWake},
	{"fetch-and-go", 0.12, isWorker, (*maker).fetchAndGo},
	{"guesses", 1, func(g *maker, _ int, w *fwplaw.Conn) bool {
		return g.Terms.Password != "" && w.State < fwp.Ended
	}, (*maker).guessHashes},
	{"bystander", 1, isIdentified, (*maker).bystander},
	{"refused-in-hand", 0.4, holdsJobs, (*maker).refuseThenServe},
	{"bad-syntax", 2, isIdentified, (*maker).badSyntax},
	{"form", 1, isWorker, (*maker).jsonForm},
	{"buffer", 0.2, func(g *maker, c int, w *fwplaw.Conn) bool {
		return w.State <= fwp.Identified && w.WID == ""
	}, moveOf(func(g *maker, _ *fwplaw.Conn) string { return g.bufferLine() })},
	{"bad-line", 5, isOpen, (*maker).badLine},
	{"bad-argument", 2.5, isOpen, moveOf(func(g *maker, _ *fwplaw.Conn) string { return g.badArgument() })},
	{"bad-field", 4, isIdentified, (*maker).badField},
	{"bytes", 0.8, isIdentified, (*maker).sendBytes},
	{"cut", 0.5, isIdentified, (*maker).cutLine},
	{"hello-again", 0.2, isIdentified, moveOf(func(g *maker, _ *fwplaw.Conn) string { return "HELLO " + g.greeting() })},
	{"hello", 2, isRaw, moveOf(func(g *maker, _ *fwplaw.Conn) string { return "HELLO " + g.greeting() })},
	{"hello-badly", 5, isRaw, (*maker).helloMalformed},
	{"too-early", 3, isRaw, moveOf(func(g *maker, _ *fwplaw.Conn) string { return g.earlyCommand() })},
	{"end", 0.3, isIdentified, fixedMove("END")},
	{"end-early", 0.05, isRaw, fixedMove("END")},
	{"leave", 0.4, isOpen, func(g *maker, c int, _ *fwplaw.Conn) []explore.Step { return []explore.Step{g.ending(c)} }},
	{"flush", 0.2, combine(mayFlush, isIdentified), (*maker).flushAll},
	{"flush-and-wake", 0.1, combine(mayFlush, mayFetch), (*maker).flushAndWake},
	{"default", 0.6, combine(isAlone, mayFetch), (*maker).useDefault},
	{"default-at-once", 0.2, combine(isAlone, mayFetch), (*maker).fetchDefault},
	{"two-words", 0.1, mayFetch, (*maker).pushPhrase},
	{"burst", 0.5, mayFetch, (*maker).burst},
	{"push-line", 0.5, isIdentified, (*maker).pushLine},
	{"lives", 0.5, combine(mayWait, mayFetch), (*maker).lives},
	{"signal", 0.2, combine(maySignal, isWorker), (*maker).signal},
	{"restart", 0.08, combine(mayRestart, mayFetch), (*maker).disrupt},
	{"disrupt", 2, combine(mayDisrupt, mayFetch), (*maker).disrupt},
	{"wire", 2.5, isOpen, (*maker).sendFuzz},
}

// endings are the ways in which a client leaves.
var endings = []scenarios.Ending{scenarios.Closed, scenarios.Reset, scenarios.HalfClosed}

func (g *maker) ending(conn int) explore.Step {
	return explore.End(conn, choose(g, endings))
}

// heldJID draws from the jobs that a worker holds.
func (g *maker) heldJID(w *fwplaw.Conn) string { return g.spellName(choose(g, g.heldJobs(w.WID)).JID) }

// freshQueue names a queue that no other move uses.
func (g *maker) freshQueue() string {
	g.lastQueue++
	return fmt.Sprintf("$queue%d", g.lastQueue)
}

// fetch fetches a job that is enqueued.
func (g *maker) fetch(c int, w *fwplaw.Conn) []explore.Step {
	j := choose(g, g.readyJobs())
	return []explore.Step{line(c, "FETCH %s", g.law.symbol(j.Queue))}
}

// fetchTwo fetches from two queues, one of which certainly has a job.
func (g *maker) fetchTwo(c int, _ *fwplaw.Conn) []explore.Step {
	j := choose(g, g.readyJobs())
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
		if w := g.law.world.Conns[other]; other != c && mayFetch(g, other, w) {
			a, b := choose(g, g.readyJobs()), choose(g, g.readyJobs())
			if a.Queue == b.Queue { // which worker gets which job would depend on luck
				break
			}
			return []explore.Step{
				sendAhead(line(c, "FETCH %s", g.law.symbol(a.Queue))),
				sendAhead(line(other, "FETCH %s", g.law.symbol(b.Queue))),
				build().Await(c), build().Await(other),
			}
		}
	}
	return []explore.Step{line(c, "FETCH %s", g.law.symbol(choose(g, g.readyJobs()).Queue))}
}

// sendAside lets the other connections go on while a FETCH may wait for two seconds,
// unless time is simulated.
func (g *maker) sendAside(s explore.Step) explore.Step {
	s.Ahead = g.LongestWait == 0
	return s
}

// fetchEmpty waits for a job that is not pushed, while other connections go on.
func (g *maker) fetchEmpty(c int, _ *fwplaw.Conn) []explore.Step {
	if g.LongestWait > 0 && g.IntN(2) == 0 {
		return []explore.Step{line(c, "FETCH %s", g.allQueues())}
	}
	first := g.freshQueue() // always empty, so that it does not depend on luck which FETCH gets a job
	return []explore.Step{sendAhead(line(c, "FETCH %s %s", first, g.allQueues()))}
}

// fetchAndGo has a worker leave while it waits, and pushes a job then.
func (g *maker) fetchAndGo(c int, _ *fwplaw.Conn) []explore.Step {
	queue := g.freshQueue()
	if len(g.queues) > 0 {
		g.queues[g.IntN(len(g.queues))] = queue
	}
	moment := explore.Wait(100 * time.Millisecond)
	job := push(controlProducer, g.jid(), queue, `,"reserve_for":60,"retry":3`)
	steps := []explore.Step{sendAhead(line(c, "FETCH %s", queue)), moment, g.ending(c), moment, job}
	if g.LongestWait > 4*time.Minute { // after which the job must be back
		steps = append(steps, explore.Wait(260*time.Second), line(controlWorker, "FETCH %s", queue))
	}
	return steps
}

func (g *maker) failMalformed(c int, w *fwplaw.Conn) []explore.Step {
	jid := g.heldJID(w)
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

// earlyCommand is a command that may only be sent after HELLO.
func (g *maker) earlyCommand() string {
	if g.Terms.Flush && g.IntN(6) == 0 {
		return fwp.FLUSH
	}
	return deal(g, "early", []string{
		"INFO", "FETCH " + g.queue(), "PUSH " + g.job(), `ACK {"jid":"` + g.anyHeldJID() + `"}`, `BEAT {"wid":"$wid1"}`,
		"FAIL " + g.failure(g.anyHeldJID()), "PUSH " + g.job(), "INFO",
	})
}

// anyHeldJID is a job that some worker holds.
func (g *maker) anyHeldJID() string {
	for _, n := range slices.Sorted(maps.Keys(g.law.world.Conns)) {
		if jobs := g.heldJobs(g.law.world.Conns[n].WID); len(jobs) > 0 {
			return g.spellName(choose(g, jobs).JID)
		}
	}
	return "$jid1"
}

// flushAll sends a FLUSH, right or malformed, and fetches what may still be there.
func (g *maker) flushAll(c int, w *fwplaw.Conn) []explore.Step {
	queue := g.freshQueue()
	flush, fetch := line(c, "%s", deal(g, "FLUSH", []string{"FLUSH", "FLUSH x", "FLUSH"})), line(c, "FETCH %s", queue)
	if g.IntN(6) == 0 && w.WID != "" { // what is scheduled for later than 32 bits can say
		future := push(c, g.jid(), queue, `,"at":"2040-01-02T03:04:05Z"`)
		return []explore.Step{future, line(c, "FETCH %s", queue), line(c, "FLUSH")}
	}
	if w.WID == "" || g.LongestWait < scheduleDelay || g.IntN(2) == 0 {
		if queue += choose(g, []string{"", "-a-name-of-more-than-40-bytes"}); g.IntN(3) == 0 && g.Terms.Alone {
			queue = "default"
		}
		fetch = line(c, "FETCH %s", queue)
		steps := []explore.Step{push(c, g.jid(), queue, ""), flush, line(c, "INFO")}
		if w.WID != "" {
			steps = append(steps, g.sendAside(fetch))
		}
		return steps
	}
	heldJID, failed, dead := g.jid(), g.jid(), g.jid() // one of each kind; one fails only when it was cleared
	return []explore.Step{
		push(c, heldJID, queue, ""), fetch, push(c, failed, queue, ""), fetch, line(c, "FAIL %s", g.failure(failed)),
		push(c, dead, queue, `,"retry":-1`), fetch, line(c, "FAIL %s", g.failure(dead)),
		push(c, g.jid(), queue, `,"at":`+g.secondsTime()), flush, line(c, "FAIL %s", g.failure(heldJID)),
		explore.Wait(scheduleDelay),
		fetch, fetch,
	}
}

// flushAndWake clears everything while a worker waits for a job, and pushes it then.
func (g *maker) flushAndWake(c int, _ *fwplaw.Conn) []explore.Step {
	queue, moment := g.freshQueue(), explore.Wait(300*time.Millisecond)
	return []explore.Step{
		sendAhead(line(c, "FETCH %s", queue)), moment, line(controlProducer, "FLUSH"), moment,
		push(controlProducer, g.jid(), queue, ""), build().Await(c),
	}
}

// fetchDefault has a job come at once from the queue default, or from one whose name a server may use for itself.
func (g *maker) fetchDefault(c int, _ *fwplaw.Conn) []explore.Step {
	jid := g.jid()
	job := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[]}`, jid)
	switch deal(g, "default at once", []int{0, 1, 2}) {
	case 0: // the queue of the PUSH before does not count, which is refused
		bad := line(c, `PUSH {"jid":"%s","jobtype":"t","args":{},"queue":"%s"}`, g.jid(), g.freshQueue())
		return []explore.Step{bad, job, line(c, "FETCH"), ack(c, jid)}
	case 1:
		return []explore.Step{job, line(c, "FETCH default"), ack(c, jid)}
	}
	queue := deal(g, "server's", serverQueues)
	return []explore.Step{push(c, jid, queue, ""), line(c, "FETCH %s", queue), ack(c, jid)}
}

// useDefault uses the queue default, by its name or by none, or one whose name a server may use for itself.
func (g *maker) useDefault(c int, _ *fwplaw.Conn) []explore.Step {
	jid := g.jid()
	job := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[]}`, jid)
	switch deal(g, "default", []int{0, 1, 2, 3, 4}) {
	case 0: // the queues of the FETCH before do not count, also if it was refused
		queue := g.freshQueue()
		first := line(c, choose(g, []string{"FETCH %s", "FETCH  %s"}), queue) // served, or refused
		before := []explore.Step{push(c, g.jid(), queue, ""), first}
		if g.IntN(2) == 0 { // or it finds nothing
			before = []explore.Step{g.sendAside(first)}
		}
		return append(before, push(c, g.jid(), queue, ""), g.sendAside(line(c, "FETCH")))
	case 1:
		return []explore.Step{line(c, "PUSH %s", g.job()), g.sendAside(line(c, "FETCH"))}
	case 2:
		if g.LongestWait < scheduleDelay {
			break
		}
		later := line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"at":%s}`, jid, g.secondsTime())
		return []explore.Step{later, explore.Wait(scheduleDelay), line(c, "FETCH")}
	case 3: // a job that is scheduled is in no queue
		queue := deal(g, "server's, empty", serverQueues)
		later := push(c, jid, g.freshQueue(), `,"at":`+g.secondsTime())
		return []explore.Step{later, g.sendAside(line(c, "FETCH %s", queue))}
	}
	return []explore.Step{job, line(c, "FETCH %s default", g.queue())}
}

// serverQueues are names that a server may use for its own purposes.
var serverQueues = []string{"retries", "dead", "scheduled", "working", "queues"}

// phraseName is the name of a queue that has two words, for which two queues would have to be
// fetched from. (FWP-WU-16)
func (g *maker) phraseName() string {
	return g.freshQueue() + " " + g.freshQueue()
}

// pushPhrase pushes a job to a queue whose name is two words for a FETCH.
func (g *maker) pushPhrase(c int, _ *fwplaw.Conn) []explore.Step {
	queue := g.phraseName()
	fetch := g.sendAside(line(c, "FETCH %s", queue))
	if g.LongestWait > scheduleDelay && g.IntN(2) == 0 {
		return []explore.Step{push(c, g.jid(), queue, `,"at":`+g.secondsTime()), explore.Wait(scheduleDelay), fetch}
	}
	return []explore.Step{push(c, g.jid(), queue, ""), fetch}
}
