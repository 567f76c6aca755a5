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
		return []explore.Step{explore.Line(c, "INFO")}
	}
	beat := explore.Line(c, `BEAT {"wid":"$wid%d"}`, number)
	state := choose(g, []string{"quiet", "terminate"})
	return []explore.Step{{Kind: explore.Operate, Action: state, Worker: number}, beat, beat, {Kind: explore.End, Conn: c, Ending: scenarios.Closed}}
}

// restarting has the server restarted while jobs are in every state.
func (g *maker) restarting(c int, _ *oracle.Conn) []explore.Step {
	var steps []explore.Step
	queue := func() string { g.lastQueue++; return fmt.Sprintf("$queue%d", g.lastQueue) }
	enqueued, held, failed, later := queue(), queue(), queue(), queue()
	push := func(queue, more string) string {
		jid := g.jid()
		steps = append(steps, explore.Line(c, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","retry":5%s}`, jid, queue, more))
		return jid
	}
	push(enqueued, "")
	push(later, fmt.Sprintf(`,"at":"$now+%dms"`, 5000+g.IntN(3000)))
	push(held, `,"reserve_for":60`)
	jid := push(failed, "")
	steps = append(steps, explore.Line(c, "FETCH %s", held), explore.Line(c, "FETCH %s", failed), explore.Line(c, "FAIL %s", g.failure(jid)),
		explore.Step{Kind: explore.Operate, Action: explore.Restart})
	g.workers++
	steps = append(steps, explore.Step{Kind: explore.Open, Conn: c, Role: scenarios.Consumer, Worker: g.workers}, explore.Line(c, "FETCH %s", enqueued))
	if g.Longest <= time.Minute {
		return steps
	}
	steps = append(steps, explore.Step{Kind: explore.Wait, For: 260 * time.Second})
	for _, queue := range []string{later, failed, held} {
		steps = append(steps, explore.Line(c, "FETCH %s", queue))
	}
	return steps
}
