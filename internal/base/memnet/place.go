package memnet

import (
	"context"
	"net"
)

// Place is an address of a network: a server listens there, and its clients connect to it.
type Place struct {
	Network *Network
	Addr    string
}

// NewPlace returns an address of a network of its own.
func NewPlace() Place { return New().At("server:1") }

// At returns an address of the network.
func (n *Network) At(addr string) Place { return Place{n, addr} }

// Listen is [Network.Listen] with the address.
func (p Place) Listen() (net.Listener, error) { return p.Network.Listen(p.Addr) }

// Dial is [Network.DialContext] with the address.
func (p Place) Dial(ctx context.Context) (net.Conn, error) {
	return p.Network.DialContext(ctx, "tcp", p.Addr)
}

// MustListen is Listen at an address that has no listener yet: it panics if it has one.
func (p Place) MustListen() net.Listener { return must(p.Listen()) }

// MustDial connects to a listener: it panics if there is none.
func (p Place) MustDial() net.Conn { return must(p.Dial(context.Background())) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
