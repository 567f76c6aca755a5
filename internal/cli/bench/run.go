package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// greetTimeout is how long a server may take to greet, before any load.
const greetTimeout = 10 * time.Second

// newBenchRun builds `fwpbench run`.
func newBenchRun(p process) *cobra.Command {
	o := &benchOptions{loadFlags: newLoadFlags()}
	cmd := &cobra.Command{
		Use:               "run [WORKLOAD.yaml]",
		Short:             "Put load on a server, and measure its throughput and latency",
		Args:              checkFileCount,
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.flags = cmd.Flags()
			return p.bench(cmd.Context(), o, args)
		},
	}
	o.declare(cmd)
	return cmd
}

// checkFileCount returns an error for more than one workload.
func checkFileCount(_ *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return fmt.Errorf("run takes one workload file, got %q", args)
}

// bench runs one load, from the flags to the exit code.
func (p process) bench(ctx context.Context, o *benchOptions, args []string) error {
	w, err := o.read(args)
	if err := cmp.Or(err, o.validate(), o.reportFlags.Validate()); err != nil {
		return err
	}
	at, err := o.targetFlags.Endpoint(o.flags, p.LookupEnv, &o.disruptions.control)
	if err != nil {
		return err
	}
	p.Secrets = at.Secrets
	if err := o.checkProtocol(&at, &w); err != nil {
		return err
	}
	bar := p.NewBar(!o.reportFlags.NoProgress && !o.reportFlags.IsVerbose)
	ctx, stop := p.AnnounceInterrupt(ctx)
	defer stop()
	if w, err = o.segment.workload(w, &at, o.isSeeded, o.disruptions.isSet()); err != nil {
		return err
	}
	schedule, err := o.prepare(&at, &w)
	if err != nil {
		return err
	}
	if err := o.prepareMachine(&w, isLocal(at)); err != nil {
		return err
	}
	config := o.config(p, w)
	config.Thresholds, config.RecordHistory, config.Schedule = o.parsedThresholds, o.history != "", schedule
	config.AbortOn = o.aborts
	config.Percentiles, config.MaxCalls = o.tablePercentiles, o.callLimit
	o.segment.apply(&config)
	return p.drive(ctx, o, at, config, bar)
}

var overloads = map[string]client.Overload{"queue": client.Queue, "drop": client.Drop, "abort": client.Abort}

// prepareMachine chooses the processors, half of them if the server is local, and makes room for the files that the
// connections need.
func (o *loadFlags) prepareMachine(w *plan.Workload, isLocal bool) error {
	if o.processors == 0 {
		o.processors = runtime.NumCPU()
		if isLocal {
			o.processors = max(1, o.processors/2)
		}
	}
	runtime.GOMAXPROCS(o.processors)
	if err := validity.RaiseFiles(load.Connections(w)); err != nil {
		return &shared.InternalError{Cause: err}
	}
	return nil
}

// config returns the configuration of a run that the flags ask for, without its server. The machine is prepared first.
func (o *loadFlags) config(p process, w plan.Workload) load.Config {
	return load.Config{
		Workload: w, Seed: w.Seed, Run: load.NewRunName(), Loops: o.processors,
		Overload: overloads[o.overload.String()], Pace: o.pace, Timeout: o.patience(),
		Version: p.Name + " " + shared.Version(), ClauseOf: registry.Default().ClauseOf, LevelOf: levelOf,
	}
}

// levelOf returns the level of a clause.
func levelOf(clause string) reports.Level {
	c, _ := registry.Clause(clause)
	return c.Level
}

// isLocal reports whether the server runs on this machine.
func isLocal(at shared.Endpoint) bool {
	return at.IsPrivate() || isLoopback(at.Choice.Address.Host)
}

// isLoopback reports whether a host is a name or an address by which only this machine reaches itself.
func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// drive connects to the server, loads it, and writes the report.
func (p process) drive(
	ctx context.Context, o *benchOptions, at shared.Endpoint, config load.Config, bar *shared.Bar,
) error {
	outputs, err := o.open()
	if err != nil {
		return err
	}
	defer outputs.Discard()
	name := at.String()
	if !at.IsPrivate() {
		p.Logf("connecting to %s", name)
	}
	live := newLive(o.reportFlags.IsVerbose, &config.Workload, p.Err)
	watch, end, err := o.metrics.serve(ctx, p, config.Run, load.PlanOf(config), outputs.watch(live))
	if err != nil {
		return err
	}
	defer end()
	config.Watch = watch
	result, err := o.runLoad(ctx, at, config, o.embedding(at), func(config *load.Config) {
		p.announce(config, name, at.IsPrivate())
		bar.Begin(live.state)
	})
	bar.End()
	if err != nil {
		return err
	}
	return p.finish(o, outputs, result)
}

