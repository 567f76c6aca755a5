// Package forwardtest has a forwarder for tests, which ends for all its clients because of what one of them does.
package forwardtest

import (
	"context"
	"io"
	"net"
	"sync"
	"syscall"

	"github.com/fwpsuite/fwp/internal/target/forward"
)

// Forwarder passes connections on to a server that is right, until it ends. It is a target whose use is recorded, see
// [forward.Target]. It is safe for concurrent use.
type Forwarder struct {
	Server      forward.Dial
	Resets      bool // it ends at the first reset
	HalfCloses  bool // it ends at the first half-close
	Connections int  // it ends when so many have been opened; zero: never
	MaxOpen     int  // it ends when so many are open; zero: never

	record    forward.Record
	mu        sync.Mutex
	conns     []*conn
	openCount int
	hasEnded  bool
}

// Forwarded implements [forward.Target].
func (f *Forwarder) Forwarded() *forward.Record { return &f.record }

// Dial opens a connection through the forwarder.
func (f *Forwarder) Dial(ctx context.Context) (net.Conn, error) {
	return f.DialTo(ctx, "in memory", f.Server)
}

// DialTo opens a connection through the forwarder to a port of the server, by its address and how it is dialled.
func (f *Forwarder) DialTo(ctx context.Context, address string, server forward.Dial) (net.Conn, error) {
	return f.record.Open(ctx, address, func(ctx context.Context) (net.Conn, error) { return f.dial(ctx, server) })
}

func (f *Forwarder) dial(ctx context.Context, server forward.Dial) (net.Conn, error) {
	if f.HasEnded() {
		return nil, syscall.ECONNREFUSED
	}
	nc, err := server(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: nc, forwarder: f}
	f.mu.Lock()
	f.conns = append(f.conns, c)
	f.openCount++
	full := len(f.conns) == f.Connections || f.openCount == f.MaxOpen
	f.mu.Unlock()
	if full {
		f.End()
	}
	return c, nil
}

// HasEnded reports whether the forwarder has ended.
func (f *Forwarder) HasEnded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hasEnded
}

// End ends the forwarder, and with it all connections.
func (f *Forwarder) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hasEnded = true
	for _, c := range f.conns {
		_ = c.Conn.Close()
	}
}

// conn is one connection as a client has it.
type conn struct {
	net.Conn
	forwarder     *Forwarder
	resetsOnClose bool
	closed        sync.Once
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && c.forwarder.HasEnded() {
		err = io.EOF
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	if c.forwarder.HasEnded() {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(b)
}

func (c *conn) CloseWrite() error {
	if c.forwarder.HalfCloses {
		c.forwarder.End()
		return nil
	}
	return c.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

func (c *conn) SetLinger(sec int) error {
	c.resetsOnClose = sec == 0
	return c.Conn.(interface{ SetLinger(sec int) error }).SetLinger(sec)
}

func (c *conn) Close() error {
	if c.resetsOnClose && c.forwarder.Resets {
		c.forwarder.End()
	}
	c.closed.Do(func() {
		c.forwarder.mu.Lock()
		c.forwarder.openCount--
		c.forwarder.mu.Unlock()
	})
	return c.Conn.Close()
}
