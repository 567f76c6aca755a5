package moves

import (
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/target"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
)

// stateQueues are queues with jobs in every state, and the steps that have put them there.
type stateQueues struct {
	steps []explore.Step
	// queues; that of the last has a job which is reported only afterwards
	pushQueue, heldQueue, failQueue, lateQueue string
	scheduledQueue, ackQueue                   string
	jidToReport                                string // its jid
	jobCount                                   int    // jobs in queued
}

// fillStates pushes jobs, and brings them into every state.
func (g *maker) fillStates(c int) stateQueues {
	s := stateQueues{pushQueue: g.freshQueue(), heldQueue: g.freshQueue(), failQueue: g.freshQueue(),
		lateQueue:      g.freshQueue(),
		scheduledQueue: g.freshQueue(), ackQueue: g.freshQueue(), jidToReport: g.jid(), jobCount: 1}
	pushJob := func(queue, fields string) string {
		jid := g.jid()
		s.steps = append(s.steps, push(c, jid, queue, `,"retry":5`+fields))
		return jid
	}
	if len(g.Disruptions) > 0 { // one that comes shows that the server keeps jobs
		s.jobCount += 1 + g.IntN(2)
	}
	for range s.jobCount {
		pushJob(s.pushQueue, "")
	}
	pushJob(s.scheduledQueue, fmt.Sprintf(`,"at":"$now+%dms"`, 5000+g.IntN(3000)))
	pushJob(s.heldQueue, `,"reserve_for":60`)
	failed, done := pushJob(s.failQueue, ""), pushJob(s.ackQueue, "")
	s.steps = append(s.steps, push(c, s.jidToReport, s.lateQueue, `,"reserve_for":60`), line(c, "FETCH %s", s.lateQueue),
		line(c, "FETCH %s", s.ackQueue), ack(c, done),
		line(c, "FETCH %s", s.heldQueue), line(c, "FETCH %s", s.failQueue), line(c, "FAIL %s", g.failure(failed)))
	return s
}

// disrupt disrupts the server while jobs are in every state, and looks what has become of them: for all of them
// where there is time to wait.
func (g *maker) disrupt(c int, w *fwplaw.Conn) []explore.Step {
	number, ok := g.law.worker(w.WID)
	if !ok {
		g.workers++
		number = g.workers
	}
	s := g.fillStates(c)
	action := target.Restart
	if len(g.Disruptions) > 0 {
		action = deal(g, "disruption", g.Disruptions)
	}
	steps := append([]explore.Step{consumer(c, number)}, s.steps...)
	steps = append(steps, g.disruption(c, action, s)...)
	steps = append(steps, consumer(c, number), ack(c, s.jidToReport))
	for range s.jobCount {
		steps = append(steps, line(c, "FETCH %s", s.pushQueue))
	}
	all := []string{s.scheduledQueue, s.failQueue, s.heldQueue, s.lateQueue, s.ackQueue, s.pushQueue}
	if g.LongestWait > time.Minute {
		steps = append(steps, explore.Wait(260*time.Second))
		for _, queue := range all {
			steps = append(steps, line(c, "FETCH %s", queue))
		}
	}
	return append(steps, g.sendAside(line(c, "FETCH %s", strings.Join(all[1:], " "))))
}

// disruption disrupts the server at some moment: between commands, between a write and its reply, in the middle of a
// line, while a FETCH waits, or while the server starts.
func (g *maker) disruption(c int, action target.Action, s stateQueues) []explore.Step {
	do, wait := explore.Disrupt(action), explore.Wait(time.Duration(10+g.IntN(400))*time.Millisecond)
	if len(g.Disruptions) == 0 {
		return []explore.Step{do}
	}
	job := push(c, g.jid(), s.pushQueue, "")
	text := build().Tokenize(job.Text())
	starts := []explore.Step{ // a command that is under way
		sendAhead(job), sendAhead(ack(c, s.jidToReport)), sendAhead(line(c, "FETCH %s", s.pushQueue)),
		sendAhead(line(c, "FETCH %s", s.ackQueue)),
		build().Bytes(c, text[:1+g.IntN(len(text)-1)].String()),
	}
	n := g.Deal("moment of "+string(action), 3*len(starts)+2)
	start := starts[n%len(starts)]
	switch isLasting := action == target.Pause || action == target.Partition; {
	case n == 3*len(starts):
		return []explore.Step{do}
	case n > 3*len(starts) && !isLasting:
		return []explore.Step{sendAhead(do), wait, do}
	case n < len(starts):
		return []explore.Step{start, do, wait}
	case n < 2*len(starts) && !isLasting:
		return []explore.Step{start, wait, do}
	case n < 2*len(starts):
		return []explore.Step{do, start, wait, build().Await(c)}
	case isLasting: // whose client leaves meanwhile
		return []explore.Step{do, start, wait, explore.End(c, endings[g.IntN(2)])}
	}
	return []explore.Step{start, do}
}
