package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fwpsuite/fwp/scenarios"
)

// Restart is the Action of a step that restarts the server.
const Restart = "restart"

// operate does what no client can, if the target offers it.
func (p *play) operate(ctx context.Context, s *Step) {
	if s.Action != Restart {
		wid := p.fill(fmt.Sprintf("$wid%d", s.Worker), s.Conn)
		if t, can := p.target.(scenarios.Signaller); can && t.Signal(ctx, wid, s.Action) == nil {
			p.law.Operated(s)
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
		p.law.Operated(s)
		p.probe(ctx, &conn{number: -1, clause: p.law.Clause(RuleRestart)})
	}
}
