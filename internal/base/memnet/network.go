package memnet

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// firstPort is the lowest port that the network chooses by itself: the start of the
// range that real systems use for that.
const firstPort = 49152

// Network is a set of names with their listeners. Its zero value is not usable, see
// [New]. All methods may be called by several goroutines at once.
//
// Inside a bubble of testing/synctest listeners and connections belong to the
// bubble that made them; the Network itself may be older than the bubble.
//
// Errors look like those of package net: *net.OpError around net.ErrClosed,
// os.ErrDeadlineExceeded, syscall.ECONNREFUSED, syscall.ECONNRESET or
// syscall.EPIPE. The end of the stream is a plain io.EOF.
type Network struct {
	mu        sync.Mutex
	listeners map[string]*listener
	lastPort  int
}

// New returns an empty network.
func New() *Network {
	return &Network{listeners: make(map[string]*listener), lastPort: firstPort - 1}
}

// Listen takes the name addr, "host:port" with any host and a numeric port, for
// the returned listener; with port 0 (or an empty one) the network picks a free
// port. The name is free again when the listener is closed; accepted connections stay
// open. It fails with syscall.EADDRINUSE if the name is taken.
//
// At most 128 connections wait to be accepted; a dial beyond that blocks.
func (n *Network) Listen(addr string) (net.Listener, error) {
	host, port, err := splitAddress(addr)
	if err != nil {
		return nil, opError("listen", nil, address(addr), err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	name := joinAddress(host, port)
	if port == 0 {
		name = n.freeName(host)
	}
	if _, ok := n.listeners[name]; ok {
		return nil, sysError("listen", "bind", nil, address(name), syscall.EADDRINUSE)
	}
	l := &listener{network: n, addr: address(name), queue: make(chan *conn, backlog), closed: make(chan struct{})}
	n.listeners[name] = l
	return l, nil
}

// DialContext connects to the listener on addr. It has the signature of
// net.Dialer.DialContext; network is "tcp", "tcp4" or "tcp6", without a difference. As on
// a real network it may return before the other side has accepted.
//
// It fails with syscall.ECONNREFUSED if there is no listener on addr, and with the error
// of ctx if that ends first; ctx has no effect on a returned connection. It blocks only
// while the listener's queue is full.
func (n *Network) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, opError("dial", nil, address(addr), net.UnknownNetworkError(network))
	}
	host, port, err := splitAddress(addr)
	if err != nil {
		return nil, opError("dial", nil, address(addr), err)
	}
	if err := ctx.Err(); err != nil {
		return nil, opError("dial", nil, address(addr), err)
	}
	l, local := n.route(host, port)
	if l == nil {
		return nil, sysError("dial", "connect", nil, address(addr), syscall.ECONNREFUSED)
	}
	client, server := newPair(local, l.addr, capacity)
	if err := l.offer(ctx, server); err != nil {
		return nil, opError("dial", nil, address(addr), err)
	}
	return client, nil
}

// route returns the listener on host and port, nil if there is none, and an address for
// the dialling side.
func (n *Network) route(host string, port int) (*listener, address) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.listeners[joinAddress(host, port)]
	if l == nil {
		return nil, ""
	}
	return l, address(n.freeName(host))
}

// freeName returns a name on host that has no listener and was not returned recently.
// The caller holds n.mu.
func (n *Network) freeName(host string) string {
	for {
		n.lastPort++
		if n.lastPort > 65535 {
			n.lastPort = firstPort
		}
		name := joinAddress(host, n.lastPort)
		if _, ok := n.listeners[name]; !ok {
			return name
		}
	}
}

// release frees the name of l.
func (n *Network) release(l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[string(l.addr)] == l {
		delete(n.listeners, string(l.addr))
	}
}

func splitAddress(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	if text == "" {
		return host, 0, nil
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("invalid port %q", text)
	}
	return host, int(number), nil
}

func joinAddress(host string, port int) string {
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// address is "host:port" with a host that need not exist.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// opError wraps err as package net does, so that errors.Is, net.Error and the text are
// those of real connections.
func opError(op string, local, remote net.Addr, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: local, Addr: remote, Err: err}
}

// sysError is opError for the error of the system call named call.
func sysError(op, call string, local, remote net.Addr, errno syscall.Errno) error {
	return opError(op, local, remote, os.NewSyscallError(call, errno))
}
