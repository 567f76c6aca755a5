package check

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// disruptFlag is the flag about what an exploration does to its server.
type disruptFlag struct {
	words   string
	actions []target.Action
}

func (d *disruptFlag) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.words, "disrupt", "",
		"disrupt the server at random moments: `WHAT` is "+strings.Join(disruptions(), ", ")+", or several of them "+
			"separated by commas")
	shared.CompleteFlags(cmd, map[string]func() []string{"disrupt": disruptions})
}

// disruptions are the words of the flag.
func disruptions() []string {
	return texts(registry.Default().Alphabet().Disruptions, func(action target.Action) string { return string(action) })
}

// apply reads the flag, and returns an error for what cannot be done to a target. The embedded server may have a bug
// in what it keeps then.
func (d *disruptFlag) apply(s *testTarget, bug string) error {
	if d.words == "" {
		return s.SetBug(bug)
	}
	offers := s.Entry.Alphabet().Disruptions
	if len(offers) == 0 {
		return fmt.Errorf("--disrupt does not work with %s yet", s.Entry.Title)
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
		canOperate := func() bool { return shared.CanOperate(s.Server, action) }
		switch {
		case !slices.Contains(offers, action):
			return fmt.Errorf("--disrupt %s: for %s give one or more of %v", action, s.Entry.Title, offers)
		case !s.IsPrivate() && action.OnProcess() && !canOperate():
			return fmt.Errorf("--disrupt %s needs a server that fwpcheck starts: use --start COMMAND instead of --url, or "+
				"add --control COMMAND, in which {action} is kill, restart, stop, start, pause or resume", action)
		}
		d.actions = append(d.actions, action)
	}
	if bugs, err := s.Entry.UpgradeBugsNamed(bug); err == nil && bug != "" && s.Choice.IsEmbedded {
		s.Bugs, s.Choice.Source = bugs, s.Choice.Source+" with the planted bug "+bug
		return nil
	}
	return s.SetBug(bug)
}

// disruptTarget is a server that an exploration disrupts.
type disruptTarget struct {
	*target.Server
	disruptor  *shared.Disruptor
	isEmbedded bool // it is a part of this process, which a pause must not stop: a partition is the same for its clients
}

// Disrupt implements [explore.Disrupter].
func (d disruptTarget) Disrupt(ctx context.Context, action target.Action) (end func(context.Context) error, err error) {
	if d.isEmbedded && action == target.Pause {
		action = target.Partition
	}
	return d.disruptor.Begin(ctx, disrupt.Disruption{Action: action})
}

// start starts a server that is disrupted, or has the one of --url be.
func (d *disruptFlag) start(ctx context.Context, o *exploreOptions, at shared.Endpoint) (play.Target, func(), error) {
	server, end, isEmbedded := at.Server, func() {}, at.Choice.IsEmbedded
	switch {
	case isEmbedded:
		embedded, err := at.Entry.Start(registry.Config{Network: noticeNetwork(ctx), Bugs: at.Bugs, Variation: at.Variation})
		if err != nil {
			return nil, nil, err
		}
		end = embedded.Close
		address, err := target.ParseURL(embedded.URL, registry.Schemes()...)
		if err != nil {
			end()
			return nil, nil, &shared.InternalError{Cause: err}
		}
		server = &target.Server{Address: address, Operator: embeddedOperator{embedded}, Probe: at.Probe("")}
	case at.Starter != nil:
		started, err := at.Start(ctx, "", o.timeout)
		if err != nil {
			return nil, nil, err
		}
		server, end = &started.Server, started.End
	}
	network := slices.Contains(d.actions, target.Partition) || isEmbedded && slices.Contains(d.actions, target.Pause)
	disrupted, front, err := shared.NewDisruptor(server, network, o.seed)
	if err != nil {
		end()
		return nil, nil, err
	}
	return disruptTarget{front, disrupted, isEmbedded}, func() { disrupted.End(); end() }, nil
}

// embeddedOperator is the operator of an embedded server.
type embeddedOperator struct{ *registry.Server }

// Can implements [target.Operator].
func (o embeddedOperator) Can(action target.Action) bool {
	switch action {
	case target.Stop, target.Kill, target.KillServer, target.Start:
		return o.Stop != nil
	}
	return action == target.Quiet || action == target.Terminate
}

// Do implements [target.Operator].
func (o embeddedOperator) Do(ctx context.Context, action target.Action, wid string) error {
	switch action {
	case target.Start:
		return o.Start()
	case target.Stop, target.Kill, target.KillServer:
		return o.Stop(action != target.Stop)
	}
	if s, ok := o.Target.(play.Signaller); ok {
		return s.Signal(ctx, wid, string(action))
	}
	return errors.New(string(action) + ": not supported by the embedded server")
}

// plainServer is a server without operator commands.
type plainServer struct{ server *target.Server }

func (d plainServer) Dial(ctx context.Context) (net.Conn, error) { return d.server.Dial(ctx) }

// DialBackend implements [play.BackendTarget].
func (d plainServer) DialBackend(ctx context.Context) (net.Conn, error) {
	return d.server.DialBackend(ctx)
}

// Forwarded implements [forward.Target].
func (d plainServer) Forwarded() *forward.Record { return d.server.Deeds }

// mortalServer is a server that was started, and is known to have ended if it has.
type mortalServer struct {
	*target.Server
	ending func() (words string, output []string, hasEnded bool)
	pid    func() int
}

// ListenerPID makes it an [explore.Listener].
func (m mortalServer) ListenerPID() int { return m.pid() }

// HasDied implements [explore.Mortal].
func (m mortalServer) HasDied() bool {
	_, _, hasEnded := m.ending()
	return hasEnded
}
