package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/shortage"
	"github.com/fwpsuite/fwp/internal/stress"
	"github.com/fwpsuite/fwp/load/health"
	"github.com/fwpsuite/fwp/reports"
)

// newExplore builds `fwpcheck explore`.
func newExplore(p process) *cobra.Command {
	o := &exploreOptions{reportFlags: program.NewReportFlags()}
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Send generated command sequences, and reduce each violation to a script",
		Long: "explore makes up commands over several connections (legal ones, some that are illegal in their state,\n" +
			"malformed ones, disconnects), checks every reply and the history of every job with a model of the\n" +
			"specification, and reduces what it finds to a short script that `fwpcheck run` plays.\n\n" +
			"It works on queues, jobs and workers of its own, removes what it can and lists the rest.\n\n" +
			"--time is for everything. An eighth of it, at most 10s, is kept for cleaning up; before that a quarter, at\n" +
			"most --shrink, for shrinking what is found last. Interrupt it once to get the results so far.\n\n" +
			"Exit codes: 0 nothing found, 1 findings, 2 usage, 3 nothing was evaluated, 4 target not reachable,\n" +
			"5 internal error, 130 interrupted.",
		Example: "  fwpcheck explore --url tcp://localhost:7419\n" +
			"  fwpcheck explore --time 10m --seed 42 --url tcp://localhost:7419\n" +
			"  fwpcheck explore --save found --url tcp://localhost:7419\n" +
			"  fwpcheck explore --replay found/FWP-ACK-01.run.json --url tcp://localhost:7419\n" +
			"  fwpcheck explore --protocol workq\n" +
			"  fwpcheck explore --fault reply-swapped        the embedded server, with a fault of the catalogue",
		Args: program.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.given = cmd.Flags()
			return p.explore(cmd.Context(), o)
		},
	}
	o.declare(cmd)
	return cmd
}

// explore runs one exploration, from the flags to the exit code.
func (p process) explore(ctx context.Context, o *exploreOptions) error {
	at, err := o.endpoint(p.LookupEnv)
	if err != nil {
		return err
	}
	o.fillIn()
	script, err := o.saved(at)
	if err = cmp.Or(err, validateFolder(o.folder, o.given.Changed("save"))); err != nil {
		return err
	}
	p.Secrets = at.Secrets
	p.LimitMemory()
	bar := p.NewBar(!o.reportFlags.NoProgress)
	p.Logf("exploring %s, seed %d", at, o.seed)
	ctx, stop := p.Interruptible(ctx)
	defer stop()
	ctx, release := shortage.Watch(ctx)
	defer release()
	e := &reports.Exploration{
		Started: time.Now(), Seed: o.seed, Version: "fwpcheck " + program.Version(),
		Target: at.Target(conformance.Identity{}),
	}
	x, end, err := o.explorer(ctx, at, e)
	if err != nil {
		return p.Deliver(o.report(p.unexplored(ctx, e, err)))
	}
	defer end()
	activity := o.watched(bar)
	timed, cancel := context.WithTimeout(ctx, x.Time+o.controlTime())
	defer cancel()
	again := func(script string) reports.Verdict { return control(timed, at, script) }
	store := &findingStore{p: p, o: o, at: at, control: again}
	campaign{clients: o.clients, store: store, progress: activity, report: e}.run(ctx, x, script)
	bar.End()
	store.weigh(e)
	if len(e.Findings) >= o.findings {
		e.Limits = fmt.Sprintf("--findings %d", o.findings)
	}
	ended(ctx, e)
	e.Hide(at.Secrets.Hide)
	return p.Deliver(o.report(e))
}

// endpoint returns the target that the flags name, with its fault; an error if the flags do not fit together.
func (o *exploreOptions) endpoint(env func(string) (string, bool)) (at program.Endpoint, err error) {
	if err := cmp.Or(o.validate(), o.reportFlags.Validate(o.given)); err != nil {
		return at, err
	}
	at, err = o.targetFlags.Endpoint(o.given, env, &o.operatorFlags, "allow-shared", "allow-flush", "pid")
	if err != nil {
		return at, err
	}
	return at, o.setFault(&at)
}

// watched shows the progress of the exploration.
func (o *exploreOptions) watched(bar *program.Bar) *exploreProgress {
	activity := &exploreProgress{begun: time.Now(), budget: o.time, steps: o.steps}
	bar.Begin(activity.state)
	return activity
}

