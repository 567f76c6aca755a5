package check

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/crowd"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// newExplore builds `fwpcheck explore`.
func newExplore(p process) *cobra.Command {
	o := &exploreOptions{}
	cmd := &cobra.Command{
		Use:   "explore",
		Short: "Send generated command sequences, and reduce each violation to a script",
		Args:  shared.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.explore(cmd.Context(), o) },
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
	o.setDefaults()
	script, err := o.readRun(at)
	if err = cmp.Or(err, validateFolder(o.folder, o.flags.Changed("save"))); err != nil {
		return err
	}
	p.Secrets = at.Secrets
	bar := p.NewBar(!o.reportFlags.NoProgress)
	p.Logf("exploring %s, seed %d", at, o.seed)
	ctx, stop := p.begin(ctx)
	defer stop()
	e := &reports.Exploration{
		Head:   reports.Head{StartTime: time.Now(), Seed: o.seed, Version: version()},
		Target: at.Target(conformance.Identity{}),
	}
	x, end, err := o.explorer(ctx, at, e)
	if err != nil {
		e.Trouble = failure(ctx, err)
		e.Took = time.Since(e.StartTime)
	} else {
		defer end()
		x.Alphabet = p.exploreSubject(ctx, at, o.timeout, x.Target)
		store := &findingStore{p: p, o: o, at: at, folder: folder{path: o.folder, secrets: at.Secrets}}
		store.explore(ctx, x, script, bar, e)
		e.Target = at.Introduce(ctx, e.Target, x.Target, at.Password, o.timeout)
		e.Target.Chosen = at.DescribeChoice(ctx, e.Target.Chosen)
	}
	reports.Hide(p.Secrets.Hide, e)
	return o.deliver(p, e)
}

// exploreSubject returns the subject of an exploration, without the verbs of an extension that one of the servers does
// not have.
func (p process) exploreSubject(
	ctx context.Context, at shared.Endpoint, timeout time.Duration, servers ...play.Target,
) *explore.Alphabet {
	var all []string
	for _, server := range servers {
		all = append(all, missingVerbs(ctx, at, server, timeout)...)
	}
	for _, verb := range all {
		p.Logf("the server does not support %s, so it is not sent", verb)
	}
	return at.Entry.Alphabet(all...)
}

// endpoint returns the target that the flags name, with its bug; an error if the flags do not fit together.
func (o *exploreOptions) endpoint(env func(string) (string, bool)) (at shared.Endpoint, err error) {
	if err := cmp.Or(o.validate(), o.reportFlags.Validate()); err != nil {
		return at, err
	}
	bug := o.bug
	o.bug = "" // what the server keeps may have one too
	s, err := o.subject(env)
	o.bug = bug
	if err == nil {
		err = o.disrupt.apply(&s, bug)
	}
	if err != nil {
		return at, err
	}
	return s.Endpoint, o.refuseClients(s.Entry)
}

// maxRunSize is how many bytes a saved run has at most.
const maxRunSize = 8 << 20

// readRun returns the run that is to be played again, or nil.
func (o *exploreOptions) readRun(at shared.Endpoint) (*explore.Trace, error) {
	if o.replay == "" {
		return nil, nil
	}
	text, err := input.Read(o.replay, maxRunSize)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	t, err := explore.LoadTrace(at.Entry.Dialect, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("--replay %s: %w", o.replay, err)
	}
	return &t, nil
}

// explore explores, first with few clients and then with many at the same time, or plays a saved run again, and adds to
// the report what is found.
func (k *findingStore) explore(
	ctx context.Context, x explore.Explorer, trace *explore.Trace, bar *shared.Bar, e *reports.Exploration,
) {
	controlCtx, cancel := context.WithTimeout(ctx, x.Time+2*explore.Shrinkings*x.Shrinking+k.o.controlTime())
	defer cancel()
	k.control = func(script string) reports.Verdict { return control(controlCtx, k.at, script) }
	activity := &exploreProgress{start: time.Now(), budget: k.o.time, steps: k.o.steps}
	bar.Begin(activity.state)
	start := time.Now()
	k.server = outputSourceOf(x.Target)
	x.Found, x.Progress = k.keep, activity.record
	if trace != nil {
		k.addResult(e, x.Replay(ctx, *trace))
	} else {
		campaign := crowd.Campaign{Explorer: x, Workers: k.o.clients, OnHistory: k.saveHistory}
		if k.at.IsPrivate() && len(x.Disrupt) == 0 && !k.o.flags.Changed("steps") {
			campaign.Start, campaign.HasPasswords = k.starter(ctx), testTarget{Endpoint: k.at}.protects()
		}
		campaign.OnExploration = func(r *explore.Result) { k.addResult(e, r) }
		if _, h := campaign.Run(ctx); h != nil {
			k.addHistory(e, h)
		}
	}
	e.Took = time.Since(start)
	bar.End()
	k.weigh(e)
	k.addStartFailure(e)
	if len(e.Findings) >= k.o.limit {
		e.EndedBy = fmt.Sprintf("--findings %d", k.o.limit)
	}
	recordEnd(ctx, e)
}

