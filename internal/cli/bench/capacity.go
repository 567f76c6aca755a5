package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/search"
	"github.com/fwpsuite/fwp/load/validity"
	"github.com/fwpsuite/fwp/reports"
)

// capacityOptions are the flags of `fwpbench capacity`.
type capacityOptions struct {
	loadFlags

	from, maxRate string
	step          time.Duration
	confirm       time.Duration
	precision     string
	search        search.Capacity
}

// newCapacity builds `fwpbench capacity`.
func newCapacity(p process) *cobra.Command {
	o := &capacityOptions{loadFlags: newLoadFlags()}
	cmd := &cobra.Command{
		Use:               "capacity [WORKLOAD.yaml]",
		Short:             "Search for the highest rate that a server sustains",
		Args:              checkFileCount,
		ValidArgsFunction: cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.flags = cmd.Flags()
			w, err := o.read(args)
			if err := cmp.Or(err, o.validate()); err != nil {
				return err
			}
			return p.capacity(cmd.Context(), o, w, args)
		},
	}
	f := cmd.Flags()
	o.declareTarget(cmd, "give the embedded server the planted bug `NAME` (see fwpcheck list --bugs)", "")
	o.declareThresholds(cmd)
	f.Lookup("threshold").Usage = "a rate passes only if `'METRIC OP VALUE'` holds: 'push.response.p99<20ms'; may be " +
		"repeated"
	f.StringVar(&o.from, "from", "", "the first `RATE` to try (default: half of what a closed loop of 3 s achieves)")
	f.StringVar(&o.maxRate, "most", "1000000/s", "the highest `RATE` to try")
	f.DurationVar(&o.step, "step", 10*time.Second, "how long each step measures, after its warm-up")
	f.DurationVar(&o.confirm, "confirm", 0, "how long the result is confirmed at the end (default: six steps)")
	f.StringVar(&o.precision, "precision", "5%", "the largest `DISTANCE` between the highest rate that passes and "+
		"the lowest that fails")
	o.declareLoad(cmd)
	for _, name := range searchFlags {
		f.Lookup(name).Hidden = true
	}
	o.reportFlags.Declare(cmd, "print a line every second")
	return cmd
}

// The first rate where a closed loop says nothing, and the length of the confirmation in steps. Token buckets and write
// caches of servers that were met lasted for up to half a minute.
const (
	defaultFrom  = "100/s"
	confirmSteps = 6
	closedLoop   = 3 * time.Second
	stepEstimate = 12 // of a search from about the right rate
)

// searchFlags are flags of a load that the search sets itself.
var searchFlags = []string{"rate", "stages", "trace", "queue-rates", "duration", "jobs"}

// validate checks the values that no flag checks by itself.
func (o *capacityOptions) validate() (err error) {
	if flag := o.firstGiven(searchFlags...); flag != "" {
		return fmt.Errorf("--%s: the search sets the rate and the length of each step (--from, --most, --step)", flag)
	}
	from, err := parseRate("from", cmp.Or(o.from, defaultFrom))
	if err != nil {
		return err
	}
	o.confirm = cmp.Or(o.confirm, confirmSteps*o.step)
	maxRate, err := parseRate("most", o.maxRate)
	if err != nil {
		return err
	}
	o.search = search.Capacity{From: float64(from), MaxRate: float64(maxRate)}
	if o.search.Precision, err = parseShare("precision", o.precision); err != nil {
		return err
	}
	switch {
	case from <= 0 || maxRate < from:
		return fmt.Errorf("--from %s and --most %s: the first rate is above 0, and not above the highest", o.from, o.maxRate)
	case o.step <= 0:
		return errors.New("--step must be longer than 0")
	case o.confirm < o.step:
		return fmt.Errorf("--confirm %v: it is no shorter than a step of %v", o.confirm, o.step)
	}
	if o.parsedThresholds, err = parseThresholds(o.thresholds); err != nil {
		return err
	}
	arrivals := validity.NeededArrivals(o.parsedThresholds)
	o.search.MinRate = float64(arrivals) / o.step.Seconds()
	if o.search.MinRate > o.search.MaxRate {
		return fmt.Errorf("--step %v: at --most %s it has fewer than the %d arrivals that these thresholds need: use a "+
			"longer --step", o.step, o.maxRate, arrivals)
	}
	return cmp.Or(o.loadFlags.validate(), o.reportFlags.Validate())
}

// capacity searches, from the flags to the exit code.
func (p process) capacity(ctx context.Context, o *capacityOptions, w plan.Workload, args []string) error {
	w, at, err := o.target(w, args, p.LookupEnv)
	if err != nil {
		return err
	}
	p.Secrets = at.Secrets
	if err := o.prepareMachine(&w, isLocal(at)); err != nil {
		return err
	}
	c := &results.LoadCapacity{
		Head:       reports.Head{Version: p.Name + " " + shared.Version(), StartTime: time.Now(), Seed: w.Seed},
		Machine:    validity.ThisMachine(),
		Thresholds: o.thresholds, Precision: o.search.Precision,
		Target: results.LoadTarget{Chosen: at.Choice.Source, Subject: at.Subject()}, Plan: "first step: " + load.Describe(w),
	}
	if !at.IsPrivate() {
		c.Target.URL = at.Choice.Address.String()
	}
	stepTime := o.step + time.Duration(w.Warmup) + time.Second
	p.Logf("searching for the capacity of %s: about %s, in steps of %v with a confirmation of %v, and longer where "+
		"queues have to be emptied; seed %d", at.String(),
		reports.Duration((stepEstimate*stepTime + o.confirm).Round(10*time.Second)), o.step, o.confirm, w.Seed)
	ctx, stop := p.AnnounceInterrupt(ctx)
	defer stop()
	if err := p.searchRate(ctx, o, at, w, c); err != nil {
		return err
	}
	found := o.search.Result()
	c.Rate, c.IsConfirmed, c.FailedRate, c.IsGeneratorLimited = found.Rate, found.IsConfirmed, found.FailedRate,
		found.IsGeneratorLimited
	c.ContraryRate, c.Confirm = found.ContraryRate, o.confirm
	c.Took = time.Since(c.StartTime)
	c.Hide(p.Secrets.Hide)
	return p.deliver(&o.reportFlags, c)
}