// ended records in a report what ended the exploration early, if anything did.
func ended(ctx context.Context, e *reports.Exploration) {
	if short := shortage.Cause(ctx); short != "" {
		e.Internal = short
		return
	}
	e.Interrupted = ctx.Err() != nil
}

// unexplored records in a report why nothing was explored.
func (p process) unexplored(ctx context.Context, e *reports.Exploration, err error) *reports.Exploration {
	r := &reports.Report{}
	recordFailure(ctx, r, err)
	e.Interrupted, e.Unreachable, e.Internal = r.Interrupted, r.Unreachable, r.Internal
	e.Took = time.Since(e.Started)
	e.Hide(p.Secrets.Hide)
	return e
}

// mostOfRun is how many bytes a saved run has at most.
const mostOfRun = 8 << 20

// saved returns the run that is to be played again, or nil.
func (o *exploreOptions) saved(at program.Endpoint) (*explore.Trace, error) {
	if o.replay == "" {
		return nil, nil
	}
	text, err := input.Read(o.replay, mostOfRun)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	t, err := explore.LoadTrace(at.Peer.Dialect, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("--replay %s: %w", o.replay, err)
	}
	return &t, nil
}

// campaign is an exploration, with its report and files.
type campaign struct {
	clients  int
	store    *findingStore
	progress *exploreProgress
	report   *reports.Exploration
}

// run explores, first with few clients and then with many at the same time.
func (d campaign) run(ctx context.Context, x explore.Explorer, again *explore.Trace) {
	begin := time.Now()
	defer func() { d.report.Took = time.Since(begin) }()
	x.Found = d.store.saveRun
	x.Progress = d.progress.record
	if again != nil {
		d.store.addResult(d.report, x.Replay(ctx, *again))
		return
	}
	both := stress.Campaign{Explorer: x, Workers: d.clients, Recorded: d.store.saveHistory}
	both.Explored = func(r *explore.Result) { d.store.addResult(d.report, r) }
	if _, h := both.Run(ctx); h != nil {
		d.store.addHistory(d.report, h)
	}
}

// report is the output of `explore`.
func (o *exploreOptions) report(e *reports.Exploration) program.Output {
	return program.Output{
		Flags: &o.reportFlags, Exit: o.exit(), Report: e, Unreachable: e.Unreachable, Internal: &e.Internal,
		Outcome: func() (int, string) { return e.Outcome(o.exit()) },
		JSON:    func(w io.Writer) error { return e.WriteJSON(w, o.exit()) },
	}
}

// exploreOptions are the flags of `fwpcheck explore`.
type exploreOptions struct {
	targetFlags             program.TargetFlags
	operatorFlags           program.OperatorFlags
	fault                   string
	allowShared, allowFlush bool

	time, timeout, patience time.Duration
	longest, shrink         time.Duration
	steps, connections      int
	clients, findings       int
	seed                    uint64
	noShrink                bool
	pid                     int
	folder, replay          string

	strict      bool
	reportFlags program.ReportFlags
	given       *pflag.FlagSet
}

// The defaults that depend on other flags.
const (
	defaultTime   = 2 * time.Minute
	defaultSteps  = 20000 // without --steps and --time
	defaultShrink = 20 * time.Second
	longerShrink  = 3 // times the value of --wait
	waitsAtLeast  = 4 // times --wait fits into --time
)

func (o *exploreOptions) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.targetFlags.Declare(f, "explore")
	o.targetFlags.DeclareProtocol(f)
	o.targetFlags.Of("fwpcheck explore")
	f.BoolVar(&o.allowShared, "allow-shared", false,
		"no other client uses the server: try what touches other clients' jobs too")
	f.BoolVar(&o.allowFlush, "allow-flush", false,
		"everything on the server may be deleted: try FLUSH too (means --allow-shared)")
	o.operatorFlags.Declare(f)
	f.IntVar(&o.pid, "pid", 0,
		"watch the memory of the server's process, which is `PID` of this machine: see whether it grows "+
			"without bound; takes up to 3m5s of --time, which is 5m5s then (Linux)")
	program.DeclareFault(cmd, &o.fault, "")
	o.declareExtent(f)
	o.declareFindings(f)
	o.reportFlags.Declare(cmd, "list all outcomes")
}

