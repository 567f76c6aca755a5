package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/shortage"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

// newRun builds `fwpcheck run`.
func newRun(p process) *cobra.Command {
	o := &runOptions{reportFlags: program.NewReportFlags()}
	cmd := &cobra.Command{
		Use:   "run [FILE...|-]",
		Short: "Test a server with the checks of the suite, or with your own scripts",
		Long: "run tests the server of --url, else the one in the variable that FAKTORY_PROVIDER names, else\n" +
			"the one of FAKTORY_URL, else an embedded server. Without files it plays the checks of the suite;\n" +
			"with files, folders or - for standard input it plays those scripts only.\n\n" +
			"Exit codes: 0 all well, 1 findings, 2 usage, 3 something is inconclusive, 4 target not\n" +
			"reachable, 5 internal error, 130 interrupted.",
		Example: "  fwpcheck run --url tcp://localhost:7419\n" +
			"  fwpcheck run --quick --url tcp://localhost:7419\n" +
			"  fwpcheck run --check 'fetch/*' --level MUST --url tcp+tls://:PASSWORD@faktory.example\n" +
			"  fwpcheck run my-bug.fwp -v --url tcp://localhost",
		ValidArgsFunction: completeScripts,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = cmd.Flags()
			return p.run(cmd.Context(), o, args)
		},
	}
	o.declare(cmd)
	return cmd
}

// run is one run, from the flags to the exit code.
func (p process) run(ctx context.Context, o *runOptions, args []string) error {
	if err := cmp.Or(o.validate(), o.reportFlags.Validate(o.given)); err != nil { // before the run, which takes minutes
		return err
	}
	chosen, err := p.pick(o, args)
	if err != nil {
		return err
	}
	known, err := o.expect.read(chosen)
	if err != nil {
		return err
	}
	o.targetFlags.SetProtocol(chosen.protocol)
	s, err := o.subject(p.LookupEnv)
	if err != nil {
		return err
	}
	p.Secrets = s.endpoint.Secrets
	p.LimitMemory()
	bar := p.NewBar(!o.reportFlags.NoProgress && !o.reportFlags.Verbose)
	p.Logf("testing %s, seed %d", s.endpoint, o.seed)
	ctx, stop := p.Interruptible(ctx)
	defer stop()
	ctx, release := shortage.Watch(ctx)
	defer release()
	started := time.Now()
	on, err := s.open(ctx, o.timeout)
	if err != nil {
		return p.Deliver(o.report(untested(ctx, o, s, started, err)))
	}
	defer on.end()
	known.identify(ctx, p, s.endpoint.Peer, on, o.timeout)
	p.announceWaits(chosen)
	watch := p.watch(o, chosen, bar)
	runner := o.runner(s, on, chosen)
	runner.Expected, runner.Watch, runner.Progress = known.known(), watch.line, watch.over
	r := runChecks(ctx, runner, s, on, chosen)
	bar.End()
	r = known.apply(ctx, p, r, chosen, o.alone(ctx, s, on))
	o.saveFindings(p, r, s, chosen)
	return p.Deliver(o.report(r))
}

// announceWaits logs how many of the chosen checks must wait, if any must wait for long.
func (p process) announceWaits(chosen selection) {
	if wait := chosen.wait(); wait > conformance.QuickWait {
		p.Logf("%s must wait, the longest for %v; --quick leaves them out",
			text.Count(chosen.waiting(), "check"), wait.Round(time.Second))
	}
}

// watch shows the progress of a run, and returns what watches its plays.
func (p process) watch(o *runOptions, chosen selection, bar *program.Bar) watcher {
	plays := newProgress(chosen.in, o.repeat, o.parallel)
	bar.Begin(plays.state)
	watch := watcher{over: plays.over}
	if o.reportFlags.Verbose {
		watch.line = p.printer(len(chosen.in) > 1)
	}
	return watch
}

// report is the output of `run`.
func (o *runOptions) report(r *reports.Report) program.Output {
	return program.Output{
		Flags: &o.reportFlags, Exit: o.exit(), Report: r, Unreachable: r.Unreachable, Internal: &r.Internal,
		Outcome: func() (int, string) { return r.Outcome(o.exit()) },
		JSON:    func(w io.Writer) error { return r.WriteJSON(w, o.exit()) },
	}
}

// untested returns the report of a run without a server to test.
func untested(ctx context.Context, o *runOptions, s subject, started time.Time, err error) *reports.Report {
	r := &reports.Report{
		Started: started, Took: time.Since(started), Seed: o.seed, Version: "fwpcheck " + program.Version(),
		Target: s.endpoint.Target(conformance.Identity{}),
	}
	recordFailure(ctx, r, err)
	r.Hide(s.endpoint.Secrets.Hide)
	return r
}

