package situations

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/target"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// recordedListener records what passes over the connections that it accepts. An outage of it may go on: see disrupt.
type recordedListener struct {
	to      *recording
	process func() int
	secure  func(net.Conn) net.Conn // nil: no TLS
	notice  func(error) error       // is given the errors
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	again   func() (net.Listener, error) // opens the inner listener again where it was
	slow    bool                         // it reads lines slowly

	mu     sync.Mutex
	inner  net.Listener
	outage *disruption // nil: none
	conns  map[*recordedConn]bool
	past   map[string]bool // addresses of connections that are not the program's
	once   sync.Once
	closed chan struct{}
}

// newListener returns one that accepts what inner does.
func (t *trial) newListener(inner net.Listener, s *server) *recordedListener {
	addr, slow := inner.Addr().String(), t.situation.setup.slow
	if slow {
		target.SetReadBuffer(inner, slowBuffer)
	}
	return &recordedListener{
		to: t.recording, process: s.connects, secure: t.secure(), notice: t.notice, dial: t.harness.dial,
		again: func() (net.Listener, error) { return t.harness.listen(addr, false) }, slow: slow,
		inner: inner, conns: map[*recordedConn]bool{}, closed: make(chan struct{}),
	}
}

// Accept returns the next connection that is recorded, and closes those that are too many.
func (l *recordedListener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		inner := l.inner
		l.mu.Unlock()
		nc, err := inner.Accept()
		l.mu.Lock()
		d, replaced := l.outage, l.inner != inner
		l.mu.Unlock()
		switch {
		case err != nil && replaced: // an outage is over already
		case d != nil && (err != nil || d.opened == unanswered):
			if nc != nil {
				d.mu.Lock()
				d.kept = append(d.kept, nc)
				d.mu.Unlock()
			}
			if !d.wait(l.closed) {
				return nil, net.ErrClosed
			}
		case err != nil:
			return nil, l.notice(err)
		case l.to.isFull() || l.isPast(nc.RemoteAddr().String()):
			_ = nc.Close() // what it may report is known: it is closed
		default:
			if c := l.record(nc); l.admit(c) {
				return c, nil
			}
		}
	}
}

// isPast reports whether a connection filled the backlog in an outage.
func (l *recordedListener) isPast(addr string) bool {
	return Locked(&l.mu, func() bool { return l.past[addr] })
}

// admit has a connection meet its fate, and reports whether the server serves it.
func (l *recordedListener) admit(c *recordedConn) bool {
	l.mu.Lock()
	l.conns[c] = true
	d := l.outage
	l.mu.Unlock()
	if d == nil {
		return true
	}
	c.meet(d, d.opened)
	return d.opened != hungUp && d.opened != reset
}

// Close implements net.Listener.
func (l *recordedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return Locked(&l.mu, func() net.Listener { return l.inner }).Close()
}

// Addr implements net.Listener.
func (l *recordedListener) Addr() net.Addr {
	return Locked(&l.mu, func() net.Listener { return l.inner }).Addr()
}

// record begins the recording of a connection.
func (l *recordedListener) record(nc net.Conn) *recordedConn {
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
	c := &recordedConn{
		Conn: nc, ahead: ahead, raw: raw, to: r, of: l, number: r.conns, gone: make(chan struct{}),
	}
	r.builder.Open(r.now(), c.number, l.process())
	go c.readAhead(feed)
	return c
}

// recordedConn is a recorded connection.
type recordedConn struct {
	net.Conn
	ahead  net.Conn // from which the server reads
	raw    net.Conn
	to     *recording
	of     *recordedListener
	number int
	gone   chan struct{} // closed at its end
	outage *disruption   // while which nothing is written; guarded by the recording's lock, as are the next fields
	reset  bool
	closed bool
	left   bool // the server has called Close
	after  int  // bytes since then
	line   int  // bytes since the last line end
}

// readAhead reads as fast as bytes arrive, so that they are recorded when the client has sent them and not when the
// server gets to them. The server reads them from the other end of feed, which holds mostAhead of them. A line without
// an end is read no further when the program has written mostEndless of them: it stays open, and the program waits.
func (c *recordedConn) readAhead(feed net.Conn) {
	buffer := make([]byte, 32<<10)
	for piece := buffer; ; piece = c.piece(buffer) {
		n, err := c.Conn.Read(piece)
		c.record(piece[:n], err)
		_, _ = feed.Write(piece[:n]) // fails when the server reads no more
		if err != nil {
			_ = feed.Close()
		}
		if err != nil || c.endless(piece[:n]) {
			c.leave()
			return
		}
	}
}

