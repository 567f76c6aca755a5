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
	exploring

	starts []string
}

// compareSteps is how many commands are sent without --steps and --time.
const compareSteps = 5000

// newCompare builds `fwpcheck compare`.
func newCompare(p process) *cobra.Command {
	o := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "compare [A B | REPORT REPORT...]",
		Short: "Compare two servers with the same generated commands, or the reports of several runs",
		Args:  o.noneOrTwo,
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

// noneOrTwo returns an error unless there are two servers, none, or reports.
func (o *compareOptions) noneOrTwo(cmd *cobra.Command, args []string) error {
	switch servers := len(args) + len(o.starts); {
	case slices.ContainsFunc(args, isServer) && slices.ContainsFunc(args, exists):
		return fmt.Errorf("%s compares servers or reports, and got a server and a file", cmd.CommandPath())
	case servers == 0 || servers == 2 && (len(o.starts) == 0 || !areFiles(args)):
		return nil
	case len(o.starts) == 0 && len(args) > 2 && areFiles(args):
		return nil
	case len(o.starts) > 0:
		return fmt.Errorf("%s compares two servers, and got %d with --start and %d as arguments; give --start twice, or "+
			"once with one argument", cmd.CommandPath(), len(o.starts), len(args))
	}
	return fmt.Errorf("%s takes two servers (URL, start:COMMAND, embedded), two or more reports, or no arguments to "+
		"compare the embedded server with itself: got %d", cmd.CommandPath(), len(args))
}

func (o *compareOptions) declare(cmd *cobra.Command) {
	f := o.flags(cmd)
	f.StringArrayVar(&o.starts, "start", nil, "start a server with the shell `COMMAND`; {port}, {webport} and {dir} "+
		"in it are replaced; or \"faktory=PATH\". Give it twice for two servers. An argument start:COMMAND does the same")
	o.targetFlags.DeclareProtocol(f)
	shared.DeclareProfile(f, &o.targetFlags.Profile)
	o.targetFlags.Command = "fwpcheck compare"
	o.targetFlags.DeclareStarts(f)
	o.targetFlags.DeclareTLS(f)
	o.targetFlags.DeclareSecrets(f)
	o.targetFlags.Subject.Declare(f)
	o.declareAllowed(f, "servers", "try")
	shared.DeclareBug(cmd, &o.bug, "give the second embedded server the planted bug `NAME` (see fwpcheck list --bugs)")
	shared.DeclareVariation(cmd, &o.variation, "the second embedded server")
	f.DurationVar(&o.time, "time", 0,
		"how long to compare, without the time for shrinking (default: 5,000 commands instead)")
	f.IntVar(&o.steps, "steps", 0, "send at most `N` commands to each server, not counting those that shrink differences")
	f.Uint64Var(&o.seed, "seed", 0, "`SEED` of all random choices (default: random)")
	f.IntVar(&o.connections, "connections", 6, "use `N` concurrent connections, plus two more that must stay unaffected")
	f.IntVar(&o.most, "differences", 30, "stop after `N` kinds of differences")
	f.DurationVar(&o.longest, "wait", 0,
		"the longest pause of all clients; without pauses no reservation ends and no retry comes")
	o.declareWaits(f, 5*time.Second)
	f.DurationVar(&o.shrink, "shrink", 20*time.Second, "the longest time for shrinking one difference")
	f.BoolVar(&o.noShrink, "no-shrink", false, "do not shrink differences")
	f.BoolVar(&o.strict, "strict", false, "treat recommendations as requirements")
	o.reportFlags.Declare(cmd, "list all leftover jobs")
}

// validate checks the values that no flag checks by itself.
func (o *compareOptions) validate(urls []string) error {
	return cmp.Or(
		o.targetFlags.Subject.Check(2),
		o.targetFlags.LogFits(len(o.starts) > 0),
		refuse(o.bug != "" && len(urls)+len(o.starts) > 0, "--bug works only with the embedded server"),
		refuse(o.variation != "" && len(urls)+len(o.starts) > 0, "--variation works only with the embedded server"),
		refuse(o.time < 0 || o.longest < 0, "--time and --wait cannot be less than 0"),
		refuse(o.given.Changed("steps") && o.steps < 1, "--steps must be 1 or more"),
		refuse(o.connections < 1 || o.most < 1, "--connections and --differences must be 1 or more"),
		refuse(o.timeout <= 0 || o.patience <= 0 || o.shrink <= 0,
			"--timeout, --patience and --shrink must be longer than 0"))
}

// compare runs one comparison, from the flags to the exit code.
func (p process) compare(ctx context.Context, o *compareOptions, urls []string) error {
	if err := cmp.Or(o.validate(urls), o.reportFlags.Validate()); err != nil {
		return err
	}
	both, err := o.endpoints(urls)
	if err != nil {
		return err
	}
	if o.steps == 0 && o.time == 0 {
		o.steps = compareSteps
	}
	o.drawSeed()
	p.Secrets = both[0].Secrets.And(both[1].Secrets)
	p.Logf("comparing A, %s, with B, %s, seed %d", both[0], both[1], o.seed)
	ctx, stop := p.begin(ctx)
	defer stop()
	c := &reports.Comparison{
		Head: reports.Head{Started: time.Now(), Seed: o.seed, Version: version()},
		A:    both[0].Target(conformance.Identity{}), B: both[1].Target(conformance.Identity{}),
	}
	x, end, err := o.comparison(ctx, both, c)
	defer end()
	if err == nil {
		x.Explorer.Subject = p.offered(ctx, both[0], o.timeout, x.Explorer.Target, x.Other)
		x.Found = func(d explore.Difference) {
			p.Logf("%s %s: A %.80q, B %.80q", cmp.Or(d.Command, "connection"), d.Clause, d.Sides[0].Reply, d.Sides[1].Reply)
		}
		r := x.Run(ctx)
		o.record(c, r, both)
		err = unserved(c, r)
		for i, t := range []*reports.Target{&c.A, &c.B} {
			*t = both[i].Introduced(ctx, *t, []play.Target{x.Explorer.Target, x.Other}[i], both[i].Password, o.timeout)
		}
	}
	c.Took = time.Since(c.Started)
	c.Trouble = failure(ctx, err)
	reports.Hide(p.Secrets.Hide, c)
	return o.deliver(p, c)
}

// endpoints returns the servers that the arguments and --start name, the embedded ones if there are none.
func (o *compareOptions) endpoints(urls []string) (both [2]shared.Endpoint, err error) {
	for i, arg := range urls {
		var is bool
		if both[i], is, err = o.targetFlags.Named(arg); err == nil && !is {
			err = fmt.Errorf("%q is neither a server nor a file: a server is a URL, start:COMMAND or embedded",
				target.RedactCommand(arg))
		}
		if err != nil {
			return both, err
		}
	}
	for i, command := range o.starts {
		if both[len(urls)+i], err = o.targetFlags.Starting(command); err != nil {
			return both, err
		}
	}
	if len(urls)+len(o.starts) == 0 {
		for i := range both {
			if both[i], err = o.targetFlags.Embedded(); err != nil {
				return both, err
			}
		}
		return both, cmp.Or(both[1].SetVariation(o.variation), both[1].SetBug(o.bug))
	}
	for i := range both {
		if err = o.targetFlags.Name(&both[i], i); err != nil {
			return both, err
		}
	}
	if a, b := both[0].Peer, both[1].Peer; a != b {
		return both, fmt.Errorf("the two servers must have the same protocol: one has %s, the other %s", a.Title, b.Title)
	}
	return both, nil
}

// comparison returns the comparison that the flags ask for. end ends the servers that were started for it.
func (o *compareOptions) comparison(
	ctx context.Context, both [2]shared.Endpoint, c *reports.Comparison,
) (x explore.Comparison, end func(), err error) {
	targets, end, err := o.targets(ctx, both, c)
	if err != nil {
		return x, end, err
	}
	own := both[0].Ours() && both[1].Ours()
	x = explore.Comparison{
		Explorer: o.explorer(both[0], own), Other: targets[1], Password: both[1].Password, Own: own,
	}
	x.Explorer.Target, x.Explorer.Shrinking = targets[0], o.shrink+3*o.longest
	return x, end, nil
}

// targets returns the servers, which have to be there and of one kind.
func (o *compareOptions) targets(
	ctx context.Context, both [2]shared.Endpoint, c *reports.Comparison,
) (targets [2]play.Target, end func(), err error) {
	var locked [2]bool
	var ends []func()
	end = func() {
		for _, one := range ends {
			one()
		}
	}
	described := [2]*reports.Target{&c.A, &c.B}
	for i, at := range both {
		targets[i] = dialed{at.Server}
		if at.Ours() {
			server, stop, err := subject{Endpoint: at}.start(ctx, registry.Config{}, o.timeout)
			if err != nil {
				return targets, end, err
			}
			ends, targets[i] = append(ends, stop), server.Target
			at.Server, _ = server.Target.(*target.Server) // the embedded one is none
		}
		if at.Choice.Embedded {
			continue
		}
		id, err := at.Identify(ctx, o.timeout)
		if err != nil {
			return targets, end, err
		}
		*described[i], locked[i] = at.Target(id), id.Protected
	}
	if locked[0] != locked[1] {
		err = &shared.UnreachableError{
			Cause:  errors.New("one server asks for a password and the other does not"),
			Advice: "the servers must be of one kind: their clients greet them in different ways",
		}
	}
	return targets, end, err
}

// record adds what a comparison found to the report. What was started for it no longer exists.
func (*compareOptions) record(c *reports.Comparison, r *explore.Compared, both [2]shared.Endpoint) {
	c.Commands, c.Outcomes = r.Commands, r.Coverage.Outcomes
	if r.Limits != [2]int{} {
		c.Limits = r.Limits[:]
	}
	for i, words := range r.Unread {
		if words != "" && c.Unread == "" {
			c.Unread = string("AB"[i]) + ": " + words
		}
	}
	for i, at := range both {
		if !at.Ours() {
			c.Left = append(c.Left, r.Left[i]...)
		}
	}
	for _, d := range r.Differences {
		found := reports.Difference{
			Command: d.Command, State: d.State, Field: d.Field, Clause: d.Clause, Count: d.Count,
			A: side(d.Sides[0]), B: side(d.Sides[1]), Reproduced: d.Shown, Tried: d.Tried,
		}
		for _, e := range d.Conversation {
			found.Conversation = append(found.Conversation, reports.Exchange{
				Step: e.Step, A: text.Shorten(e.Replies[0]), B: text.Shorten(e.Replies[1]),
			})
		}
		found.Judge()
		c.Differences = append(c.Differences, found)
	}
	c.Sort()
}

// unserved returns that a server serves no more, unless that shows as a difference.
func unserved(c *reports.Comparison, r *explore.Compared) error {
	breaks := func(d reports.Difference) bool { return d.Breaks(reports.ExitOptions{}) }
	for i, name := range []string{"A", "B"} {
		if r.Dead[i] && !slices.ContainsFunc(c.Differences, breaks) {
			return &shared.UnreachableError{Cause: errors.New(name + ": " + cmp.Or(r.Lost[i],
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
	if c, known := registry.Clause(v.Clause); known {
		d.Level, d.Verdict = c.Level, c.Breach()
	}
	switch {
	case v.Rule == explore.RuleCrash:
		d.Verdict = reports.Crash
	case v.Should:
		d.Level, d.Verdict = reports.LevelShould, reports.Warn
	}
	return d
}

// areFiles reports whether the arguments of compare are files: no servers, and one of them exists.
func areFiles(args []string) bool {
	return !slices.ContainsFunc(args, isServer) && slices.ContainsFunc(args, exists)
}

// isServer reports whether an argument names a server, and not a file.
func isServer(arg string) bool {
	of, _ := target.NameOf(arg)
	return of != target.NamesNothing && !exists(arg)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// ofReports holds the flags of compare that concern reports.
var ofReports = []string{"strict", "format", "output", "verbose", "color", "no-progress"}

// compareReports compares saved reports.
func (p process) compareReports(o *compareOptions, names []string) error {
	if wrong := shared.OtherThan(o.given, ofReports); wrong != "" {
		return fmt.Errorf("--%s works only with servers, not with reports", wrong)
	}
	if err := o.reportFlags.Validate(); err != nil {
		return err
	}
	var all []*reports.Report
	for _, name := range names {
		r, err := p.savedReport(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	if err := alike(names, all); err != nil {
		return err
	}
	c := reports.Compare(names, all)
	c.Version = version()
	return o.deliver(p, c)
}

// alike returns an error unless all reports are about servers, or all about workers, or about clients.
func alike(names []string, all []*reports.Report) error {
	about := func(r *reports.Report) string { return "a " + cmp.Or(r.Target.Role, "server") }
	for i, r := range all {
		if first := about(all[0]); about(r) != first {
			return fmt.Errorf("%s is a report of %s, and %s of %s: they have no check in common; give reports of one kind",
				names[0], first, names[i], about(r))
		}
	}
	return nil
}

// savedReport reads the report of a run.
func (p process) savedReport(name string) (*reports.Report, error) {
	data, err := p.savedJSON(name, "a run of fwpcheck", toolsReport)
	if err != nil {
		return nil, err
	}
	return reports.ReadJSON(data)
}

// savedJSON returns the JSON of a saved report of something, which has one of these schemas.
func (p process) savedJSON(name, of string, schemas ...string) ([]byte, error) {
	if _, err := os.Stat(name); err != nil {
		return nil, err
	}
	data, some, err := p.ReadReport(name, schemas...)
	if err == nil && !some {
		err = fmt.Errorf("not the report of %s in JSON or HTML", of)
	}
	return data, err
}
