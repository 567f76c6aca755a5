package check

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// testTarget is the server under test.
type testTarget struct {
	shared.Endpoint
	allowsOtherJobs, allowsFlush bool // what may be done to a server of the user's
}

// subject returns the server that flags and environment name. A flag without an effect on it is an error.
func (o *testOptions) subject(lookup func(string) (string, bool)) (testTarget, error) {
	e, err := o.targetFlags.Endpoint(o.flags, lookup, &o.operatorFlags, "exclusive", "allow-flush")
	if err == nil {
		err = cmp.Or(e.SetVariation(o.variation), e.SetBug(o.bug))
	}
	return testTarget{e, o.allowsOtherJobs(), o.allowsFlush}, err
}

// offers returns what a server that is not embedded offers.
func (s testTarget) offers(server *target.Server, isProtected bool) []scenarios.Need {
	return run.Offers(map[scenarios.Need]bool{
		scenarios.NeedOpen: !isProtected, scenarios.NeedPassword: isProtected,
		scenarios.NeedSignals: server.Can(target.Quiet) && server.Can(target.Terminate),
		scenarios.NeedRestart: server.Can(target.Restart), scenarios.NeedKill: server.Can(target.Kill),
		scenarios.NeedAlone: s.allowsOtherJobs || s.IsPrivate(), scenarios.NeedFlush: s.allowsFlush || s.IsPrivate(),
	})
}

// provide returns, for each need, how the user can meet it.
func provide(s testTarget) map[scenarios.Need]string {
	if s.Choice.IsEmbedded {
		return nil // the embedded server meets all
	}
	start := "let fwpcheck start the server (--start), or "
	password := "start the server with a password, and put it into the URL (tcp://:PASSWORD@HOST:PORT) or give a " +
		"file with --password-file"
	if s.Starter != nil {
		start = ""
		password = "write {password} into the command of --start, where it takes the password; it may be empty"
	}
	return map[scenarios.Need]string{
		scenarios.NeedOpen:     "give the --url of a server without a password",
		scenarios.NeedPassword: password,
		scenarios.NeedSignals:  "give --control COMMAND, in which {action} is quiet or terminate and {wid} the worker's id",
		scenarios.NeedRestart:  start + "give --control COMMAND, in which {action} is restart",
		scenarios.NeedKill:     start + "give --control COMMAND, in which {action} is kill",
		scenarios.NeedAlone:    "give --exclusive, if no other client uses the server",
		scenarios.NeedFlush:    "give --allow-flush, if everything on the server may be deleted",
	}
}

// testbed is the servers on which checks are run.
type testbed struct {
	servers []run.Server
	id      conformance.Identity
	end     func()
}

// open connects to the user's server, which must be there, or starts servers: one without a password, and one with a
// password if there can be any, so that every check has one.
func (s testTarget) open(ctx context.Context, timeout time.Duration) (bed testbed, err error) {
	if !s.IsPrivate() {
		bed.id, err = s.Identify(ctx, timeout)
		bed.servers = []run.Server{{Target: s.Server, Password: s.Password, Offers: s.offers(s.Server, bed.id.Protected)}}
		bed.end = func() {}
		return bed, err
	}
	passwords := []string{""}
	if s.protects() {
		passwords = append(passwords, rand.Text())
	}
	var ends []func()
	bed.end = func() {
		for _, end := range ends {
			end()
		}
	}
	for _, password := range passwords {
		server, end, err := s.start(ctx, registry.Config{Password: password}, timeout)
		if err != nil {
			bed.end()
			return testbed{}, err
		}
		ends, bed.servers = append(ends, end), append(bed.servers, server)
	}
	if bed.id, err = s.Entry.Identify(ctx, bed.servers[0].Target, timeout); err != nil {
		bed.end()
		return bed, &shared.UnreachableError{Cause: err, Advice: "it was ready before: is this machine busy?"}
	}
	return bed, nil
}

// protects reports whether servers with a password can be started.
func (s testTarget) protects() bool {
	return s.Choice.IsEmbedded && s.Entry.HasPasswords || s.Starter != nil && s.Starter.Protects()
}

// introduce returns the target with what it says of itself, when it has been tested: a server that INFO ends is not
// ended before. If the server that was tested no longer answers, another one is started for that.
func (s testTarget) introduce(ctx context.Context, bed testbed, timeout time.Duration) reports.Target {
	server := bed.servers[0]
	t := s.Introduce(ctx, s.Target(bed.id), server.Target, server.Password, timeout)
	t.Chosen = s.DescribeChoice(ctx, t.Chosen)
	if s.Starter == nil || s.Entry.Software == nil || t.Subject.Name != "" || ctx.Err() != nil {
		return t
	}
	other, end, err := s.start(ctx, registry.Config{}, timeout)
	if err != nil {
		return t
	}
	defer end()
	return s.Introduce(ctx, t, other.Target, "", timeout)
}

// start starts a server that exists for this process only: the embedded one in it, whose shortages are noticed in ctx,
// or one by the command of --start, which takes the password of the configuration and nothing else.
func (s testTarget) start(
	ctx context.Context, config registry.Config, timeout time.Duration,
) (server run.Server, end func(), err error) {
	if s.Choice.IsEmbedded {
		config.Network, config.Bugs, config.Variation = noticeNetwork(ctx), s.Bugs, s.Variation
		embedded, err := s.Entry.Start(config)
		if err != nil {
			return run.Server{}, nil, err
		}
		return embedded.Server, embedded.Close, nil
	}
	start := time.Now()
	started, err := s.Start(ctx, config.Password, timeout)
	if err != nil {
		return run.Server{}, nil, err
	}
	server = run.Server{
		IsSlow: time.Since(start) >= target.SlowStart,
		Target: &started.Server, Password: config.Password, Ended: started.Ended, Printed: started.Output,
		PID: started.ListenerPID, Lifetime: started.Lifetime,
		Offers: s.offers(&started.Server, config.Password != ""),
	}
	server.Failed = func() error {
		err := started.Failure()
		if startErr, ok := errors.AsType[*target.StartError](err); ok {
			return &run.UnservedError{Cause: err, ServesWhenEmpty: startErr.StartsEmpty}
		}
		return nil
	}
	server.StartServer = func() (run.Server, func(), error) {
		other, end, err := s.start(ctx, config, timeout)
		if _, ok := errors.AsType[*shared.UnreachableError](err); ok {
			err = &run.UnservedError{Cause: err}
		}
		return other, end, err
	}
	return server, started.End, nil
}

