package selftest

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/reports"
)

// FWPFaults returns the faults of the embedded server of FWP.
func FWPFaults() (all []Fault) {
	for _, f := range fakes.Faults() {
		all = append(all, Fault{
			Name: f.Name, Clauses: f.Clauses, Summary: f.Summary,
			pool: func(at Fixture) pool { return &serverPool{fixture: at, hook: f.Hook} },
		})
	}
	return all
}

// FWPVariations returns the variations of the embedded server of FWP, and after them that server itself. Servers that
// are prepared for single checks have none of them.
func FWPVariations() (all []Variation) {
	for _, v := range append(fakes.Variations(), fakes.Variation{Name: conforming}) {
		configure := v.Configure
		if configure == nil {
			configure = func(*fakes.Config) {}
		}
		all = append(all, Variation{
			Name: v.Name, Warns: v.Warns, Leaves: v.Leaves, conforming: v.Configure == nil,
			pool: func(at Fixture) pool {
				return &serverPool{fixture: at, configure: configure}
			},
		})
	}
	return all
}

// conforming is the name of the embedded server itself among the variations.
const conforming = "conforming"

// Play plays one check on servers of its own with a fault, so that a fault of every
// fiftieth job does not depend on other checks. The change of the runner may be nil.
func (f Fixture) Play(
	ctx context.Context, fault Fault, check conformance.Check, change func(*conformance.Runner),
) (reports.Check, error) {
	p := fault.pool(f)
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

// Vary plays checks on servers with a variation.
func (f Fixture) Vary(ctx context.Context, variation Variation, checks []conformance.Check) (*reports.Report, error) {
	p := variation.pool(f)
	defer p.close()
	runner, err := p.runner(checks...)
	if err != nil {
		return nil, err
	}
	return runner.Run(ctx), nil
}

// serverPool starts the servers of one run of the suite of FWP: an open one, a protected one, and those for single
// checks. The same function makes the hooks of all.
type serverPool struct {
	fixture   Fixture
	hook      func() func(*fakes.Event)
	configure func(*fakes.Config) // of the open and the protected server, which can be started anew; nil: they cannot

	mu      sync.Mutex
	servers []*fakes.Server
}

// build starts a server, with a seed: what checks find must not depend on chance. It hashes passwords with few
// iterations, to save time.
func (p *serverPool) build(config fakes.Config) (server conformance.Server, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() {
		if r := recover(); r != nil { // it panics if it cannot listen
			err = fmt.Errorf("start the embedded server: %v", r)
		}
	}()
	config.Seed, config.Listen = uint64(len(p.servers))+1, p.fixture.listen(len(p.servers))
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
	runner := &conformance.Runner{Checks: checks, Prepare: p.prepare, Virtual: p.fixture.Network != nil}
	for _, password := range []string{"", "correct horse"} {
		server, err := p.usual(password)
		if err != nil {
			return nil, err
		}
		runner.Servers = append(runner.Servers, server)
	}
	return runner, nil
}

// usual starts a server that is not prepared for a single check.
func (p *serverPool) usual(password string) (conformance.Server, error) {
	config := fakes.Config{Password: password}
	if p.configure == nil {
		return p.build(config)
	}
	build := func() (conformance.Server, func(), error) {
		config := config
		p.configure(&config)
		server, err := p.build(config)
		return server, func() {}, err
	}
	server, _, err := build()
	server.Fresh = build
	return server, err
}
