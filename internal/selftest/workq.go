package selftest

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/workqsuite"
	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/scenarios"
)

// WorkqFaults returns the faults of the embedded Workq server.
func WorkqFaults() (all []Fault) {
	for _, f := range fakeworkq.Faults() {
		configure := func(c *fakeworkq.Config) { c.Hook = f.Hook() }
		all = append(all, Fault{
			Name: f.Name, Clauses: f.Clauses, Summary: f.Summary,
			pool: func(at Fixture) pool { return &workqPool{fixture: at, configure: configure} },
		})
	}
	return all
}

// WorkqVariations returns the variations of the embedded Workq server, and after them that server itself.
func WorkqVariations() (all []Variation) {
	for _, v := range append(fakeworkq.Variations(), fakeworkq.Variation{Name: conforming}) {
		all = append(all, Variation{
			Name: v.Name, Warns: v.Warns, Leaves: v.Leaves, conforming: v.Configure == nil,
			pool: func(at Fixture) pool { return &workqPool{fixture: at, configure: v.Configure} },
		})
	}
	return all
}

// workqPool starts the servers of one run of the suite of Workq.
type workqPool struct {
	fixture   Fixture
	configure func(*fakeworkq.Config) // nil: as they are

	mu      sync.Mutex
	servers []*fakeworkq.Server
}

// runner returns a runner that plays the checks on one server.
func (p *workqPool) runner(checks ...conformance.Check) (*conformance.Runner, error) {
	server, _, err := p.build()
	server.Fresh = p.build
	return &conformance.Runner{
		Protocol: workqsuite.Protocol(), Checks: checks, Virtual: p.fixture.Network != nil,
		Servers: []conformance.Server{server},
	}, err
}

// build starts a server.
func (p *workqPool) build() (conformance.Server, func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	listen := p.fixture.listen(len(p.servers))
	if listen == nil {
		listen = func() (net.Listener, error) {
			return new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		}
	}
	l, err := listen()
	if err != nil {
		return conformance.Server{}, nil, fmt.Errorf("start the embedded server: %w", err)
	}
	var config fakeworkq.Config
	if p.configure != nil {
		p.configure(&config)
	}
	s := fakeworkq.NewServer(config)
	p.servers = append(p.servers, s)
	go s.Serve(l)
	dial := p.fixture.dialer()
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return conformance.Server{
		Target: workqServer{l.Addr().String(), dial},
		Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedFlush},
	}, func() {}, nil
}

func (p *workqPool) close() {
	for _, s := range p.servers {
		s.Close()
	}
}

// workqServer is an embedded Workq server as a target.
type workqServer struct {
	addr string
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

func (w workqServer) Dial(ctx context.Context) (net.Conn, error) { return w.dial(ctx, "tcp", w.addr) }
