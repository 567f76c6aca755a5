package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/proxy"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/disrupt"
	"github.com/fwpsuite/fwp/load/workload"
)

// What a disrupted run has unless the user says otherwise: a job that a lost connection has taken comes back after its
// reservation, and the drain waits for that.
const (
	disruptedReserve = workload.Duration(time.Minute)
	disruptedDrain   = workload.Duration(5 * time.Minute)
)

// diskSize is how large the disk of a server is that is to be filled, in bytes.
const diskSize = 64 << 20

// leastEvery is the least --disrupt-every.
const leastEvery = 100 * time.Millisecond

// disruptFlags are the flags about what is done to the target on purpose.
type disruptFlags struct {
	file  string
	every time.Duration
	with  string

	actions []disrupt.Action
}

func (o *disruptFlags) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.file, "disrupt", "",
		"do to the target, while the load goes on, what the schedule in `FILE` says (YAML, see docs/durability.md)")
	f.DurationVar(&o.every, "disrupt-every", 0, "disrupt the target each `DURATION`, drawn from the seed")
	f.StringVar(&o.with, "disrupt-with", "kill,pause,partition,slow",
		"with --disrupt-every: `WHAT` is done: "+strings.Join(actionNames(), ", "))
	program.CompleteFlags(cmd, map[string]func() []string{"disrupt-with": actionNames})
	if err := cmd.MarkFlagFilename("disrupt", "yaml", "yml"); err != nil {
		panic(err) // the flag is declared above
	}
}

func actionNames() (names []string) {
	for _, a := range disrupt.Actions() {
		names = append(names, string(a))
	}
	return names
}

// any reports whether the target is to be disrupted.
func (o *disruptFlags) any() bool { return o.file != "" || o.every != 0 }

// validate checks the values that no flag checks by itself.
func (o *disruptFlags) validate(given *pflag.FlagSet) (err error) {
	switch {
	case o.file != "" && o.every != 0:
		return errors.New("--disrupt and --disrupt-every: a schedule is either in a file or drawn from the seed")
	case o.every == 0 && given.Changed("disrupt-with"):
		return errors.New("--disrupt-with works only with --disrupt-every DURATION")
	case given.Changed("disrupt-every") && o.every < leastEvery:
		return fmt.Errorf("--disrupt-every must be at least %v", leastEvery)
	}
	if o.actions, err = disrupt.ParseActions(o.with); err != nil {
		return fmt.Errorf("--disrupt-with: %w", err)
	}
	return nil
}

// prepare returns the schedule of a run, nil if there is none, and fits the workload and the target to it.
func (o *disruptFlags) prepare(at *program.Endpoint, w *workload.Workload) ([]disrupt.Disruption, error) {
	schedule, err := o.schedule(w)
	if err != nil || len(schedule) == 0 {
		return nil, err
	}
	if err := disruptable(*at, schedule); err != nil {
		return nil, err
	}
	w.ReserveFor = cmp.Or(w.ReserveFor, disruptedReserve)
	if w.Drain == 0 {
		w.Drain = disruptedDrain
	}
	if at.Starter != nil && has(schedule, fills) && target.CanMount() == nil {
		starter := *at.Starter
		starter.Disk = diskSize
		at.Starter = &starter
	}
	return schedule, nil
}

func (o *disruptFlags) schedule(w *workload.Workload) ([]disrupt.Disruption, error) {
	if o.file == "" {
		if o.every == 0 {
			return nil, nil
		}
		_, until := w.Window()
		schedule := disrupt.Draw(o.every, o.actions, until, w.Seed)
		if len(schedule) == 0 {
			return nil, fmt.Errorf("--disrupt-every %v: the load ends after %v, before the end of the first disruption",
				o.every, until)
		}
		return schedule, nil
	}
	source, err := input.Read(o.file, workload.MaxSource)
	if err != nil {
		return nil, fmt.Errorf("--disrupt: %w", err)
	}
	return disrupt.Parse(filepath.ToSlash(o.file), source)
}

// has reports whether a schedule has an action of a kind.
func has(schedule []disrupt.Disruption, is func(disrupt.Action) bool) bool {
	return slices.ContainsFunc(schedule, func(d disrupt.Disruption) bool { return is(d.Action) })
}

func fills(a disrupt.Action) bool { return a == disrupt.Fill }

