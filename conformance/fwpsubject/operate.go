package fwpsubject

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/scenarios"
)

// signal lets an operator quiet or terminate a worker, which sends two BEATs then.
func (g *maker) signal(c int, w *oracle.Conn) []explore.Step {
	number, is := g.law.worker(w.WID)
	if !is {
		return []explore.Step{line(c, "INFO")}
	}
	beat := line(c, `BEAT {"wid":"$wid%d"}`, number)
	state := choose(g, []string{"quiet", "terminate"})
	signal := build().Signal(state, fmt.Sprintf("$wid%d", number))
	return []explore.Step{signal, beat, beat, explore.End(c, scenarios.Closed)}
}

// restarting restarts the server while jobs are in every state.
func (g *maker) restarting(c int, _ *oracle.Conn) []explore.Step {
	var steps []explore.Step
	enqueued, held, failed, later := g.freshQueue(), g.freshQueue(), g.freshQueue(), g.freshQueue()
	pushed := func(queue, more string) string {
		jid := g.jid()
		steps = append(steps, push(c, jid, queue, `,"retry":5`+more))
		return jid
	}
	pushed(enqueued, "")
	pushed(later, fmt.Sprintf(`,"at":"$now+%dms"`, 5000+g.IntN(3000)))
	pushed(held, `,"reserve_for":60`)
	jid := pushed(failed, "")
	g.workers++
	steps = append(steps,
		line(c, "FETCH %s", held), line(c, "FETCH %s", failed), line(c, "FAIL %s", g.failure(jid)),
		explore.Restart(), consumer(c, g.workers),
		line(c, "FETCH %s", enqueued))
	if g.Longest <= time.Minute {
		return steps
	}
	steps = append(steps, explore.Wait(260*time.Second))
	for _, queue := range []string{later, failed, held} {
		steps = append(steps, line(c, "FETCH %s", queue))
	}
	return steps
}
