package selftest

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/emqpsuite"
	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/scenarios"
)

// EMQPFaults returns the faults of the embedded broker of eMQP.
func EMQPFaults() (all []Fault) {
	for _, f := range fakeemqp.Faults() {
		config := func() fakeemqp.Config { return fakeemqp.Config{Hook: f.Hook()} }
		all = append(all, Fault{
			Name: f.Name, Clauses: f.Clauses, Summary: f.Summary,
			pool: func(at Fixture) pool { return &emqpPool{fixture: at, config: config} },
		})
	}
	return all
}

// EMQPVariations returns the variations of the embedded broker of eMQP, and after them that broker itself.
func EMQPVariations() (all []Variation) {
	usual := fakeemqp.Variation{Name: conforming, Config: func() fakeemqp.Config { return fakeemqp.Config{} }}
	for _, v := range append(fakeemqp.Variations(), usual) {
		all = append(all, Variation{
			Name: v.Name, conforming: v.Name == conforming,
			pool: func(at Fixture) pool { return &emqpPool{fixture: at, config: v.Config, single: v.Single} },
		})
	}
	return all
}

// emqpPool starts the brokers of one run of the suite of eMQP.
type emqpPool struct {
	fixture Fixture
	config  func() fakeemqp.Config
	single  bool // clients and workers have one port

	mu      sync.Mutex
	brokers []*emqpBroker
}

// runner returns a runner that plays the checks on one broker.
func (p *emqpPool) runner(checks ...conformance.Check) (*conformance.Runner, error) {
	server, _, err := p.build()
	server.Fresh = p.build
	return &conformance.Runner{
		Protocol: emqpsuite.Protocol(), Checks: checks, Virtual: p.fixture.Network != nil,
		Servers: []conformance.Server{server},
	}, err
}

// build starts a broker.
func (p *emqpPool) build() (conformance.Server, func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 2 * len(p.brokers)
	b := &emqpBroker{config: p.config, front: p.fixture.relisten(n), dial: p.fixture.dialer()}
	if !p.single {
		b.back = p.fixture.relisten(n + 1)
	}
	if b.dial == nil {
		b.dial = new(net.Dialer).DialContext
	}
	if err := b.start(); err != nil {
		return conformance.Server{}, nil, fmt.Errorf("start the embedded broker: %w", err)
	}
	p.brokers = append(p.brokers, b)
	return conformance.Server{
		Target: b, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone, scenarios.NeedRestart},
	}, func() {}, nil
}

func (p *emqpPool) close() {
	for _, b := range p.brokers {
		b.end()
	}
}

// relisten returns a function that listens as the nth server of a pool does, at the same address in each call.
func (f Fixture) relisten(n int) func() (net.Listener, error) {
	if listen := f.listen(n); listen != nil {
		return listen
	}
	addr := "127.0.0.1:0"
	return func() (net.Listener, error) {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
		if err == nil {
			addr = l.Addr().String()
		}
		return l, err
	}
}

// emqpBroker is an embedded broker as a target that can be started again.
type emqpBroker struct {
	config      func() fakeemqp.Config
	front, back func() (net.Listener, error) // back is nil if there is one port
	dial        func(ctx context.Context, network, addr string) (net.Conn, error)

	mu          sync.Mutex
	broker      *fakeemqp.Broker // nil: it is not there
	addr, other string           // of the front end, and of the back end
}

// start starts the broker.
func (b *emqpBroker) start() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	front, err := b.front()
	if err != nil {
		return err
	}
	b.addr, b.other = front.Addr().String(), front.Addr().String()
	var back net.Listener
	if b.back != nil {
		if back, err = b.back(); err != nil {
			_ = front.Close()
			return err
		}
		b.other = back.Addr().String()
	}
	b.broker = fakeemqp.Start(b.config(), front, back)
	return nil
}

func (b *emqpBroker) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broker != nil {
		b.broker.Close()
	}
	b.broker = nil
}

func (b *emqpBroker) address(back bool) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if back {
		return b.other
	}
	return b.addr
}

// Dial connects to the front end.
func (b *emqpBroker) Dial(ctx context.Context) (net.Conn, error) {
	return b.dial(ctx, "tcp", b.address(false))
}

// DialBackend connects to the back end, as workers do.
func (b *emqpBroker) DialBackend(ctx context.Context) (net.Conn, error) {
	return b.dial(ctx, "tcp", b.address(true))
}

// Restart starts the broker again, on the same ports.
func (b *emqpBroker) Restart(context.Context) error {
	b.end()
	return b.start()
}
