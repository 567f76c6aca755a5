package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// compareOptions are the flags of `fwpcheck compare`.
type compareOptions struct {
	generatorOptions

	commands []string
}

// compareSteps is how many commands are sent without --steps and --time.
const compareSteps = 5000

// newCompare builds `fwpcheck compare`.
func newCompare(p process) *cobra.Command {
	o := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "compare [A B | REPORT REPORT...]",
		Short: "Compare two servers under the same generated commands, or several reports",
		Args:  o.checkArguments,
		RunE: func(cmd *cobra.Command, urls []string) error {
			if areFiles(urls) {
				return p.compareReports(o, urls)
			}
			return p.compare(cmd.Context(), o, urls)
		},
	}
	o.declare(cmd)
	return cmd
}

// checkArguments returns an error unless there are two servers, none, or reports.
func (o *compareOptions) checkArguments(cmd *cobra.Command, args []string) error {
	switch servers := len(args) + len(o.commands); {
	case slices.ContainsFunc(args, isServer) && slices.ContainsFunc(args, fileExists):
		return fmt.Errorf("%s compares servers or reports, and got a server and a file", cmd.CommandPath())
	case servers == 0 || servers == 2 && (len(o.commands) == 0 || !areFiles(args)):
		return nil
	case len(o.commands) == 0 && len(args) > 2 && areFiles(args):
		return nil
	case len(o.commands) > 0:
		return fmt.Errorf("%s compares two servers, and got %d with --start and %d as arguments; give --start twice, or "+
			"once with one argument", cmd.CommandPath(), len(o.commands), len(args))
	}
	return fmt.Errorf("%s takes two servers (URL, start:COMMAND, embedded), two or more reports, or no arguments to "+
		"compare the embedded server with itself: got %d", cmd.CommandPath(), len(args))
}

func (o *compareOptions) declare(cmd *cobra.Command) {
	f := o.bindFlags(cmd)
	f.StringArrayVar(&o.commands, "start", nil, "start a server with the shell `COMMAND`; {port}, {webport} and {dir} "+
		"in it are replaced; or \"faktory=PATH\". Give it twice for two servers. An argument start:COMMAND does the same")
	o.targetFlags.DeclareProtocol(f)
	shared.DeclareExtension(f, &o.targetFlags.Extension)
	o.targetFlags.Command = "fwpcheck compare"
	o.targetFlags.DeclareStarts(f)
	o.targetFlags.DeclareTLS(f)
	o.targetFlags.DeclareSecrets(f)
	o.targetFlags.Subject.Declare(f)
	o.declarePermissions(f, "servers", "try")
	shared.DeclareBug(cmd, &o.bug, "give the second embedded server the planted bug `NAME` (see fwpcheck list --bugs)")
	shared.DeclareVariation(cmd, &o.variation, "the second embedded server")
	f.DurationVar(&o.time, "time", 0,
		"how long to compare, without the time for shrinking (default: 5,000 commands instead)")
	f.IntVar(&o.steps, "steps", 0, "send at most `N` commands to each server, not counting those that shrink differences")
	f.Uint64Var(&o.seed, "seed", 0, "`SEED` of all random choices (default: random)")
	f.IntVar(&o.connections, "connections", 6, "use `N` concurrent connections, plus two more that must stay unaffected")
	f.IntVar(&o.limit, "differences", 30, "stop after `N` kinds of differences")
	f.DurationVar(&o.maxPause, "wait", 0,
		"the longest pause of all clients; without pauses no reservation ends and no retry comes")
	o.declareWaits(f, 5*time.Second)
	f.DurationVar(&o.shrink, "shrink", 20*time.Second, "the longest time for shrinking one difference")
	f.BoolVar(&o.noShrink, "no-shrink", false, "do not shrink differences")
	f.BoolVar(&o.isStrict, "strict", false, "treat recommendations as requirements")
	o.reportFlags.Declare(cmd, "list all leftover jobs")
}

// validate checks the values that no flag checks by itself.
func (o *compareOptions) validate(urls []string) error {
	return cmp.Or(
		o.targetFlags.Subject.Check(2),
		o.targetFlags.CheckLog(len(o.commands) > 0),
		errorIf(o.bug != "" && len(urls)+len(o.commands) > 0, "--bug works only with the embedded server"),
		errorIf(o.variation != "" && len(urls)+len(o.commands) > 0, "--variation works only with the embedded server"),
		errorIf(o.time < 0 || o.maxPause < 0, "--time and --wait cannot be less than 0"),
		errorIf(o.flags.Changed("steps") && o.steps < 1, "--steps must be 1 or more"),
		errorIf(o.connections < 1 || o.limit < 1, "--connections and --differences must be 1 or more"),
		errorIf(o.timeout <= 0 || o.patience <= 0 || o.shrink <= 0,
			"--timeout, --patience and --shrink must be longer than 0"))
}

