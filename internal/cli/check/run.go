package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/reports"
)

// newRun builds `fwpcheck run`.
func newRun(p process) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:               "run [FILE...|-]",
		Short:             "Test a server with the checks of the suite, or with your own scripts",
		ValidArgsFunction: completeScripts,
		RunE:              func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), o, args) },
	}
	o.declare(cmd)
	return cmd
}

// run is one run, from the flags to the exit code.
func (p process) run(ctx context.Context, o *runOptions, args []string) error {
	if err := cmp.Or(o.validate(), o.reportFlags.Validate()); err != nil { // before the run, which takes minutes
		return err
	}
	all, protocol, err := p.load(args, o.targetFlags.Protocol(), o.targetFlags.Extension)
	if err != nil {
		return err
	}
	picks, expected, err := o.choose(all, protocol)
	if err != nil {
		return err
	}
	picks.areUserScripts = len(args) > 0
	o.targetFlags.SetProtocol(protocol)
	s, err := o.subject(p.LookupEnv)
	if err != nil {
		return err
	}
	p.Secrets = s.Secrets
	bar := o.bar(&p)
	p.Logf("testing %s, seed %d%s", s, o.seed, o.seedNote())
	ctx, stop := p.begin(ctx)
	defer stop()
	start := time.Now()
	bed, err := s.open(ctx, o.timeout)
	if err != nil {
		r := o.failureReport(ctx, start, s.Target(conformance.Identity{}), err)
		reports.Hide(s.Secrets.Hide, r)
		return o.deliver(p, r)
	}
	defer bed.end()
	expected.identify(ctx, p, s, bed, o.timeout)
	o.applyExtension(ctx, &s, bed, &picks)
	r := p.play(ctx, o, playPlan{
		selection: picks, thing: "check", start: start, expectations: expected, bar: bar, replay: o.replayer(ctx, s, bed),
		runner:   func(picks selection) *run.Runner { return o.runner(s, bed, picks) },
		complete: func(r *reports.Report) { complete(ctx, r, s, bed, picks, o.timeout) },
	})
	o.saveFindings(p, r, s, picks)
	r.Took = time.Since(start)
	return o.deliver(p, r)
}

// bar makes the standard error of p a line of progress, unless that shows conversations.
func (o *runOptions) bar(p *process) *shared.Bar {
	return p.NewBar(!o.reportFlags.NoProgress && !o.reportFlags.IsVerbose)
}

// failureReport returns the report of a run without anything to test.
func (o *runOptions) failureReport(
	ctx context.Context, start time.Time, target reports.Target, err error,
) *reports.Report {
	return &reports.Report{
		Head: reports.Head{
			StartTime: start, Took: time.Since(start), Seed: o.seed, Version: version(), Trouble: failure(ctx, err),
		},
		Target: target,
	}
}

// playPlan is what is played, and how.
type playPlan struct {
	selection
	thing        string // what is selected: checks or situations
	start        time.Time
	expectations *expectations
	bar          *shared.Bar
	runner       func(selection) *run.Runner
	complete     func(*reports.Report)                     // adds to the report what the runner does not know
	replay       func([]conformance.Check) []reports.Check // plays checks again, each alone
}

// play plays what was chosen, shows its progress, and holds the results against the known findings.
func (p process) play(ctx context.Context, o *runOptions, plan playPlan) *reports.Report {
	if n, longest := plan.countWaits(); n > 0 {
		p.Logf("%s must wait, up to %v; --quick leaves them out",
			text.Count(n, plan.thing), longest.Round(time.Second))
	}
	plays := newProgress(plan.checks, o.repeat, o.parallel)
	plan.bar.Begin(plays.state)
	runner := plan.runner(plan.selection)
	runner.Expected, runner.Progress = plan.expectations.matcher(), plays.finish
	if o.reportFlags.IsVerbose {
		runner.WatchLine = p.printer(len(plan.checks) > 1)
	}
	r := runner.Run(ctx)
	r.Rerun = runner.Reproduce("CHECK")
	if shortage := machine.Cause(ctx); shortage != "" {
		r.Interrupted, r.Internal = false, shortage
	}
	r.Version = version()
	plan.complete(r)
	plan.bar.End()
	replayTime := r.ReplayTime
	r = plan.expectations.apply(ctx, p, r, plan.selection, func(checks []conformance.Check) []reports.Check {
		start := time.Now()
		defer func() { replayTime += time.Since(start) }()
		return plan.replay(checks)
	})
	r.StartTime, r.Took, r.ReplayTime = plan.start, time.Since(plan.start), replayTime
	return r
}