// recordEnd records in a report what ended the exploration early, if anything did.
func recordEnd(ctx context.Context, e *reports.Exploration) {
	t := failure(ctx, nil)
	e.Interrupted, e.Internal = t.Interrupted, cmp.Or(t.Internal, e.Internal)
}

// starter returns what starts the other servers of a campaign, and tells which does not start.
func (k *findingStore) starter(ctx context.Context) crowd.Start {
	start := k.o.starter(ctx, k.at)
	return func(password string) (play.Target, func(), error) {
		server, end, err := start(password)
		if err != nil {
			k.p.Logf("one of the servers did not start and is not explored: %v", err)
		}
		return server, end, err
	}
}

// generatorOptions are the flags that explore and compare share, which both send generated commands.
type generatorOptions struct {
	testOptions

	time, maxPause, shrink time.Duration
	steps, connections     int
	limit                  int // findings, or kinds of differences
	noShrink               bool
}

// explorer returns what sends generated commands to a server; with isPrivate everything may be done to it.
func (o *generatorOptions) explorer(at shared.Endpoint, isPrivate bool) explore.Explorer {
	return explore.Explorer{
		Alphabet: at.Entry.Alphabet(), Password: at.Password, Seed: o.seed, Steps: o.steps, Time: o.time,
		Connections: o.connections, Findings: o.limit, Timeout: o.timeout, Patience: o.patience, LongestWait: o.maxPause,
		SkipsShrinking: o.noShrink, Shrinking: o.shrink, Alone: o.allowsOtherJobs() || isPrivate, NoFlush: !o.allowsFlush &&
			!isPrivate,
	}
}

// exploreOptions are the flags of `fwpcheck explore`.
type exploreOptions struct {
	generatorOptions

	disrupt disruptFlag
	clients int
	replay  string
}

// The defaults that depend on other flags.
const (
	defaultTime      = 2 * time.Minute
	defaultSteps     = 20000 // without --steps and --time
	defaultShrink    = 20 * time.Second
	shrinkShare      = 2 // one such part of --time is enough for a finding
	waitShrinkFactor = 3 // times the value of --wait
	minWaits         = 4 // times --wait fits into --time
)

func (o *exploreOptions) declare(cmd *cobra.Command) {
	f := o.bindFlags(cmd)
	o.targetFlags.Declare(f, "explore")
	o.targetFlags.DeclareProtocol(f)
	shared.DeclareExtension(f, &o.targetFlags.Extension)
	o.targetFlags.Command = "fwpcheck explore"
	o.declarePermissions(f, "server", "try")
	o.operatorFlags.Declare(f)
	o.disrupt.declare(cmd)
	shared.DeclareBug(cmd, &o.bug, "")
	shared.DeclareVariation(cmd, &o.variation, "")
	o.declareExtent(f)
	o.declareFindings(f)
	o.reportFlags.Declare(cmd, "list all outcomes")
}

func (o *exploreOptions) declareExtent(f *pflag.FlagSet) {
	f.DurationVar(&o.time, "time", defaultTime,
		"how long to explore, including the clean-up but not the shrinking of findings")
	f.IntVar(&o.steps, "steps", 0,
		"send at most `N` commands, not counting those that shrink findings (20,000 without --steps and --time)")
	f.Uint64Var(&o.seed, "seed", 0, "`SEED` of all random choices (default: random)")
	f.IntVar(&o.connections, "connections", 6,
		"use `N` concurrent connections, plus two more that must stay unaffected")
	f.IntVar(&o.clients, "clients", 8,
		"spend the last quarter of the time on `N` concurrent workers and check their whole history; 0 means none")
	f.DurationVar(&o.maxPause, "wait", 0,
		"the longest pause of all clients, at most a quarter of --time; without pauses no reservation ends and no retry "+
			"comes")
	f.StringVar(&o.replay, "replay", "",
		"play the run that an earlier exploration saved in `FILE`, instead of a new one")
	o.declareWaits(f, 5*time.Second)
}

func (o *exploreOptions) declareFindings(f *pflag.FlagSet) {
	f.IntVar(&o.limit, "findings", 100, "stop after `N` findings")
	f.DurationVar(&o.shrink, "shrink", defaultShrink,
		"the longest time for shrinking one finding, and at most half of --time; --wait adds three times its value")
	f.BoolVar(&o.noShrink, "no-shrink", false, "do not shrink findings")
	f.StringVar(&o.folder, "save", "", "save a script and the whole run of each finding in `FOLDER`")
	f.BoolVar(&o.isStrict, "strict", false, "treat recommendations as requirements")
}

