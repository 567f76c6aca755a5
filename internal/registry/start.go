package registry

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/fwpsuite/fwp/conformance/run"
)

// Config is how an embedded server is started. The zero Config is a conforming server on a free port of this machine.
type Config struct {
	Network   Network // nil: TCP
	Addr      string  // where it listens, host and port; empty: a free port of 127.0.0.1
	Workers   string  // where a broker with a second port for workers listens for them; empty: at a free one
	Bugs      []Bug   // it has all of them
	Variation Variation
	Password  string // that it asks for; empty: none
	Seed      uint64 // what is left to chance follows from it; 0: from nothing
	// Dir is the folder in which the store of a server of FWP is while it does not run. Empty: it is lost.
	Dir string
	// Iterations is how often clients hash a password; 0: as often as usual.
	Iterations int
}

// Network is where servers listen, and how they are reached. The address "127.0.0.1:0" stands for a free one.
type Network interface {
	Listen(addr string) (net.Listener, error)
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

// DialFunc connects to an address, as [net.Dialer.DialContext] does.
type DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// TCP is the network of this machine.
type TCP struct {
	Notice func(error) error       // gets each error, and returns the one that counts; nil: they are as they are
	Wrap   func(net.Conn) net.Conn // returns what stands for a connection that a server accepts; nil: itself
}

// Listen implements [Network]. Addresses of IPv4 are of that alone: 0.0.0.0 would stand for :: otherwise.
func (n TCP) Listen(addr string) (net.Listener, error) {
	network := "tcp"
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().Is4() {
		network = "tcp4"
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), network, addr)
	if err != nil {
		return nil, n.notice(err)
	}
	return &listener{l, n}, nil
}

// DialContext implements [Network].
func (n TCP) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := new(net.Dialer).DialContext(ctx, network, addr)
	return nc, n.notice(err)
}

func (n TCP) notice(err error) error {
	if err == nil || n.Notice == nil {
		return err
	}
	return n.Notice(err)
}

type listener struct {
	net.Listener
	network TCP
}

func (l *listener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err == nil && l.network.Wrap != nil {
		nc = l.network.Wrap(nc)
	}
	return nc, l.network.notice(err)
}

// freePort is the address of a free port of this machine.
const freePort = "127.0.0.1:0"

// network returns the Network, TCP for none.
func (c *Config) network() Network {
	if c.Network == nil {
		return TCP{}
	}
	return c.Network
}

// freeAddr returns the address of a free port beside Addr.
func (c *Config) freeAddr() string {
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(host, "0")
}

// place returns the place of a server, a free one if the address is empty.
func (c *Config) place(addr string) *place { return &place{c.network(), cmp.Or(addr, freePort)} }

// place is where a server listens, and a target: how it is reached.
type place struct {
	network Network
	addr    string // that of a free port once it has been listened at
}

// Listen listens at the place, at the same one when it is called again.
func (p *place) Listen() (net.Listener, error) {
	l, err := p.network.Listen(p.addr)
	if err == nil && p.addr != l.Addr().String() { // the first time: later ones may be while others connect
		p.addr = l.Addr().String()
	}
	return l, err
}

// Dial connects to it.
func (p *place) Dial(ctx context.Context) (net.Conn, error) {
	return p.network.DialContext(ctx, "tcp", p.addr)
}

// Server is an embedded server that runs.
type Server struct {
	run.Server // with all that it offers

	URL   string // of its clients, with the password if it has one
	Close func() // ends it
	// Stop stops it, in good order or with every connection reset, and Start has it serve again with the same store. Nil:
	// it cannot be stopped.
	Stop  func(reset bool) error
	Start func() error
}

// Start starts an embedded server. Others like it can be started for checks that cannot share one.
func (p *Entry) Start(c Config) (*Server, error) {
	if p.Embed == nil {
		return nil, fmt.Errorf("%s has no embedded server", p.Title)
	}
	s, err := p.Embed(c)
	if err != nil {
		return nil, fmt.Errorf("start the embedded server: %w", err)
	}
	s.StartServer = func() (run.Server, func(), error) {
		other := c
		other.Addr = ""
		server, err := p.Start(other)
		if err != nil {
			return run.Server{}, nil, err
		}
		return server.Server, server.Close, nil
	}
	return s, nil
}
