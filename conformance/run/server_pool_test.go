package run_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// serverPool starts every kind of server that checks need, in memory or, without a
// network, on real sockets.
type serverPool struct {
	nw     *memnet.Network
	config fakes.Config // of all servers

	mu      sync.Mutex
	servers []*fakes.Server
}

// build starts a server. Few rounds of hashing are as good as many.
func (p *serverPool) build(config fakes.Config) (run.Server, func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var dial func(ctx context.Context, network, addr string) (net.Conn, error)
	if p.nw != nil {
		dial = p.nw.DialContext
		addr := fmt.Sprintf("fwp%d:7419", len(p.servers))
		config.Listen = func() (net.Listener, error) { return p.nw.Listen(addr) }
	}
	if config.Iterations == 0 {
		config.Iterations = 5
	}
	config.Hook, config.MaxConnections, config.ScanEvery = p.config.Hook, p.config.MaxConnections, p.config.ScanEvery
	s := fakes.NewServer(config)
	p.servers = append(p.servers, s)
	return registry.OfferFWP(s, dial), s.Close, nil
}

// newServer returns a server that more like it can be started of.
func (p *serverPool) newServer(config fakes.Config) run.Server {
	server, _, err := p.build(config)
	if err != nil {
		panic(err) // it has no error
	}
	server.StartServer = func() (run.Server, func(), error) { return p.build(config) }
	return server
}

// runner returns a runner for an open and a protected server, as fwpcheck has
// without a target.
func (p *serverPool) runner(all []conformance.Check) *run.Runner {
	return &run.Runner{
		Suite:   fwpsuite.Protocol(),
		Servers: []run.Server{p.newServer(fakes.Config{}), p.newServer(fakes.Config{Password: "correct horse"})},
		Checks:  all, Virtual: true,
	}
}

func (p *serverPool) close() {
	for _, s := range p.servers {
		s.Close()
	}
}

// heaviest are the checks that take as long as all others together. They are played with FWP_SLOW=1 only;
// internal/proof/selftest plays each of them.
var heaviest = []string{"push/ten-thousand-jobs", "push/a-thousand-jobs", "retry/own-number"}

// parsed parses the scripts once: a play changes none of them.
var parsed = sync.OnceValues(fwpscript.Suite)

// suite returns all checks, or the quick ones.
func suite(tb testing.TB, quick bool) []conformance.Check {
	tb.Helper()
	all, err := parsed()
	require.NoError(tb, err)
	in, _, err := conformance.Selection{Suite: fwpsuite.Protocol(), Quick: quick}.Apply(conformance.Scripts(all...))
	require.NoError(tb, err)
	return slices.DeleteFunc(in, func(c conformance.Check) bool {
		return !golden.IsSlow() && slices.Contains(heaviest, c.Describe().ID)
	})
}

// Findings decide the exit code, those of the law too, where a server that was started for a check does not serve.
func TestFindingsCountBesideAServerThatDoesNotStart(t *testing.T) {
	t.Parallel()
	runScripts(t, answering("BEAT", "+late\r\n"), map[string]string{
		"alone":  "needs: alone\n\nconnect as consumer\n",
		"shared": "connect as consumer\nC: BEAT {\"wid\":\"$wid\"}\nS: <any>\n",
	}, func(r *reports.Report) {
		code, words := r.Outcome(reports.ExitOptions{}).Values()
		assert.Equal(t, reports.ExitFindings, code, words)
		assert.Contains(t, r.MissReason, "it does not serve within 51s")
	}, func(r *run.Runner, _ *memoryTarget) {
		r.Servers[0].Offers = append(r.Servers[0].Offers, scenarios.NeedAlone)
		r.Servers[0].StartServer = func() (run.Server, func(), error) {
			return run.Server{}, nil, &run.UnservedError{Cause: errors.New("it does not serve within 51s")}
		}
	})
}

// Of servers that start slowly as few are started as can be: what can share one shares it, and no finding is shrunk on
// others.
func TestSlowServersAreShared(t *testing.T) {
	t.Parallel()
	for slowly, want := range map[bool]int{false: 2, true: 0} {
		starts, shrinks := 0, false
		property := returning("explore/a", conformance.Evidence{HasServed: true})
		property.Run = func(_ context.Context, setup conformance.Setup) conformance.Evidence {
			shrinks = setup.StartTarget != nil
			return conformance.Evidence{HasServed: true}
		}
		runScripts(t, nil, map[string]string{
			"a/alone":   "needs: alone\n\nconnect as consumer\nC: FLUSH\nS: +OK\n",
			"a/default": "connect as consumer\nC: FETCH default\nS: $-1\n",
		}, func(r *reports.Report) {
			assert.Equal(t, want, starts, "slow: %v", slowly)
			assert.Equal(t, !slowly, shrinks)
			for _, c := range r.Checks {
				assert.NotEqual(t, reports.NotRun, c.Verdict, c.ID)
			}
		}, withProperties(property), func(r *run.Runner, target *memoryTarget) {
			server := &r.Servers[0]
			server.IsSlow, server.Offers = slowly, append(server.Offers, scenarios.NeedAlone)
			server.StartServer = func() (run.Server, func(), error) {
				starts++
				return *server, func() {}, nil
			}
		})
	}
}
