package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/search"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// compareOptions are the flags of `fwpbench compare`.
type compareOptions struct {
	loadFlags

	run         bool
	burden      time.Duration
	pairs       int
	block       time.Duration
	margin      []string
	marginShare float64 // the margin as a share
	primary     []string
	aa          bool
	floor       string

	marginTime       time.Duration // the margin of times, where that is more
	allowsDifference bool          // saved loads may differ

	concurrency int // of workers
	benchfmt    string
}

// maxPairs is how many pairs a comparison has at most: ten hours of blocks of 20 s.
const maxPairs = 1000

// newCompare builds `fwpbench compare`.
func newCompare(p process) *cobra.Command {
	o := &compareOptions{loadFlags: newLoadFlags()}
	cmd := &cobra.Command{
		Use:               "compare --run A B | compare --run --aa A | compare A B",
		Short:             "Compare the speed of two servers, workers or workloads, measured in turn",
		Args:              o.sides,
		ValidArgsFunction: cobra.FixedCompletions([]string{"embedded", "start:faktory="}, cobra.ShellCompDirectiveDefault),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.flags = cmd.Flags()
			if err := o.validate(); err != nil {
				return err
			}
			if !o.run {
				return p.compareSaved(o, args)
			}
			return p.compareRun(cmd.Context(), o, args)
		},
	}
	o.declare(cmd)
	return cmd
}

func (o *compareOptions) declare(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.run, "run", false, "measure A and B now, in pairs of blocks")
	f.IntVar(&o.pairs, "pairs", 0,
		"measure `N` pairs of blocks, 6 or more (default: as many as fit into 3 minutes, 10 to 60)")
	f.DurationVar(&o.block, "block", 0,
		"the length of a block (default: 1s; in an open loop as long as its p99 needs)")
	f.StringSliceVar(&o.margin, "margin", []string{"5%"}, "the `SHARE` by which B may be worse: with 5%, a ratio from "+
		"1/1.05 to 1.05 counts as no change; of times also a time, as in 5%,1ms: the greater one counts")
	f.BoolVar(&o.allowsDifference, "different-loads", false,
		"compare saved results although their loads or machines differ")
	f.StringArrayVar(&o.primary, "primary", nil,
		"the `METRIC` that decides; at most two (default: the rate in a closed loop, the p99 of the response time in an "+
			"open one)")
	f.BoolVar(&o.aa, "aa", false, "compare A with itself, to measure the noise of this machine")
	f.StringVar(&o.floor, "floor", "", "refuse a margin below the noise floor in `FILE`, the JSON of --aa")
	o.declareTarget(cmd, "give B, an embedded server, the planted bug `NAME` (see fwpcheck list --bugs)",
		"B, an embedded server,")
	f.DurationVar(&o.burden, "burden", 0,
		"slow B, an embedded server, down by this time for each command, to test the comparison")
	o.declareLoad(cmd)
	f.StringVar(&o.benchfmt, "benchfmt", "", "write the blocks to `FILE` in the format of Go's benchmarks (benchstat "+
		"-col side)")
	o.reportFlags.Declare(cmd, "list all blocks")
	shared.CompleteFlags(cmd, map[string]func() []string{
		"primary": func() []string { return []string{"rate", "server.cpu", "push.response.p99"} },
	})
}

// sides returns an error unless there are two sides, or one with --aa.
func (o *compareOptions) sides(cmd *cobra.Command, args []string) error {
	switch {
	case o.aa && len(args) == 1, !o.aa && len(args) == 2:
		return nil
	case o.aa:
		return fmt.Errorf("%s --aa takes one server or workload, which it compares with itself: got %d", cmd.CommandPath(),
			len(args))
	}
	return fmt.Errorf("%s takes A and B, as in: fwpbench compare --run tcp://old:7419 tcp://new:7419; got %d",
		cmd.CommandPath(), len(args))
}

