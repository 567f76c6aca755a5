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
	o.fillIn()
	script, err := o.saved(at)
	if err = cmp.Or(err, validateFolder(o.folder, o.given.Changed("save"))); err != nil {
		return err
	}
	p.Secrets = at.Secrets
	bar := p.NewBar(!o.reportFlags.NoProgress)
	p.Logf("exploring %s, seed %d", at, o.seed)
	ctx, stop := p.begin(ctx)
	defer stop()
	e := &reports.Exploration{
		Head:   reports.Head{Started: time.Now(), Seed: o.seed, Version: version()},
		Target: at.Target(conformance.Identity{}),
	}
	x, end, err := o.explorer(ctx, at, e)
	if err != nil {
		e.Trouble = failure(ctx, err)
		e.Took = time.Since(e.Started)
	} else {
		defer end()
		x.Subject = p.offered(ctx, at, o.timeout, x.Target)
		store := &findingStore{p: p, o: o, at: at, folder: folder{path: o.folder, secrets: at.Secrets}}
		store.explore(ctx, x, script, bar, e)
		e.Target = at.Introduced(ctx, e.Target, x.Target, at.Password, o.timeout)
		e.Target.Chosen = at.Reached(ctx, e.Target.Chosen)
	}
	reports.Hide(p.Secrets.Hide, e)
	return o.deliver(p, e)
}

// offered returns the subject of an exploration, without the verbs of a profile that one of the servers does not have.
func (p process) offered(
	ctx context.Context, at shared.Endpoint, timeout time.Duration, servers ...play.Target,
) *explore.Subject {
	var all []string
	for _, server := range servers {
		all = append(all, missing(ctx, at, server, timeout)...)
	}
	for _, verb := range all {
		p.Logf("the server does not support %s, so it is not sent", verb)
	}
	return at.Peer.Subject(all...)
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
	return s.Endpoint, o.withoutHistory(s.Peer)
}

// mostOfRun is how many bytes a saved run has at most.
const mostOfRun = 8 << 20

// saved returns the run that is to be played again, or nil.
func (o *exploreOptions) saved(at shared.Endpoint) (*explore.Trace, error) {
	if o.replay == "" {
		return nil, nil
	}
	text, err := input.Read(o.replay, mostOfRun)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	t, err := explore.LoadTrace(at.Peer.Dialect, bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("--replay %s: %w", o.replay, err)
	}
	return &t, nil
}

// explore explores, first with few clients and then with many at the same time, or plays a saved run again, and adds to
// the report what is found.
func (k *findingStore) explore(
	ctx context.Context, x explore.Explorer, again *explore.Trace, bar *shared.Bar, e *reports.Exploration,
) {
	timed, cancel := context.WithTimeout(ctx, x.Time+2*explore.Shrinkings*x.Shrinking+k.o.controlTime())
	defer cancel()
	k.control = func(script string) reports.Verdict { return control(timed, k.at, script) }
	activity := &exploreProgress{begun: time.Now(), budget: k.o.time, steps: k.o.steps}
	bar.Begin(activity.state)
	begun := time.Now()
	k.server = printingOf(x.Target)
	x.Found, x.Progress = k.found, activity.record
	if again != nil {
		k.addResult(e, x.Replay(ctx, *again))
	} else {
		all := crowd.Campaign{Explorer: x, Workers: k.o.clients, Recorded: k.saveHistory}
		if k.at.Ours() && len(x.Disrupt) == 0 && !k.o.given.Changed("steps") {
			all.Start, all.Protects = k.starter(ctx), subject{Endpoint: k.at}.protects()
		}
		all.Explored = func(r *explore.Result) { k.addResult(e, r) }
		if _, h := all.Run(ctx); h != nil {
			k.addHistory(e, h)
		}
	}
	e.Took = time.Since(begun)
	bar.End()
	k.weigh(e)
	k.unserved(e)
	if len(e.Findings) >= k.o.most {
		e.Limits = fmt.Sprintf("--findings %d", k.o.most)
	}
	ended(ctx, e)
}

