package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/oracle"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

const restart = "restart"

// operate does what no client can, if the target offers it.
func (p *play) operate(ctx context.Context, s *Step) {
	if s.Action != restart {
		wid := p.fill(fmt.Sprintf("$wid%d", s.Worker), fwp.Hi{})
		if t, can := p.target.(scenarios.Signaller); can && t.Signal(ctx, wid, s.Action) == nil {
			p.world.Signal(wid, s.Action)
		}
		return
	}
	t, can := p.target.(scenarios.Restarter)
	if !can {
		return
	}
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		p.settle(ctx, p.conns[n])
		if c := p.conns[n]; c != nil {
			p.drop(c, scenarios.Closed)
		}
	}
	if t.Restart(context.WithoutCancel(ctx)) == nil { // half a restart would leave no server
		p.world.Restarted()
		p.probe(ctx, &conn{number: -1, clause: "FWP-STATE-08"})
	}
}

// signal has an operator quiet a worker, which then asks twice.
func (g *generator) signal(c *conn, w *oracle.Conn) []Step {
	var number int
	if _, err := fmt.Sscanf(g.p.symbol(w.WID), "$wid%d", &number); err != nil {
		return []Step{line(c.number, "INFO")}
	}
	beat := line(c.number, `BEAT {"wid":"$wid%d"}`, number)
	state := choose(g, []string{"quiet", "terminate"})
	return []Step{{Kind: Operate, Action: state, Worker: number}, beat, beat, {Kind: End, Conn: c.number, Ending: scenarios.Closed}}
}

// restarting has the server restarted while jobs are in every state.
func (g *generator) restarting(c *conn, _ *oracle.Conn) []Step {
	var steps []Step
	queue := func() string { g.lastQueue++; return fmt.Sprintf("$queue%d", g.lastQueue) }
	enqueued, held, failed, later := queue(), queue(), queue(), queue()
	push := func(queue, more string) string {
		jid := g.jid()
		steps = append(steps, line(c.number, `PUSH {"jid":"%s","jobtype":"t","args":[],"queue":"%s","retry":5%s}`, jid, queue, more))
		return jid
	}
	push(enqueued, "")
	push(later, fmt.Sprintf(`,"at":"$now+%dms"`, 5000+g.IntN(3000)))
	push(held, `,"reserve_for":60`)
	jid := push(failed, "")
	steps = append(steps, line(c.number, "FETCH %s", held), line(c.number, "FETCH %s", failed), line(c.number, "FAIL %s", g.failure(jid)),
		Step{Kind: Operate, Action: restart})
	g.workers++
	steps = append(steps, Step{Kind: Open, Conn: c.number, Role: scenarios.Consumer, Worker: g.workers}, line(c.number, "FETCH %s", enqueued))
	if g.longest <= time.Minute {
		return steps
	}
	steps = append(steps, Step{Kind: Wait, For: 260 * time.Second})
	for _, queue := range []string{later, failed, held} {
		steps = append(steps, line(c.number, "FETCH %s", queue))
	}
	return steps
}
