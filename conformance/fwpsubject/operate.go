package fwpsubject

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/scenarios"
)

// signal has an operator quiet a worker, which then asks twice.
func (g *maker) signal(c int, w *oracle.Conn) []explore.Step {
	number, is := g.law.worker(w.WID)
	if !is {
		return []explore.Step{line(c, "INFO")}
	}
	beat := line(c, `BEAT {"wid":"$wid%d"}`, number)
	state := choose(g, []string{"quiet", "terminate"})
	return []explore.Step{build().Signal(state, fmt.Sprintf("$wid%d", number)), beat, beat, explore.End(c, scenarios.Closed)}
}

// restarting has the server restarted while jobs are in every state.
func (g *maker) restarting(c int, _ *oracle.Conn) []explore.Step {
	var steps []explore.Step
	queue := func() string { g.lastQueue++; return fmt.Sprintf("$queue%d", g.lastQueue) }
	enqueued, held, failed, later := queue(), queue(), queue(), queue()
	push := func(queue, more string) string {
		jid := g.jid()
		steps = append(steps, line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","retry":5%s}`, jid, queue, more))
		return jid
	}
	push(enqueued, "")
	push(later, fmt.Sprintf(`,"at":"$now+%dms"`, 5000+g.IntN(3000)))
	push(held, `,"reserve_for":60`)
	jid := push(failed, "")
	steps = append(steps, line(c, "FETCH %s", held), line(c, "FETCH %s", failed), line(c, "FAIL %s", g.failure(jid)),
		explore.Restart())
	g.workers++
	steps = append(steps, consumer(c, g.workers), line(c, "FETCH %s", enqueued))
	if g.Longest <= time.Minute {
		return steps
	}
	steps = append(steps, explore.Wait(260*time.Second))
	for _, queue := range []string{later, failed, held} {
		steps = append(steps, line(c, "FETCH %s", queue))
	}
	return steps
}