// ended records in a report what ended the exploration early, if anything did.
func ended(ctx context.Context, e *reports.Exploration) {
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

// exploring are the flags that explore and compare share, which both send generated commands.
type exploring struct {
	testOptions

	time, longest, shrink time.Duration
	steps, connections    int
	most                  int // findings, or kinds of differences
	noShrink              bool
}

// explorer returns what sends generated commands to a server; own says that everything may be done to it.
func (o *exploring) explorer(at shared.Endpoint, own bool) explore.Explorer {
	return explore.Explorer{
		Subject: at.Peer.Subject(), Password: at.Password, Seed: o.seed, Steps: o.steps, Time: o.time,
		Connections: o.connections, Findings: o.most, Timeout: o.timeout, Patience: o.patience, Longest: o.longest,
		Unshrunk: o.noShrink, Shrinking: o.shrink, Alone: o.alone() || own, NoFlush: !o.allowFlush && !own,
	}
}

// exploreOptions are the flags of `fwpcheck explore`.
type exploreOptions struct {
	exploring

	disrupt disruptFlag
	clients int
	replay  string
}

// The defaults that depend on other flags.
const (
	defaultTime   = 2 * time.Minute
	defaultSteps  = 20000 // without --steps and --time
	defaultShrink = 20 * time.Second
	shrinkShare   = 2 // one such part of --time is enough for a finding
	longerShrink  = 3 // times the value of --wait
	waitsAtLeast  = 4 // times --wait fits into --time
)

func (o *exploreOptions) declare(cmd *cobra.Command) {
	f := o.flags(cmd)
	o.targetFlags.Declare(f, "explore")
	o.targetFlags.DeclareProtocol(f)
	shared.DeclareProfile(f, &o.targetFlags.Profile)
	o.targetFlags.Command = "fwpcheck explore"
	o.declareAllowed(f, "server", "try")
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
	f.DurationVar(&o.longest, "wait", 0,
		"the longest pause of all clients, at most a quarter of --time; without pauses no reservation ends and no retry "+
			"comes")
	f.StringVar(&o.replay, "replay", "",
		"play the run that an earlier exploration saved in `FILE`, instead of a new one")
	o.declareWaits(f, 5*time.Second)
}

func (o *exploreOptions) declareFindings(f *pflag.FlagSet) {
	f.IntVar(&o.most, "findings", 100, "stop after `N` findings")
	f.DurationVar(&o.shrink, "shrink", defaultShrink,
		"the longest time for shrinking one finding, and at most half of --time; --wait adds three times its value")
	f.BoolVar(&o.noShrink, "no-shrink", false, "do not shrink findings")
	f.StringVar(&o.folder, "save", "", "save a script and the whole run of each finding in `FOLDER`")
	f.BoolVar(&o.strict, "strict", false, "treat recommendations as requirements")
}

// validate checks the values that no flag checks by itself.
func (o *exploreOptions) validate() error {
	return cmp.Or(
		refuse(o.longest < 0 || o.clients < 0, "--wait and --clients cannot be less than 0"),
		refuse(o.given.Changed("steps") && o.steps < 1, "--steps must be 1 or more"),
		refuse(o.connections < 1 || o.most < 1, "--connections and --findings must be 1 or more"),
		refuse(o.time <= 0 || o.timeout <= 0 || o.patience <= 0 || o.shrink <= 0,
			"--time, --timeout, --patience and --shrink must be longer than 0"),
		refuse(waitsAtLeast*o.longest > o.time, fmt.Sprintf("--wait %v is too long for --time %v: give --time %v or more",
			o.longest, o.time, waitsAtLeast*o.longest)),
		refuse(o.replay != "" && (o.given.Changed("seed") || o.given.Changed("steps")),
			"--seed and --steps do not work with --replay, which plays a saved run"))
}

// fillIn sets the values that no flag did.
func (o *exploreOptions) fillIn() {
	if o.steps == 0 && !o.given.Changed("time") {
		o.steps = defaultSteps
	}
	if !o.given.Changed("shrink") {
		o.shrink = min(o.shrink, o.time/shrinkShare) + longerShrink*o.longest
	}
	o.drawSeed()
}

// explorer returns the exploration that the flags ask for. It has the servers that it needs started, if they exist for
// this process only.
func (o *exploreOptions) explorer(
	ctx context.Context, at shared.Endpoint, e *reports.Exploration,
) (x explore.Explorer, end func(), err error) {
	x = o.exploring.explorer(at, at.Ours())
	x.Time -= o.controlTime()
	x.Disrupt = o.disrupt.actions
	x.Restarts = at.Ours() || at.Server.Can(target.Restart)
	if at.Ours() {
		x.Fresh = func() (play.Target, func(), error) {
			if len(x.Disrupt) > 0 {
				return o.disrupt.start(ctx, o, at)
			}
			return o.starter(ctx, at)("")
		}
		x.Target, end, err = x.Fresh()
		return x, end, err
	}
	end = func() {}
	begun := time.Now() // the greeting may take as long as --time
	id, err := at.Identify(ctx, min(o.timeout, o.time/2))
	x.Time = max(x.Time-time.Since(begun), time.Millisecond)
	x.Target, e.Target = dialed{at.Server}, at.Target(id)
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
		server, end, err := subject{Endpoint: at}.start(ctx, registry.Config{Password: password}, o.timeout)
		if started, is := server.Target.(*target.Server); is && server.Ended != nil {
			return mortal{started, server.Ended}, end, err
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
	script, err := scenarios.Parse(at.Peer.Dialect, "control.fwp", []byte(text))
	if err != nil {
		return reports.Inconclusive
	}
	ctx, cancel := context.WithTimeout(ctx, controlWait)
	defer cancel()
	at.Bugs, at.Variation, at.Choice.Embedded = nil, registry.Variation{}, true
	bed, err := subject{Endpoint: at}.open(ctx, controlWait)
	if err != nil {
		return reports.Inconclusive
	}
	defer bed.end()
	runner := &run.Runner{
		Protocol: at.Peer.Protocol, Servers: bed.servers, Checks: conformance.Scripts(script),
	}
	return runner.Run(ctx).Checks[0].Verdict
}

// withoutHistory leaves the load of several clients out where their history is not judged.
func (o *exploreOptions) withoutHistory(of *registry.Peer) error {
	if of.Histories {
		return nil
	}
	asked := o.given.Changed("clients") && o.clients > 0
	o.clients = 0
	return refuse(asked, "--clients works only with FWP")
}
