package check

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/health"
	"github.com/fwpsuite/fwp/reports"
)

// exploreOptions are the flags of `fwpcheck explore`.
type exploreOptions struct {
	targetFlags             program.TargetFlags
	hooks                   target.Hooks
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

// defaultSteps is how many commands are sent without --steps and --time.
const defaultSteps = 20000

func (o *exploreOptions) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.targetFlags.Declare(f, "explore")
	f.BoolVar(&o.allowShared, "allow-shared", false,
		"no other client uses the server: try what touches other clients' jobs too")
	f.BoolVar(&o.allowFlush, "allow-flush", false,
		"everything on the server may be deleted: try FLUSH too (means --allow-shared)")
	f.StringVar(&o.hooks.Restart, "restart-cmd", "",
		"the shell `COMMAND` that restarts the server, or starts it if it does not run")
	f.StringVar(&o.hooks.Signal, "signal-cmd", "",
		"the shell `COMMAND` that quiets or terminates a worker: $FWP_SIGNAL is quiet or terminate, "+
			"$FWP_WID the worker")
	f.IntVar(&o.pid, "pid", 0,
		"watch the memory of the server's process, which is `PID` of this machine: see whether it grows "+
			"without bound (Linux)")
	f.StringVar(&o.fault, "fault", "", "give the embedded server the fault `NAME` of the catalogue, to see what is found")
	o.declareExtent(f)
	o.declareFindings(f)
	o.reportFlags.Declare(cmd, "list all outcomes")
	program.CompleteFlags(cmd, map[string]func() []string{"fault": program.FaultNames})
}

func (o *exploreOptions) declareExtent(f *pflag.FlagSet) {
	f.DurationVar(&o.time, "time", 0,
		"explore for this long; shrinking findings and cleaning up come on top (default: 20,000 commands)")
	f.IntVar(&o.steps, "steps", 0, "send at most `N` commands, not counting those that shrink findings")
	f.Uint64Var(&o.seed, "seed", 0, "`SEED` for all random choices (random if not given)")
	f.IntVar(&o.connections, "connections", 6,
		"use `N` connections at a time, plus two control connections that must stay unaffected")
	f.IntVar(&o.clients, "clients", 8,
		"spend the second half, with --wait the last quarter, on `N` concurrent workers, whose whole "+
			"history is checked; none if 0")
	f.DurationVar(&o.longest, "wait", 0,
		"let all clients wait together for up to this long: reservations and retries show only then")
	f.StringVar(&o.replay, "replay", "",
		"play the run in `FILE`, which an earlier exploration saved, instead of making up another")
	f.DurationVar(&o.timeout, "timeout", 5*time.Second, "the longest wait for a reply")
	f.DurationVar(&o.patience, "patience", 150*time.Second, "the longest wait for what happens eventually")
}

func (o *exploreOptions) declareFindings(f *pflag.FlagSet) {
	f.IntVar(&o.findings, "findings", 10, "stop after `N` findings")
	f.DurationVar(&o.shrink, "shrink", 60*time.Second,
		"spend at most this long shrinking a finding; --wait adds three times its value")
	f.BoolVar(&o.noShrink, "no-shrink", false, "do not shrink findings")
	f.StringVar(&o.folder, "save", ".", "put scripts and whole runs of findings into `FOLDER`")
	f.BoolVar(&o.strict, "strict", false, "treat recommendations as requirements")
}

// validate checks the values that no flag checks by itself.
func (o *exploreOptions) validate() error {
	_, err := program.FaultNamed(o.fault)
	return cmp.Or(o.validateExtent(), o.validateReplay(), o.validateProcess(), err)
}

// validateExtent checks the flags for how much is explored.
func (o *exploreOptions) validateExtent() error {
	switch {
	case o.time < 0 || o.longest < 0 || o.clients < 0:
		return errors.New("--time, --wait and --clients cannot be less than 0")
	case o.given.Changed("steps") && o.steps < 1:
		return errors.New("--steps must be 1 or more")
	case o.connections < 1 || o.findings < 1:
		return errors.New("--connections and --findings must be 1 or more")
	case o.timeout <= 0 || o.patience <= 0 || o.shrink <= 0:
		return errors.New("--timeout, --patience and --shrink must be longer than 0")
	}
	return nil
}

// validateReplay checks that no flag contradicts the file that is played again.
func (o *exploreOptions) validateReplay() error {
	if o.replay != "" && (o.given.Changed("seed") || o.given.Changed("steps") || o.given.Changed("time")) {
		return errors.New("--replay plays a saved run: --seed, --steps and --time have no effect on it")
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

// fillIn sets the number of commands and the seed if no flag did.
func (o *exploreOptions) fillIn() {
	if o.steps == 0 && o.time == 0 {
		o.steps = defaultSteps
	}
	if !o.given.Changed("seed") {
		o.seed = rand.Uint64()
	}
}

// exit returns what the exit code depends on.
func (o *exploreOptions) exit() reports.ExitOptions { return reports.ExitOptions{Strict: o.strict} }

// alone reports whether commands may touch jobs of other clients.
func (o *exploreOptions) alone() bool { return o.allowShared || o.allowFlush }
