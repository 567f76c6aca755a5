package selftest

import (
	"context"
	"net"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/scenarios"
)

// Offer returns a started embedded server as a server to check, with all that it offers:
// FLUSH and exclusive use too, since it has no jobs of others. dial connects to it; nil
// means TCP.
func Offer(s *fakes.Server, dial func(ctx context.Context, network, addr string) (net.Conn, error)) conformance.Server {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	offers := []scenarios.Need{
		scenarios.NeedAlone, scenarios.NeedFlush, scenarios.NeedRestart, scenarios.NeedKill, scenarios.NeedSignals,
	}
	if s.Config.Password == "" {
		offers = append(offers, scenarios.NeedOpen)
	} else {
		offers = append(offers, scenarios.NeedPassword)
	}
	return conformance.Server{Target: &embedded{server: s, dial: dial}, Password: s.Config.Password, Offers: offers}
}

// embedded is an embedded server as a target.
type embedded struct {
	server *fakes.Server
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
}

func (e *embedded) Dial(ctx context.Context) (net.Conn, error) {
	return e.dial(ctx, "tcp", e.server.Addr())
}

func (e *embedded) Restart(context.Context) error { return e.server.Restart() }

func (e *embedded) Kill(context.Context) error { return e.server.Kill() }

func (e *embedded) Signal(_ context.Context, wid, state string) error {
	return e.server.Signal(wid, state)
}