// savedFlags holds the flags that concern saved results.
var savedFlags = []string{"margin", "different-loads", "primary", "benchfmt", "format", "output", "verbose", "color",
	"no-progress"}

// canDecide reports whether a metric can decide.
func canDecide(metric string) bool {
	if metric == "rate" || metric == "server.cpu" {
		return true
	}
	_, isPercentile := results.PercentileIn(metric)
	_, isKnown := results.FindMetric(metric, load.Ops())
	return isPercentile && isKnown
}

// validate checks the values that no flag checks by itself.
func (o *compareOptions) validate() (err error) {
	if err := o.parseMargin(); err != nil {
		return err
	}
	if err := o.validateBlocks(); err != nil {
		return err
	}
	if len(o.primary) > 2 {
		return errors.New("--primary: at most two metrics can decide; the others are shown, and corrected for their number")
	}
	for _, metric := range o.primary {
		if results.HasNoVerdict(metric) {
			return fmt.Errorf("--primary %s: it is about the generator, and decides nothing about a server", metric)
		}
		names := append(results.MetricNames(load.Ops()...), "rate", "server.cpu")
		if !canDecide(metric) {
			return fmt.Errorf("--primary: no metric %q is compared%s", metric, cmp.Or(shared.Suggestion(metric, names),
				"; expected rate, server.cpu, or a percentile of a time, such as push.response.p99"))
		}
	}
	return cmp.Or(o.loadFlags.validate(), o.reportFlags.Validate(), shared.CheckWritable("--benchfmt", o.benchfmt))
}

// validateBlocks checks the flags for what is measured.
func (o *compareOptions) validateBlocks() error {
	switch {
	case !o.run && o.aa:
		return errors.New("--aa measures: it needs --run")
	case !o.run && shared.OtherFlag(o.flags, savedFlags) != "":
		return fmt.Errorf("--%s is for --run: it has no effect on saved results", shared.OtherFlag(o.flags, savedFlags))
	case o.run && o.flags.Changed("pairs") && (o.pairs < search.MinPairs || o.pairs > maxPairs):
		return fmt.Errorf("--pairs %d: from %d to %d are possible; with five, all of them differ in the same direction in 6 "+
			"%% of the cases although nothing differs", o.pairs, search.MinPairs, maxPairs)
	case o.flags.Changed("block") && o.block <= 0:
		return errors.New("--block must be longer than 0")
	case o.burden < 0 || o.burden > time.Second:
		return errors.New("--burden must be from 0 to 1s")
	}
	return nil
}

// parseMargin reads --margin: a share, a time, or both.
func (o *compareOptions) parseMargin() (err error) {
	o.marginShare = defaultMargin
	for _, words := range o.margin {
		if length, parseErr := time.ParseDuration(words); parseErr == nil && length > 0 {
			o.marginTime = length
		} else if o.marginShare, err = parseShare("margin", words); err != nil {
			return err
		}
	}
	return nil
}

const defaultMargin = 0.05

// parseShare reads the value of a flag that is a share, "5%" or "0.05", more than 0 and less than 1.
func parseShare(flag, words string) (float64, error) {
	share, err := plan.ParseShare(words)
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", flag, err)
	}
	if share <= 0 || share >= 1 {
		return 0, fmt.Errorf("--%s %s: it is more than 0 and less than 100%%", flag, words)
	}
	return share, nil
}