// noticeNetwork returns the network of this machine. A shortage of this process is noticed in a context.
func noticeNetwork(ctx context.Context) registry.TCP {
	return registry.TCP{Notice: func(err error) error { return machine.Notice(ctx, err) }}
}

// applyExtension has a server be tested with its extension: the one that --extension names, or that which it has by its
// INFO. Then its checks only record. The checks of commands that the server does not have are left out.
func (o *runOptions) applyExtension(ctx context.Context, s *testTarget, bed testbed, picks *selection) {
	hasSelection := o.selection.Checks != nil || o.selection.Clauses != nil || o.selection.Levels != nil
	if s.Entry.Extension == "" && !s.Choice.IsEmbedded && !picks.areUserScripts && !hasSelection && !o.expect.updates {
		o.recordExtension(ctx, s, bed.servers[0], picks)
	}
	if s.Entry.Extension == "" || s.Choice.IsEmbedded || picks.areUserScripts {
		return
	}
	for _, verb := range missingVerbs(ctx, s.Endpoint, bed.servers[0].Target, o.timeout) {
		picks.skip("the server does not support "+verb, func(id string) bool {
			return strings.HasPrefix(id, strings.ToLower(verb)+"/")
		})
	}
}

// missingVerbs returns the verbs of the extension that a server does not have.
func missingVerbs(ctx context.Context, at shared.Endpoint, server play.Target, timeout time.Duration) []string {
	if at.Entry.Extension == "" || at.Choice.IsEmbedded {
		return nil
	}
	nc, err := server.Dial(ctx)
	if err != nil {
		return at.Entry.ExtensionVerbs
	}
	return at.Entry.MissingVerbs(ctx, nc, at.Password, timeout)
}

// recordExtension adds the checks of the extension that a server has by its INFO to those that are chosen.
func (o *runOptions) recordExtension(ctx context.Context, s *testTarget, server run.Server, picks *selection) {
	if s.Entry.Software == nil || len(s.Entry.Extensions) == 0 || server.StartServer == nil {
		return
	}
	other, end, err := server.StartServer() // INFO may end the server
	if err != nil {
		return
	}
	defer end()
	name, _, err := s.Software(ctx, other.Target, other.Password, o.timeout)
	entry, extensionErr := s.Entry.WithExtension(name)
	if err != nil || extensionErr != nil || name == "" {
		return
	}
	all, err := entry.Checks()
	added := slices.DeleteFunc(all, func(c conformance.Check) bool {
		return slices.ContainsFunc(picks.allChecks(), hasID(c.Describe().ID))
	})
	in, out, selectErr := conformance.Selection{Suite: entry.Suite, Quick: o.selection.Quick}.Apply(added)
	if err != nil || selectErr != nil {
		return
	}
	picks.checks, picks.omissions, picks.observedIDs = append(picks.checks, in...), append(picks.omissions, out...),
		namesOf(in)
	s.Entry, s.IsExtensionDetected = entry, true
	s.Choice.Source += fmt.Sprintf("; the checks of --extension %s are played too; without that flag they do not affect "+
		"the result",
		entry.Extension)
}

// skip leaves out those of the chosen checks that match, and says why.
func (c *selection) skip(reason string, f func(id string) bool) {
	c.checks = slices.DeleteFunc(slices.Clone(c.checks), func(check conformance.Check) bool {
		matches := f(check.Describe().ID)
		if matches {
			c.omissions = append(c.omissions, conformance.Omission{Check: check, Explanation: reason})
		}
		return matches
	})
}

// markObserved has the checks that only record not change the exit code: what they found is observed, and what they
// left open was not selected.
func (c selection) markObserved(r *reports.Report) {
	reasons := map[string]string{} // why, by clause
	record := func(v *reports.Verdict, words *string, reason *reports.ReasonCode, clause string) {
		switch {
		case v.IsBreach():
			*v, *words = reports.Observed, reasons[clause]
		case !v.IsDecided():
			*v, *words = reports.NotSelected, "it was inconclusive, and --extension was not given"
		}
		*reason = ""
	}
	for i := range r.Checks {
		check := &r.Checks[i]
		if !slices.Contains(c.observedIDs, check.ID) {
			continue
		}
		for _, f := range check.Findings {
			reasons[f.Clause] = fmt.Sprintf("expected %s, got %.300s", f.Expected, f.Actual)
		}
		for k := range check.Clauses {
			row := &check.Clauses[k]
			record(&row.Verdict, &row.Cause, &row.Reason, row.ID)
		}
		record(&check.Verdict, &check.Cause, &check.Reason, "")
		check.Findings = nil
	}
	for i := range r.Clauses {
		row := &r.Clauses[i]
		isOther := func(id string) bool { return !slices.Contains(c.observedIDs, id) }
		if len(row.Checks) > 0 && !slices.ContainsFunc(row.Checks, isOther) {
			record(&row.Verdict, &row.Cause, &row.Reason, row.ID)
		}
	}
}
