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
	recording *recording
	process   func() int
	secure    func(net.Conn) net.Conn // nil: no TLS
	notice    func(error) error       // is given the errors
	dial      func(ctx context.Context, network, addr string) (net.Conn, error)
	reopen    func() (net.Listener, error) // opens the inner listener again where it was
	isSlow    bool                         // it reads lines slowly

	mu          sync.Mutex
	inner       net.Listener
	outage      *disruption // nil: none
	conns       map[*recordedConn]bool
	fillerAddrs map[string]bool // addresses of connections that are not the program's
	closeOnce   sync.Once
	done        chan struct{}
}

// newListener returns one that accepts what inner does.
func (t *trial) newListener(inner net.Listener, s *server) *recordedListener {
	addr, isSlow := inner.Addr().String(), t.situation.setup.isSlow
	if isSlow {
		target.SetReadBuffer(inner, slowBuffer)
	}
	return &recordedListener{
		recording: t.recording, process: s.processNumber, secure: t.secure(), notice: t.notice, dial: t.harness.dial,
		reopen: func() (net.Listener, error) { return t.harness.listen(addr, false) }, isSlow: isSlow,
		inner: inner, conns: map[*recordedConn]bool{}, done: make(chan struct{}),
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
		d, isReplaced := l.outage, l.inner != inner
		l.mu.Unlock()
		switch {
		case err != nil && isReplaced: // an outage is over already
		case d != nil && (err != nil || d.newConnFate == fateNoAnswer):
			if nc != nil {
				d.mu.Lock()
				d.waitingConns = append(d.waitingConns, nc)
				d.mu.Unlock()
			}
			if !d.wait(l.done) {
				return nil, net.ErrClosed
			}
		case err != nil:
			return nil, l.notice(err)
		case l.recording.isFull() || l.isFiller(nc.RemoteAddr().String()):
			_ = nc.Close() // what it may report is known: it is closed
		default:
			if c := l.record(nc); l.admit(c) {
				return c, nil
			}
		}
	}
}

// isFiller reports whether a connection filled the backlog in an outage.
func (l *recordedListener) isFiller(addr string) bool {
	return WithLock(&l.mu, func() bool { return l.fillerAddrs[addr] })
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
	c.disrupt(d, d.newConnFate)
	return d.newConnFate != fateClose && d.newConnFate != fateReset
}

// Close implements net.Listener.
func (l *recordedListener) Close() error {
	l.closeOnce.Do(func() { close(l.done) })
	return WithLock(&l.mu, func() net.Listener { return l.inner }).Close()
}

// Addr implements net.Listener.
func (l *recordedListener) Addr() net.Addr {
	return WithLock(&l.mu, func() net.Listener { return l.inner }).Addr()
}

// record begins the recording of a connection.
func (l *recordedListener) record(nc net.Conn) *recordedConn {
	raw := nc
	if l.secure != nil {
		nc = l.secure(nc)
	}
	r := l.recording
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns++
	r.openConns++
	feed, ahead := memnet.Pipe(maxAhead)
	c := &recordedConn{
		Conn: nc, aheadConn: ahead, rawConn: raw, recording: r, listener: l, number: r.conns, done: make(chan struct{}),
	}
	r.builder.Open(r.now(), c.number, l.process())
	go c.readAhead(feed)
	return c
}

// recordedConn is a recorded connection.
type recordedConn struct {
	net.Conn
	aheadConn net.Conn // from which the server reads
	rawConn   net.Conn
	recording *recording
	listener  *recordedListener
	number    int
	done      chan struct{} // closed at its end
	// while which nothing is written; guarded by the recording's lock, as are the next fields
	outage          *disruption
	resetsOnClose   bool
	isClosed        bool
	hasServerClosed bool // the server has called Close
	bytesAfterClose int  // bytes since then
	lineBytes       int  // bytes since the last line end
}

