package moves

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/scenarios"
)

// scheduleDelay is how long a move waits for a job that is scheduled in a few seconds.
const scheduleDelay = 170 * time.Second

// waitTimes are how long a move waits for a job to come back: before it may, and after it must.
var waitTimes = []time.Duration{
	20 * time.Second, 70 * time.Second, scheduleDelay, scheduleDelay, 260 * time.Second, 370 * time.Second,
	370 * time.Second,
}

// life is one job that a move follows, in a queue of its own.
type life struct {
	jid, queue  string
	fields      string
	fate        string
	isScheduled bool // it is scheduled first
}

// fates are what becomes of a job that was fetched. Some need a second connection of the same worker.
var fates = []string{
	"fail", "fail by turns", "fail once", "expire", "ack", "fail in other words", "ack twice", "ack elsewhere",
	"fail elsewhere", "left",
}

// lives follows several jobs at the same time through schedules, failures and the ends of their reservations: all of
// them wait together, which takes most of the commands because workers beat.
func (g *maker) lives(c int, w *fwplaw.Conn) []explore.Step {
	other := g.companion(c)
	number, ok := g.law.worker(w.WID)
	if !ok {
		other = 0
	}
	all := make([]life, 6+g.IntN(5))
	for i := range all {
		all[i] = g.newLife()
	}
	g.scheduleTogether(all)
	var steps []explore.Step
	if g.IntN(2) == 0 { // others would beat meanwhile
		for _, idle := range g.Free() {
			if idle != c && idle != other {
				steps = append(steps, explore.End(idle, scenarios.Closed))
			}
		}
	}
	if other > 0 {
		steps = append(steps, explore.End(other, scenarios.Closed), consumer(other, number))
	} else {
		other = c
	}
	for _, l := range all {
		steps = append(steps, push(c, l.jid, l.queue, l.fields))
	}
	if slices.ContainsFunc(all, func(l life) bool { return l.isScheduled }) {
		steps = append(steps, explore.Wait(scheduleDelay))
	}
	for _, l := range all {
		steps = append(steps, line(c, "FETCH %s", l.queue))
	}
	if g.IntN(3) == 0 { // shortly before the shortest reservation ends
		steps = append(steps, explore.Wait(52*time.Second))
	}
	for _, l := range all {
		steps = append(steps, g.endLife(l, c, other)...)
	}
	return append(steps, g.fetchReturns(all, c, other)...)
}

// newLife makes up a job that is to be followed.
func (g *maker) newLife() life {
	l := life{jid: g.jid(), queue: g.freshQueue(), fate: deal(g, "fate", fates)}
	l.fields = deal(g, "life", []string{
		"", `,"retry":0`, `,"retry":-1`, `,"retry":1`, `,"retry":2`, `,"retry":3`, `,"retry":1,"backtrace":2`,
		`,"backtrace":1`, `,"retry":256`, `,"retry":2147483648`, "",
	}) + choose(g, []string{
		"", `,"reserve_for":60`, `,"reserve_for":60`, `,"reserve_for":90`, `,"reserve_for":1`, `,"reserve_for":3600`,
		`,"reserve_for":3000000`, `,"reserve_for":4295000`,
	})
	if g.IntN(16) == 0 { // the name of the queue is one that a server may stumble over later
		if l.queue += "_Odd"; g.IntN(2) == 0 {
			l.queue = g.phraseName()
		}
	}
	if l.isScheduled = g.LongestWait >= scheduleDelay && g.IntN(3) == 0; l.isScheduled {
		l.fields += `,"at":` + g.secondsTime()
	}
	return l
}

// scheduleTogether gives two of the jobs the same time, and schedules another one for long after the next.
func (g *maker) scheduleTogether(all []life) {
	if g.LongestWait < scheduleDelay || g.IntN(2) == 0 {
		return
	}
	at := `,"at":` + g.secondsTime()
	for i := range 3 {
		all[i].isScheduled, all[i].fields = true, at
	}
	all[0].fields = fmt.Sprintf(`,"at":"$now+%dms"`, 200_000+g.jobs%manyTimes)
}

// endLife is the fate of a job that worker c has fetched; other is a connection of the same worker, or c.
func (g *maker) endLife(l life, c, other int) []explore.Step {
	fail := line(c, "FAIL %s", g.failure(l.jid))
	switch l.fate {
	case "fail", "fail once", "fail by turns":
		if g.IntN(8) == 0 { // it must not be back yet
			return []explore.Step{fail, line(c, "FETCH %s", l.queue)}
		}
		return []explore.Step{fail}
	case "fail in other words":
		return []explore.Step{line(c, "FAIL %s", g.failureOf(l.jid, g.failureText("errtype"), g.failureText("message")))}
	case "ack":
		return []explore.Step{ack(c, l.jid)}
	case "ack twice":
		return []explore.Step{ack(c, l.jid), fail}
	case "ack elsewhere":
		return []explore.Step{ack(other, l.jid)}
	case "fail elsewhere":
		return []explore.Step{line(other, "FAIL %s", g.failure(l.jid))}
	}
	return nil // its reservation runs out
}

// fetchReturns waits for the jobs, and fetches what has come back; some fail again, one by another worker.
func (g *maker) fetchReturns(all []life, c, other int) []explore.Step {
	var steps []explore.Step
	for round := range 1 + g.IntN(3) {
		steps = append(steps, explore.Wait(g.waitTime(round)))
		for _, l := range all {
			by := c
			if l.fate == "left" || l.fate == "fail elsewhere" || l.fate == "fail by turns" {
				by = []int{controlWorker, other, c}[round]
			}
			steps = append(steps, line(by, "FETCH %s", l.queue))
			if l.fate == "fail" || l.fate == "fail by turns" || l.fate == "left" && round > 0 {
				steps = append(steps, line(by, "FAIL %s", g.failure(l.jid)))
			}
		}
	}
	return steps
}

// waitTime is how long a move waits in a round, no longer than clients may: each time longer, since servers do so too.
func (g *maker) waitTime(round int) time.Duration {
	n := len(waitTimes)
	for n > 1 && waitTimes[n-1] > g.LongestWait {
		n--
	}
	return choose(g, waitTimes[min(2*round, n-1):min(4+2*round, n)])
}