// runner returns what runs the chosen checks on a server.
func (o *runOptions) runner(s testTarget, bed testbed, picks selection) *run.Runner {
	c := o.commands(s, picks.areUserScripts)
	return &run.Runner{
		Suite: s.Entry.Suite, Servers: bed.servers, Checks: picks.checks, Omissions: picks.omissions,
		Provide: provide(s), Reproduce: c.run, Shrink: c.shrink,
		Timeout: o.timeout, Patience: o.patience, Parallel: o.parallel, Seed: o.seed,
		SeedNames: s.IsPrivate(), Repeat: o.repeat, FailFast: o.failFast, Quick: o.selection.Quick,
	}
}

// playAlone plays one check after the other, once.
func playAlone(ctx context.Context, runner *run.Runner) *reports.Report {
	runner.Parallel, runner.Repeat, runner.FailFast = 1, 1, false
	return runner.Run(ctx)
}

// complete adds to the report of a run what is known of the server.
func complete(ctx context.Context, r *reports.Report, s testTarget, bed testbed, picks selection,
	timeout time.Duration) {
	r.Target = s.introduce(ctx, bed, timeout)
	reports.Hide(s.Secrets.Hide, r)
	if s.IsPrivate() { // the servers no longer exist
		for i := range r.Checks {
			r.Checks[i].LeftoverJobs = nil
		}
	}
	r.MissReason = missedBug(r, s, picks)
	r.Scripts = picks.scripts(r)
	picks.markObserved(r)
	if picks.areUserScripts { // scripts of the user's have no part in the other clauses
		r.Clauses = slices.DeleteFunc(r.Clauses, func(c reports.Clause) bool { return len(c.Checks) == 0 })
		r.Law = nil
	}
}

// missedBug returns why the bug that the embedded server was given did not show; empty if it did, or if the scripts are
// the user's.
func missedBug(r *reports.Report, s testTarget, picks selection) string {
	for _, f := range s.Bugs {
		found := slices.ContainsFunc(r.Findings(), func(found reports.Finding) bool {
			return slices.Contains(f.Clauses, found.Clause)
		})
		if found || picks.areUserScripts {
			continue
		}
		return fmt.Sprintf("no selected check found the planted bug %s (%s); %s were left out", f.Name,
			strings.Join(f.Clauses, ", "), text.Count(len(picks.omissions), "check"))
	}
	return ""
}

// selection is the checks that are played, and those that are not.
type selection struct {
	checks         []conformance.Check
	omissions      []conformance.Omission
	areUserScripts bool // they are scripts of the user's

	observedIDs []string // the checks of an extension that the user has not named: what they find only counts as observed
}

// scripts returns the texts of the suite's scripts that findings are about.
func (c selection) scripts(r *reports.Report) map[string]string {
	scripts, found := map[string]string{}, texts(r.Findings(), func(f reports.Finding) string { return f.File })
	for _, check := range c.checks {
		d := check.Describe()
		if slices.Contains(found, d.File) && !c.areUserScripts && len(d.Source) > 0 {
			scripts[d.File] = strings.TrimSuffix(strings.Join(d.Source, "\n"), "\n") + "\n"
		}
	}
	return scripts
}

// countWaits returns how many checks a quick run leaves out, and the longest time that one of them has to wait.
func (c selection) countWaits() (n int, longest time.Duration) {
	for _, check := range c.checks {
		if wait := check.Describe().Wait; wait > conformance.QuickWait {
			n, longest = n+1, max(longest, wait)
		}
	}
	return n, longest
}

// choose selects from checks, and reads the known findings about them.
func (o *runOptions) choose(
	all []conformance.Check, entry *registry.Entry,
) (picks selection, e *expectations, err error) {
	o.selection.Suite = entry.Suite
	if picks.checks, picks.omissions, err = o.selection.Apply(all); err != nil {
		return picks, nil, badSelection(err, all)
	}
	e, err = o.expect.read(picks)
	return picks, e, err
}

// load reads the user's scripts, or the suite's if there are none, and returns their protocol, which name gives if it
// is not empty. It prints all mistakes in them.
func (p process) load(args []string, name, extension string) ([]conformance.Check, *registry.Entry, error) {
	files, err := p.read(args)
	if err != nil {
		return nil, nil, err
	}
	protocol, err := protocolOf(files, name, extension)
	if err != nil {
		return nil, nil, err
	}
	if len(args) == 0 {
		all, err := checksOf(protocol)
		return all, protocol, err
	}
	scripts, found := examine(files, protocol)
	if errs := mistakes(found); len(errs) > 0 {
		p.Logf("%s in %s: nothing was played\n%s", text.Count(len(errs), "mistake"), text.Count(len(files), "script"), errs)
		return nil, nil, shared.Exit(reports.ExitUsage)
	}
	return conformance.Scripts(scripts...), protocol, nil
}

