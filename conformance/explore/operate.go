package explore

import (
	"context"
	"maps"
	"slices"

	"github.com/fwpsuite/fwp/scenarios"
)

// operate does what no client can, if the target offers it.
func (p *play) operate(ctx context.Context, do *scenarios.Operate) {
	if do.Action == scenarios.NeedSignals {
		if t, can := p.target.(scenarios.Signaller); can && t.Signal(ctx, p.expand(do.Worker, noConn), do.State) == nil {
			p.law.Operated(do)
		}
		return
	}
	t, can := p.target.(scenarios.Restarter)
	if !can || do.Action != scenarios.NeedRestart {
		return
	}
	for _, n := range slices.Sorted(maps.Keys(p.conns)) {
		p.settle(ctx, p.conns[n])
		if c := p.conns[n]; c != nil {
			p.drop(c, scenarios.Closed)
		}
	}
	if t.Restart(context.WithoutCancel(ctx)) == nil { // half a restart would leave no server
		p.law.Operated(do)
		p.ends = false
		if !p.serves(ctx) {
			p.crashed(ctx, &conn{number: noConn, clause: p.law.Clause(RuleRestart)}, false)
		}
		p.outage = nil // that of the restart
	}
}
