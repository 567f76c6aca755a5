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

// Disrupted is a server that is disrupted on purpose. It is a [disrupt.Target]; the zero value can do nothing.
type Disrupted struct {
	server *target.Server
	proxy  *proxy.Proxy // nil if the network is left alone
	stop   context.CancelFunc
}

// disk is an operator of a server whose disk can be filled.
type disk interface {
	Fill() error
	Free() error
}

// NewDisrupted returns a server as disruptions reach it. If the network before it is to be disrupted, through leads to
// it through a proxy on 127.0.0.1; else it is the server itself.
func NewDisrupted(server *target.Server, network bool, seed uint64) (d *Disrupted, through *target.Server, err error) {
	d = &Disrupted{server: server, stop: func() {}}
	if !network {
		return d, server, nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, &InternalError{Cause: fmt.Errorf("a proxy before the target: %w", err)}
	}
	behind := *server
	behind.TLS, behind.Deeds = nil, nil // it is between those who encrypt, and who record
	d.proxy = proxy.New(proxy.Config{
		Dial: behind.Dial,
		Seed: seed,
	})
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	go d.proxy.Serve(ctx, l) //nolint:errcheck // without a listener no connection can be opened, which shows
	before := *server
	before.Reached = nil // it is reached by the proxy
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

// Begin implements [disrupt.Target]. What was begun is done to its end.
func (d *Disrupted) Begin(ctx context.Context, what disrupt.Disruption) (end func(context.Context) error, err error) {
	without := func(end func() error) func(context.Context) error {
		return func(context.Context) error { return end() }
	}
	ctx = context.WithoutCancel(ctx)
	switch what.Action {
	case disrupt.Kill:
		return d.stopped(ctx, target.Kill)
	case disrupt.KillServer:
		return d.stopped(ctx, target.KillServer)
	case disrupt.Restart:
		return d.stopped(ctx, target.Stop)
	case disrupt.Pause:
		return d.server.Resume, d.server.Pause(ctx)
	case disrupt.Fill:
		return d.fill()
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

// Operated reports whether the operator of a server of the user's can do a disruption to its processes.
func Operated(s *target.Server, action disrupt.Action) bool {
	switch action {
	case disrupt.Kill:
		return s.Can(target.Kill)
	case disrupt.Restart:
		return s.Can(target.Restart) || s.Can(target.Stop) && s.Can(target.Start)
	case disrupt.Pause:
		return s.Can(target.Pause) && s.Can(target.Resume)
	}
	return false
}

// stopped stops the server. An operator who can do no more than stop it and start it at once does that.
func (d *Disrupted) stopped(ctx context.Context, how target.Action) (end func(context.Context) error, err error) {
	again := func(ctx context.Context) error {
		if !d.server.Can(target.Start) {
			return nil
		}
		return d.server.Start(ctx)
	}
	if how == target.Stop && !d.server.Can(target.Stop) {
		return again, d.server.Restart(ctx)
	}
	err = d.server.Stop(ctx, how)
	if unseen, is := errors.AsType[*target.UnseenError](err); err != nil && (!is || unseen.Serves) {
		return nil, err
	}
	return again, err
}

// fill fills the disk of the server.
func (d *Disrupted) fill() (end func(context.Context) error, err error) {
	of, is := d.server.Operator.(disk)
	if err := target.CanMount(); !is || err != nil {
		return nil, &disrupt.SkippedError{Why: text.OfError(cmp.Or(err, errors.New("the server has no disk of its own")))}
	}
	return func(context.Context) error { return of.Free() }, of.Fill()
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
