package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/internal/target/proxy"
	"github.com/fwpsuite/fwp/load/disrupt"
)

// Disruptor is a server that is disrupted on purpose. It is a [disrupt.Target]; the zero value can do nothing.
type Disruptor struct {
	server *target.Server
	proxy  *proxy.Proxy // nil if the network is left alone
	stop   context.CancelFunc
}

// disk is an operator of a server whose disk can be filled.
type disk interface {
	Fill() error
	Free() error
}

// NewDisruptor returns a server as disruptions reach it. With network, front is a server at a proxy on 127.0.0.1
// that leads to it; else front is the server itself.
func NewDisruptor(server *target.Server, network bool, seed uint64) (d *Disruptor, front *target.Server, err error) {
	d = &Disruptor{server: server, stop: func() {}}
	if !network {
		return d, server, nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, &InternalError{Cause: fmt.Errorf("a proxy before the target: %w", err)}
	}
	upstream := *server
	upstream.TLS, upstream.Deeds = nil, nil // it is between those who encrypt, and who record
	d.proxy = proxy.New(proxy.Config{
		Dial: upstream.Dial,
		Seed: seed,
	})
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	go d.proxy.Serve(ctx, l) //nolint:errcheck // without a listener no connection can be opened, which shows
	entry := *server
	entry.ReachedAddresses = nil // it is reached by the proxy
	entry.Address.Host = "127.0.0.1"
	_, entry.Address.Port, _ = net.SplitHostPort(l.Addr().String()) // it has a port
	return d, &entry, nil
}

// End ends the proxy.
func (d *Disruptor) End() {
	d.stop()
	if d.proxy != nil {
		d.proxy.Close()
	}
}

// Begin implements [disrupt.Target]. What was begun is done to its end.
func (d *Disruptor) Begin(ctx context.Context, disruption disrupt.Disruption) (end func(context.Context) error,
	err error) {
	adapt := func(end func() error) func(context.Context) error {
		return func(context.Context) error { return end() }
	}
	ctx = context.WithoutCancel(ctx)
	switch disruption.Action {
	case target.Kill:
		return d.stopServer(ctx, target.Kill)
	case target.KillServer:
		return d.stopServer(ctx, target.KillServer)
	case target.Restart:
		return d.stopServer(ctx, target.Stop)
	case target.Pause:
		return d.server.Resume, d.server.Pause(ctx)
	case target.Fill:
		return d.fill()
	case target.Reset:
		d.proxy.Reset()
		return func(context.Context) error { return nil }, nil
	}
	d.proxy.Set(condition(disruption))
	return adapt(func() error {
		d.proxy.Set(proxy.Condition{})
		return nil
	}), nil
}

// CanOperate reports whether the operator of a server of the user's can do a disruption to its processes.
func CanOperate(s *target.Server, action target.Action) bool {
	switch action {
	case target.Kill:
		return s.Can(target.Kill)
	case target.Restart:
		return s.Can(target.Restart) || s.Can(target.Stop) && s.Can(target.Start)
	case target.Pause:
		return s.Can(target.Pause) && s.Can(target.Resume)
	}
	return false
}

// stopServer stops the server. An operator who can do no more than stop it and start it at once does that.
func (d *Disruptor) stopServer(ctx context.Context, action target.Action) (end func(context.Context) error, err error) {
	start := func(ctx context.Context) error {
		if !d.server.Can(target.Start) {
			return nil
		}
		return d.server.Start(ctx)
	}
	if action == target.Stop && !d.server.Can(target.Stop) {
		return start, d.server.Restart(ctx)
	}
	err = d.server.Stop(ctx, action)
	if unseen, ok := errors.AsType[*target.UnseenError](err); err != nil && (!ok || unseen.Serves) {
		return nil, err
	}
	return start, err
}

// fill fills the disk of the server.
func (d *Disruptor) fill() (end func(context.Context) error, err error) {
	operator, ok := d.server.Operator.(disk)
	if err := target.CanMount(); !ok || err != nil {
		return nil, &disrupt.SkippedError{Reason: text.OfError(cmp.Or(err, errors.New("the server has no disk of its own")))}
	}
	return func(context.Context) error { return operator.Free() }, operator.Fill()
}

// condition returns the network of a disruption.
func condition(d disrupt.Disruption) proxy.Condition {
	if d.Action == target.Slow {
		return proxy.Condition{Delay: d.Link.Delay, Jitter: d.Link.Jitter, Rate: d.Link.Rate, Segment: d.Link.Segment}
	}
	switch d.Direction {
	case disrupt.ToServer:
		return proxy.Condition{HeldSides: []proxy.Side{proxy.Client}}
	case disrupt.ToClients:
		return proxy.Condition{HeldSides: []proxy.Side{proxy.Server}}
	}
	return proxy.Condition{HeldSides: []proxy.Side{proxy.Client, proxy.Server}}
}
