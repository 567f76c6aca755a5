package check

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/peer"
	"github.com/fwpsuite/fwp/internal/shortage"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/scenarios"
)

// subject is the server under test.
type subject struct {
	endpoint     program.Endpoint
	alone, flush bool // what may be done to a server of the user's
}

// subject returns the server that flags and environment name. A flag without an effect on it is an error.
func (o *runOptions) subject(lookup func(string) (string, bool)) (subject, error) {
	e, err := o.targetFlags.Endpoint(o.given, lookup, &o.operatorFlags, "allow-shared", "allow-flush")
	if err == nil {
		err = e.SetFault(o.fault)
	}
	return subject{endpoint: e, alone: o.allowShared || o.allowFlush, flush: o.allowFlush}, err
}

// offers returns what a server of the user's offers beside open or password.
func (s subject) offers(server *target.Server) []scenarios.Need {
	var offers []scenarios.Need
	for _, can := range []struct {
		need scenarios.Need
		yes  bool
	}{
		{scenarios.NeedSignals, server.Can(target.Quiet) && server.Can(target.Terminate)},
		{scenarios.NeedRestart, server.Can(target.Restart)},
		{scenarios.NeedKill, server.Can(target.Kill)},
		{scenarios.NeedAlone, s.alone || s.endpoint.Ours()},
		{scenarios.NeedFlush, s.flush || s.endpoint.Ours()},
	} {
		if can.yes {
			offers = append(offers, can.need)
		}
	}
	return offers
}

// provide returns, for each need, how the user can meet it.
func provide(s subject) map[scenarios.Need]string {
	if s.endpoint.Choice.Embedded {
		return nil // the embedded server meets all
	}
	start, embedded := "let fwpcheck --start the server, or ", "leave out --url (and FAKTORY_URL)"
	password := "start the server with a password, and put it into the URL (tcp://:PASSWORD@HOST:PORT) or name a file " +
		"with --password-file"
	if s.endpoint.Starter != nil {
		start, embedded = "", "leave out --start"
		password = "write {password} where the command of --start takes it: an empty word stands for none"
	}
	return map[scenarios.Need]string{
		scenarios.NeedOpen:     "give the --url of a server that asks for no password",
		scenarios.NeedPassword: password,
		scenarios.NeedSignals:  "give --control COMMAND, in which {action} is quiet or terminate and {wid} the worker's id",
		scenarios.NeedRestart:  start + "give --control COMMAND, in which {action} is restart",
		scenarios.NeedKill:     start + "give --control COMMAND, in which {action} is kill",
		scenarios.NeedAlone:    "give --allow-shared, if no other client uses the server",
		scenarios.NeedFlush:    "give --allow-flush, if everything on the server may be deleted",
		scenarios.NeedEmbedded: embedded + ": this check tests the embedded server",
	}
}

// testbed is the servers on which checks are run.
type testbed struct {
	servers []run.Server
	prepare func(map[string]string) (run.Server, func(), error)
	id      conformance.Identity
	end     func()
}

// open starts the embedded servers, or connects to the user's server.
func (s subject) open(ctx context.Context, timeout time.Duration) (testbed, error) {
	switch {
	case s.endpoint.Starter != nil:
		return s.start(ctx, timeout)
	case !s.endpoint.Choice.Embedded:
		return s.connect(ctx, timeout)
	}
	bed, err := embedAll(ctx, s.endpoint)
	if err != nil {
		return testbed{}, err
	}
	if bed.id, err = s.endpoint.Peer.Identify(ctx, bed.servers[0].Target, timeout); err != nil {
		bed.end()
		return testbed{}, fmt.Errorf("the embedded server: %w", err)
	}
	return bed, nil
}

// connect identifies the user's server and authenticates.
func (s subject) connect(ctx context.Context, timeout time.Duration) (testbed, error) {
	id, err := s.endpoint.Identify(ctx, timeout)
	if err != nil {
		return testbed{}, err
	}
	offers := append([]scenarios.Need{scenarios.NeedOpen}, s.offers(s.endpoint.Server)...)
	if id.Protected {
		offers[0] = scenarios.NeedPassword
	}
	server := run.Server{Target: s.endpoint.Server, Password: s.endpoint.Password, Offers: offers}
	return testbed{servers: []run.Server{server}, id: id, end: func() {}}, nil
}