// compare runs one comparison, from the flags to the exit code.
func (p process) compare(ctx context.Context, o *compareOptions, urls []string) error {
	if err := cmp.Or(o.validate(urls), o.reportFlags.Validate()); err != nil {
		return err
	}
	sides, err := o.endpoints(urls)
	if err != nil {
		return err
	}
	if o.steps == 0 && o.time == 0 {
		o.steps = compareSteps
	}
	o.drawSeed()
	p.Secrets = sides[0].Secrets.Merge(sides[1].Secrets)
	p.Logf("comparing A, %s, with B, %s, seed %d", sides[0], sides[1], o.seed)
	ctx, stop := p.begin(ctx)
	defer stop()
	c := &reports.Comparison{
		Head: reports.Head{StartTime: time.Now(), Seed: o.seed, Version: version()},
		A:    sides[0].Target(conformance.Identity{}), B: sides[1].Target(conformance.Identity{}),
	}
	x, end, err := o.comparison(ctx, sides, c)
	defer end()
	if err == nil {
		x.Explorer.Alphabet = p.exploreSubject(ctx, sides[0], o.timeout, x.Explorer.Target, x.Second)
		x.Found = func(d explore.Difference) {
			p.Logf("%s %s: A %.80q, B %.80q", cmp.Or(d.Command, "connection"), d.Clause, d.Sides[0].Reply, d.Sides[1].Reply)
		}
		r := x.Run(ctx)
		o.fillReport(c, r, sides)
		err = deathError(c, r)
		for i, t := range []*reports.Target{&c.A, &c.B} {
			*t = sides[i].Introduce(ctx, *t, []play.Target{x.Explorer.Target, x.Second}[i], sides[i].Password, o.timeout)
		}
	}
	c.Took = time.Since(c.StartTime)
	c.Trouble = failure(ctx, err)
	reports.Hide(p.Secrets.Hide, c)
	return o.deliver(p, c)
}

// endpoints returns the servers that the arguments and --start name, the embedded ones if there are none.
func (o *compareOptions) endpoints(urls []string) (sides [2]shared.Endpoint, err error) {
	for i, arg := range urls {
		var ok bool
		if sides[i], ok, err = o.targetFlags.EndpointOf(arg); err == nil && !ok {
			err = fmt.Errorf("%q is neither a server nor a file: a server is a URL, start:COMMAND or embedded",
				target.RedactCommand(arg))
		}
		if err != nil {
			return sides, err
		}
	}
	for i, command := range o.commands {
		if sides[len(urls)+i], err = o.targetFlags.StartEndpoint(command); err != nil {
			return sides, err
		}
	}
	if len(urls)+len(o.commands) == 0 {
		for i := range sides {
			if sides[i], err = o.targetFlags.EmbeddedEndpoint(); err != nil {
				return sides, err
			}
		}
		return sides, cmp.Or(sides[1].SetVariation(o.variation), sides[1].SetBug(o.bug))
	}
	for i := range sides {
		if err = o.targetFlags.ApplySubject(&sides[i], i); err != nil {
			return sides, err
		}
	}
	if a, b := sides[0].Entry, sides[1].Entry; a != b {
		return sides, fmt.Errorf("the two servers must have the same protocol: one has %s, the other %s", a.Title, b.Title)
	}
	return sides, nil
}

// comparison returns the comparison that the flags ask for. end ends the servers that were started for it.
func (o *compareOptions) comparison(
	ctx context.Context, sides [2]shared.Endpoint, c *reports.Comparison,
) (x explore.Comparison, end func(), err error) {
	targets, end, err := o.targets(ctx, sides, c)
	if err != nil {
		return x, end, err
	}
	isPrivate := sides[0].IsPrivate() && sides[1].IsPrivate()
	x = explore.Comparison{
		Explorer: o.explorer(sides[0], isPrivate), Second: targets[1], Password: sides[1].Password, OwnsServers: isPrivate,
	}
	x.Explorer.Target, x.Explorer.Shrinking = targets[0], o.shrink+3*o.maxPause
	return x, end, nil
}

// targets returns the servers, which have to be there and of one kind.
func (o *compareOptions) targets(
	ctx context.Context, sides [2]shared.Endpoint, c *reports.Comparison,
) (targets [2]play.Target, end func(), err error) {
	var isProtected [2]bool
	var ends []func()
	end = func() {
		for _, stop := range ends {
			stop()
		}
	}
	reportTargets := [2]*reports.Target{&c.A, &c.B}
	for i, at := range sides {
		targets[i] = plainServer{at.Server}
		if at.IsPrivate() {
			server, stop, err := testTarget{Endpoint: at}.start(ctx, registry.Config{}, o.timeout)
			if err != nil {
				return targets, end, err
			}
			ends, targets[i] = append(ends, stop), server.Target
			at.Server, _ = server.Target.(*target.Server) // the embedded one is none
		}
		if at.Choice.IsEmbedded {
			continue
		}
		id, err := at.Identify(ctx, o.timeout)
		if err != nil {
			return targets, end, err
		}
		*reportTargets[i], isProtected[i] = at.Target(id), id.Protected
	}
	if isProtected[0] != isProtected[1] {
		err = &shared.UnreachableError{
			Cause:  errors.New("one server asks for a password and the other does not"),
			Advice: "the servers must be of one kind: their clients greet them in different ways",
		}
	}
	return targets, end, err
}

