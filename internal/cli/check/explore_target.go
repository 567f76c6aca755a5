package check

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/load/health"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// dialed is a server without operator commands.
type dialed struct{ server *target.Server }

func (d dialed) Dial(ctx context.Context) (net.Conn, error) { return d.server.Dial(ctx) }

// DialBackend implements [play.BackendTarget].
func (d dialed) DialBackend(ctx context.Context) (net.Conn, error) { return d.server.DialBackend(ctx) }

// explorer returns the exploration that the flags ask for. It has the servers that it needs started, if they exist for
// this process only.
func (o *exploreOptions) explorer(
	ctx context.Context, at program.Endpoint, e *reports.Exploration,
) (x explore.Explorer, end func(), err error) {
	x = o.exploring.explorer(at, at.Ours())
	x.Time -= o.controlTime()
	x.Restarts = at.Ours() || at.Server.Can(target.Restart)
	if o.pid > 0 {
		x.Memory = func() (int64, error) { return health.Resident(o.pid) }
	}
	if at.Ours() {
		x.Fresh = func() (play.Target, func(), error) {
			server, end, err := subject{Endpoint: at}.start(ctx, peer.Config{}, o.timeout)
			return server.Target, end, err
		}
		x.Target, end, err = x.Fresh()
		return x, end, err
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
	script, err := scenarios.Parse(at.Peer.Dialect, "control.fwp", []byte(text))
	if err != nil || script.Wait() > controlWait {
		return reports.Inconclusive
	}
	at.Faults, at.Choice.Embedded = nil, true
	bed, err := subject{Endpoint: at}.open(ctx, controlWait)
	if err != nil {
		return reports.Inconclusive
	}
	defer bed.end()
	runner := &run.Runner{
		Protocol: at.Peer.Protocol, Servers: bed.servers, Checks: conformance.Scripts(script), Prepare: bed.prepare,
	}
	return runner.Run(ctx).Checks[0].Verdict
}

// withoutHistory leaves the load of several clients out where their history is not judged.
func (o *exploreOptions) withoutHistory(of *peer.Peer) error {
	if of.Histories {
		return nil
	}
	asked := o.given.Changed("clients") && o.clients > 0
	o.clients = 0
	return refuse(asked, "--clients: the history of several clients is judged for FWP only")
}

// exploreProgress is how far an exploration is. Several goroutines may use it.
type exploreProgress struct {
	begun  time.Time
	budget time.Duration
	steps  int // commands at most; no limit if zero

	mu   sync.Mutex
	last explore.Progress
}

// record records what the exploration is doing.
func (e *exploreProgress) record(p explore.Progress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = p
}

// state returns what a line of progress shows. The share is what is used up of the time or of the commands, whichever
// is more.
func (e *exploreProgress) state() (share float64, parts []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	elapsed := time.Since(e.begun)
	share = float64(elapsed) / float64(e.budget)
	if e.steps > 0 {
		share = max(share, float64(e.last.Commands)/float64(e.steps))
	}
	doing, detail := activity(e.last)
	return share, append([]string{doing, program.Clock(max(0, e.budget-elapsed)) + " left"}, detail...)
}

// activity returns what an exploration is doing, in words that leave room for the time on a terminal of 40 columns; and
// more about it.
func activity(p explore.Progress) (doing string, detail []string) {
	commands := text.Count(p.Commands, "command")
	switch p.Activity {
	case explore.Measuring:
		return "measuring memory", []string{commands}
	case explore.Shrinking:
		return "shrinking " + p.Finding, []string{text.Grouped(p.Done) + " of " + text.Count(p.Of, "step")}
	case explore.Confirming:
		return "confirming " + p.Finding, []string{fmt.Sprintf("play %d of %d", p.Done+1, p.Of)}
	case explore.Loading:
		return "concurrent clients", []string{commands}
	case explore.CleaningUp:
		return "cleaning up", []string{commands}
	}
	return "exploring", []string{commands, text.Count(p.Outcomes, "outcome")}
}
