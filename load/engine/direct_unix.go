//go:build unix

package engine

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// directSocket reads from a socket and writes to it without a wait of its own: it is the
// runtime's poller that waits.
type directSocket struct {
	conn net.Conn
	raw  syscall.RawConn
	put  func(fd uintptr) bool // transmit, made once
	fd   uintptr               // while ready is called
	b    []byte                // what to write
	n    int                   // how much of that was written
	err  error                 // why not more
}

// newDirectSocket returns nil if conn is not known to be a plain socket: what wraps one may do
// something with the bytes first.
func newDirectSocket(conn net.Conn) *directSocket {
	var raw syscall.RawConn
	var err error
	switch socket := conn.(type) {
	case *net.TCPConn:
		raw, err = socket.SyscallConn()
	case *net.UnixConn:
		raw, err = socket.SyscallConn()
	}
	if raw == nil || err != nil {
		return nil
	}
	d := &directSocket{conn: conn, raw: raw}
	d.put = d.transmit
	return d
}

// attend calls ready now, and again whenever something may have come, until it returns
// false. ready has to read until there is nothing more: it learns only of what arrives
// later. The error is that of waiting.
func (d *directSocket) attend(ready func() bool) error {
	return d.raw.Read(func(fd uintptr) bool {
		d.fd = fd
		return !ready()
	})
}

// read may be called by ready. That nothing has come is errNothing.
func (d *directSocket) read(b []byte) (int, error) {
	n, err := readNow(d.fd, b)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, syscall.EAGAIN):
		return 0, errNothing
	}
	return 0, d.opError("read", err)
}

// write writes what the socket accepts at once, and returns how much that was. Less than all of it, or nothing, is not
// an error.
func (d *directSocket) write(b []byte) (int, error) {
	d.b = b
	err := d.raw.Write(d.put)
	d.b = nil
	if err == nil && d.err != nil {
		err = d.opError("write", d.err)
	}
	return d.n, err
}

// transmit is called with the socket. It returns true: do not wait until more can be
// written.
func (d *directSocket) transmit(fd uintptr) bool {
	d.n, d.err = writeNow(fd, d.b)
	if errors.Is(d.err, syscall.EAGAIN) {
		d.err = nil
	}
	return true
}

// opError returns err as package net would.
func (d *directSocket) opError(op string, err error) error {
	return &net.OpError{
		Op: op, Net: d.conn.LocalAddr().Network(), Source: d.conn.LocalAddr(), Addr: d.conn.RemoteAddr(),
		Err: os.NewSyscallError(op, err),
	}
}