// runner returns what runs the chosen checks on a server.
func (o *runOptions) runner(s subject, on testbed, chosen selection) *run.Runner {
	return &run.Runner{
		Protocol: s.endpoint.Peer.Protocol, Servers: on.servers, Checks: chosen.in, Skipped: chosen.out,
		Prepare: on.prepare, Provide: provide(s), Reproduce: o.reproducer(s, chosen.own),
		Timeout: o.timeout, Patience: o.patience, Parallel: o.parallel, Seed: o.seed,
		Repeat: o.repeat, FailFast: o.failFast, Quick: o.selection.Quick,
	}
}

// runChecks runs the chosen checks on a server.
func runChecks(
	ctx context.Context, runner *run.Runner, s subject, on testbed, chosen selection,
) *reports.Report {
	r := runner.Run(ctx)
	if short := shortage.Cause(ctx); short != "" {
		r.Interrupted, r.Internal = false, short
	}
	r.Version, r.Target = "fwpcheck "+program.Version(), s.endpoint.Target(on.id)
	r.Hide(s.endpoint.Secrets.Hide)
	if s.endpoint.Ours() { // the servers no longer exist
		for i := range r.Checks {
			r.Checks[i].Left = nil
		}
	}
	if chosen.own { // scripts of the user's have no part in the other clauses
		r.Clauses = slices.DeleteFunc(r.Clauses, func(c reports.Clause) bool { return len(c.Checks) == 0 })
	}
	return r
}

// recordFailure records in a report why nothing could be tested.
func recordFailure(ctx context.Context, r *reports.Report, err error) {
	there, unreachable := errors.AsType[*program.UnreachableError](err)
	short := shortage.Cause(ctx)
	switch {
	case short != "":
		r.Internal = short
	case ctx.Err() != nil:
		r.Interrupted = true
	case unreachable:
		r.Unreachable = there.Error()
	default:
		r.Internal = err.Error()
	}
}

// selection is the checks that are played, and those that are not.
type selection struct {
	protocol *peer.Peer

	in  []conformance.Check
	out []conformance.Skipped
	own bool // they are scripts of the user's
}

// wait returns the longest time that one of the checks has to wait.
func (c selection) wait() time.Duration {
	var longest time.Duration
	for _, check := range c.in {
		longest = max(longest, check.Describe().Wait)
	}
	return longest
}

// waiting returns how many checks a quick run leaves out.
func (c selection) waiting() int {
	n := 0
	for _, check := range c.in {
		if check.Describe().Wait > conformance.QuickWait {
			n++
		}
	}
	return n
}

// pick reads the scripts and selects from them.
func (p process) pick(o *runOptions, args []string) (selection, error) {
	all, protocol, err := p.load(args, o.targetFlags.Protocol())
	if err != nil {
		return selection{}, err
	}
	o.selection.Protocol = protocol.Protocol
	in, out, err := o.selection.Apply(all)
	if err != nil {
		return selection{}, badSelection(err, all)
	}
	return selection{protocol, in, out, len(args) > 0}, nil
}

// load reads the user's scripts, or the suite's if there are none, and returns their protocol, which named gives if it
// is not empty. It prints all mistakes in them.
func (p process) load(args []string, named string) ([]conformance.Check, *peer.Peer, error) {
	files, err := p.read(args)
	if err != nil {
		return nil, nil, err
	}
	protocol, err := protocolOf(files, named)
	if err != nil {
		return nil, nil, err
	}
	if len(args) == 0 {
		all, err := checksOf(protocol)
		return all, protocol, err
	}
	scripts, found := examine(files, protocol)
	if wrong := mistakes(found); len(wrong) > 0 {
		p.Logf("%s in %s: nothing was played\n%s", text.Count(len(wrong), "mistake"), text.Count(len(files), "script"), wrong)
		return nil, nil, program.Exit(reports.ExitUsage)
	}
	return conformance.Scripts(scripts...), protocol, nil
}

// runOptions are the flags of `fwpcheck run`.
type runOptions struct {
	targetFlags             program.TargetFlags
	operatorFlags           program.OperatorFlags
	allowShared, allowFlush bool
	fault                   string

	selection conformance.Selection
	require   []string
	strict    bool
	expect    expectFlags
	folder    string // for the scripts of findings; empty: none are saved

	timeout, patience time.Duration
	parallel, repeat  int
	failFast          bool
	seed              uint64

	reportFlags program.ReportFlags
	given       *pflag.FlagSet // which of them were given
}

