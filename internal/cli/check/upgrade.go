package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/upgrade"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/reports/formats"
)

// upgradeOptions are the flags of `fwpcheck upgrade`.
type upgradeOptions struct {
	testOptions

	expect     expectFlags
	commands   []string
	url, step  string
	stop       shared.OneOf
	noRollback bool
	plan       upgrade.Filling
	history    string // the file for it
}

// quickWait is the patience of a quick run.
const quickWait = 30 * time.Second

// stops are the values of --stop, with the words of docs/durability.md.
var stops = map[string]struct {
	action target.Action
	words  string
	isKill bool
}{
	"order": {target.Stop, "in order", false},
	"kill":  {target.Kill, "killed with all of its processes; this is not a power loss", true},
	"kill-server": {
		target.KillServer, "killed; its child processes may end in order; this is not a power loss", true,
	},
}

// newUpgrade builds `fwpcheck upgrade`.
func newUpgrade(p process) *cobra.Command {
	o := &upgradeOptions{stop: shared.NewOneOf("order", "kill", "kill-server")}
	cmd := &cobra.Command{
		Use:   "upgrade [fill | account FILE]",
		Short: "Test whether jobs survive an upgrade of the server",
		Args:  checkUpgradeArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.drawSeed()
			o.plan.Seed = o.seed
			switch {
			case len(args) == 0:
				return p.upgrade(cmd.Context(), o)
			case args[0] == "fill":
				return p.fill(cmd.Context(), o)
			}
			return p.account(cmd.Context(), o, args[1])
		},
	}
	o.declare(cmd)
	return cmd
}

// declare declares the flags.
func (o *upgradeOptions) declare(cmd *cobra.Command) {
	f := o.bindFlags(cmd)
	f.StringArrayVar(&o.commands, "start", nil, "start a server with the shell `COMMAND`; {port}, {webport}, "+
		"{password} and {dir}, the same for all, are replaced; or \"faktory=PATH\". Give it once for each server")
	o.targetFlags.DeclareStarts(f)
	o.operatorFlags.DeclareControl(f)
	o.declareServer(cmd)
	f.StringVar(&o.step, "step", "", "the shell `COMMAND` that replaces the server of --url by the next one")
	f.Var(&o.stop, "stop", "how servers are stopped")
	f.BoolVar(&o.noRollback, "no-rollback", false, "do not go back the same way")
	shared.DeclareBug(cmd, &o.bug, "give the embedded server the planted bug `NAME` (see docs/upgrades.md)")
	shared.DeclareVariation(cmd, &o.variation, "")
	f.StringVar(&o.history, "history", "", "save all calls of each job to `FILE`")
	f.BoolVar(&o.isStrict, "strict", false, "treat recommendations as requirements: each warn is a finding")
	o.expect.declare(f)
	o.reportFlags.Declare(cmd, "print all of the report")
	o.reportFlags.DeclareDetails(cmd)
}

// checkUpgradeArgs checks the arguments.
func checkUpgradeArgs(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == "fill", len(args) == 2 && args[0] == "account":
		return nil
	}
	return fmt.Errorf("upgrade takes `fill`, or `account FILE`, or nothing; got %q", args)
}

// declareServer declares the flags about a server of the user's, and about what is done with it.
func (o *upgradeOptions) declareServer(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.url, "url", "", "the server at `URL`")
	o.targetFlags.DeclarePasswordFile(f)
	o.targetFlags.DeclareTLS(f)
	o.targetFlags.DeclareProtocol(f)
	o.declareWaits(f, 10*time.Second)
	f.IntVar(&o.plan.LargeJobs, "large", 10_000, "fill the large queue with `N` jobs")
	f.BoolVar(&o.plan.IsQuick, "quick", false, "leave out retries and the end of reservations, which take minutes")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the contents of the jobs (default: random)")
}

// findEntry returns the protocol of the flags; an error if upgrade does not work with it.
func (o *upgradeOptions) findEntry() (*registry.Entry, error) {
	o.targetFlags.Command = "fwpcheck upgrade"
	entry, err := shared.EntryNamed(o.protocolName())
	if err == nil {
		err = entry.Refusal("fwpcheck upgrade")
	}
	return entry, err
}

// protocolName returns that of --protocol, or of the scheme of --url.
func (o *upgradeOptions) protocolName() string {
	if name := o.targetFlags.Protocol(); name != "" {
		return name
	}
	if a, err := target.ParseURL(o.url, registry.Schemes()...); err == nil {
		return a.Protocol
	}
	return ""
}

