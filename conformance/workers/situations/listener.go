package situations

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
)

// recordedListener records what passes over the connections that it accepts.
type recordedListener struct {
	net.Listener
	to      *recording
	process func() int
	secure  func(net.Conn) net.Conn // nil: no TLS
	notice  func(error) error       // is given the errors
}

// Accept returns the next connection that is recorded, and closes those that are too many.
func (l *recordedListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	for err == nil && l.to.isFull() {
		_ = nc.Close()
		nc, err = l.Listener.Accept()
	}
	if err != nil {
		return nil, l.notice(err)
	}
	raw := nc
	if l.secure != nil {
		nc = l.secure(nc)
	}
	r := l.to
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns++
	r.open++
	c := &recordedConn{Conn: nc, ahead: newReadAhead(), raw: raw, to: r, number: r.conns}
	r.builder.Open(r.now(), c.number, l.process())
	go c.ahead.run(nc, c.record)
	return c, nil
}

// recordedConn is a recorded connection.
type recordedConn struct {
	net.Conn
	ahead  *readAhead
	raw    net.Conn
	to     *recording
	number int
	reset  bool // guarded by the recording's lock, as is the next field
	closed bool
}

// record takes what was read.
func (c *recordedConn) record(data []byte, err error) {
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	if len(data) > 0 && !c.closed {
		at := c.to.now()
		c.to.builder.Client(at, c.number, data)
		if data[len(data)-1] != '\n' {
			c.to.partial = at
		}
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		c.end(workers.Client, !errors.Is(err, io.EOF))
	}
}

// Read returns what was read ahead.
func (c *recordedConn) Read(p []byte) (int, error) { return c.ahead.read(p) }

// SetReadDeadline is that of [net.Conn].
func (c *recordedConn) SetReadDeadline(t time.Time) error {
	c.ahead.setDeadline(t)
	return nil
}

// SetDeadline is that of [net.Conn].
func (c *recordedConn) SetDeadline(t time.Time) error {
	c.ahead.setDeadline(t)
	return c.SetWriteDeadline(t)
}

// Write records the bytes before the client can have them.
func (c *recordedConn) Write(p []byte) (int, error) {
	c.to.mu.Lock()
	if !c.closed {
		c.to.builder.Server(c.to.now(), c.number, p)
	}
	c.to.mu.Unlock()
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		c.to.mu.Lock()
		defer c.to.mu.Unlock()
		c.end(workers.Client, true)
	}
	return n, err
}

// Close records that the server closes the connection, unless it has ended before.
func (c *recordedConn) Close() error {
	c.to.mu.Lock()
	c.end(workers.Server, c.reset)
	c.to.mu.Unlock()
	c.ahead.close()
	return c.Conn.Close()
}

// SetLinger makes the next Close a reset, where the connection can do that.
func (c *recordedConn) SetLinger(sec int) error {
	c.to.mu.Lock()
	c.reset = sec == 0
	c.to.mu.Unlock()
	if l, ok := c.raw.(interface{ SetLinger(sec int) error }); ok {
		return l.SetLinger(sec)
	}
	return nil
}

// end notes the end of the connection, the first of its causes. The recording's lock is held.
func (c *recordedConn) end(by workers.Side, reset bool) {
	if !c.closed {
		c.closed = true
		c.to.open--
		c.to.builder.Close(c.to.now(), c.number, by, reset)
	}
}

// mostAhead bounds the bytes that are read and that the server has not taken.
const mostAhead = 256 << 10

// readAhead reads a connection as fast as bytes arrive, so that they are recorded when the client has sent them and not
// when the server gets to them. Its methods may be called by many goroutines at once.
type readAhead struct {
	mu       sync.Mutex
	changed  *sync.Cond
	in       []byte
	err      error // behind those bytes
	deadline time.Time
	alarm    *time.Timer // at the deadline
	closed   bool        // the server reads no more
}

func newReadAhead() *readAhead {
	a := new(readAhead)
	a.changed = sync.NewCond(&a.mu)
	return a
}

// run reads the connection until that fails. Record is called before the bytes can be read here.
func (a *readAhead) run(nc net.Conn, record func(data []byte, err error)) {
	buffer := make([]byte, 32<<10)
	for err := error(nil); err == nil; {
		var n int
		n, err = nc.Read(buffer)
		record(buffer[:n], err)
		a.add(buffer[:n], err)
	}
}

// add adds what was read, and blocks while too much is unread that the server may still read.
func (a *readAhead) add(data []byte, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err = err; !a.closed {
		a.in = append(a.in, data...)
	}
	a.changed.Broadcast()
	for err == nil && len(a.in) > mostAhead {
		a.changed.Wait()
	}
}

// read is the Read of the server.
func (a *readAhead) read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	isLate := func() bool { return !a.deadline.IsZero() && !time.Now().Before(a.deadline) }
	for !isLate() && len(a.in) == 0 && a.err == nil {
		a.changed.Wait()
	}
	switch {
	case isLate():
		return 0, os.ErrDeadlineExceeded
	case len(a.in) == 0:
		return 0, a.err
	}
	n := copy(p, a.in)
	if a.in = a.in[n:]; len(a.in) == 0 {
		a.in = nil
	}
	a.changed.Broadcast()
	return n, nil
}

// wake has a read look at its deadline.
func (a *readAhead) wake() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed.Broadcast()
}

// setDeadline has reads fail from a time on; none if it is zero.
func (a *readAhead) setDeadline(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.alarm != nil {
		a.alarm.Stop()
	}
	if a.deadline = at; !at.IsZero() {
		a.alarm = time.AfterFunc(time.Until(at), a.wake)
	}
	a.changed.Broadcast()
}

// close says that the server reads no more.
func (a *readAhead) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed, a.in = true, nil
	if a.alarm != nil {
		a.alarm.Stop()
	}
	a.changed.Broadcast()
}
