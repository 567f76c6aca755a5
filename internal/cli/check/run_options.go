package check

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/text"
	"github.com/fwpsuite/fwp/reports"
)

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
	o.declareTarget(f)
	o.declareSelection(f)
	o.declareRunning(f)
	f.StringVar(&o.folder, "save", "", "put a script that alone shows it again into `FOLDER`, for each new finding")
	o.reportFlags.Declare(cmd, "print every conversation as it goes, and all checks in the report")
	program.CompleteFlags(cmd, map[string]func() []string{
		"check": suiteNames, "fault": program.FaultNames, "clause": clauseNames, "require": clauseNames, "level": levelNames,
	})
}

func (o *runOptions) declareTarget(f *pflag.FlagSet) {
	o.targetFlags.Declare(f, "test")
	o.targetFlags.DeclareProtocol(f)
	f.BoolVar(&o.allowShared, "allow-shared", false,
		"no other client uses the server: play what touches other clients' jobs too")
	f.BoolVar(&o.allowFlush, "allow-flush", false,
		"everything on the server may be deleted: play FLUSH too (means --allow-shared)")
	o.operatorFlags.Declare(f)
	program.DeclareFault(f, &o.fault)
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
	c, known := clauseByID(id)
	switch {
	case known && !c.BindsServer():
		return fmt.Errorf("--require %s: no run can evaluate it, because it binds clients and the target is a server", id)
	case known && c.Excluded != "":
		return fmt.Errorf("--require %s: no run can evaluate it: %s", id, c.Excluded)
	case known:
		return nil
	}
	help := "fwpcheck list --clauses shows them"
	if near := conformance.Suggest(id); near != "" {
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
