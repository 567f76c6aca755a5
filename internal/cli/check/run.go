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
	all, protocol, err := p.load(args, o.targetFlags.Protocol(), o.targetFlags.Profile)
	if err != nil {
		return err
	}
	chosen, known, err := o.choose(all, protocol)
	if err != nil {
		return err
	}
	chosen.own = len(args) > 0
	o.targetFlags.SetProtocol(protocol)
	s, err := o.subject(p.LookupEnv)
	if err != nil {
		return err
	}
	p.Secrets = s.Secrets
	bar := o.bar(&p)
	p.Logf("testing %s, seed %d%s", s, o.seed, o.fixedSeed())
	ctx, stop := p.begin(ctx)
	defer stop()
	started := time.Now()
	on, err := s.open(ctx, o.timeout)
	if err != nil {
		r := o.untested(ctx, started, s.Target(conformance.Identity{}), err)
		reports.Hide(s.Secrets.Hide, r)
		return o.deliver(p, r)
	}
	defer on.end()
	known.identify(ctx, p, s, on, o.timeout)
	o.profiled(ctx, &s, on, &chosen)
	r := p.play(ctx, o, playing{
		selection: chosen, thing: "check", started: started, known: known, bar: bar, alone: o.alonePlayer(ctx, s, on),
		runner:   func(chosen selection) *run.Runner { return o.runner(s, on, chosen) },
		complete: func(r *reports.Report) { complete(ctx, r, s, on, chosen, o.timeout) },
	})
	o.saveFindings(p, r, s, chosen)
	r.Took = time.Since(started)
	return o.deliver(p, r)
}

// bar makes the standard error of p a line of progress, unless that shows conversations.
func (o *runOptions) bar(p *process) *shared.Bar {
	return p.NewBar(!o.reportFlags.NoProgress && !o.reportFlags.Verbose)
}

// untested returns the report of a run without anything to test.
func (o *runOptions) untested(
	ctx context.Context, started time.Time, target reports.Target, err error,
) *reports.Report {
	return &reports.Report{
		Head: reports.Head{
			Started: started, Took: time.Since(started), Seed: o.seed, Version: version(), Trouble: failure(ctx, err),
		},
		Target: target,
	}
}

// playing is what is played, and how.
type playing struct {
	selection
	thing    string // what is selected: checks or situations
	started  time.Time
	known    *expectations
	bar      *shared.Bar
	runner   func(selection) *run.Runner
	complete func(*reports.Report)                     // adds to the report what the runner does not know
	alone    func([]conformance.Check) []reports.Check // plays checks again, each alone
}

// play plays what was chosen, shows its progress, and holds the results against the known findings.
func (p process) play(ctx context.Context, o *runOptions, what playing) *reports.Report {
	if n, longest := what.waiting(); n > 0 {
		p.Logf("%s must wait, up to %v; --quick leaves them out",
			text.Count(n, what.thing), longest.Round(time.Second))
	}
	plays := newProgress(what.in, o.repeat, o.parallel)
	what.bar.Begin(plays.state)
	runner := what.runner(what.selection)
	runner.Expected, runner.Progress = what.known.known(), plays.over
	if o.reportFlags.Verbose {
		runner.Watch = p.printer(len(what.in) > 1)
	}
	r := runner.Run(ctx)
	r.Rerun = runner.Reproduce("CHECK")
	if short := machine.Cause(ctx); short != "" {
		r.Interrupted, r.Internal = false, short
	}
	r.Version = version()
	what.complete(r)
	what.bar.End()
	again := r.Again
	r = what.known.apply(ctx, p, r, what.selection, func(checks []conformance.Check) []reports.Check {
		began := time.Now()
		defer func() { again += time.Since(began) }()
		return what.alone(checks)
	})
	r.Started, r.Took, r.Again = what.started, time.Since(what.started), again
	return r
}

// runner returns what runs the chosen checks on a server.
func (o *runOptions) runner(s subject, on testbed, chosen selection) *run.Runner {
	again := o.commands(s, chosen.own)
	return &run.Runner{
		Protocol: s.Peer.Protocol, Servers: on.servers, Checks: chosen.in, Skipped: chosen.out,
		Provide: provide(s), Reproduce: again.run, Shrink: again.shrink,
		Timeout: o.timeout, Patience: o.patience, Parallel: o.parallel, Seed: o.seed,
		SeedNames: s.Ours(), Repeat: o.repeat, FailFast: o.failFast, Quick: o.selection.Quick,
	}
}

// playAlone plays one check after the other, once.
func playAlone(ctx context.Context, runner *run.Runner) *reports.Report {
	runner.Parallel, runner.Repeat, runner.FailFast = 1, 1, false
	return runner.Run(ctx)
}

// complete adds to the report of a run what is known of the server.
func complete(ctx context.Context, r *reports.Report, s subject, on testbed, chosen selection, timeout time.Duration) {
	r.Target = s.introduced(ctx, on, timeout)
	reports.Hide(s.Secrets.Hide, r)
	if s.Ours() { // the servers no longer exist
		for i := range r.Checks {
			r.Checks[i].Left = nil
		}
	}
	r.Unseen = unseen(r, s, chosen)
	r.Scripts = chosen.scripts(r)
	chosen.keepRecords(r)
	if chosen.own { // scripts of the user's have no part in the other clauses
		r.Clauses = slices.DeleteFunc(r.Clauses, func(c reports.Clause) bool { return len(c.Checks) == 0 })
		r.Law = nil
	}
}

