package fwpsubject

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/oracle"
)

// restarting restarts the server while jobs are in every state.
func (g *maker) restarting(c int, w *oracle.Conn) []explore.Step {
	var steps []explore.Step
	enqueued, held, failed, later := g.freshQueue(), g.freshQueue(), g.freshQueue(), g.freshQueue()
	pushed := func(queue, more string) string {
		jid := g.jid()
		steps = append(steps, push(c, jid, queue, `,"retry":5`+more))
		return jid
	}
	pushed(enqueued, "")
	done := g.jid() // is reported only after the restart
	kept := g.freshQueue()
	pushed(later, fmt.Sprintf(`,"at":"$now+%dms"`, 5000+g.IntN(3000)))
	pushed(held, `,"reserve_for":60`)
	jid := pushed(failed, "")
	steps = append(steps, push(c, done, kept, `,"reserve_for":60`), line(c, "FETCH %s", kept))
	number, is := g.law.worker(w.WID)
	if !is {
		g.workers++
		number = g.workers
	}
	steps = append(steps,
		line(c, "FETCH %s", held), line(c, "FETCH %s", failed), line(c, "FAIL %s", g.failure(jid)),
		explore.Restart(), consumer(c, number), ack(c, done),
		line(c, "FETCH %s", enqueued))
	if g.Longest <= time.Minute {
		return steps
	}
	steps = append(steps, explore.Wait(260*time.Second))
	for _, queue := range []string{later, failed, held, kept, enqueued} {
		steps = append(steps, line(c, "FETCH %s", queue))
	}
	return steps
}
