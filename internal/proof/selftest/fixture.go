package selftest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/registry"
	fwpsituations "github.com/fwpsuite/fwp/protocols/fwp/situations"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// Fixture is what checks are played on: the servers of a protocol, or a client. It runs in memory if it has a
// network, as virtual time needs it, and on the loopback interface otherwise.
type Fixture struct {
	Entry   *registry.Entry  // whose servers they are; nil: registry.Default
	Client  *registry.Client // of Peer; nil: its servers
	Network *memnet.Network
}

// Fixtures returns those of a protocol: its servers, if there are any, and its clients.
func Fixtures(entry *registry.Entry) (all []Fixture) {
	if entry.Embed != nil {
		all = append(all, Fixture{Entry: entry})
	}
	for _, c := range entry.Clients {
		all = append(all, Fixture{Entry: entry, Client: c})
	}
	return all
}

// peer returns the Peer, the default for none.
func (f Fixture) peer() *registry.Entry {
	if f.Entry == nil {
		return registry.Default()
	}
	return f.Entry
}

// conforming is the name of the embedded server itself, or of the client, among the variations.
const conforming = "conforming"

// Checks returns those that are played: the scripts of a server, and the situations of a client.
func (f Fixture) Checks() ([]conformance.Check, error) {
	if f.Client == nil {
		return f.peer().Scripts()
	}
	h, err := f.Client.Harness(registry.Config{})
	if err != nil {
		return nil, err
	}
	return h.Checks(), nil
}

// HasOwnServers reports whether each check has servers of its own: those of the default protocol have bugs of every
// fiftieth job.
func (f Fixture) HasOwnServers() bool { return f.Client == nil && f.peer().IsDefault() }

// ChecksFor returns the checks that look at a bug: where each has servers of its own those that decide one of its
// clauses, or only record, and all elsewhere.
func (f Fixture) ChecksFor(bug registry.Bug, checks []conformance.Check) []conformance.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c conformance.Check) bool {
		return f.HasOwnServers() && !Names(bug, c) && Judges(f.peer().Suite, c)
	})
}

// Bugs returns the catalogue, sorted by name.
func (f Fixture) Bugs() []registry.Bug {
	if f.Client == nil {
		return f.peer().AllBugs()
	}
	return f.Client.Bugs()
}

// Variations returns the catalogue, and after it what is as it is.
func (f Fixture) Variations() (all []registry.Variation) {
	variation := registry.Variation{Name: conforming}
	switch {
	case f.Client != nil:
		variation.Name = f.Client.Role + "/" + conforming
		all = f.Client.Variations()
	case f.peer().Variations != nil:
		all = f.peer().Variations()
	}
	return append(all, variation)
}

// Play plays one check on servers of its own with bugs, so that a bug of every
// fiftieth job does not depend on other checks. The change of the runner may be nil.
func (f Fixture) Play(
	ctx context.Context, bugs []registry.Bug, check conformance.Check, change func(*run.Runner),
) (reports.Check, error) {
	report, err := f.Report(ctx, bugs, []conformance.Check{check}, change)
	if err != nil {
		return reports.Check{}, err
	}
	return mergeRuns(report, check.Describe().ID), nil
}

// Report plays checks on the same servers with bugs. A check that cannot share a server has one of its own.
func (f Fixture) Report(
	ctx context.Context, bugs []registry.Bug, checks []conformance.Check, change func(*run.Runner),
) (*reports.Report, error) {
	p := &pool{fixture: f, config: registry.Config{Bugs: bugs}, isRestartable: len(checks) > 1}
	return p.report(ctx, checks, change)
}

// mergeRuns returns the result of the one check that was played, with what the law found meanwhile.
func mergeRuns(r *reports.Report, id string) reports.Check {
	all := r.Checks[slices.IndexFunc(r.Checks, func(c reports.Check) bool { return c.ID == id })]
	for _, c := range r.Checks {
		if c.ID != id {
			all.Verdict = reports.Worst(all.Verdict, c.Verdict)
			all.Clauses, all.Findings = append(all.Clauses, c.Clauses...), append(all.Findings, c.Findings...)
		}
	}
	return all
}