// compareRun measures both sides in turns.
func (p process) compareRun(ctx context.Context, o *compareOptions, args []string) error {
	if err := o.readWorkerFlags(args); err != nil {
		return err
	}
	sides, err := o.parseSides(args, p.LookupEnv)
	if err != nil {
		return err
	}
	p.Secrets = sides[0].at.Secrets.Merge(sides[1].at.Secrets)
	for _, s := range sides {
		if err := o.prepareMachine(&s.work, isLocal(sides[0].at) || isLocal(sides[1].at)); err != nil {
			return err
		}
	}
	c := &results.LoadComparison{
		Head:    reports.Head{Version: p.Name + " " + shared.Version(), StartTime: time.Now(), Seed: sides[0].work.Seed},
		Machine: validity.ThisMachine(), AA: o.aa,
		A: sides[0].summary(), B: sides[1].summary(),
		Margin: o.marginShare, MarginTime: o.marginTime, Pairs: o.pairs, Differences: o.differences(sides),
	}
	if err := o.checkFloor(c); err != nil {
		return err
	}
	p.Logf("comparing A, %s, with B, %s: %s of two blocks of %v, margin %s; seed %d", c.A.Name, c.B.Name,
		text.Count(o.pairs, "pair"), o.block, strings.Join(o.margin, ", "), c.Seed)
	bar := p.NewBar(!o.reportFlags.NoProgress)
	ctx, stop := p.AnnounceInterrupt(ctx)
	defer stop()
	if err := p.measure(ctx, o, sides, c, bar); err != nil {
		return err
	}
	search.Judge(c, o.primaryMetrics(sides))
	return p.deliverComparison(o, c)
}

// primaryMetrics returns the primary metrics.
func (o *compareOptions) primaryMetrics(sides [2]*side) []string {
	if len(o.primary) > 0 {
		return o.primary
	}
	op, w := "push", sides[0].work
	if sides[0].worker != nil {
		return search.Primary(w.IsOpen(), "job", true) // server.cpu is that of the worker
	}
	switch full := w.WithDefaults(); {
	case full.Churn:
		op = "connect"
	case full.BeatOnly:
		op = "beat"
	}
	return search.Primary(w.IsOpen(), op, sides[0].at.IsPrivate() && sides[1].at.IsPrivate())
}

// checkFloor returns an error if the margin is below the noise floor that was measured of the same load on this
// machine.
func (o *compareOptions) checkFloor(c *results.LoadComparison) error {
	if o.floor == "" {
		return nil
	}
	data, err := readResult(o.floor)
	if err != nil {
		return fmt.Errorf("--floor: %w", err)
	}
	floor, err := results.ReadLoadComparison(data)
	switch {
	case err != nil:
		return fmt.Errorf("--floor %s: %w", o.floor, err)
	case !floor.AA:
		return fmt.Errorf("--floor %s: it compares A with B; a noise floor is measured with --aa", o.floor)
	case floor.Machine.CPU != c.Machine.CPU || floor.Machine.Cores != c.Machine.Cores:
		return fmt.Errorf("--floor %s: it was measured on another machine", o.floor)
	case c.A.Plan != "" && floor.A.Plan != c.A.Plan && floor.A.Plan != c.B.Plan:
		return fmt.Errorf("--floor %s: it was measured with another load: %s", o.floor, floor.A.Plan)
	}
	for _, r := range floor.Ratios {
		primary := r.IsPrimary && len(o.primary) == 0 || slices.Contains(o.primary, r.Metric)
		if primary && r.Floor > max(o.marginShare, c.MarginOf(r.Metric, r.A)) {
			return fmt.Errorf("--margin %s is below the noise floor of %s on this machine, %.2g%%: use longer blocks, more "+
				"pairs or a wider margin", strings.Join(o.margin, ", "), r.Metric, 100*r.Floor)
		}
	}
	return nil
}

// deliverComparison writes the report of a comparison, and the blocks for benchstat.
func (p process) deliverComparison(o *compareOptions, c *results.LoadComparison) error {
	c.Took = time.Since(c.StartTime)
	reports.Hide(p.Secrets.Hide, c)
	if o.benchfmt != "" {
		if err := shared.ReplaceFile(o.benchfmt, c.WriteBenchfmt); err != nil {
			c.Internal = "--benchfmt: " + text.OfError(err)
		}
	}
	return p.deliver(&o.reportFlags, c)
}
