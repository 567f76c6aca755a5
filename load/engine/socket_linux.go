package engine

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a wire that the loop's own thread reads and writes.
type socket struct {
	conn       *conn
	poller     *poller
	fd         int    // -1: none
	generation int32  // tells it from an earlier socket with the same descriptor
	eventMask  uint32 // events that the kernel was asked for
	addresses  []netip.AddrPort
	next       int  // the address that is tried after this one
	isEnded    bool // nothing more can be read
	deadline   *deadline
}

func (p *poller) newSocket(c *conn) transport {
	return &socket{conn: c, poller: p, fd: -1}
}

// dial begins to connect when the addresses are known.
func (s *socket) dial() {
	names := s.poller.front
	if s.conn.link.UsesBackend {
		names = s.poller.back
	}
	if result, ok := names.get(s.startConnectLater); ok {
		s.startConnect(result)
	}
}

// startConnectLater is called by the goroutine of a lookup. The dial may have been given up by then.
func (s *socket) startConnectLater(result lookupResult) {
	l := s.poller.loop
	l.enter()
	defer l.leave()
	if _, ok := l.conns[s.conn]; ok {
		s.startConnect(result)
	}
}

// startConnect begins to connect to the first address that this is possible for.
func (s *socket) startConnect(result lookupResult) {
	s.addresses = result.addresses
	if result.err != nil {
		s.conn.fail(result.err)
	} else if err := s.connect(); err != nil {
		s.conn.fail(err)
	}
}

// attemptTime is how long an address may take while others are left, which is the least that a net.Dialer gives each.
const attemptTime = 2 * time.Second

// connect tries the addresses that are left. It returns the error of the last one.
func (s *socket) connect() error {
	err := error(&net.AddrError{Err: "no address"})
	for s.next < len(s.addresses) {
		address := s.addresses[s.next]
		s.next++
		if err = s.connectTo(address); err == nil {
			if s.next < len(s.addresses) {
				s.setDeadline(attemptTime, s.connectNext)
			}
			return nil
		}
		s.release()
	}
	return err
}

// connectNext gives an address up for the next one.
func (s *socket) connectNext() {
	s.release()
	if err := s.connect(); err != nil {
		s.conn.fail(err)
	}
}

func (s *socket) connectTo(address netip.AddrPort) error {
	family := unix.AF_INET6
	if address.Addr().Is4() {
		family = unix.AF_INET
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return refusal(address, "socket", err)
	}
	s.setDescriptor(fd)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // it cannot fail on a new socket
	if err := s.poller.bind(fd, address); err != nil {
		return refusal(address, "bind", err)
	}
	err = unix.Connect(fd, sockaddr(address))
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return refusal(address, "connect", err)
	}
	s.eventMask = unix.EPOLLOUT // it says how connecting ended, also if that was at once
	return s.poller.watch(unix.EPOLL_CTL_ADD, fd, s.eventMask, s.generation)
}

// setDescriptor makes fd the descriptor of s.
func (s *socket) setDescriptor(fd int) {
	p := s.poller
	p.socketCount++
	s.fd, s.generation = fd, p.socketCount
	if fd >= len(p.sockets) {
		p.sockets = append(p.sockets, make([]*socket, fd+1-len(p.sockets))...)
	}
	p.sockets[fd] = s
}

// bind gives the connection a source address of its own, if that was asked for.
func (p *poller) bind(fd int, to netip.AddrPort) error {
	if !p.loop.engine.config.SpreadSources || !to.Addr().Is4() || !to.Addr().IsLoopback() {
		return nil
	}
	// The port is chosen by connect, which knows both ends.
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
		return err
	}
	p.sourceCount++
	from := p.sourceCount % 254
	return unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 1, byte(from + 1)}})
}

func sockaddr(address netip.AddrPort) unix.Sockaddr {
	if address.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(address.Port()), Addr: address.Addr().As16()}
}

// refusal is an error of dialling as package net has it.
func refusal(address netip.AddrPort, call string, err error) error {
	return &net.OpError{
		Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(address), Err: os.NewSyscallError(call, err),
	}
}

// failure is an error of an open connection as package net has it.
func (s *socket) failure(call string, err error) error {
	remote := &net.TCPAddr{}
	if s.next > 0 {
		remote = net.TCPAddrFromAddrPort(s.addresses[s.next-1])
	}
	return &net.OpError{Op: call, Net: "tcp", Addr: remote, Err: os.NewSyscallError(call, err)}
}

// handleEvents is called with what the kernel says of the socket.
func (s *socket) handleEvents(events uint32) {
	if s.conn.isOpening {
		s.finishConnect()
		return
	}
	if events&unix.EPOLLOUT != 0 && s.conn.isWriting {
		s.writePending()
	}
	if events&^unix.EPOLLOUT != 0 && s.fd >= 0 && !s.isEnded {
		s.read()
	}
}

