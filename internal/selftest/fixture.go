package selftest

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/memnet"
	"github.com/fwpsuite/fwp/reports"
)

// Fixture is where servers listen: in memory if it has a network, as virtual time needs
// it, and on the loopback interface otherwise.
type Fixture struct {
	Network *memnet.Network
}

// config returns the configuration of the nth server of a pool, with its listener, and a seed: what checks find must
// not depend on chance.
func (f Fixture) config(config fakes.Config, n int) fakes.Config {
	config.Seed = uint64(n) + 1
	if f.Network != nil {
		addr := "fwp" + strconv.Itoa(n) + ":7419"
		config.Listen = func() (net.Listener, error) { return f.Network.Listen(addr) }
	}
	return config
}

func (f Fixture) dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if f.Network == nil {
		return nil
	}
	return f.Network.DialContext
}

// Play plays one check on servers of its own with a fault, so that a fault of every
// fiftieth job does not depend on other checks. The change of the runner may be nil.
func (f Fixture) Play(
	ctx context.Context, fault fakes.Fault, check conformance.Check, change func(*conformance.Runner),
) (reports.Check, error) {
	p := newServerPool(f, fault.Hook)
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
	return report.Checks[0], ctx.Err()
}

// Vary plays checks on an open and a protected server with a variation; servers that are
// prepared for single checks have none. The zero Variation is the conforming server.
func (f Fixture) Vary(
	ctx context.Context, variation fakes.Variation, checks []conformance.Check,
) (*reports.Report, error) {
	p := newServerPool(f, nil)
	defer p.close()
	runner := &conformance.Runner{Checks: checks, Prepare: p.prepare, Virtual: f.Network != nil}
	for _, password := range []string{"", "correct horse"} {
		build := func() (conformance.Server, func(), error) {
			config := fakes.Config{Password: password}
			if variation.Configure != nil {
				variation.Configure(&config)
			}
			server, err := p.build(config)
			return server, func() {}, err
		}
		server, _, err := build()
		if err != nil {
			return nil, err
		}
		server.Fresh = build
		runner.Servers = append(runner.Servers, server)
	}
	return runner.Run(ctx), nil
}

// serverPool starts the servers of one run of the suite: an open one, a protected one, and
// those for single checks. The same function makes the hooks of all.
type serverPool struct {
	fixture Fixture
	hook    func() func(*fakes.Event)

	mu      sync.Mutex
	servers []*fakes.Server
}

func newServerPool(fixture Fixture, hook func() func(*fakes.Event)) *serverPool {
	return &serverPool{fixture: fixture, hook: hook}
}

// build starts a server. It hashes passwords with few iterations, to save time.
func (p *serverPool) build(config fakes.Config) (server conformance.Server, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() {
		if r := recover(); r != nil { // it panics if it cannot listen
			err = fmt.Errorf("start the embedded server: %v", r)
		}
	}()
	config = p.fixture.config(config, len(p.servers))
	if config.Iterations == 0 {
		config.Iterations = 5
	}
	if p.hook != nil {
		config.Hook = p.hook()
	}
	s := fakes.NewServer(config)
	p.servers = append(p.servers, s)
	return Offer(s, p.fixture.dialer()), nil
}

// close closes all servers.
func (p *serverPool) close() {
	for _, s := range p.servers {
		s.Close()
	}
}

// prepare starts the server that a script's header needs.
func (p *serverPool) prepare(settings map[string]string) (conformance.Server, func(), error) {
	iterations, _ := strconv.Atoi(settings["iterations"]) // zero if there are none
	server, err := p.build(fakes.Config{
		Salt:          settings["salt"],
		Iterations:    iterations,
		AcceptHash:    settings["pwdhash"],
		StateAsSimple: settings["state"] == "simple",
		EndWithoutOK:  settings["end"] == "close",
	})
	return server, func() {}, err
}

// runner returns a runner that plays the checks on an open and a protected server.
func (p *serverPool) runner(checks ...conformance.Check) (*conformance.Runner, error) {
	open, err := p.build(fakes.Config{})
	if err != nil {
		return nil, err
	}
	protected, err := p.build(fakes.Config{Password: "correct horse"})
	return &conformance.Runner{
		Servers: []conformance.Server{open, protected},
		Checks:  checks,
		Prepare: p.prepare,
		Virtual: p.fixture.Network != nil,
	}, err
}
