//go:build unix

package target

import (
	"net"
	"syscall"
)

// HoldPort keeps a port of this machine on which nothing listens, so that a connect is refused, until release is
// called: no other program gets it, and no connect from this machine comes from it and so reaches itself. Where that
// fails nothing is held.
func HoldPort(addr net.Addr) (release func()) {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || tcp.IP.To4() == nil {
		return func() {}
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return func() {}
	}
	syscall.CloseOnExec(fd)
	_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) // Bind tells
	_ = syscall.Bind(fd, &syscall.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(tcp.IP.To4())})
	return func() { _ = syscall.Close(fd) }
}

// SetBacklog sets how many connections to a listener may wait to be accepted, where it can.
func SetBacklog(l net.Listener, n int) {
	control(l, func(fd int) { _ = syscall.Listen(fd, n) }) // who fills the backlog notices
}

// SetReadBuffer sets how many bytes may wait to be read, about, of a connection that a listener accepts, where it can.
func SetReadBuffer(l net.Listener, n int) {
	control(l, func(fd int) { _ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF, n) }) // or stays
}

// smallSegments is the Control of a dialer: it asks for segments of 536 octets, where it can. So the kernel of the
// server takes some 70 kB of a reply at once in place of 4 MB, and a server that takes one send for the whole shows it.
func smallSegments(_, _ string, raw syscall.RawConn) error {
	const octets = 536 // what every host accepts (RFC 9293, 3.7.1)
	return raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, octets) // or stays
	})
}

func control(l net.Listener, act func(fd int)) {
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { act(int(fd)) }) // fails on a closed listener only
	}
}
