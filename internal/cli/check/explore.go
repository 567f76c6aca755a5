package check

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/input"
	"github.com/fwpsuite/fwp/internal/shortage"
	"github.com/fwpsuite/fwp/internal/stress"
	"github.com/fwpsuite/fwp/reports"
)

// newExplore builds `fwpcheck explore`.
func newExplore(p process) *cobra.Command {
	o := &exploreOptions{reportFlags: program.NewReportFlags()}
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Send generated command sequences, and reduce each violation to a script",
		Long: "explore makes up commands over several connections (legal ones, some that are illegal in their state,\n" +
			"malformed ones, disconnects), checks every reply and the history of every job with a model of the\n" +
			"specification, and reduces what it finds to a short script that `fwpcheck run` plays.\n\n" +
			"It works on queues, jobs and workers of its own, removes what it can and lists the rest.\n\n" +
			"--time is for everything. An eighth of it, at most 10s, is kept for cleaning up; before that a quarter, at\n" +
			"most --shrink, for shrinking what is found last. Interrupt it once to get the results so far.\n\n" +
			"Exit codes: 0 nothing found, 1 findings, 2 usage, 3 nothing was evaluated, 4 target not reachable,\n" +
			"5 internal error, 130 interrupted.",
		Example: "  fwpcheck explore --url tcp://localhost:7419\n" +
			"  fwpcheck explore --time 10m --seed 42 --url tcp://localhost:7419\n" +
			"  fwpcheck explore --save found --url tcp://localhost:7419\n" +
			"  fwpcheck explore --replay found/FWP-ACK-01.run.json --url tcp://localhost:7419\n" +
			"  fwpcheck explore --protocol workq\n" +
			"  fwpcheck explore --fault reply-swapped        the embedded server, with a fault of the catalogue",
		Args: program.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.given = cmd.Flags()
			return p.explore(cmd.Context(), o)
		},
	}
	o.declare(cmd)
	return cmd
}

// explore runs one exploration, from the flags to the exit code.
func (p process) explore(ctx context.Context, o *exploreOptions) error {
	at, err := o.endpoint(p.LookupEnv)
	if err != nil {
		return err
	}
	o.fillIn()
	script, err := o.saved(at)
	if err = cmp.Or(err, validateFolder(o.folder, o.given.Changed("save"))); err != nil {
		return err
	}
	p.Secrets = at.Secrets
	p.LimitMemory()
	bar := p.NewBar(!o.reportFlags.NoProgress)
	p.Logf("exploring %s, seed %d", at, o.seed)
	ctx, stop := p.Interruptible(ctx)
	defer stop()
	ctx, release := shortage.Watch(ctx)
	defer release()
	e := &reports.Exploration{
		Started: time.Now(), Seed: o.seed, Version: "fwpcheck " + program.Version(),
		Target: at.Target(conformance.Identity{}),
	}
	x, end, err := o.explorer(ctx, at, e)
	if err != nil {
		return p.Deliver(o.report(p.unexplored(ctx, e, err)))
	}
	defer end()
	activity := o.watched(bar)
	timed, cancel := context.WithTimeout(ctx, x.Time+o.controlTime())
	defer cancel()
	again := func(script string) reports.Verdict { return control(timed, at, script) }
	store := &findingStore{p: p, o: o, at: at, control: again}
	campaign{clients: o.clients, store: store, progress: activity, report: e}.run(ctx, x, script)
	bar.End()
	store.weigh(e)
	if len(e.Findings) >= o.findings {
		e.Limits = fmt.Sprintf("--findings %d", o.findings)
	}
	ended(ctx, e)
	e.Hide(at.Secrets.Hide)
	return p.Deliver(o.report(e))
}

// endpoint returns the target that the flags name, with its fault; an error if the flags do not fit together.
func (o *exploreOptions) endpoint(env func(string) (string, bool)) (at program.Endpoint, err error) {
	if err := cmp.Or(o.validate(), o.reportFlags.Validate(o.given)); err != nil {
		return at, err
	}
	at, err = o.targetFlags.Endpoint(o.given, env, &o.operatorFlags, "allow-shared", "allow-flush", "pid")
	if err != nil {
		return at, err
	}
	if !isFWP(at) {
		return at, o.otherFault(&at)
	}
	_, err = at.SetFault(o.fault)
	return at, err
}

// watched shows the progress of the exploration.
func (o *exploreOptions) watched(bar *program.Bar) *exploreProgress {
	activity := &exploreProgress{begun: time.Now(), budget: o.time, steps: o.steps}
	bar.Begin(activity.state)
	return activity
}

// ended records in a report what ended the exploration early, if anything did.
func ended(ctx context.Context, e *reports.Exploration) {
	if short := shortage.Cause(ctx); short != "" {
		e.Internal = short
		return
	}
	e.Interrupted = ctx.Err() != nil
}

// unexplored records in a report why nothing was explored.
func (p process) unexplored(ctx context.Context, e *reports.Exploration, err error) *reports.Exploration {
	r := &reports.Report{}
	recordFailure(ctx, r, err)
	e.Interrupted, e.Unreachable, e.Internal = r.Interrupted, r.Unreachable, r.Internal
	e.Took = time.Since(e.Started)
	e.Hide(p.Secrets.Hide)
	return e
}

// mostOfRun is how many bytes a saved run has at most.
const mostOfRun = 8 << 20

// saved returns the run that is to be played again, or nil.
func (o *exploreOptions) saved(at program.Endpoint) (*explore.Trace, error) {
	if o.replay == "" {
		return nil, nil
	}
	text, err := input.Read(o.replay, mostOfRun)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	t, err := explore.LoadTrace(subjectOf(at).Dialect, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("--replay %s: %w", o.replay, err)
	}
	return &t, nil
}

// campaign is an exploration, with its report and files.
type campaign struct {
	clients  int
	store    *findingStore
	progress *exploreProgress
	report   *reports.Exploration
}

// run explores, first with few clients and then with many at the same time.
func (d campaign) run(ctx context.Context, x explore.Explorer, again *explore.Trace) {
	begin := time.Now()
	defer func() { d.report.Took = time.Since(begin) }()
	x.Found = d.store.saveRun
	x.Progress = d.progress.record
	if again != nil {
		d.store.addResult(d.report, x.Replay(ctx, *again))
		return
	}
	both := stress.Campaign{Explorer: x, Workers: d.clients, Recorded: d.store.saveHistory}
	both.Explored = func(r *explore.Result) { d.store.addResult(d.report, r) }
	if _, h := both.Run(ctx); h != nil {
		d.store.addHistory(d.report, h)
	}
}

// report is the output of `explore`.
func (o *exploreOptions) report(e *reports.Exploration) program.Output {
	return program.Output{
		Flags: &o.reportFlags, Exit: o.exit(), Report: e, Unreachable: e.Unreachable, Internal: &e.Internal,
		Outcome: func() (int, string) { return e.Outcome(o.exit()) },
		JSON:    func(w io.Writer) error { return e.WriteJSON(w, o.exit()) },
	}
}