func (o *exploreOptions) declareExtent(f *pflag.FlagSet) {
	f.DurationVar(&o.time, "time", defaultTime,
		"end after this long, with shrinking findings and cleaning up")
	f.IntVar(&o.steps, "steps", 0,
		"send at most `N` commands, not counting those that shrink findings (20,000 without --steps and --time)")
	f.Uint64Var(&o.seed, "seed", 0, "`SEED` for all random choices (random if not given)")
	f.IntVar(&o.connections, "connections", 6,
		"use `N` connections at a time, plus two control connections that must stay unaffected")
	f.IntVar(&o.clients, "clients", 8,
		"spend the second half, with --wait the last quarter, on `N` concurrent workers, whose whole "+
			"history is checked; none if 0")
	f.DurationVar(&o.longest, "wait", 0,
		"let all clients wait together for up to this long, at most a quarter of --time: reservations and "+
			"retries show only then")
	f.StringVar(&o.replay, "replay", "",
		"play the run in `FILE`, which an earlier exploration saved, instead of making up another")
	f.DurationVar(&o.timeout, "timeout", 5*time.Second, "the longest wait for a reply")
	f.DurationVar(&o.patience, "patience", 150*time.Second, "the longest wait for what happens eventually")
}

func (o *exploreOptions) declareFindings(f *pflag.FlagSet) {
	f.IntVar(&o.findings, "findings", 10, "stop after `N` findings")
	f.DurationVar(&o.shrink, "shrink", defaultShrink,
		"spend at most this long of --time on shrinking a finding (with --wait three times that value more)")
	f.BoolVar(&o.noShrink, "no-shrink", false, "do not shrink findings")
	f.StringVar(&o.folder, "save", "", "put scripts and whole runs of findings into `FOLDER`")
	f.BoolVar(&o.strict, "strict", false, "treat recommendations as requirements")
}

// validate checks the values that no flag checks by itself.
func (o *exploreOptions) validate() error {
	return cmp.Or(o.validateExtent(), o.validateTime(), o.validateReplay(), o.validateProcess())
}

// validateExtent checks the flags for how much is explored.
func (o *exploreOptions) validateExtent() error {
	switch {
	case o.longest < 0 || o.clients < 0:
		return errors.New("--wait and --clients cannot be less than 0")
	case o.given.Changed("steps") && o.steps < 1:
		return errors.New("--steps must be 1 or more")
	case o.connections < 1 || o.findings < 1:
		return errors.New("--connections and --findings must be 1 or more")
	case o.time <= 0 || o.timeout <= 0 || o.patience <= 0 || o.shrink <= 0:
		return errors.New("--time, --timeout, --patience and --shrink must be longer than 0")
	}
	return nil
}

// validateTime checks that there is time for what other flags ask for.
func (o *exploreOptions) validateTime() error {
	memory := explore.MemoryTime + defaultTime
	switch {
	case waitsAtLeast*o.longest > o.time:
		return fmt.Errorf("--wait %v does not fit into --time %v: give --time %v or more",
			o.longest, o.time, waitsAtLeast*o.longest)
	case o.given.Changed("pid") && o.given.Changed("time") && o.time < memory:
		return fmt.Errorf("--pid does not fit into --time %v: give --time %v or more", o.time, memory)
	}
	return nil
}

// validateReplay checks that no flag contradicts the file that is played again.
func (o *exploreOptions) validateReplay() error {
	if o.replay != "" && (o.given.Changed("seed") || o.given.Changed("steps")) {
		return errors.New("--replay plays a saved run: --seed and --steps have no effect on it")
	}
	return nil
}

// validateProcess checks that the memory of the server's process can be read.
func (o *exploreOptions) validateProcess() error {
	switch {
	case !o.given.Changed("pid"):
		return nil
	case o.pid < 1:
		return errors.New("--pid must be the number of a process")
	}
	if _, err := health.Resident(o.pid); err != nil {
		return fmt.Errorf("--pid: %w", err)
	}
	return nil
}

// fillIn sets the values that no flag did.
func (o *exploreOptions) fillIn() {
	if o.steps == 0 && !o.given.Changed("time") {
		o.steps = defaultSteps
	}
	if o.pid > 0 && !o.given.Changed("time") {
		o.time += explore.MemoryTime
	}
	if !o.given.Changed("shrink") {
		o.shrink += longerShrink * o.longest
	}
	if !o.given.Changed("seed") {
		o.seed = rand.Uint64()
	}
}

// exit returns what the exit code depends on.
func (o *exploreOptions) exit() reports.ExitOptions { return reports.ExitOptions{Strict: o.strict} }

// alone reports whether commands may touch jobs of other clients.
func (o *exploreOptions) alone() bool { return o.allowShared || o.allowFlush }