// runOptions are the flags of `fwpcheck run`.
type runOptions struct {
	testOptions

	selection        conformance.Selection
	expect           expectFlags
	parallel, repeat int
	failFast         bool
}

// declare makes the flags.
func (o *runOptions) declare(cmd *cobra.Command) {
	f := o.bindFlags(cmd)
	o.declareTarget(cmd)
	o.declareSelection(f)
	o.declareRunning(f)
	f.StringVar(&o.folder, "save", "", "save a script that reproduces each new finding in `FOLDER`")
	o.reportFlags.Declare(cmd, "print every conversation while it runs, and all checks in the report")
	o.reportFlags.DeclareDetails(cmd)
}

func (o *runOptions) declareTarget(cmd *cobra.Command) {
	f := cmd.Flags()
	o.targetFlags.Declare(f, "test")
	o.targetFlags.DeclareProtocol(f)
	shared.DeclareExtension(f, &o.targetFlags.Extension)
	o.declarePermissions(f, "server", "play")
	o.operatorFlags.Declare(f)
	shared.DeclareBug(cmd, &o.bug, "")
	shared.DeclareVariation(cmd, &o.variation, "")
}

func (o *runOptions) declareSelection(f *pflag.FlagSet) {
	f.StringArrayVar(&o.selection.Checks, "check", nil, "play only the checks that match `GLOB`; may be repeated")
	f.StringArrayVar(&o.selection.Clauses, "clause", nil,
		"play only the checks of clauses that match `GLOB`; may be repeated")
	f.StringArrayVar(&o.selection.Levels, "level", nil,
		"play only the checks of clauses whose level matches `GLOB`; may be repeated")
	f.BoolVar(&o.selection.Quick, "quick", false, "leave out checks that must wait longer than "+
		conformance.QuickWait.String()+"; the run takes at most about four minutes, and two more to confirm new findings")
	f.StringArrayVar(&o.require, "require", nil, "exit with code 3 unless `CLAUSE` is evaluated; may be repeated")
	f.BoolVar(&o.isStrict, "strict", false, "treat recommendations as requirements: each warn is a finding")
	o.expect.declare(f)
}

func (o *runOptions) declareRunning(f *pflag.FlagSet) {
	o.declareWaits(f, 10*time.Second)
	f.IntVar(&o.parallel, "parallel", 0,
		"run at most `N` checks at once (default: 2, not counting those that only wait)")
	f.IntVar(&o.repeat, "repeat", 1,
		"play every check `N` times: the worst verdict counts, and the report lists the differences")
	f.BoolVar(&o.failFast, "fail-fast", false, "stop at the first fail or crash")
	f.Uint64Var(&o.seed, "seed", 0,
		"seed of the order, the names and the generated values (default: random; with --expect 1)")
}

// validate checks the values that no flag checks by itself, and draws the seed.
func (o *runOptions) validate() error {
	err := cmp.Or(
		errorIf(o.timeout <= 0, "--timeout must be longer than 0"),
		errorIf(o.patience <= 0, "--patience must be longer than 0"),
		o.validatePlays(checkRequirable))
	if err != nil {
		return err
	}
	return validateFolder(o.folder, o.flags.Changed("save"))
}

// validatePlays checks how often and of which clauses checks are played, and draws the seed; check returns an error
// for a clause that no run can evaluate.
func (o *runOptions) validatePlays(check func(clause string) error) error {
	o.setSeed()
	return cmp.Or(
		errorIf(o.flags.Changed("parallel") && o.parallel < 1, "--parallel must be 1 or more"),
		errorIf(o.repeat < 1, "--repeat must be 1 or more"),
		o.checkRequired(check), o.expect.validate())
}

// checkRequired returns the first error of the clauses that are required.
func (o *testOptions) checkRequired(check func(clause string) error) (err error) {
	for _, id := range o.require {
		err = cmp.Or(err, check(id))
	}
	return err
}

// checkRequirable returns an error for a clause that no run can evaluate.
func checkRequirable(id string) error {
	c, ok := registry.Clause(id)
	switch {
	case ok && !c.BindsServer():
		return fmt.Errorf("--require %s: the clause binds clients, and the target is a server, so no run can evaluate it",
			id)
	case ok && c.ExclusionReason != "":
		return fmt.Errorf("--require %s: no run can evaluate it: %s", id, c.ExclusionReason)
	case ok:
		return nil
	}
	help := "fwpcheck list --clauses shows them"
	if suggestion := registry.Default().Suggest(id); suggestion != "" {
		help = text.DidYouMean(suggestion)
	}
	return fmt.Errorf("--require: unknown clause %q; %s", id, help)
}

func levelNames() []string {
	return texts(reports.Levels(), func(level reports.Level) string { return string(level) })
}
