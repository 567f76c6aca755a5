package program

import (
	"context"
	"fmt"
	"net"

	"github.com/fwpsuite/fwp/internal/proxy"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/load/disrupt"
)

// Processes is what can be done to the processes of a server that this program has started.
type Processes struct {
	Stop                      func(how target.Stop) error
	Again                     func(ctx context.Context) error
	Pause, Resume, Fill, Free func() error
}

// ProcessesOf returns those of a server of --start. A disk is filled if the server has one of its own.
func ProcessesOf(s *target.Started) *Processes {
	done := func(do func()) func() error {
		return func() error {
			do()
			return nil
		}
	}
	return &Processes{
		Stop:  func(how target.Stop) error { return done(func() { s.Stop(how) })() },
		Again: s.Again, Pause: done(s.Pause), Resume: done(s.Continue), Free: s.Free,
		Fill: func() error {
			if err := target.CanMount(); err != nil {
				return &disrupt.SkippedError{Why: err.Error()}
			}
			return s.Fill()
		},
	}
}

// Disrupted is a server that is disrupted on purpose. It is a [disrupt.Target]; the zero value can do nothing.
type Disrupted struct {
	process *Processes   // nil if it is not ours
	proxy   *proxy.Proxy // nil if the network is left alone
	stop    context.CancelFunc
}

// NewDisrupted returns a server as disruptions reach it; process is nil if it is not ours. If the network before it is
// to be disrupted, through leads to it through a proxy on 127.0.0.1; else it is the server itself.
func NewDisrupted(server *target.Server, process *Processes, network bool, seed uint64) (
	d *Disrupted, through *target.Server, err error,
) {
	d = &Disrupted{process: process, stop: func() {}}
	if !network {
		return d, server, nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, &InternalError{Cause: fmt.Errorf("a proxy before the target: %w", err)}
	}
	dialer, behind := new(net.Dialer), server.Address.HostPort()
	d.proxy = proxy.New(proxy.Config{
		Dial: func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", behind) },
		Seed: seed,
	})
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	go d.proxy.Serve(ctx, l) //nolint:errcheck // without a listener no connection can be opened, which shows
	before := *server
	before.Address.Host = "127.0.0.1"
	_, before.Address.Port, _ = net.SplitHostPort(l.Addr().String()) // it has a port
	return d, &before, nil
}

// End ends the proxy.
func (d *Disrupted) End() {
	d.stop()
	if d.proxy != nil {
		d.proxy.Close()
	}
}

// Begin implements [disrupt.Target].
func (d *Disrupted) Begin(_ context.Context, what disrupt.Disruption) (end func(context.Context) error, err error) {
	without := func(end func() error) func(context.Context) error {
		return func(context.Context) error { return end() }
	}
	switch what.Action {
	case disrupt.Kill:
		return d.process.Again, d.process.Stop(target.AtOnce)
	case disrupt.KillServer:
		return d.process.Again, d.process.Stop(target.ServerOnly)
	case disrupt.Restart:
		return d.process.Again, d.process.Stop(target.InOrder)
	case disrupt.Pause:
		return without(d.process.Resume), d.process.Pause()
	case disrupt.Fill:
		return without(d.process.Free), d.process.Fill()
	case disrupt.Reset:
		d.proxy.Reset()
		return func(context.Context) error { return nil }, nil
	}
	d.proxy.Set(condition(what))
	return without(func() error {
		d.proxy.Set(proxy.Condition{})
		return nil
	}), nil
}

// condition returns the network of a disruption.
func condition(d disrupt.Disruption) proxy.Condition {
	if d.Action == disrupt.Slow {
		return proxy.Condition{Delay: d.Link.Delay, Jitter: d.Link.Jitter, Rate: d.Link.Rate, Segment: d.Link.Segment}
	}
	switch d.Cut {
	case disrupt.ToServer:
		return proxy.Condition{NotFrom: []proxy.Side{proxy.Client}}
	case disrupt.ToClients:
		return proxy.Condition{NotFrom: []proxy.Side{proxy.Server}}
	}
	return proxy.Condition{NotFrom: []proxy.Side{proxy.Client, proxy.Server}}
}
