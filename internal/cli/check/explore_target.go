package check

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/emqpsubject"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/fwpsubject"
	"github.com/fwpsuite/fwp/conformance/workqsubject"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/health"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/emqpdialect"
)

// dialed is a server without operator commands.
type dialed struct{ server *target.Server }

func (d dialed) Dial(ctx context.Context) (net.Conn, error) { return d.server.Dial(ctx) }

// DialBackend implements [scenarios.BackendTarget].
func (d dialed) DialBackend(ctx context.Context) (net.Conn, error) { return d.server.DialBackend(ctx) }

// explorer returns the exploration that the flags ask for.
func (o *exploreOptions) explorer(
	ctx context.Context, at program.Endpoint, e *reports.Exploration,
) (x explore.Explorer, end func(), err error) {
	x = explore.Explorer{
		Subject:  subjectOf(at),
		Password: at.Password, Seed: o.seed, Steps: o.steps, Connections: o.connections,
		Time:    o.time - o.controlTime(),
		Timeout: o.timeout, Patience: o.patience, Longest: o.longest, Findings: o.findings,
		Alone: o.alone() || at.Ours(), NoFlush: !o.allowFlush && !at.Ours(),
		Restarts: at.Ours() || at.Server.Can(target.Restart),
		Unshrunk: o.noShrink, Shrinking: o.shrink,
	}
	if at.Choice.Embedded {
		x.Fresh = func() (scenarios.Target, func(), error) { return o.fresh(ctx, at) }
		x.Target, end, err = x.Fresh()
		return x, end, err
	}
	if o.pid > 0 {
		x.Memory = func() (int64, error) { return health.Resident(o.pid) }
	}
	if at.Starter != nil {
		return o.started(ctx, at, x)
	}
	begun := time.Now() // the greeting may take as long as --time
	id, err := at.Identify(ctx, min(o.timeout, o.time/2))
	x.Time = max(x.Time-time.Since(begun), time.Millisecond)
	x.Target, e.Target = dialed{at.Server}, at.Target(id)
	if at.Server.Can(target.Restart) || at.Server.Can(target.Quiet) {
		x.Target = at.Server
	}
	return x, func() {}, err
}

// started has the exploration start the server, and another one for whatever needs a server of its own.
func (o *exploreOptions) started(
	ctx context.Context, at program.Endpoint, x explore.Explorer,
) (explore.Explorer, func(), error) {
	x.Fresh = func() (scenarios.Target, func(), error) {
		started, err := at.Start(ctx, "", o.timeout)
		if err != nil {
			return nil, nil, err
		}
		return &started.Server, started.End, nil
	}
	var end func()
	var err error
	x.Target, end, err = x.Fresh()
	return x, end, err
}

// fresh starts an embedded server.
func (o *exploreOptions) fresh(ctx context.Context, at program.Endpoint) (scenarios.Target, func(), error) {
	server, end, err := embedOf(ctx, at.Protocol, o.fault)
	return server.Target, end, err
}

// The limits of control.
const (
	controlWait  = 10 * time.Second // the longest wait of a script that is played
	controlShare = 12               // such a part of the time of an exploration is kept for it, at most controlWait
)

// controlTime is the part of --time that is kept for control.
func (o *exploreOptions) controlTime() time.Duration { return min(o.time/controlShare, controlWait) }

// control plays the script of a finding on the embedded server, which conforms: a script that fails there does not
// count against another server. It returns Inconclusive if the script was not played to its end.
func control(ctx context.Context, at program.Endpoint, text string) reports.Verdict {
	script, err := scenarios.Parse(subjectOf(at).Dialect, "control.fwp", []byte(text))
	if err != nil || script.Wait() > controlWait {
		return reports.Inconclusive
	}
	if !isFWP(at) {
		server, end, err := embedOf(ctx, at.Protocol, "")
		if err != nil {
			return reports.Inconclusive
		}
		defer end()
		runner := &conformance.Runner{
			Protocol: at.Protocol, Servers: []conformance.Server{server}, Checks: conformance.Scripts(script),
		}
		return runner.Run(ctx).Checks[0].Verdict
	}
	servers, end, err := embedAll(ctx, fakes.Fault{})
	if err != nil {
		return reports.Inconclusive
	}
	defer end()
	runner := &conformance.Runner{
		Servers: servers, Checks: conformance.Scripts(script), Prepare: preparer(ctx, fakes.Fault{}),
	}
	return runner.Run(ctx).Checks[0].Verdict
}

// isFWP reports whether a target speaks FWP.
func isFWP(at program.Endpoint) bool {
	return at.Protocol == nil || at.Protocol.Name == conformance.FWP().Name
}

// subjectOf returns the protocol of a target as a subject of exploring.
func subjectOf(at program.Endpoint) *explore.Subject {
	if isFWP(at) {
		return fwpsubject.New()
	}
	if at.Protocol.Name == emqpdialect.Name {
		return emqpsubject.New()
	}
	return workqsubject.New()
}

// otherFault prepares an exploration of another protocol than FWP: there is no load of several clients whose history is
// judged.
func (o *exploreOptions) otherFault(at *program.Endpoint) error {
	if o.given.Changed("clients") && o.clients > 0 {
		return errors.New("--clients: the history of several clients is judged for FWP only")
	}
	o.clients = 0
	return embeddedFault(at, o.fault)
}