// readAhead reads as fast as bytes arrive, so that they are recorded when the client has sent them and not when the
// server gets to them. The server reads them from the other end of feed, which holds maxAhead of them. A line without
// an end is read no further when the program has written maxEndless of them: it stays open, and the program waits.
func (c *recordedConn) readAhead(feed net.Conn) {
	buffer := make([]byte, 32<<10)
	for piece := buffer; ; piece = c.nextPiece(buffer) {
		n, err := c.Conn.Read(piece)
		c.record(piece[:n], err)
		_, _ = feed.Write(piece[:n]) // fails when the server reads no more
		if err != nil {
			_ = feed.Close()
		}
		if err != nil || c.exceedsLimit(piece[:n]) {
			c.finishClose()
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

// nextPiece waits until a slow server reads on, and returns that part of a buffer which it reads then.
func (c *recordedConn) nextPiece(buffer []byte) []byte {
	c.recording.mu.Lock()
	line := c.lineBytes
	c.recording.builder.Ready(c.recording.now(), c.number)
	c.recording.mu.Unlock()
	if !c.listener.isSlow || line > slowLine {
		return buffer
	}
	if line > 0 {
		time.Sleep(slowPause)
	}
	return buffer[:slowPiece]
}

// maxAhead is how many bytes of a connection may wait for the server, and maxEndless how many a program may write, in
// all situations that are played at a time, behind the first [clientrules.MaxMessage] of lines that are not over: such
// lines would take all of the machine's processor time.
const (
	maxAhead   = 64 << 10
	maxEndless = 32 << 20
)

// exceedsLimit counts the bytes of a line that is not over after data, and reports whether there are too many.
func (c *recordedConn) exceedsLimit(data []byte) bool {
	c.recording.mu.Lock()
	defer c.recording.mu.Unlock()
	if end := bytes.LastIndexByte(data, '\n'); end >= 0 {
		c.countLine(0)
		data = data[end+1:]
	}
	if c.isClosed {
		c.bytesAfterClose += len(data)
		return c.bytesAfterClose > maxLine
	}
	c.countLine(c.lineBytes + len(data))
	return c.lineBytes > clientrules.MaxMessage && c.recording.memory.endlessBytes.Load() > maxEndless
}

// countLine sets how many bytes the connection's line has. The recording's lock is held.
func (c *recordedConn) countLine(n int) {
	before := max(0, c.lineBytes-clientrules.MaxMessage)
	c.lineBytes = n
	c.recording.memory.endlessBytes.Add(int64(max(0, n-clientrules.MaxMessage) - before))
}

// record takes what was read.
func (c *recordedConn) record(data []byte, err error) {
	c.recording.mu.Lock()
	defer c.recording.mu.Unlock()
	if len(data) > 0 {
		at := c.recording.now()
		c.recording.builder.Client(at, c.number, data)
		if data[len(data)-1] != '\n' && !c.isClosed {
			c.recording.partialAt = at
		}
	}
	if err != nil && !errors.Is(err, net.ErrClosed) {
		c.end(clientrules.Client, !errors.Is(err, io.EOF))
	}
}

// Read returns what was read ahead.
func (c *recordedConn) Read(p []byte) (int, error) { return c.aheadConn.Read(p) }

// SetReadDeadline is that of [net.Conn].
func (c *recordedConn) SetReadDeadline(t time.Time) error { return c.aheadConn.SetReadDeadline(t) }

// SetDeadline is that of [net.Conn].
func (c *recordedConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Write records the bytes before the client can have them.
func (c *recordedConn) Write(p []byte) (int, error) {
	if !c.awaitOutage() {
		return 0, net.ErrClosed
	}
	c.recording.mu.Lock()
	if !c.isClosed {
		c.recording.builder.Server(c.recording.now(), c.number, p)
	}
	hasServerClosed := c.hasServerClosed
	c.recording.mu.Unlock()
	if hasServerClosed { // the client must not get what is not recorded
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		c.recording.mu.Lock()
		defer c.recording.mu.Unlock()
		c.end(clientrules.Client, true)
	}
	return n, err
}

// Close records that the server closes the connection, unless it has ended before. An orderly close is that of the
// server's side: what the program sends afterwards is recorded until it closes its own.
func (c *recordedConn) Close() error {
	c.recording.mu.Lock()
	c.hasServerClosed = true
	c.end(clientrules.Server, c.resetsOnClose)
	isShut := c.recording.shutConns[c]
	c.recording.mu.Unlock()
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	_ = c.aheadConn.Close()
	if isShut && c.closeWrite() == nil {
		return nil
	}
	c.finishClose()
	return c.Conn.Close()
}

// closeWrite closes the server's side. A Write that waits ends with an error.
func (c *recordedConn) closeWrite() error {
	_ = c.rawConn.SetWriteDeadline(time.Now())
	if encrypted, ok := c.Conn.(*tls.Conn); ok {
		if err := encrypted.CloseWrite(); err != nil {
			return err
		}
	}
	return c.rawConn.(halfCloser).CloseWrite()
}

// halfCloser is a connection of which one side can be closed.
type halfCloser interface{ CloseWrite() error }

// finishClose closes a connection of which the server's side is closed, when nothing more is read from it.
func (c *recordedConn) finishClose() {
	c.recording.mu.Lock()
	defer c.recording.mu.Unlock()
	if c.recording.shutConns[c] {
		delete(c.recording.shutConns, c)
		c.recording.builder.Close(c.recording.now(), c.number, clientrules.Client, false)
		_ = c.rawConn.Close()
	}
}

// SetLinger makes the next Close a reset, where the connection can do that.
func (c *recordedConn) SetLinger(sec int) error {
	c.recording.mu.Lock()
	c.resetsOnClose = sec == 0
	c.recording.mu.Unlock()
	if l, ok := c.rawConn.(interface{ SetLinger(sec int) error }); ok {
		return l.SetLinger(sec)
	}
	return nil
}

// end notes the end of the connection, the first of its causes. The recording's lock is held.
func (c *recordedConn) end(by clientrules.Side, reset bool) {
	if c.isClosed {
		return
	}
	c.isClosed = true
	close(c.done)
	c.countLine(0)
	c.recording.openConns--
	if _, ok := c.rawConn.(halfCloser); ok && by == clientrules.Server && !reset &&
		len(c.recording.shutConns) < maxOpenConns {
		c.recording.shutConns[c] = true
		c.recording.builder.Shut(c.recording.now(), c.number)
		return
	}
	c.recording.builder.Close(c.recording.now(), c.number, by, reset)
}