// disruptable returns an error for what cannot be done to a target at all.
func disruptable(at program.Endpoint, schedule []disrupt.Disruption) error {
	if !at.Peer.Histories {
		return fmt.Errorf("disruptions work with FWP only, and the target is one of %s", at.Peer.Title)
	}
	for _, d := range schedule {
		switch {
		case d.Action.OnNetwork() || d.Action.OnProcess() && at.Ours():
		case at.Choice.Embedded: // fill
			return fmt.Errorf("%s: the embedded server keeps its jobs in memory: use --start COMMAND, whose server keeps "+
				"them in {dir}", d.Action)
		case at.Starter == nil:
			return fmt.Errorf("%s needs a server that fwpbench has started: use --start COMMAND in the place of --url, or "+
				"disrupt only its network (partition, slow, reset)", d.Action)
		}
	}
	return nil
}

// processes is what can be done to the processes of a server that this program has started.
type processes struct {
	stop                      func(how target.Stop) error
	again                     func(ctx context.Context) error
	pause, resume, fill, free func() error
}

// processesOf returns those of a server of --start. A disk is filled if the server has one of its own.
func processesOf(s *target.Started) *processes {
	done := func(do func()) func() error {
		return func() error {
			do()
			return nil
		}
	}
	return &processes{
		stop:  func(how target.Stop) error { return done(func() { s.Stop(how) })() },
		again: s.Again, pause: done(s.Pause), resume: done(s.Continue), free: s.Free,
		fill: func() error {
			if err := target.CanMount(); err != nil {
				return &disrupt.SkippedError{Why: err.Error()}
			}
			return s.Fill()
		},
	}
}

// subject is the server under load, as disruptions reach it. It is a [disrupt.Target].
type subject struct {
	address target.Address // of the server itself
	process *processes     // nil if it is not ours
	proxy   *proxy.Proxy   // nil if the network is left alone
	stop    context.CancelFunc
}

// newSubject puts a proxy before the server if the schedule of a run disrupts its network: at then leads to the proxy.
func newSubject(at *program.Endpoint, p provided, config *load.Config) (*subject, error) {
	s := &subject{address: at.Server.Address, process: p.process, stop: func() {}}
	if !has(config.Schedule, disrupt.Action.OnNetwork) {
		return s, nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, &program.InternalError{Cause: fmt.Errorf("a proxy before the target: %w", err)}
	}
	dialer, behind := new(net.Dialer), s.address.HostPort()
	s.proxy = proxy.New(proxy.Config{
		Dial: func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", behind) },
		Seed: config.Seed,
	})
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go s.proxy.Serve(ctx, l) //nolint:errcheck // without a listener no connection can be opened, which the load reports
	before := *at.Server
	before.Address.Host = "127.0.0.1"
	_, before.Address.Port, _ = net.SplitHostPort(l.Addr().String()) // it has a port
	at.Server = &before
	return s, nil
}

// attach makes the server that of a run.
func (s *subject) attach(c *load.Config) {
	c.Target.URL, c.Disrupt = s.address.String(), s
	if has(c.Schedule, disrupt.Action.Stops) {
		c.ServerUsage = nil // that of a process which has ended is not known
	}
}

// end ends the proxy.
func (s *subject) end() {
	s.stop()
	if s.proxy != nil {
		s.proxy.Close()
	}
}

// Begin implements [disrupt.Target].
func (s *subject) Begin(_ context.Context, d disrupt.Disruption) (end func(context.Context) error, err error) {
	without := func(end func() error) func(context.Context) error {
		return func(context.Context) error { return end() }
	}
	switch d.Action {
	case disrupt.Kill:
		return s.process.again, s.process.stop(target.AtOnce)
	case disrupt.KillServer:
		return s.process.again, s.process.stop(target.ServerOnly)
	case disrupt.Restart:
		return s.process.again, s.process.stop(target.InOrder)
	case disrupt.Pause:
		return without(s.process.resume), s.process.pause()
	case disrupt.Fill:
		return without(s.process.free), s.process.fill()
	case disrupt.Reset:
		s.proxy.Reset()
		return func(context.Context) error { return nil }, nil
	}
	s.proxy.Set(condition(d))
	return without(func() error {
		s.proxy.Set(proxy.Condition{})
		return nil
	}), nil
}

// condition returns the network of a disruption.
func condition(d disrupt.Disruption) proxy.Condition {
	if d.Action == disrupt.Slow {
		return proxy.Condition{Delay: d.Link.Delay, Jitter: d.Link.Jitter, Rate: d.Link.Rate, Segment: d.Link.Segment}
	}
	switch d.Cut {
	case disrupt.ToServer:
		return proxy.Condition{NotFrom: []proxy.Side{proxy.Client}}
	case disrupt.ToClients:
		return proxy.Condition{NotFrom: []proxy.Side{proxy.Server}}
	}
	return proxy.Condition{NotFrom: []proxy.Side{proxy.Client, proxy.Server}}
}
