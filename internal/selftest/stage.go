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

// Stage is where servers live: in memory if it has a network, which is what virtual
// time needs, and else on the loopback interface.
type Stage struct {
	Network *memnet.Network
}

// config is a server's, with the listener of the nth server of a village.
func (s Stage) config(config fakes.Config, n int) fakes.Config {
	if s.Network != nil {
		addr := "fwp" + strconv.Itoa(n) + ":7419"
		config.Listen = func() (net.Listener, error) { return s.Network.Listen(addr) }
	}
	return config
}

func (s Stage) dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if s.Network == nil {
		return nil
	}
	return s.Network.DialContext
}

// Play plays one check on servers of its own with a fault: one that comes with every
// fiftieth job must not come up in a check that has no fifty. The change of the runner
// may be nil.
func (s Stage) Play(ctx context.Context, fault fakes.Fault, check conformance.Check, change func(*conformance.Runner)) (reports.Check, error) {
	v := newVillage(s, fault.Hook)
	defer v.close()
	runner, err := v.runner(check)
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

// Vary plays checks on an open and a protected server that differ from others as a
// variation does; those that scripts ask for are the suite's own, and as it wants them.
// The zero Variation is the conforming server.
func (s Stage) Vary(ctx context.Context, variation fakes.Variation, checks []conformance.Check) (*reports.Report, error) {
	v := newVillage(s, nil)
	defer v.close()
	runner := &conformance.Runner{Checks: checks, Prepare: v.prepare}
	for _, password := range []string{"", "correct horse"} {
		build := func() (conformance.Server, func(), error) {
			config := fakes.Config{Password: password}
			if variation.Configure != nil {
				variation.Configure(&config)
			}
			server, err := v.build(config)
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

// village is what a run of the suite needs: an open server, a protected one, and
// those that are made for single scripts, on a stage. The hooks of all of them are
// made by the same function.
type village struct {
	stage Stage
	hook  func() func(*fakes.Event)

	mu      sync.Mutex
	servers []*fakes.Server
}

func newVillage(stage Stage, hook func() func(*fakes.Event)) *village {
	return &village{stage: stage, hook: hook}
}

// build starts a server. Few rounds of hashing are as good as many, and sooner done.
func (v *village) build(config fakes.Config) (server conformance.Server, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer func() {
		if r := recover(); r != nil { // it says so when it cannot listen
			err = fmt.Errorf("start the embedded server: %v", r)
		}
	}()
	config = v.stage.config(config, len(v.servers))
	if config.Iterations == 0 {
		config.Iterations = 5
	}
	if v.hook != nil {
		config.Hook = v.hook()
	}
	s := fakes.NewServer(config)
	v.servers = append(v.servers, s)
	return Offer(s, v.stage.dialer()), nil
}

// close ends all servers.
func (v *village) close() {
	for _, s := range v.servers {
		s.Close()
	}
}

// prepare makes the server that a script's header asks for.
func (v *village) prepare(settings map[string]string) (conformance.Server, func(), error) {
	iterations, _ := strconv.Atoi(settings["iterations"]) // zero if there are none
	server, err := v.build(fakes.Config{
		Salt:          settings["salt"],
		Iterations:    iterations,
		AcceptHash:    settings["pwdhash"],
		StateAsSimple: settings["state"] == "simple",
		EndWithoutOK:  settings["end"] == "close",
	})
	return server, func() {}, err
}

// runner is a suite that plays the checks on the village.
func (v *village) runner(checks ...conformance.Check) (*conformance.Runner, error) {
	open, err := v.build(fakes.Config{})
	if err != nil {
		return nil, err
	}
	protected, err := v.build(fakes.Config{Password: "correct horse"})
	return &conformance.Runner{
		Servers: []conformance.Server{open, protected},
		Checks:  checks,
		Prepare: v.prepare,
	}, err
}