// validate checks the values that no flag checks by itself.
func (o *exploreOptions) validate() error {
	return cmp.Or(
		errorIf(o.maxPause < 0 || o.clients < 0, "--wait and --clients cannot be less than 0"),
		errorIf(o.flags.Changed("steps") && o.steps < 1, "--steps must be 1 or more"),
		errorIf(o.connections < 1 || o.limit < 1, "--connections and --findings must be 1 or more"),
		errorIf(o.time <= 0 || o.timeout <= 0 || o.patience <= 0 || o.shrink <= 0,
			"--time, --timeout, --patience and --shrink must be longer than 0"),
		errorIf(minWaits*o.maxPause > o.time, fmt.Sprintf("--wait %v is too long for --time %v: give --time %v or more",
			o.maxPause, o.time, minWaits*o.maxPause)),
		errorIf(o.replay != "" && (o.flags.Changed("seed") || o.flags.Changed("steps")),
			"--seed and --steps do not work with --replay, which plays a saved run"))
}

// setDefaults sets the values that no flag did.
func (o *exploreOptions) setDefaults() {
	if o.steps == 0 && !o.flags.Changed("time") {
		o.steps = defaultSteps
	}
	if !o.flags.Changed("shrink") {
		o.shrink = min(o.shrink, o.time/shrinkShare) + waitShrinkFactor*o.maxPause
	}
	o.drawSeed()
}

// explorer returns the exploration that the flags ask for. It has the servers that it needs started, if they exist for
// this process only.
func (o *exploreOptions) explorer(
	ctx context.Context, at shared.Endpoint, e *reports.Exploration,
) (x explore.Explorer, end func(), err error) {
	x = o.generatorOptions.explorer(at, at.IsPrivate())
	x.Time -= o.controlTime()
	x.Disrupt = o.disrupt.actions
	x.Restarts = at.IsPrivate() || at.Server.Can(target.Restart)
	if at.IsPrivate() {
		x.StartTarget = func() (play.Target, func(), error) {
			if len(x.Disrupt) > 0 {
				return o.disrupt.start(ctx, o, at)
			}
			return o.starter(ctx, at)("")
		}
		x.Target, end, err = x.StartTarget()
		return x, end, err
	}
	end = func() {}
	start := time.Now() // the greeting may take as long as --time
	id, err := at.Identify(ctx, min(o.timeout, o.time/2))
	x.Time = max(x.Time-time.Since(start), time.Millisecond)
	x.Target, e.Target = plainServer{at.Server}, at.Target(id)
	if at.Server.Can(target.Restart) || at.Server.Can(target.Quiet) {
		x.Target = at.Server
	}
	if err == nil && len(x.Disrupt) > 0 {
		x.Target, end, err = o.disrupt.start(ctx, o, at)
	}
	return x, end, err
}

// starter returns what starts servers that exist for this process only.
func (o *exploreOptions) starter(ctx context.Context, at shared.Endpoint) crowd.Start {
	return func(password string) (play.Target, func(), error) {
		server, end, err := testTarget{Endpoint: at}.start(ctx, registry.Config{Password: password}, o.timeout)
		if started, ok := server.Target.(*target.Server); ok && server.Ended != nil {
			return mortalServer{started, server.Ended, server.PID}, end, err
		}
		return server.Target, end, err
	}
}

// The limits of control.
const (
	controlWait  = 10 * time.Second // how long one script is played at most
	controlShare = 12               // such a part of the time of an exploration is kept for it, at most controlWait
)

// controlTime is the part of --time that is kept for control.
func (o *exploreOptions) controlTime() time.Duration { return min(o.time/controlShare, controlWait) }

// control plays the script of a finding on the embedded server, which conforms: a script that fails there does not
// count against another server. It returns Inconclusive if the script was not played to its end.
func control(ctx context.Context, at shared.Endpoint, text string) reports.Verdict {
	script, err := scenarios.Parse(at.Entry.Dialect, "control.fwp", []byte(text))
	if err != nil {
		return reports.Inconclusive
	}
	ctx, cancel := context.WithTimeout(ctx, controlWait)
	defer cancel()
	at.Bugs, at.Variation, at.Choice.IsEmbedded = nil, registry.Variation{}, true
	bed, err := testTarget{Endpoint: at}.open(ctx, controlWait)
	if err != nil {
		return reports.Inconclusive
	}
	defer bed.end()
	runner := &run.Runner{
		Suite: at.Entry.Suite, Servers: bed.servers, Checks: conformance.Scripts(script),
	}
	return runner.Run(ctx).Checks[0].Verdict
}

// refuseClients leaves the load of several clients out where their history is not judged.
func (o *exploreOptions) refuseClients(entry *registry.Entry) error {
	if entry.CanDisrupt {
		return nil
	}
	isRequested := o.flags.Changed("clients") && o.clients > 0
	o.clients = 0
	return errorIf(isRequested, "--clients works only with FWP")
}