// finish writes the files of a run, and its report.
func (p process) finish(o *benchOptions, outputs *benchFiles, result *load.Result) error {
	if result.History != nil {
		result.Report.History = o.history
	}
	if err := outputs.close(result, p.Secrets.Hide); err != nil && result.Report.Internal == "" {
		result.Report.Internal = text.OfError(err)
	}
	return p.report(o, result.Report)
}

// report writes the report of a run, without secrets of the target.
func (p process) report(o *benchOptions, l *results.Load) error {
	l.Hide(p.Secrets.Hide)
	return p.deliver(&o.reportFlags, loadResult{l, o.showsInvalid})
}

// runLoad starts the server unless it runs already, puts one load on it, and ends it if it was started. It calls begin
// when the server is there. A server that cannot be reached is in the report; an error is one of usage.
func (o *loadFlags) runLoad(
	ctx context.Context, at shared.Endpoint, config load.Config, e embedding, begin func(*load.Config),
) (result *load.Result, err error) {
	start := time.Now()
	e.generatorProcessors = o.processors
	server, err := startServer(ctx, &at, e)
	if err != nil {
		return &load.Result{Report: failureReport(ctx, &config, start, err)}, nil
	}
	defer server.end()
	defer func() {
		if result != nil && server.endMessage != nil {
			result.Report.ServerExit = server.endMessage()
		}
	}()
	if len(config.Schedule) == 0 {
		return o.loadServer(ctx, at, config, server.pid, begin)
	}
	url := at.Server.Address.String() // without the proxy
	disrupted, front, err := shared.NewDisruptor(
		at.Server, hasAction(config.Schedule, target.Action.OnNetwork), config.Seed)
	if err != nil {
		return nil, err
	}
	defer disrupted.End()
	at.Server = front
	return o.loadServer(ctx, at, config, server.pid, func(c *load.Config) {
		if c.Target.URL, c.Disrupt = url, disrupted; hasAction(c.Schedule, target.Action.Stops) {
			c.ServerUsage = nil // that of a process which has ended is not known
		}
		if begin != nil {
			begin(c)
		}
	})
}

// loadServer puts one load on a server that runs.
func (o *loadFlags) loadServer(
	ctx context.Context, at shared.Endpoint, config load.Config, pid int, begin func(*load.Config),
) (*load.Result, error) {
	start := time.Now()
	config.Target = results.LoadTarget{URL: at.Server.Address.String(), Chosen: at.Choice.Source}
	if !config.StartAt.IsZero() && start.After(config.StartAt) {
		return load.Run(ctx, config), nil // which says so
	}
	id, err := at.Identify(ctx, cmp.Or(o.patience(), greetTimeout))
	for err != nil && waitToRetry(ctx, config.StartAt) {
		id, err = at.Identify(ctx, cmp.Or(o.patience(), greetTimeout))
	}
	if err != nil {
		return &load.Result{Report: failureReport(ctx, &config, start, err)}, nil
	}
	description := at.Introduce(ctx, at.Target(id), at.Server, at.Password, cmp.Or(o.patience(), greetTimeout))
	config.Target.Chosen, config.Target.Subject = description.Chosen, description.Subject
	config.Dial, config.OnOpen, config.Protocol = at.Server.Dial, at.Server.ReachedAddresses.Note, o.speaker(at)
	config.ClauseOf, config.MayBeForwarded = at.Entry.ClauseOf, at.Server.Deeds != nil
	if pid > 0 {
		config.ServerUsage = func() (validity.Usage, bool) { return validity.Tree(pid) }
	}
	if config.Resolve, err = resolverFor(ctx, o.engine.String(), at.Server, at.Server.Address); err != nil {
		return nil, err
	}
	if back := at.Server.Address; back.Backend != "" {
		back.Port, config.DialBackend = back.Backend, at.Server.DialBackend
		if config.ResolveBackend, err = resolverFor(ctx, o.engine.String(), at.Server, back); err != nil {
			return nil, err
		}
	}
	if config.Resolve != nil {
		runtime.GOMAXPROCS(config.Loops + 1) // one is for all other goroutines
		config.KeepProcessors = true
	}
	if begin != nil {
		begin(&config)
	}
	if at.Entry.IsDefault() { // the laws of the others need to see every client
		judgeSample(&config, at.Entry, at.Password)
	}
	result := load.Run(ctx, config)
	result.Report.Target.Chosen = at.DescribeChoice(ctx, config.Target.Chosen)
	return result, nil
}