// fillReport adds what a comparison found to the report. What was started for it no longer exists.
func (*compareOptions) fillReport(c *reports.Comparison, r *explore.ComparisonResult, sides [2]shared.Endpoint) {
	c.Commands, c.Outcomes = r.Commands, r.Coverage.Outcomes
	if r.Limits != [2]int{} {
		c.ConnLimits = r.Limits[:]
	}
	for i, words := range r.Unread {
		if words != "" && c.Unread == "" {
			c.Unread = string("AB"[i]) + ": " + words
		}
	}
	for i, at := range sides {
		if !at.IsPrivate() {
			c.LeftoverJobs = append(c.LeftoverJobs, r.LeftoverJobs[i]...)
		}
	}
	for _, d := range r.Differences {
		difference := reports.Difference{
			Command: d.Command, State: d.State, Field: d.Field, Clause: d.Clause, Count: d.Count,
			A: side(d.Sides[0]), B: side(d.Sides[1]), Reproduced: d.Hits, Attempts: d.Tries,
		}
		for _, e := range d.Conversation {
			difference.Conversation = append(difference.Conversation, reports.Exchange{
				Step: e.Step, A: text.Shorten(e.Replies[0]), B: text.Shorten(e.Replies[1]),
			})
		}
		difference.SetBrokenSide()
		c.Differences = append(c.Differences, difference)
	}
	c.Sort()
}

// deathError returns that a server serves no more, unless that shows as a difference.
func deathError(c *reports.Comparison, r *explore.ComparisonResult) error {
	isBreach := func(d reports.Difference) bool { return d.IsNewBreach(reports.ExitOptions{}) }
	for i, name := range []string{"A", "B"} {
		if r.IsDead[i] && !slices.ContainsFunc(c.Differences, isBreach) {
			return &shared.UnreachableError{Cause: errors.New(name + ": " + cmp.Or(r.LostReason[i],
				"no new connection is served any more, after "+text.Count(r.Commands, "command")))}
		}
	}
	return nil
}

// side returns one server's side of a difference, with the level of what it breaks.
func side(s explore.Side) reports.DifferenceSide {
	d := reports.DifferenceSide{Reply: text.Shorten(s.Reply)}
	v := s.Violation
	if v == nil {
		return d
	}
	d.Clause, d.Expected, d.Verdict = v.Clause, text.Shorten(v.Expected), reports.Fail
	if c, ok := registry.Clause(v.Clause); ok {
		d.Level, d.Verdict = c.Level, c.BreachVerdict()
	}
	switch {
	case v.Rule == explore.RuleCrash:
		d.Verdict = reports.Crash
	case v.IsRecommendation:
		d.Level, d.Verdict = reports.LevelShould, reports.Warn
	}
	return d
}

// areFiles reports whether the arguments of compare are files: no servers, and one of them exists.
func areFiles(args []string) bool {
	return !slices.ContainsFunc(args, isServer) && slices.ContainsFunc(args, fileExists)
}

// isServer reports whether an argument names a server, and not a file.
func isServer(arg string) bool {
	kind, _ := target.NameOf(arg)
	return kind != target.NamesNothing && !fileExists(arg)
}

func fileExists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// reportModeFlags holds the flags of compare that concern reports.
var reportModeFlags = []string{"strict", "format", "output", "verbose", "color", "no-progress"}

// compareReports compares saved reports.
func (p process) compareReports(o *compareOptions, names []string) error {
	if flag := shared.OtherFlag(o.flags, reportModeFlags); flag != "" {
		return fmt.Errorf("--%s works only with servers, not with reports", flag)
	}
	if err := o.reportFlags.Validate(); err != nil {
		return err
	}
	var all []*reports.Report
	for _, name := range names {
		r, err := p.readReport(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	if err := checkKinds(names, all); err != nil {
		return err
	}
	c := reports.Compare(names, all)
	c.Version = version()
	return o.deliver(p, c)
}

// checkKinds returns an error unless all reports are about servers, or all about workers, or about clients.
func checkKinds(names []string, all []*reports.Report) error {
	kind := func(r *reports.Report) string { return "a " + cmp.Or(r.Target.Role, "server") }
	for i, r := range all {
		if first := kind(all[0]); kind(r) != first {
			return fmt.Errorf("%s is a report of %s, and %s of %s: they have no check in common; give reports of one kind",
				names[0], first, names[i], kind(r))
		}
	}
	return nil
}

// readReport reads the report of a run.
func (p process) readReport(name string) (*reports.Report, error) {
	data, err := p.readJSON(name, "a run of fwpcheck", reportSchema)
	if err != nil {
		return nil, err
	}
	return reports.ReadJSON(data)
}

// readJSON returns the JSON of a saved report of something, which has one of these schemas.
func (p process) readJSON(name, kind string, schemas ...string) ([]byte, error) {
	if _, err := os.Stat(name); err != nil {
		return nil, err
	}
	data, isReport, err := p.ReadReport(name, schemas...)
	if err == nil && !isReport {
		err = fmt.Errorf("not the report of %s in JSON or HTML", kind)
	}
	return data, err
}
