package selftest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/reports"
)

// Fixture is where servers run: in memory if it has a network, as virtual time needs it, and on the loopback interface
// otherwise.
type Fixture struct {
	Peer    *peer.Peer // whose servers they are; nil: peer.Default
	Network *memnet.Network
}

// peer returns the Peer, the default for none.
func (f Fixture) peer() *peer.Peer {
	if f.Peer == nil {
		return peer.Default()
	}
	return f.Peer
}

// conforming is the name of the embedded server itself among the variations.
const conforming = "conforming"

// Variations returns the variations of the embedded server of a protocol, and after them that server itself.
func Variations(of *peer.Peer) []peer.Variation {
	itself := peer.Variation{Name: conforming}
	if of.Variations == nil {
		return []peer.Variation{itself}
	}
	return append(of.Variations(), itself)
}

// Play plays one check on servers of its own with a fault, so that a fault of every
// fiftieth job does not depend on other checks. The change of the runner may be nil.
func (f Fixture) Play(
	ctx context.Context, fault peer.Fault, check conformance.Check, change func(*run.Runner),
) (reports.Check, error) {
	return f.PlayAll(ctx, []peer.Fault{fault}, check, change)
}

// PlayAll is Play on servers that have several faults.
func (f Fixture) PlayAll(
	ctx context.Context, faults []peer.Fault, check conformance.Check, change func(*run.Runner),
) (reports.Check, error) {
	p := &pool{fixture: f, config: peer.Config{Faults: faults}}
	defer p.close()
	runner, err := p.runner(check)
	if err != nil {
		return reports.Check{}, err
	}
	if change != nil {
		change(runner)
	}
	report := runner.Run(ctx)
	if report.Internal != "" {
		return reports.Check{}, fmt.Errorf("play %s: %s", check.Describe().ID, report.Internal)
	}
	return together(report, check.Describe().ID), ctx.Err()
}

// together returns the result of the one check that was played, with what the law found meanwhile.
func together(r *reports.Report, id string) reports.Check {
	all := r.Checks[slices.IndexFunc(r.Checks, func(c reports.Check) bool { return c.ID == id })]
	for _, c := range r.Checks {
		if c.ID != id {
			all.Verdict = reports.Worst(all.Verdict, c.Verdict)
			all.Clauses, all.Findings = append(all.Clauses, c.Clauses...), append(all.Findings, c.Findings...)
		}
	}
	return all
}

// Vary plays checks on servers with a variation. Servers that are prepared for single checks do not have it.
func (f Fixture) Vary(
	ctx context.Context, variation peer.Variation, checks []conformance.Check,
) (*reports.Report, error) {
	p := &pool{fixture: f, config: peer.Config{Variation: variation}, fresh: true}
	defer p.close()
	runner, err := p.runner(checks...)
	if err != nil {
		return nil, err
	}
	return runner.Run(ctx), nil
}

// pool starts the servers of one run of a suite: an open one, a protected one if the protocol has passwords, and those
// for single checks.
type pool struct {
	fixture Fixture
	config  peer.Config // of all
	fresh   bool        // the open and the protected server can be started anew

	mu      sync.Mutex
	servers []*peer.Server
}

// build starts a server, with a seed: what checks find must not depend on chance. It hashes passwords with few
// iterations, to save time.
func (p *pool) build(config peer.Config) (run.Server, error) {
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
	server.Fresh = nil
	return server, nil
}

// close closes all servers.
func (p *pool) close() {
	for _, s := range p.servers {
		s.Close()
	}
}

// runner returns a runner that plays the checks on an open and a protected server.
func (p *pool) runner(checks ...conformance.Check) (*run.Runner, error) {
	of := p.fixture.peer()
	runner := &run.Runner{
		Protocol: of.Protocol, Checks: checks, Prepare: p.prepare, Virtual: p.fixture.Network != nil,
	}
	passwords := []string{""}
	if of.Passwords {
		passwords = append(passwords, "correct horse")
	}
	for _, password := range passwords {
		config := p.config
		config.Password = password
		server, err := p.build(config)
		if err != nil {
			return nil, err
		}
		if p.fresh {
			server.Fresh = func() (run.Server, func(), error) {
				server, err := p.build(config)
				return server, func() {}, err
			}
		}
		runner.Servers = append(runner.Servers, server)
	}
	return runner, nil
}

// prepare starts the server that a script's header needs.
func (p *pool) prepare(settings map[string]string) (run.Server, func(), error) {
	config := p.config
	config.Variation, config.Settings = peer.Variation{}, settings
	server, err := p.build(config)
	return server, func() {}, err
}