// A slow server reads a piece of a line, and then a pause is, as long as the line is not longer than slowLine: two
// seconds, for which every client waits. A socket of usual size does not hold the rest of a line of some megabytes.
const (
	slowPiece = 1 << 10
	slowPause = 5 * time.Millisecond
	slowLine  = 400 << 10

	slowBuffer = 8 << 10 // of its socket
)

// piece waits until a slow server reads on, and returns that part of a buffer which it reads then.
func (c *recordedConn) piece(buffer []byte) []byte {
	c.to.mu.Lock()
	line := c.line
	c.to.builder.Ready(c.to.now(), c.number)
	c.to.mu.Unlock()
	if !c.of.slow || line > slowLine {
		return buffer
	}
	if line > 0 {
		time.Sleep(slowPause)
	}
	return buffer[:slowPiece]
}

// mostAhead is how many bytes of a connection may wait for the server, and mostEndless how many a program may write, in
// all situations that are played at a time, behind the first [clientrules.MaxKept] of lines that are not over: such
// lines would take all of the machine's processor time.
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
		c.after += len(data)
		return c.after > mostLine
	}
	c.countLine(c.line + len(data))
	return c.line > clientrules.MaxKept && c.to.memory.endless.Load() > mostEndless
}

// countLine sets how many bytes the connection's line has. The recording's lock is held.
func (c *recordedConn) countLine(n int) {
	before := max(0, c.line-clientrules.MaxKept)
	c.line = n
	c.to.memory.endless.Add(int64(max(0, n-clientrules.MaxKept) - before))
}

// record takes what was read.
func (c *recordedConn) record(data []byte, err error) {
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	if len(data) > 0 {
		at := c.to.now()
		c.to.builder.Client(at, c.number, data)
		if data[len(data)-1] != '\n' && !c.closed {
			c.to.partial = at
		}
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		c.end(clientrules.Client, !errors.Is(err, io.EOF))
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
	if !c.awaitOutage() {
		return 0, net.ErrClosed
	}
	c.to.mu.Lock()
	if !c.closed {
		c.to.builder.Server(c.to.now(), c.number, p)
	}
	left := c.left
	c.to.mu.Unlock()
	if left { // the client must not get what is not recorded
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		c.to.mu.Lock()
		defer c.to.mu.Unlock()
		c.end(clientrules.Client, true)
	}
	return n, err
}

// Close records that the server closes the connection, unless it has ended before. An orderly close is that of the
// server's side: what the program sends afterwards is recorded until it closes its own.
func (c *recordedConn) Close() error {
	c.to.mu.Lock()
	c.left = true
	c.end(clientrules.Server, c.reset)
	shut := c.to.shut[c]
	c.to.mu.Unlock()
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	_ = c.ahead.Close()
	if shut && c.closeWrite() == nil {
		return nil
	}
	c.leave()
	return c.Conn.Close()
}

// closeWrite closes the server's side. A Write that waits ends with an error.
func (c *recordedConn) closeWrite() error {
	_ = c.raw.SetWriteDeadline(time.Now())
	if encrypted, is := c.Conn.(*tls.Conn); is {
		if err := encrypted.CloseWrite(); err != nil {
			return err
		}
	}
	return c.raw.(halfCloser).CloseWrite()
}

// halfCloser is a connection of which one side can be closed.
type halfCloser interface{ CloseWrite() error }

// leave closes a connection of which the server's side is closed, when nothing more is read from it.
func (c *recordedConn) leave() {
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	if c.to.shut[c] {
		delete(c.to.shut, c)
		c.to.builder.Close(c.to.now(), c.number, clientrules.Client, false)
		_ = c.raw.Close()
	}
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
func (c *recordedConn) end(by clientrules.Side, reset bool) {
	if c.closed {
		return
	}
	c.closed = true
	close(c.gone)
	c.countLine(0)
	c.to.open--
	if _, can := c.raw.(halfCloser); can && by == clientrules.Server && !reset && len(c.to.shut) < mostOpen {
		c.to.shut[c] = true
		c.to.builder.Shut(c.to.now(), c.number)
		return
	}
	c.to.builder.Close(c.to.now(), c.number, by, reset)
}
