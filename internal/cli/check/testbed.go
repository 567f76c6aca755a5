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

// subject is the server under test.
type subject struct {
	shared.Endpoint
	alone, flush bool // what may be done to a server of the user's
}

// subject returns the server that flags and environment name. A flag without an effect on it is an error.
func (o *testOptions) subject(lookup func(string) (string, bool)) (subject, error) {
	e, err := o.targetFlags.Endpoint(o.given, lookup, &o.operatorFlags, "exclusive", "allow-flush")
	if err == nil {
		err = cmp.Or(e.SetVariation(o.variation), e.SetBug(o.bug))
	}
	return subject{e, o.alone(), o.allowFlush}, err
}

// offers returns what a server that is not embedded offers.
func (s subject) offers(server *target.Server, protected bool) []scenarios.Need {
	return run.Offers(map[scenarios.Need]bool{
		scenarios.NeedOpen: !protected, scenarios.NeedPassword: protected,
		scenarios.NeedSignals: server.Can(target.Quiet) && server.Can(target.Terminate),
		scenarios.NeedRestart: server.Can(target.Restart), scenarios.NeedKill: server.Can(target.Kill),
		scenarios.NeedAlone: s.alone || s.Ours(), scenarios.NeedFlush: s.flush || s.Ours(),
	})
}