// retryInterval is how long after an attempt to reach a target the next one is.
const retryInterval = 100 * time.Millisecond

// waitToRetry waits before a target that is not ready is asked again, and reports whether there is time for that.
func waitToRetry(ctx context.Context, deadline time.Time) bool {
	if time.Now().Add(retryInterval).After(deadline) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(retryInterval):
		return true
	}
}

// announce logs how a server is loaded, and what may be left on it unless it is one of ours.
func (p process) announce(config *load.Config, name string, isPrivate bool) {
	p.Logf("loading %s: %s; seed %d, %s of %d", name, config.Workload.Preset, config.Seed,
		text.Count(config.Loops, "CPU"), runtime.NumCPU())
	if words := leftovers(&config.Workload); words != "" && !isPrivate {
		p.Logf("%s", words)
	}
	if n := len(config.Schedule); n > 0 {
		p.Logf("%s; then the drain waits until no job is in doubt, for %s at most (--drain)", text.Count(n, "disruption"),
			config.Workload.Drain)
	}
}

// runningServer is a server that is there to be loaded.
type runningServer struct {
	end        func()        // ends it if it was started
	endMessage func() string // how it has ended by itself, with what it printed last; nil if that is not known
	pid        int           // of it, or of the process above it; 0 if that is not known
}

// startServer starts the server that is put under load, unless it runs already.
func startServer(ctx context.Context, at *shared.Endpoint, e embedding) (runningServer, error) {
	switch {
	case at.Choice.IsEmbedded:
		e.extension = at.Entry.Extension
		server, err := startEmbedded(ctx, e)
		if err != nil {
			return runningServer{}, &shared.InternalError{Cause: err}
		}
		at.Server = &target.Server{Address: server.address, Operator: &server, Probe: at.Probe("")}
		return runningServer{end: server.end, pid: server.process.Pid}, nil
	case at.Starter != nil:
		started, err := at.Start(ctx, "", greetTimeout)
		if err != nil {
			return runningServer{}, err
		}
		at.Server = &started.Server
		return runningServer{started.End, started.EndReport, started.PID()}, nil
	}
	return runningServer{end: func() {}}, nil
}

// leftovers returns, before a run, which jobs it may leave on the server because no command fetches them in time; empty
// if there are none.
func leftovers(w *plan.Workload) string {
	full := w.WithDefaults()
	prefix := fmt.Sprintf("%.4g %% of the deliveries end in a FAIL, and ", 100*full.FailShare)
	switch {
	case full.FailShare == 0 || *full.Retry == 0:
		return ""
	case *full.Retry < 0:
		return prefix + "the server keeps these jobs as dead, which no command removes; with retry 0 it discards them"
	}
	return prefix + "the server alone decides when it gives these jobs out again: those that are not back within the " +
		"drain (" + full.Drain.String() + ") are left on it (fwpcheck clean removes them later); with retry 0 it " +
		"discards them"
}

// failureReport returns the report of a run that did not reach a server.
func failureReport(ctx context.Context, config *load.Config, start time.Time, err error) *results.Load {
	report := &results.Load{
		Head: reports.Head{
			Version: config.Version, Seed: config.Seed, StartTime: start, Took: time.Since(start),
			Trouble: reports.Trouble{Interrupted: ctx.Err() != nil},
		},
		Run: config.Run, Target: config.Target,
		Machine: validity.ThisMachine(), Plan: load.PlanOf(*config),
	}
	_, isInternal := errors.AsType[*shared.InternalError](err)
	switch {
	case report.Interrupted:
	case isInternal:
		report.Internal = text.OfError(err)
	default:
		report.Unreachable = text.OfError(err)
	}
	return report
}
