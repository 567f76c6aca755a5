package bench

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"

	"github.com/fwpsuite/fwp/internal/target"
)

// engines are the values of --engine.
const (
	autoEngine     = "auto"
	epollEngine    = "epoll"
	portableEngine = "portable"
)

// hasEpoll reports whether this system has the epoll engine.
const hasEpoll = runtime.GOOS == "linux"

// resolverFor returns what tells the epoll engine where to connect to, to reach a server at an address of it, or nil if
// the portable engine is to be used: it was asked for, or the other one cannot reach the server. That is an error if
// the epoll engine was asked for.
func resolverFor(ctx context.Context, kind string, server *target.Server, at target.Address) (
	func(context.Context) ([]netip.AddrPort, error), error,
) {
	var err error
	switch {
	case kind == portableEngine:
		return nil, nil
	case !hasEpoll:
		err = errors.New("--engine epoll needs Linux: leave it out")
	case server.TLS != nil:
		err = errors.New("--engine epoll cannot encrypt (TLS): leave it out")
	default:
		resolve := func(ctx context.Context) ([]netip.AddrPort, error) { return resolve(ctx, at) }
		if _, err = resolve(ctx); err == nil {
			return resolve, nil
		}
	}
	if kind == autoEngine {
		err = nil
	}
	return nil, err
}

// resolve returns the addresses of a server, those of IPv6 with a zone excepted.
func resolve(ctx context.Context, at target.Address) ([]netip.AddrPort, error) {
	_, port, err := net.SplitHostPort(at.HostPort())
	if err != nil {
		return nil, err
	}
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return nil, err
	}
	hosts, err := net.DefaultResolver.LookupNetIP(ctx, "ip", at.Host)
	if err != nil {
		return nil, err
	}
	var addresses []netip.AddrPort
	for _, host := range hosts {
		if host.Zone() == "" {
			addresses = append(addresses, netip.AddrPortFrom(host.Unmap(), uint16(number)))
		}
	}
	if len(addresses) == 0 {
		return nil, errors.New("--engine epoll takes no IPv6 address with a zone: leave it out")
	}
	return addresses, nil
}