// Vary plays checks on servers with a variation.
func (f Fixture) Vary(
	ctx context.Context, variation registry.Variation, checks []conformance.Check,
) (*reports.Report, error) {
	p := &pool{fixture: f, config: registry.Config{Variation: variation}, isRestartable: true}
	return p.report(ctx, checks, nil)
}

// pool starts the servers of one run of a suite: an open one, a protected one if the protocol has passwords, and those
// for single checks.
type pool struct {
	fixture       Fixture
	config        registry.Config // of all
	isRestartable bool            // the open and the protected server can be started anew

	mu      sync.Mutex
	servers []*registry.Server
}

// build starts a server, with a seed: what checks find must not depend on chance. It hashes passwords with few
// iterations, to save time.
func (p *pool) build(config registry.Config) (run.Server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	config.Seed, config.Iterations = uint64(len(p.servers))+1, 5
	if p.fixture.Network != nil {
		config.Network = p.fixture.Network
	}
	s, err := p.fixture.peer().Start(config)
	if err != nil {
		return run.Server{}, err
	}
	p.servers = append(p.servers, s)
	server := s.Server
	server.StartServer = nil
	return server, nil
}

// close closes all servers.
func (p *pool) close() {
	for _, s := range p.servers {
		s.Close()
	}
}

// report plays checks on what the pool starts, and ends that. The change of the runner may be nil.
func (p *pool) report(
	ctx context.Context, checks []conformance.Check, change func(*run.Runner),
) (*reports.Report, error) {
	defer p.close()
	var runner *run.Runner
	var err error
	if p.fixture.Client != nil {
		runner, err = p.clientRunner(ctx, checks)
	} else {
		runner, err = p.runner(checks...)
	}
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(runner)
	}
	report := runner.Run(ctx)
	if report.Internal != "" {
		return nil, errors.New(report.Internal)
	}
	return report, ctx.Err()
}

// clientRunner returns a runner that puts a client into the situations of these ids.
func (p *pool) clientRunner(ctx context.Context, checks []conformance.Check) (*run.Runner, error) {
	if p.fixture.Network != nil {
		p.config.Network = p.fixture.Network
	}
	h, err := p.fixture.Client.Harness(p.config)
	if err != nil {
		return nil, err
	}
	if p.fixture.Network == nil {
		h.Patience = startPatience
	}
	if _, err := h.Identify(ctx); err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, s := range checks {
		ids[s.Describe().ID] = true
	}
	return &run.Runner{
		Suite: p.fixture.peer().Suite, Parties: p.fixture.Client.Parties,
		Servers: []run.Server{{Target: fwpsituations.NoServer{}}},
		Checks:  slices.DeleteFunc(h.Checks(), func(c conformance.Check) bool { return !ids[c.Describe().ID] }),
		Virtual: p.fixture.Network != nil,
	}, nil
}

// startPatience is how long a client of this process may take to greet.
const startPatience = 5 * time.Second

// runner returns a runner that plays the checks on an open and a protected server.
func (p *pool) runner(checks ...conformance.Check) (*run.Runner, error) {
	entry := p.fixture.peer()
	runner := &run.Runner{
		Suite: entry.Suite, Checks: checks, Virtual: p.fixture.Network != nil,
	}
	for _, password := range passwords(entry, checks) {
		config := p.config
		config.Password = password
		server, err := p.build(config)
		if err != nil {
			return nil, err
		}
		if p.isRestartable {
			server.StartServer = func() (run.Server, func(), error) {
				server, err := p.build(config)
				return server, func() {}, err
			}
		}
		runner.Servers = append(runner.Servers, server)
	}
	return runner, nil
}

// passwords returns those of the servers that checks need, the empty one for an open server.
func passwords(entry *registry.Entry, checks []conformance.Check) (all []string) {
	needsPassword := func(c conformance.Check) bool { return slices.Contains(c.Describe().Needs, scenarios.NeedPassword) }
	if !entry.HasPasswords || slices.ContainsFunc(checks, func(c conformance.Check) bool { return !needsPassword(c) }) {
		all = append(all, "")
	}
	if entry.HasPasswords && slices.ContainsFunc(checks, needsPassword) {
		all = append(all, "correct horse")
	}
	return all
}