func (o *upgradeOptions) validate() error {
	if o.plan.IsQuick && !o.flags.Changed("patience") {
		o.patience = quickWait
	}
	return cmp.Or(
		errorIf(len(o.commands) == 1, "give --start twice: for the server before and after the upgrade (the same command "+
			"for a restart)"),
		errorIf(len(o.commands) > 0 && o.url != "", "--start and --url do not work together: give one of them"),
		errorIf(o.url != "" && o.step == "", "--url needs --step COMMAND, which upgrades the server; or use fwpcheck "+
			"upgrade fill"),
		errorIf(o.step != "" && o.url == "", "--step needs --url"),
		o.targetFlags.CheckLog(len(o.commands) > 0),
		errorIf(o.flags.Changed("control") && len(o.commands) == 0, "--control works only with --start"),
		errorIf(o.url == "" && o.flags.Changed("password-file"),
			"--password-file needs --url: a server of --start gets a random password for {password} in its command"),
		errorIf(o.bug != "" && (len(o.commands) > 0 || o.url != ""), "--bug works only with the embedded server"),
		errorIf(o.variation != "" && (len(o.commands) > 0 || o.url != ""), "--variation works only with the embedded server"),
		errorIf(o.plan.LargeJobs < 1, "--large must be 1 or more"),
		errorIf(o.timeout <= 0 || o.patience <= 0, "--timeout and --patience must be longer than 0"),
		o.expect.validate(), o.reportFlags.Validate())
}

// upgrade is one run, from the flags to the exit code.
func (p process) upgrade(ctx context.Context, o *upgradeOptions) error {
	entry, err := o.findEntry()
	if err = cmp.Or(err, o.validate()); err != nil {
		return err
	}
	expected, err := o.expect.read(selection{}, upgrade.Checks()...)
	if err != nil {
		return err
	}
	ctx, stop := p.begin(ctx)
	defer stop()
	stages, end, err := o.stages(entry, &p)
	if err != nil {
		return err
	}
	defer end()
	mode := stops[o.stop.String()]
	trial := &upgrade.Run{
		Stages: stages, Filling: o.plan, StopMode: mode.words, IsKilled: mode.isKill, Log: p.Logf,
		RollsBack: !o.noRollback && o.url == "", Timeout: o.timeout, Patience: o.patience,
	}
	start := time.Now()
	result := trial.Do(ctx)
	if o.history != "" {
		if err := shared.ReplaceResult("--history", o.history, result.History.Save); err != nil {
			return err
		}
	}
	return o.report(ctx, p, entry, result, expected, start)
}

// report delivers the report of a run.
func (o *upgradeOptions) report(
	ctx context.Context, p process, entry *registry.Entry, result *upgrade.Result, expected *expectations, start time.Time,
) error {
	result.Record = cmp.Or(o.history, o.reportFile())
	err, r := result.Err, result.Report(entry.ClauseByID)
	r.Version, r.StartTime, r.Took, r.Seed = version(), start, time.Since(start), o.seed
	r.Target = reports.Target{Chosen: "jobs over an upgrade"}
	if len(result.Steps) > 0 {
		r.Target.Chosen = result.Steps[0].From + ", then " + result.Steps[0].To
	}
	if err != nil {
		p.Logf("%s", p.Show(text.OfError(err)))
	}
	if r.Trouble = failure(ctx, err); r.Internal != "" && ctx.Err() == nil { // the server is to blame, not this machine
		r.Internal, r.MissReason = "", "not all jobs could be checked: "+r.Internal
	}
	if startErr, ok := errors.AsType[*target.StartError](err); ok && startErr.HadServed && r.Unreachable != "" {
		r.Unreachable = ""
		run.NoteUnreached(r, &run.UnservedError{Cause: startErr, ServesWhenEmpty: startErr.StartsEmpty})
	}
	reports.Hide(p.Secrets.Hide, r)
	r = expected.apply(ctx, p, r, selection{}, func([]conformance.Check) []reports.Check { return nil })
	return o.deliver(p, r)
}

// reportFile returns the file of the report that recheck reads, empty if there is none.
func (o *upgradeOptions) reportFile() string {
	for _, file := range o.reportFlags.Files() {
		if format, _ := formats.OfFile(file); format == "json" || format == "html" {
			return file
		}
	}
	return ""
}