// provide returns, for each need, how the user can meet it.
func provide(s subject) map[scenarios.Need]string {
	if s.Choice.Embedded {
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
func (s subject) open(ctx context.Context, timeout time.Duration) (bed testbed, err error) {
	if !s.Ours() {
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
	if bed.id, err = s.Peer.Identify(ctx, bed.servers[0].Target, timeout); err != nil {
		bed.end()
		return bed, &shared.UnreachableError{Cause: err, Advice: "it was ready before: is this machine busy?"}
	}
	return bed, nil
}

// protects reports whether servers with a password can be started.
func (s subject) protects() bool {
	return s.Choice.Embedded && s.Peer.Passwords || s.Starter != nil && s.Starter.Protects()
}

// introduced returns the target with what it says of itself, when it has been tested: a server that INFO ends is not
// ended before. If the server that was tested no longer answers, another one is started for that.
func (s subject) introduced(ctx context.Context, on testbed, timeout time.Duration) reports.Target {
	server := on.servers[0]
	t := s.Introduced(ctx, s.Target(on.id), server.Target, server.Password, timeout)
	t.Chosen = s.Reached(ctx, t.Chosen)
	if s.Starter == nil || s.Peer.Software == nil || t.Subject.Name != "" || ctx.Err() != nil {
		return t
	}
	fresh, end, err := s.start(ctx, registry.Config{}, timeout)
	if err != nil {
		return t
	}
	defer end()
	return s.Introduced(ctx, t, fresh.Target, "", timeout)
}

// start starts a server that exists for this process only: the embedded one in it, whose shortages are noticed in ctx,
// or one by the command of --start, which takes the password of the configuration and nothing else.
func (s subject) start(
	ctx context.Context, config registry.Config, timeout time.Duration,
) (server run.Server, end func(), err error) {
	if s.Choice.Embedded {
		config.Network, config.Bugs, config.Variation = noticing(ctx), s.Bugs, s.Variation
		embedded, err := s.Peer.Start(config)
		if err != nil {
			return run.Server{}, nil, err
		}
		return embedded.Server, embedded.Close, nil
	}
	begun := time.Now()
	started, err := s.Start(ctx, config.Password, timeout)
	if err != nil {
		return run.Server{}, nil, err
	}
	server = run.Server{
		Slow:   time.Since(begun) >= target.SlowStart,
		Target: &started.Server, Password: config.Password, Ended: started.Ended, Printed: started.Printed,
		Offers: s.offers(&started.Server, config.Password != ""),
	}
	server.Failed = func() error {
		err := started.Failed()
		if of, is := errors.AsType[*target.StartError](err); is {
			return &run.UnservedError{Cause: err, OnData: of.OnlyEmpty}
		}
		return nil
	}
	server.Fresh = func() (run.Server, func(), error) {
		fresh, end, err := s.start(ctx, config, timeout)
		if _, unserved := errors.AsType[*shared.UnreachableError](err); unserved {
			err = &run.UnservedError{Cause: err}
		}
		return fresh, end, err
	}
	return server, started.End, nil
}

// noticing returns the network of this machine. A shortage of this process is noticed in a context.
func noticing(ctx context.Context) registry.TCP {
	return registry.TCP{Notice: func(err error) error { return machine.Notice(ctx, err) }}
}

// profiled has a server be tested with its profile: the one that --profile names, or that of the family of servers of
// which it is by its INFO. Then its checks only record. The checks of commands that the server does not have are left
// out.
func (o *runOptions) profiled(ctx context.Context, s *subject, on testbed, chosen *selection) {
	picked := o.selection.Checks != nil || o.selection.Clauses != nil || o.selection.Levels != nil
	if s.Peer.Profile == "" && !s.Choice.Embedded && !chosen.own && !picked && !o.expect.update {
		o.recordProfile(ctx, s, on.servers[0], chosen)
	}
	if s.Peer.Profile == "" || s.Choice.Embedded || chosen.own {
		return
	}
	for _, verb := range missing(ctx, s.Endpoint, on.servers[0].Target, o.timeout) {
		chosen.leave("the server does not support "+verb, func(id string) bool {
			return strings.HasPrefix(id, strings.ToLower(verb)+"/")
		})
	}
}

// missing returns the verbs of the profile that a server does not have.
func missing(ctx context.Context, at shared.Endpoint, server play.Target, timeout time.Duration) []string {
	if at.Peer.Profile == "" || at.Choice.Embedded {
		return nil
	}
	nc, err := server.Dial(ctx)
	if err != nil {
		return at.Peer.Additions
	}
	return at.Peer.Missing(ctx, nc, at.Password, timeout)
}

// recordProfile adds the checks of the profile of a server's family, if it has one, to those that are chosen.
func (o *runOptions) recordProfile(ctx context.Context, s *subject, server run.Server, chosen *selection) {
	if s.Peer.Software == nil || len(s.Peer.Profiles) == 0 || server.Fresh == nil {
		return
	}
	other, end, err := server.Fresh() // INFO may end the server
	if err != nil {
		return
	}
	defer end()
	name, _, err := s.Software(ctx, other.Target, other.Password, o.timeout)
	of, unknown := s.Peer.With(name)
	if err != nil || unknown != nil || name == "" {
		return
	}
	all, err := of.Checks()
	added := slices.DeleteFunc(all, func(c conformance.Check) bool {
		return slices.ContainsFunc(chosen.all(), isCalled(c.Describe().ID))
	})
	in, out, none := conformance.Selection{Protocol: of.Protocol, Quick: o.selection.Quick}.Apply(added)
	if err != nil || none != nil {
		return
	}
	chosen.in, chosen.out, chosen.recorded = append(chosen.in, in...), append(chosen.out, out...), namesOf(in)
	s.Peer, s.Detected = of, true
	s.Choice.How += fmt.Sprintf("; the checks of --profile %s are played too; without that flag they do not affect "+
		"the result",
		of.Profile)
}

// leave leaves out those of the chosen checks that match, and says why.
func (c *selection) leave(why string, is func(id string) bool) {
	c.in = slices.DeleteFunc(slices.Clone(c.in), func(check conformance.Check) bool {
		matches := is(check.Describe().ID)
		if matches {
			c.out = append(c.out, conformance.Skipped{Check: check, Why: why})
		}
		return matches
	})
}

// keepRecords has the checks that only record not change the exit code: what they found is observed, and what they left
// open was not selected.
func (c selection) keepRecords(r *reports.Report) {
	breached := map[string]string{} // why, by clause
	record := func(v *reports.Verdict, why *string, reason *reports.ReasonCode, clause string) {
		switch {
		case v.Breach():
			*v, *why = reports.Observed, breached[clause]
		case !v.Decided():
			*v, *why = reports.NotSelected, "it was inconclusive, and --profile was not given"
		}
		*reason = ""
	}
	for i := range r.Checks {
		check := &r.Checks[i]
		if !slices.Contains(c.recorded, check.ID) {
			continue
		}
		for _, f := range check.Findings {
			breached[f.Clause] = fmt.Sprintf("expected %s, got %.300s", f.Expected, f.Actual)
		}
		for k := range check.Clauses {
			of := &check.Clauses[k]
			record(&of.Verdict, &of.Why, &of.Reason, of.ID)
		}
		record(&check.Verdict, &check.Why, &check.Reason, "")
		check.Findings = nil
	}
	for i := range r.Clauses {
		of := &r.Clauses[i]
		others := func(id string) bool { return !slices.Contains(c.recorded, id) }
		if len(of.Checks) > 0 && !slices.ContainsFunc(of.Checks, others) {
			record(&of.Verdict, &of.Why, &of.Reason, of.ID)
		}
	}
}