// declare makes the flags.
func (o *runOptions) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.declareTarget(cmd)
	o.declareSelection(f)
	o.declareRunning(f)
	f.StringVar(&o.folder, "save", "", "put a script that alone shows it again into `FOLDER`, for each new finding")
	o.reportFlags.Declare(cmd, "print every conversation as it goes, and all checks in the report")
}

func (o *runOptions) declareTarget(cmd *cobra.Command) {
	f := cmd.Flags()
	o.targetFlags.Declare(f, "test")
	o.targetFlags.DeclareProtocol(f)
	f.BoolVar(&o.allowShared, "allow-shared", false,
		"no other client uses the server: play what touches other clients' jobs too")
	f.BoolVar(&o.allowFlush, "allow-flush", false,
		"everything on the server may be deleted: play FLUSH too (means --allow-shared)")
	o.operatorFlags.Declare(f)
	program.DeclareFault(cmd, &o.fault, "")
}

func (o *runOptions) declareSelection(f *pflag.FlagSet) {
	f.StringArrayVar(&o.selection.Checks, "check", nil, "play the checks that match `GLOB` only; may be repeated")
	f.StringArrayVar(&o.selection.Clauses, "clause", nil,
		"play the checks about clauses that match `GLOB` only; may be repeated")
	f.StringArrayVar(&o.selection.Levels, "level", nil,
		"play the checks about clauses of a level that matches `GLOB` only; may be repeated")
	f.BoolVar(&o.selection.Quick, "quick", false, "leave out the checks that have to wait for more than "+
		conformance.QuickWait.String()+", and end within about three minutes on any server")
	f.StringArrayVar(&o.require, "require", nil, "fail (exit code 3) unless `CLAUSE` is evaluated; may be repeated")
	f.BoolVar(&o.strict, "strict", false, "treat recommendations as requirements: a warn is a finding")
	o.expect.declare(f)
}

func (o *runOptions) declareRunning(f *pflag.FlagSet) {
	f.DurationVar(&o.timeout, "timeout", 10*time.Second, "the longest wait for a reply")
	f.DurationVar(&o.patience, "patience", 150*time.Second, "the longest wait for what happens eventually")
	f.IntVar(&o.parallel, "parallel", 0,
		"run at most `N` checks at once (default: 2 that are busy, and any number that only wait)")
	f.IntVar(&o.repeat, "repeat", 1,
		"run every check `N` times: the worst verdict counts, and the report lists what differs")
	f.BoolVar(&o.failFast, "fail-fast", false, "end the run with the first fail or crash")
	f.Uint64Var(&o.seed, "seed", 0, "draw the order and the names from `N` (random if not given)")
}

// validate checks the values that no flag checks by itself, and draws the seed.
func (o *runOptions) validate() error {
	switch {
	case o.timeout <= 0:
		return errors.New("--timeout must be longer than 0")
	case o.patience <= 0:
		return errors.New("--patience must be longer than 0")
	case o.given.Changed("parallel") && o.parallel < 1:
		return errors.New("--parallel must be 1 or more")
	case o.repeat < 1:
		return errors.New("--repeat must be 1 or more")
	}
	for _, id := range o.require {
		if err := requirable(id); err != nil {
			return err
		}
	}
	if !o.given.Changed("seed") {
		o.seed = rand.Uint64()
	}
	return cmp.Or(o.expect.validate(o.given), validateFolder(o.folder, o.given.Changed("save")))
}

// requirable returns an error for a clause that no run can evaluate.
func requirable(id string) error {
	c, known := peer.Clause(id)
	switch {
	case known && !c.BindsServer():
		return fmt.Errorf("--require %s: no run can evaluate it, because it binds clients and the target is a server", id)
	case known && c.Excluded != "":
		return fmt.Errorf("--require %s: no run can evaluate it: %s", id, c.Excluded)
	case known:
		return nil
	}
	help := "fwpcheck list --clauses shows them"
	if near := peer.Default().Suggest(id); near != "" {
		help = text.DidYouMean(near)
	}
	return fmt.Errorf("--require: unknown clause %q; %s", id, help)
}

func (o *runOptions) exit() reports.ExitOptions {
	return reports.ExitOptions{Strict: o.strict, Require: o.require}
}

func levelNames() []string {
	var names []string
	for _, level := range reports.Levels() {
		names = append(names, string(level))
	}
	return names
}