// target returns the load of a step, and the server.
func (o *capacityOptions) target(
	w plan.Workload, args []string, lookup func(string) (string, bool),
) (_ plan.Workload, at shared.Endpoint, err error) {
	if w.IsOpen() || w.JobLimit > 0 {
		return w, at, fmt.Errorf("%s sets a rate or a number of jobs: remove it, because the search sets the rate", args[0])
	}
	w.Duration, w.Rate, w.Think = plan.Duration(o.step), plan.Rate(o.search.From), plan.Range{}
	if w.Warmup == 0 {
		w.Warmup = plan.Duration(min(time.Second, o.step/5))
	}
	if err := w.Check(); err != nil {
		return w, at, flagErrors(err)
	}
	if at, err = o.targetFlags.Endpoint(o.flags, lookup, nil); err == nil {
		err = cmp.Or(o.applyProtocol(&at, &w), o.checkQueues(at, &w, o.thresholds))
	}
	return w, at, err
}

// searchRate tries rates on a server, which is started once if it is to be started.
func (p process) searchRate(
	ctx context.Context, o *capacityOptions, at shared.Endpoint, w plan.Workload, c *results.LoadCapacity,
) error {
	embed := o.embedding(at)
	embed.generatorProcessors = o.processors
	server, err := startServer(ctx, &at, embed)
	if err != nil {
		l := failureReport(ctx, &load.Config{}, time.Now(), err)
		c.Trouble = l.Trouble
		return nil
	}
	defer server.end()
	progress := &seriesProgress{total: 1}
	bar := p.NewBar(!o.reportFlags.NoProgress && !o.reportFlags.IsVerbose)
	bar.Begin(progress.state)
	defer bar.End()
	c.WorkersFetched = w.Consumers > 0
	return p.steps(o, w, c, func(w plan.Workload, name string) (*results.Load, error) {
		live := newLive(o.reportFlags.IsVerbose, &w, p.Err)
		progress.run.Store(&seriesRun{0, name, live})
		config := o.config(p, w)
		config.Thresholds, config.Watch, config.MissingWait = o.parsedThresholds, live.show, missingWait
		result, err := o.loadServer(ctx, at, config, server.pid, nil)
		if err != nil {
			return nil, err
		}
		c.Target.Subject = result.Report.Target.Subject
		return result.Report, nil
	})
}

// steps plays the steps of a search, and adds them to c.
func (p process) steps(
	o *capacityOptions, w plan.Workload, c *results.LoadCapacity,
	play func(w plan.Workload, name string) (*results.Load, error),
) error {
	if o.from == "" {
		l, err := play(o.closedLoop(w), "a closed loop")
		if err != nil || endsSeries(l, &c.Trouble) {
			return err
		}
		o.search.From = o.firstRate(l)
		p.Logf("a closed loop achieved %s; the first step tries %s", reports.Rate(l.Rate.Achieved),
			reports.Rate(max(o.search.From, o.search.MinRate)))
	}
	repeats := 0 // how often a step was played again in a row
	for rate, ok := o.search.Next(); ok; rate, ok = o.search.Next() {
		w.Rate, w.Duration = plan.Rate(rate), plan.Duration(o.step)
		if o.search.IsConfirming() {
			w.Duration = plan.Duration(o.confirm)
			p.Logf("confirming %s for %v", reports.Rate(rate), o.confirm)
		}
		l, err := play(w, reports.Rate(rate))
		if err != nil {
			return err
		}
		s := results.StepOf(l, rate)
		s.Confirms = o.search.IsConfirming()
		if endsSeries(l, &c.Trouble) {
			break
		}
		c.Steps = append(c.Steps, s)
		if repeats++; s.Result != results.StepStill || repeats > maxRepeats {
			o.search.Add(outcomes[s.Result])
			repeats = 0
		}
		p.Logf("%s %s", reports.Rate(rate), s.Words())
		if s.Findings > 0 {
			break
		}
	}
	return nil
}

// closedLoop returns the load of a step as a short closed loop.
func (o *capacityOptions) closedLoop(w plan.Workload) plan.Workload {
	w.Rate, w.Poisson, w.Burst, w.Duration = 0, false, 0, plan.Duration(min(closedLoop, o.step))
	return w
}

// firstRate returns half of what a closed loop achieved, within the rates to try.
func (o *capacityOptions) firstRate(l *results.Load) float64 {
	rate := l.Rate.Achieved
	if l.JobsDue != nil {
		rate = min(rate, l.WorkRate())
	}
	if rate == 0 {
		return o.search.From
	}
	return min(max(math.Round(rate/2), 1), o.search.MaxRate)
}

// maxRepeats is how often a step is played again in which the generator stood still, before it counts as one in which
// the generator was the limit.
const maxRepeats = 3

var outcomes = map[string]search.Outcome{
	results.StepHeld: search.OutcomeHeld, results.StepFailed: search.OutcomeFailed,
	results.StepLimited: search.OutcomeLimited,
	results.StepStill:   search.OutcomeLimited,
}
