package check

import (
	"context"
	"net"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/health"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/fwpdialect"
)

// dialed is a server without operator commands.
type dialed struct{ server *target.Server }

func (d dialed) Dial(ctx context.Context) (net.Conn, error) { return d.server.Dial(ctx) }

// explorer returns the exploration that the flags ask for.
func (o *exploreOptions) explorer(
	ctx context.Context, at program.Endpoint, e *reports.Exploration,
) (x explore.Explorer, end func(), err error) {
	x = explore.Explorer{
		Subject:  fwpsubject.New(),
		Password: at.Password, Seed: o.seed, Steps: o.steps, Time: o.time, Connections: o.connections,
		Timeout: o.timeout, Patience: o.patience, Longest: o.longest, Findings: o.findings,
		Alone: o.alone() || at.Choice.Embedded, NoFlush: !o.allowFlush && !at.Choice.Embedded,
		Restarts: o.hooks.Restart != "" || at.Choice.Embedded,
		Unshrunk: o.noShrink, Shrinking: o.shrink + 3*o.longest,
	}
	if at.Choice.Embedded {
		x.Fresh = o.fresh
		x.Target, end, err = o.fresh()
		return x, end, err
	}
	if o.pid > 0 {
		x.Memory = func() (int64, error) { return health.Resident(o.pid) }
	}
	id, err := at.Identify(ctx, o.timeout)
	x.Target, e.Target.HI = dialed{at.Server}, id.Greeting
	if o.hooks.Restart+o.hooks.Signal != "" {
		at.Server.Hooks = o.hooks
		x.Target = at.Server
	}
	return x, func() {}, err
}

// fresh starts an embedded server.
func (o *exploreOptions) fresh() (scenarios.Target, func(), error) {
	config := fakes.Config{}
	fault, err := program.FaultNamed(o.fault)
	if err == nil && fault.Hook != nil {
		config.Hook = fault.Hook()
	}
	server, end, err := embed(config)
	return server.Target, end, err
}

// controlWait is the longest wait of a script that control plays.
const controlWait = 10 * time.Second

// control plays the script of a finding on the embedded server, which conforms: a script that fails there does not
// count against another server. It returns Inconclusive if the script was not played to its end.
func control(ctx context.Context, text string) reports.Verdict {
	script, err := scenarios.Parse(fwpdialect.Dialect{}, "control.fwp", []byte(text))
	if err != nil || script.Wait() > controlWait {
		return reports.Inconclusive
	}
	servers, end, err := embedAll()
	if err != nil {
		return reports.Inconclusive
	}
	defer end()
	runner := &conformance.Runner{Servers: servers, Checks: conformance.Scripts(script), Prepare: prepare}
	return runner.Run(ctx).Checks[0].Verdict
}
