package moves

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/scenarios"
)

// states are queues with jobs in every state, and the steps that have put them there.
type states struct {
	steps                      []explore.Step
	queued, held, failed, kept string // queues; that of the last has a job which is reported only afterwards
	later, done                string
	toReport                   string // its jid
	enqueued                   int    // jobs in queued
}

// inEveryState pushes jobs, and brings them into every state.
func (g *maker) inEveryState(c int) states {
	s := states{queued: g.freshQueue(), held: g.freshQueue(), failed: g.freshQueue(), kept: g.freshQueue(),
		later: g.freshQueue(), done: g.freshQueue(), toReport: g.jid(), enqueued: 1}
	pushed := func(queue, more string) string {
		jid := g.jid()
		s.steps = append(s.steps, push(c, jid, queue, `,"retry":5`+more))
		return jid
	}
	if len(g.Disruptions) > 0 { // one that comes shows that the server keeps jobs
		s.enqueued += 1 + g.IntN(2)
	}
	for range s.enqueued {
		pushed(s.queued, "")
	}
	pushed(s.later, fmt.Sprintf(`,"at":"$now+%dms"`, 5000+g.IntN(3000)))
	pushed(s.held, `,"reserve_for":60`)
	failed, done := pushed(s.failed, ""), pushed(s.done, "")
	s.steps = append(s.steps, push(c, s.toReport, s.kept, `,"reserve_for":60`), line(c, "FETCH %s", s.kept),
		line(c, "FETCH %s", s.done), ack(c, done),
		line(c, "FETCH %s", s.held), line(c, "FETCH %s", s.failed), line(c, "FAIL %s", g.failure(failed)))
	return s
}

// disrupting disrupts the server while jobs are in every state, and looks what has become of them: for all of them
// where there is time to wait.
func (g *maker) disrupting(c int, w *fwplaw.Conn) []explore.Step {
	number, is := g.law.worker(w.WID)
	if !is {
		g.workers++
		number = g.workers
	}
	s := g.inEveryState(c)
	action := scenarios.NeedRestart
	if len(g.Disruptions) > 0 {
		action = deal(g, "disruption", g.Disruptions)
	}
	steps := append([]explore.Step{consumer(c, number)}, s.steps...)
	steps = append(steps, g.disruption(c, action, s)...)
	steps = append(steps, consumer(c, number), ack(c, s.toReport))
	for range s.enqueued {
		steps = append(steps, line(c, "FETCH %s", s.queued))
	}
	all := []string{s.later, s.failed, s.held, s.kept, s.done, s.queued}
	if g.Longest > time.Minute {
		steps = append(steps, explore.Wait(260*time.Second))
		for _, queue := range all {
			steps = append(steps, line(c, "FETCH %s", queue))
		}
	}
	return append(steps, g.patiently(line(c, "FETCH %s", strings.Join(all[1:], " "))))
}

// disruption disrupts the server at some moment: between commands, between a write and its reply, in the middle of a
// line, while a FETCH waits, or while the server starts.
func (g *maker) disruption(c int, action scenarios.Need, s states) []explore.Step {
	do, while := explore.Disrupt(action), explore.Wait(time.Duration(10+g.IntN(400))*time.Millisecond)
	if len(g.Disruptions) == 0 {
		return []explore.Step{do}
	}
	job := push(c, g.jid(), s.queued, "")
	text := build().Tokenize(job.Text())
	begun := []explore.Step{ // a command that is under way
		ahead(job), ahead(ack(c, s.toReport)), ahead(line(c, "FETCH %s", s.queued)), ahead(line(c, "FETCH %s", s.done)),
		build().Bytes(c, text[:1+g.IntN(len(text)-1)].String()),
	}
	n := g.Deal("moment of "+string(action), 3*len(begun)+2)
	under := begun[n%len(begun)]
	switch lasts := action == explore.Pause || action == explore.Partition; {
	case n == 3*len(begun):
		return []explore.Step{do}
	case n > 3*len(begun) && !lasts:
		return []explore.Step{ahead(do), while, do}
	case n < len(begun):
		return []explore.Step{under, do, while}
	case n < 2*len(begun) && !lasts:
		return []explore.Step{under, while, do}
	case n < 2*len(begun):
		return []explore.Step{do, under, while, build().Await(c)}
	case lasts: // whose client leaves meanwhile
		return []explore.Step{do, under, while, explore.End(c, endings[g.IntN(2)])}
	}
	return []explore.Step{under, do}
}