// finishConnect ends connecting, one way or the other.
func (s *socket) finishConnect() {
	err := s.connectError()
	s.clearDeadline()
	if err == nil {
		if onOpen := s.poller.loop.engine.config.OnOpen; onOpen != nil {
			onOpen(s.addresses[s.next-1])
		}
		s.await(unix.EPOLLIN)
		s.conn.reportOpened()
		return
	}
	err = refusal(s.addresses[s.next-1], "connect", err)
	s.release()
	if retryErr := s.connect(); retryErr == nil {
		return
	}
	s.conn.reportRefused(err)
}

// connectError returns why connecting has failed, nil if it has not.
func (s *socket) connectError() error {
	code, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return err
	}
	if code != 0 {
		return unix.Errno(code)
	}
	// Where no server listens on a port that the system may give to clients, a socket can be
	// connected to itself.
	local, err := unix.Getsockname(s.fd)
	if err != nil {
		return err
	}
	remote, err := unix.Getpeername(s.fd)
	if err != nil {
		return err
	}
	if addressOf(local) == addressOf(remote) {
		return unix.ECONNREFUSED
	}
	return nil
}

// addressOf is the address in a, which is of IPv4 or IPv6.
func addressOf(a unix.Sockaddr) netip.AddrPort {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// await tells the kernel which events are awaited from now on.
func (s *socket) await(events uint32) {
	if events == s.eventMask || s.fd < 0 {
		return
	}
	if err := s.poller.watch(unix.EPOLL_CTL_MOD, s.fd, events, s.generation); err != nil {
		s.conn.fail(err)
		return
	}
	s.eventMask = events
}

// read reads once. If there is more the kernel says so again, when others have had their turn.
func (s *socket) read() {
	in := s.poller.loop.in
	n, err := readNow(uintptr(s.fd), in)
	switch {
	case err == nil && n > 0:
		s.conn.data(in[:n])
		return
	case err == nil:
		err = io.EOF
	case errors.Is(err, unix.EAGAIN):
		return
	default:
		err = s.failure("read", err)
	}
	s.isEnded = true
	s.await(s.eventMask &^ unix.EPOLLIN)
	s.conn.reportReadError(err)
}

func (s *socket) write(b []byte) (int, error) {
	n, err := writeNow(uintptr(s.fd), b)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, unix.EAGAIN):
		return 0, nil
	}
	return 0, s.failure("write", err)
}

func (s *socket) flush() { s.await(s.eventMask | unix.EPOLLOUT) }

// writePending writes what the socket accepts of what is pending.
func (s *socket) writePending() {
	c := s.conn
	n, err := s.write(c.pending[:min(chunkSize, len(c.pending))])
	if err != nil {
		c.fail(err)
		s.stopWriting()
		return
	}
	if n < len(c.pending) {
		c.pending = c.pending[n:]
		return
	}
	c.reuse(c.pending)
	c.pending = nil
	s.stopWriting()
}

func (s *socket) stopWriting() {
	s.await(s.eventMask &^ unix.EPOLLOUT)
	s.conn.endWriting()
}

// limit closes the connection when the time is over.
func (s *socket) limit(timeout time.Duration) { s.setDeadline(timeout, s.conn.closeNow) }

// setDeadline calls callback when the time is over, unless clearDeadline is called before.
func (s *socket) setDeadline(timeout time.Duration, callback func()) {
	l := s.poller.loop
	s.deadline = &deadline{callback: callback}
	s.deadline.session = s.deadline
	l.timers.set(&s.deadline.Link, l.Now()+timeout)
}

func (s *socket) clearDeadline() {
	if s.deadline != nil {
		s.poller.loop.timers.set(&s.deadline.Link, 0)
		s.deadline = nil
	}
}

func (s *socket) cancel() { s.conn.closeNow() }

func (s *socket) closeWrite() {
	_ = unix.Shutdown(s.fd, unix.SHUT_WR) // reading returns why it failed
}

func (s *socket) abort() {
	if s.fd >= 0 {
		_ = unix.SetsockoptLinger(s.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
}

func (s *socket) close() {
	s.clearDeadline()
	s.release()
}

// release closes the descriptor, which takes it out of the epoll as well.
func (s *socket) release() {
	if s.fd >= 0 {
		s.poller.sockets[s.fd] = nil
		_ = unix.Close(s.fd)
		s.fd = -1
	}
}

// deadline is a session without a connection, which times the connection of another session.
type deadline struct {
	Link
	callback func()
}

func (d *deadline) Step(time.Duration, Event, []byte) ([]byte, Next) {
	d.callback()
	return nil, Next{Close: true}
}
