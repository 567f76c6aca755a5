package check

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/docs"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/target"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
)

// testOptions are the flags of all commands that test something, each of which declares those that it has.
type testOptions struct {
	targetFlags              shared.TargetFlags
	operatorFlags            shared.OperatorFlags
	bug, variation           string
	isExclusive, allowsFlush bool

	timeout, patience time.Duration
	seed              uint64
	require           []string
	isStrict          bool
	folder            string // for the scripts of findings; empty: none are saved

	reportFlags shared.ReportFlags
	flags       *pflag.FlagSet // which of them were given
}

// bindFlags returns the flags of a command, which its help has in the order in which they are declared.
func (o *testOptions) bindFlags(cmd *cobra.Command) *pflag.FlagSet {
	o.flags = cmd.Flags()
	o.flags.SortFlags = false
	return o.flags
}

// declarePermissions declares what may be done to jobs of others; what the command does with that is a verb.
func (o *testOptions) declarePermissions(f *pflag.FlagSet, servers, verb string) {
	f.BoolVar(&o.isExclusive, "exclusive", false,
		"no other client uses the "+servers+": "+verb+" commands that affect other clients' jobs, too")
	f.BoolVar(&o.allowsFlush, "allow-flush", false,
		"everything on the "+servers+" may be deleted: "+verb+" FLUSH too (means --exclusive)")
}

// declareWaits declares how long the command waits for a server.
func (o *testOptions) declareWaits(f *pflag.FlagSet, timeout time.Duration) {
	f.DurationVar(&o.timeout, "timeout", timeout, "the longest wait for a reply")
	f.DurationVar(&o.patience, "patience", 150*time.Second, "the longest wait for an event that the server may "+
		"delay, such as a retry")
}

// allowsOtherJobs reports whether jobs of other clients may be touched.
func (o *testOptions) allowsOtherJobs() bool { return o.isExclusive || o.allowsFlush }

// drawSeed draws the seed, unless it was given.
func (o *testOptions) drawSeed() {
	if !o.flags.Changed("seed") {
		o.seed = rand.Uint64()
	}
}

// errorIf returns an error with these words if the flags are bad.
func errorIf(isBad bool, words string) error {
	if isBad {
		return errors.New(words)
	}
	return nil
}

// begin returns a copy of ctx that ends when the user interrupts the command, or when this machine runs out of
// something, and a function that releases it.
func (p process) begin(ctx context.Context) (context.Context, func()) {
	ctx, stop := p.AnnounceInterrupt(ctx)
	ctx, release := machine.Watch(ctx)
	return ctx, func() { release(); stop() }
}

// failure returns why nothing could be tested, or why a test ended early: it was interrupted, the target cannot be
// reached, or there was an internal error. It is empty if the test was not interrupted, and err is nil.
func failure(ctx context.Context, err error) (t reports.Trouble) {
	_, isUnreachable := errors.AsType[*shared.UnreachableError](err)
	_, hasNoClient := errors.AsType[*fwpsituations.NoClientError](err)
	hasNoClient = hasNoClient || errors.Is(err, target.ErrNoSupervisor)
	switch shortage := machine.Cause(ctx); {
	case shortage != "":
		t.Internal = shortage
	case ctx.Err() != nil:
		t.Interrupted = true
	case isUnreachable || hasNoClient:
		t.Unreachable = text.OfError(err)
	case err != nil:
		t.Internal = text.OfError(err)
	}
	return t
}

// version is that of this program in a report.
func version() string { return "fwpcheck " + shared.Version() }

// addFixes adds to a result the pages that say how to fix what it found.
func addFixes(r reports.Result) {
	switch r := r.(type) {
	case *reports.Report:
		for i := range r.Clauses {
			r.Clauses[i].Fix = docs.Fix(r.Target.Command != "", r.Clauses[i].ID)
		}
	case *reports.Exploration:
		for i := range r.Findings {
			r.Findings[i].Fix = docs.Fix(false, r.Findings[i].Clause)
		}
	}
}

// deliver writes a result where the flags say, and returns the error that ends the command.
func (o *testOptions) deliver(p process, r reports.Result) error {
	reports.ShortenLists(r)
	addFixes(r)
	exit := reports.ExitOptions{Strict: o.isStrict, Require: o.require}
	return p.Deliver(shared.Output{Flags: &o.reportFlags, Exit: exit, Report: r})
}
