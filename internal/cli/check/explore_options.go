package check

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/load/health"
	"github.com/fwpsuite/fwp/reports"
)

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
	program.DeclareFault(f, &o.fault)
	o.declareExtent(f)
	o.declareFindings(f)
	o.reportFlags.Declare(cmd, "list all outcomes")
	program.CompleteFlags(cmd, map[string]func() []string{"fault": program.FaultNames})
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
