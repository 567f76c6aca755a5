package check

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// disruptFlag is the flag about what an exploration does to its server.
type disruptFlag struct {
	words   string
	actions []scenarios.Need
}

func (d *disruptFlag) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.words, "disrupt", "",
		"disrupt the server at random moments: `WHAT` is "+strings.Join(disruptions(), ", ")+", or several of them "+
			"separated by commas")
	shared.CompleteFlags(cmd, map[string]func() []string{"disrupt": disruptions})
}

// disruptions are the words of the flag.
func disruptions() []string {
	return texts(registry.Default().Subject().Disruptions, func(action scenarios.Need) string { return string(action) })
}

// apply reads the flag, and returns an error for what cannot be done to a target. The embedded server may have a bug
// in what it keeps then.
func (d *disruptFlag) apply(s *subject, bug string) error {
	if d.words == "" {
		return s.SetBug(bug)
	}
	offered := s.Peer.Subject().Disruptions
	if len(offered) == 0 {
		return fmt.Errorf("--disrupt does not work with %s yet", s.Peer.Title)
	}
	if disrupt.NamesFile(d.words) {
		return fmt.Errorf("--disrupt %s: a schedule file works only with fwpbench run; give one or more of %s", d.words,
			strings.Join(disruptions(), ", "))
	}
	actions, err := disrupt.ParseActions(d.words)
	if err != nil {
		return fmt.Errorf("--disrupt: %w", err)
	}
	for _, action := range actions {
		need := scenarios.Need(action)
		operated := func() bool { return shared.Operated(s.Server, action) }
		switch {
		case !slices.Contains(offered, need):
			return fmt.Errorf("--disrupt %s: for %s give one or more of %v", action, s.Peer.Title, offered)
		case !s.Ours() && action.OnProcess() && !operated():
			return fmt.Errorf("--disrupt %s needs a server that fwpcheck starts: use --start COMMAND instead of --url, or "+
				"add --control COMMAND, in which {action} is kill, restart, stop, start, pause or resume", action)
		}
		d.actions = append(d.actions, need)
	}
	if kept, err := s.Peer.UpgradeFaultsNamed(bug); err == nil && bug != "" && s.Choice.Embedded {
		s.Bugs, s.Choice.How = kept, s.Choice.How+" with the planted bug "+bug
		return nil
	}
	return s.SetBug(bug)
}

// disruptable is a server that an exploration disrupts.
type disruptable struct {
	*target.Server
	disrupted *shared.Disrupted
	within    bool // it is a part of this process, which a pause must not stop: a partition is the same for its clients
}

// Disrupt implements [explore.Disrupter].
func (d disruptable) Disrupt(ctx context.Context, action scenarios.Need) (end func(context.Context) error, err error) {
	do := disrupt.Action(action)
	if d.within && do == disrupt.Pause {
		do = disrupt.Partition
	}
	return d.disrupted.Begin(ctx, disrupt.Disruption{Action: do})
}

// start starts a server that is disrupted, or has the one of --url be.
func (d *disruptFlag) start(ctx context.Context, o *exploreOptions, at shared.Endpoint) (play.Target, func(), error) {
	server, end, within := at.Server, func() {}, at.Choice.Embedded
	switch {
	case within:
		embedded, err := at.Peer.Start(registry.Config{Network: noticing(ctx), Bugs: at.Bugs, Variation: at.Variation})
		if err != nil {
			return nil, nil, err
		}
		end = embedded.Close
		address, err := target.ParseURL(embedded.URL, registry.Schemes()...)
		if err != nil {
			end()
			return nil, nil, &shared.InternalError{Cause: err}
		}
		server = &target.Server{Address: address, Operator: operatorOf{embedded}, Talk: at.Talk("")}
	case at.Starter != nil:
		started, err := at.Start(ctx, "", o.timeout)
		if err != nil {
			return nil, nil, err
		}
		server, end = &started.Server, started.End
	}
	network := slices.Contains(d.actions, explore.Partition) || within && slices.Contains(d.actions, explore.Pause)
	disrupted, through, err := shared.NewDisrupted(server, network, o.seed)
	if err != nil {
		end()
		return nil, nil, err
	}
	return disruptable{through, disrupted, within}, func() { disrupted.End(); end() }, nil
}

// operatorOf is the operator of an embedded server.
type operatorOf struct{ *registry.Server }

// Can implements [target.Operator].
func (o operatorOf) Can(action target.Action) bool {
	switch action {
	case target.Stop, target.Kill, target.KillServer, target.Start:
		return o.Down != nil
	}
	return action == target.Quiet || action == target.Terminate
}

// Do implements [target.Operator].
func (o operatorOf) Do(ctx context.Context, action target.Action, wid string) error {
	switch action {
	case target.Start:
		return o.Up()
	case target.Stop, target.Kill, target.KillServer:
		return o.Down(action != target.Stop)
	}
	if s, can := o.Target.(play.Signaller); can {
		return s.Signal(ctx, wid, string(action))
	}
	return errors.New(string(action) + ": not supported by the embedded server")
}

// dialed is a server without operator commands.
type dialed struct{ server *target.Server }

func (d dialed) Dial(ctx context.Context) (net.Conn, error) { return d.server.Dial(ctx) }

// DialBackend implements [play.BackendTarget].
func (d dialed) DialBackend(ctx context.Context) (net.Conn, error) { return d.server.DialBackend(ctx) }

// Forwarded implements [forward.Target].
func (d dialed) Forwarded() *forward.Record { return d.server.Deeds }

// mortal is a server that was started, and is known to have ended if it has.
type mortal struct {
	*target.Server
	ended func() (how string, output []string, ended bool)
}

// Gone makes it an [explore.Mortal].
func (m mortal) Gone() bool {
	_, _, ended := m.ended()
	return ended
}
