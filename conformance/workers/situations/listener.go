package situations

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/internal/memnet"
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
	feed, ahead := memnet.Pipe(mostAhead)
	c := &recordedConn{Conn: nc, ahead: ahead, raw: raw, to: r, number: r.conns}
	r.builder.Open(r.now(), c.number, l.process())
	go c.readAhead(feed)
	return c, nil
}

// recordedConn is a recorded connection.
type recordedConn struct {
	net.Conn
	ahead  net.Conn // from which the server reads
	raw    net.Conn
	to     *recording
	number int
	reset  bool // guarded by the recording's lock, as are the next fields
	closed bool
	line   int // bytes since the last line end
}

// readAhead reads as fast as bytes arrive, so that they are recorded when the client has sent them and not when the
// server gets to them. The server reads them from the other end of feed, which holds mostAhead of them. A line without
// an end is read no further when the program has written mostEndless of them: it stays open, and the program waits.
func (c *recordedConn) readAhead(feed net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := c.Conn.Read(buffer)
		c.record(buffer[:n], err)
		_, _ = feed.Write(buffer[:n]) // fails when the server reads no more
		if err != nil {
			_ = feed.Close()
			return
		}
		if c.endless(buffer[:n]) {
			return
		}
	}
}

// mostAhead is how many bytes of a connection may wait for the server, and mostEndless how many a program may write, in
// all situations that are played at a time, behind the first [workers.MaxKept] of lines that are not over: such lines
// would take all of the machine's processor time.
const (
	mostAhead   = 64 << 10
	mostEndless = 32 << 20
)

// endless counts the bytes of a line that is not over after data, and reports whether there are too many.
func (c *recordedConn) endless(data []byte) bool {
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	if end := bytes.LastIndexByte(data, '\n'); end >= 0 {
		c.countLine(0)
		data = data[end+1:]
	}
	if c.closed {
		return false
	}
	c.countLine(c.line + len(data))
	return c.line > workers.MaxKept && c.to.memory.endless.Load() > mostEndless
}

// countLine sets how many bytes the connection's line has. The recording's lock is held.
func (c *recordedConn) countLine(n int) {
	before := max(0, c.line-workers.MaxKept)
	c.line = n
	c.to.memory.endless.Add(int64(max(0, n-workers.MaxKept) - before))
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
func (c *recordedConn) Read(p []byte) (int, error) { return c.ahead.Read(p) }

// SetReadDeadline is that of [net.Conn].
func (c *recordedConn) SetReadDeadline(t time.Time) error { return c.ahead.SetReadDeadline(t) }

// SetDeadline is that of [net.Conn].
func (c *recordedConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
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
	_ = c.ahead.Close()
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
		c.countLine(0)
		c.to.open--
		c.to.builder.Close(c.to.now(), c.number, by, reset)
	}
}
