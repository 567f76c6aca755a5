package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/target"
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
		"do this to the server at any moment: `WHAT` is "+strings.Join(disruptions(), ", ")+", or some of them with commas")
	program.CompleteFlags(cmd, map[string]func() []string{"disrupt": disruptions})
}

// disruptions are the words of the flag.
func disruptions() []string {
	return texts(peer.Default().Subject().Disruptions, func(action scenarios.Need) string { return string(action) })
}

// apply reads the flag, and returns an error for what cannot be done to a target. The embedded server may have a fault
// in what it keeps then.
func (d *disruptFlag) apply(s *subject, fault string) error {
	if d.words == "" {
		return s.SetFault(fault)
	}
	offered := s.Peer.Subject().Disruptions
	if len(offered) == 0 {
		return fmt.Errorf("--disrupt: the model of %s does not say what is in doubt when a server is disrupted", s.Peer.Title)
	}
	actions, err := disrupt.ParseActions(d.words)
	if err != nil {
		return fmt.Errorf("--disrupt: %w", err)
	}
	for _, action := range actions {
		need := scenarios.Need(action)
		operated := func() bool {
			return action == disrupt.Restart && s.Server.Can(target.Restart) ||
				action == disrupt.Kill && s.Server.Can(target.Kill)
		}
		switch {
		case !slices.Contains(offered, need):
			return fmt.Errorf("--disrupt %s: with %s it may be one or more of %v", action, s.Peer.Title, offered)
		case !s.Ours() && action.OnProcess() && !operated():
			return fmt.Errorf("--disrupt %s needs a server that fwpcheck has started: use --start COMMAND in the place of "+
				"--url, or --control COMMAND for kill and restart", action)
		}
		d.actions = append(d.actions, need)
	}
	if kept, err := s.Peer.UpgradeFaultsNamed(fault); err == nil && fault != "" && s.Choice.Embedded {
		s.Faults, s.Choice.How = kept, s.Choice.How+" with the fault "+fault
		return nil
	}
	return s.SetFault(fault)
}

// disruptable is a server that an exploration disrupts.
type disruptable struct {
	*target.Server
	disrupted *program.Disrupted
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
func (d *disruptFlag) start(ctx context.Context, o *exploreOptions, at program.Endpoint) (play.Target, func(), error) {
	server, end, within := at.Server, func() {}, at.Choice.Embedded
	var process *program.Processes
	switch {
	case within:
		embedded, err := at.Peer.Start(peer.Config{Network: noticing(ctx), Faults: at.Faults})
		if err != nil {
			return nil, nil, err
		}
		end = embedded.Close
		address, err := target.ParseURL(embedded.URL, peer.Schemes()...)
		if err != nil {
			end()
			return nil, nil, &program.InternalError{Cause: err}
		}
		server = &target.Server{Address: address, Operator: operatorOf{embedded.Target}}
		process = &program.Processes{
			Stop:  func(how target.Stop) error { return embedded.Down(how != target.InOrder) },
			Again: func(context.Context) error { return embedded.Up() },
		}
	case at.Starter != nil:
		started, err := at.Start(ctx, "", o.timeout)
		if err != nil {
			return nil, nil, err
		}
		server, end, process = &started.Server, started.End, program.ProcessesOf(started)
	default: // its operator starts it again at once
		process = &program.Processes{Again: func(context.Context) error { return nil }}
		process.Stop = func(how target.Stop) error {
			if how == target.InOrder {
				return server.Restart(context.WithoutCancel(ctx))
			}
			return server.Kill(context.WithoutCancel(ctx))
		}
	}
	network := slices.Contains(d.actions, explore.Partition) || within && slices.Contains(d.actions, explore.Pause)
	disrupted, through, err := program.NewDisrupted(server, process, network, o.seed)
	if err != nil {
		end()
		return nil, nil, err
	}
	return disruptable{through, disrupted, within}, func() { disrupted.End(); end() }, nil
}

// operatorOf is the operator of an embedded server.
type operatorOf struct{ play.Target }

// Can implements [target.Operator].
func (operatorOf) Can(action target.Action) bool { return action != target.Kill }

// Do implements [target.Operator].
func (o operatorOf) Do(ctx context.Context, action target.Action, wid string) error {
	if r, can := o.Target.(play.Restarter); can && action == target.Restart {
		return r.Restart(ctx)
	}
	if s, can := o.Target.(play.Signaller); can {
		return s.Signal(ctx, wid, string(action))
	}
	return errors.New(string(action) + ": the embedded server does not offer it")
}