// unseen returns why the bug that the embedded server was given did not show; empty if it did, or if the scripts are
// the user's.
func unseen(r *reports.Report, s subject, chosen selection) string {
	for _, f := range s.Bugs {
		found := slices.ContainsFunc(r.Findings(), func(found reports.Finding) bool {
			return slices.Contains(f.Clauses, found.Clause)
		})
		if found || chosen.own {
			continue
		}
		return fmt.Sprintf("no selected check found the planted bug %s (%s); %s were left out", f.Name,
			strings.Join(f.Clauses, ", "), text.Count(len(chosen.out), "check"))
	}
	return ""
}

// selection is the checks that are played, and those that are not.
type selection struct {
	in  []conformance.Check
	out []conformance.Skipped
	own bool // they are scripts of the user's

	recorded []string // the checks of a profile that the user has not named: what they find only counts as observed
}

// scripts returns the texts of the suite's scripts that findings are about.
func (c selection) scripts(r *reports.Report) map[string]string {
	scripts, found := map[string]string{}, texts(r.Findings(), func(f reports.Finding) string { return f.File })
	for _, check := range c.in {
		d := check.Describe()
		if slices.Contains(found, d.File) && !c.own && len(d.Source) > 0 {
			scripts[d.File] = strings.TrimSuffix(strings.Join(d.Source, "\n"), "\n") + "\n"
		}
	}
	return scripts
}

// waiting returns how many checks a quick run leaves out, and the longest time that one of them has to wait.
func (c selection) waiting() (n int, longest time.Duration) {
	for _, check := range c.in {
		if wait := check.Describe().Wait; wait > conformance.QuickWait {
			n, longest = n+1, max(longest, wait)
		}
	}
	return n, longest
}

// choose selects from checks, and reads the known findings about them.
func (o *runOptions) choose(
	all []conformance.Check, of *registry.Peer,
) (chosen selection, known *expectations, err error) {
	o.selection.Protocol = of.Protocol
	if chosen.in, chosen.out, err = o.selection.Apply(all); err != nil {
		return chosen, nil, badSelection(err, all)
	}
	known, err = o.expect.read(chosen)
	return chosen, known, err
}

// load reads the user's scripts, or the suite's if there are none, and returns their protocol, which named gives if it
// is not empty. It prints all mistakes in them.
func (p process) load(args []string, named, profile string) ([]conformance.Check, *registry.Peer, error) {
	files, err := p.read(args)
	if err != nil {
		return nil, nil, err
	}
	protocol, err := protocolOf(files, named, profile)
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
	f := o.flags(cmd)
	o.declareTarget(cmd)
	o.declareSelection(f)
	o.declareRunning(f)
	f.StringVar(&o.folder, "save", "", "save a script that reproduces each new finding in `FOLDER`")
	o.reportFlags.Declare(cmd, "print every conversation while it runs, and all checks in the report")
}

func (o *runOptions) declareTarget(cmd *cobra.Command) {
	f := cmd.Flags()
	o.targetFlags.Declare(f, "test")
	o.targetFlags.DeclareProtocol(f)
	shared.DeclareProfile(f, &o.targetFlags.Profile)
	o.declareAllowed(f, "server", "play")
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
		conformance.QuickWait.String()+"; the run takes at most about three minutes, and two more to confirm new findings")
	f.StringArrayVar(&o.require, "require", nil, "exit with code 3 unless `CLAUSE` is evaluated; may be repeated")
	f.BoolVar(&o.strict, "strict", false, "treat recommendations as requirements: each warn is a finding")
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
		refuse(o.timeout <= 0, "--timeout must be longer than 0"),
		refuse(o.patience <= 0, "--patience must be longer than 0"),
		o.validatePlays(requirable))
	if err != nil {
		return err
	}
	return validateFolder(o.folder, o.given.Changed("save"))
}

// validatePlays checks how often and of which clauses checks are played, and draws the seed; requirable returns an
// error for a clause that no run can evaluate.
func (o *runOptions) validatePlays(requirable func(clause string) error) error {
	o.seeded()
	return cmp.Or(
		refuse(o.given.Changed("parallel") && o.parallel < 1, "--parallel must be 1 or more"),
		refuse(o.repeat < 1, "--repeat must be 1 or more"),
		o.required(requirable), o.expect.validate())
}

// required returns the first error of the clauses that are required.
func (o *testOptions) required(requirable func(clause string) error) (err error) {
	for _, id := range o.require {
		err = cmp.Or(err, requirable(id))
	}
	return err
}

// requirable returns an error for a clause that no run can evaluate.
func requirable(id string) error {
	c, known := registry.Clause(id)
	switch {
	case known && !c.BindsServer():
		return fmt.Errorf("--require %s: the clause binds clients, and the target is a server, so no run can evaluate it",
			id)
	case known && c.Excluded != "":
		return fmt.Errorf("--require %s: no run can evaluate it: %s", id, c.Excluded)
	case known:
		return nil
	}
	help := "fwpcheck list --clauses shows them"
	if near := registry.Default().Suggest(id); near != "" {
		help = text.DidYouMean(near)
	}
	return fmt.Errorf("--require: unknown clause %q; %s", id, help)
}

func levelNames() []string {
	return texts(reports.Levels(), func(level reports.Level) string { return string(level) })
}