// start starts a server without and, if the command takes one, a server with a password. Checks that
// cannot share a server get one of their own.
func (s subject) start(ctx context.Context, timeout time.Duration) (testbed, error) {
	passwords := []string{""}
	if s.endpoint.Starter.Protects() {
		passwords = append(passwords, rand.Text())
	}
	var bed testbed
	var ends []func()
	bed.end = func() {
		for _, end := range ends {
			end()
		}
	}
	for _, password := range passwords {
		server, end, err := s.startOne(ctx, password, timeout)
		if err != nil {
			bed.end()
			return testbed{}, err
		}
		ends, bed.servers = append(ends, end), append(bed.servers, server)
	}
	id, err := s.endpoint.Peer.Identify(ctx, bed.servers[0].Target, timeout)
	if err != nil {
		bed.end()
	}
	bed.id = id
	return bed, err
}

// startOne starts one server.
func (s subject) startOne(
	ctx context.Context, password string, timeout time.Duration,
) (server run.Server, end func(), err error) {
	started, err := s.endpoint.Start(ctx, password, timeout)
	if err != nil {
		return run.Server{}, nil, err
	}
	server = run.Server{
		Target: &started.Server, Password: password, Offers: s.offersOf(started), Ended: started.Ended,
	}
	server.Fresh = func() (run.Server, func(), error) { return s.startOne(ctx, password, timeout) }
	return server, started.End, nil
}

// offersOf returns what a started server offers.
func (s subject) offersOf(started *target.Started) []scenarios.Need {
	access := scenarios.NeedOpen
	if started.Server.Address.Password != "" {
		access = scenarios.NeedPassword
	}
	return append([]scenarios.Need{access}, s.offers(&started.Server)...)
}

// noticing is the network of this machine. A shortage of this process is noticed in its context.
type noticing struct {
	ctx context.Context //nolint:containedctx // a listener has none
}

// Listen implements [peer.Network].
func (n noticing) Listen(addr string) (net.Listener, error) {
	ln, err := peer.TCP{}.Listen(addr)
	if err != nil {
		return nil, shortage.Notice(n.ctx, err)
	}
	return noticingListener{ln, n.ctx}, nil
}

// DialContext implements [peer.Network].
func (n noticing) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := peer.TCP{}.DialContext(ctx, network, addr)
	return nc, shortage.Notice(ctx, err)
}

// noticingListener notices a shortage that keeps it from accepting a connection.
type noticingListener struct {
	net.Listener

	ctx context.Context //nolint:containedctx // Accept has none
}

func (l noticingListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	return nc, shortage.Notice(l.ctx, err)
}

// embed starts the embedded server of an endpoint in this process, without a password. A shortage of this process is
// noticed in ctx.
func embed(ctx context.Context, at program.Endpoint) (*peer.Server, error) {
	return at.Peer.Start(peer.Config{Network: noticing{ctx}, Faults: at.Faults})
}

// embedAll starts an embedded server without a password, and one with a password if the protocol has any, so that every
// check has one.
func embedAll(ctx context.Context, at program.Endpoint) (bed testbed, err error) {
	bed.end = func() {}
	passwords := []string{""}
	if at.Peer.Passwords {
		passwords = append(passwords, rand.Text())
	}
	for _, password := range passwords {
		s, err := at.Peer.Start(peer.Config{Network: noticing{ctx}, Faults: at.Faults, Password: password})
		if err != nil {
			bed.end()
			return testbed{}, err
		}
		others := bed.end
		bed.servers, bed.end = append(bed.servers, s.Server), func() { others(); s.Close() }
	}
	bed.prepare = func(settings map[string]string) (run.Server, func(), error) {
		s, err := at.Peer.Start(peer.Config{Network: noticing{ctx}, Faults: at.Faults, Settings: settings})
		if err != nil {
			return run.Server{}, nil, err
		}
		return s.Server, s.Close, nil
	}
	return bed, nil
}
