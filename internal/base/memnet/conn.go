package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// link is what the two ends of a connection share: one mutex, and one condition
// that is broadcast whenever anything about either end has changed.
type link struct {
	mu      sync.Mutex
	changed *sync.Cond
}

// conn is one end of a connection. Beside net.Conn it has the CloseWrite and the
// SetLinger of *net.TCPConn. The fields below link are guarded by link.mu.
type conn struct {
	link          *link
	peer          *conn
	local, remote address

	in            buffer // what the peer wrote and this end has not read
	hasPeerEnded  bool   // the peer writes no more: io.EOF follows in
	isReset       bool   // the peer has reset the connection
	isWriting     bool   // a Write is in progress; the next one waits
	isWriteClosed bool   // CloseWrite was called
	isClosed      bool   // Close was called
	resetsOnClose bool   // SetLinger(0) was called: Close resets

	readDeadline, writeDeadline deadline
}

func newPair(client, server address, limit int) (*conn, *conn) {
	l := new(link)
	l.changed = sync.NewCond(&l.mu)
	a := &conn{link: l, local: client, remote: server, in: buffer{limit: limit}}
	b := &conn{link: l, local: server, remote: client, in: buffer{limit: limit}, peer: a}
	a.peer = b
	return a, b
}

// Pipe returns the two ends of a connection. Each end holds up to most bytes that the other one has written and it has
// not read; then a Write waits.
func Pipe(limit int) (net.Conn, net.Conn) { return newPair("pipe", "pipe", limit) }

// Read waits for bytes, for the end of the stream, for a reset or for the read
// deadline. Bytes written before a reset can still be read, as on Linux, but not after
// the deadline.
func (c *conn) Read(p []byte) (int, error) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	for {
		switch {
		case c.isClosed:
			return 0, c.opError("read", net.ErrClosed)
		case c.readDeadline.hasExpired:
			return 0, c.opError("read", os.ErrDeadlineExceeded)
		case len(p) == 0:
			return 0, nil
		case c.in.len() > 0:
			n := c.in.take(p)
			c.link.changed.Broadcast()
			return n, nil
		case c.isReset:
			return 0, c.sysError("read", syscall.ECONNRESET)
		case c.hasPeerEnded:
			return 0, io.EOF
		}
		c.link.changed.Wait()
	}
}

// Write waits while the peer has 256 KiB unread. The bytes of one Write are not
// mixed with those of another. If it fails, n bytes were written.
func (c *conn) Write(p []byte) (n int, err error) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	// A flag and not a second mutex: a goroutine that waits for a mutex is not
	// durably blocked, and the holder may wait for an hour of virtual time.
	for c.isWriting {
		if err := c.writeError(); err != nil {
			return 0, err
		}
		c.link.changed.Wait()
	}
	c.isWriting = true
	defer func() {
		c.isWriting = false
		c.link.changed.Broadcast()
	}()
	for {
		if err := c.writeError(); err != nil {
			return n, err
		}
		written := c.peer.in.put(p[n:])
		n += written
		if n == len(p) {
			return n, nil
		}
		if written > 0 {
			c.link.changed.Broadcast()
		}
		c.link.changed.Wait()
	}
}

// writeError returns why nothing can be written now, nil if something can.
func (c *conn) writeError() error {
	switch {
	case c.isClosed:
		return c.opError("write", net.ErrClosed)
	case c.writeDeadline.hasExpired:
		return c.opError("write", os.ErrDeadlineExceeded)
	case c.isReset:
		return c.sysError("write", syscall.ECONNRESET)
	case c.isWriteClosed, c.peer.isClosed:
		return c.sysError("write", syscall.EPIPE)
	}
	return nil
}

// CloseWrite ends this end's half of the connection: the peer reads what was
// written and then io.EOF, and can go on writing. It does not block.
func (c *conn) CloseWrite() error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	switch {
	case c.isClosed:
		return c.opError("close", net.ErrClosed)
	case c.isReset:
		return c.sysError("shutdown", syscall.ENOTCONN)
	}
	c.isWriteClosed = true
	c.peer.hasPeerEnded = true
	c.link.changed.Broadcast()
	return nil
}

// SetLinger makes Close reset the connection if sec is 0. Any other value means the
// orderly close, which loses nothing and does not wait.
func (c *conn) SetLinger(sec int) error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.isClosed {
		return c.opError("set", net.ErrClosed)
	}
	c.resetsOnClose = sec == 0
	return nil
}

// Close ends both halves and wakes readers and writers of this end. The peer reads what
// was written and then io.EOF; it is reset instead if SetLinger(0) was called, or if this
// end leaves input unread, as with TCP. Close does not block.
func (c *conn) Close() error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.isClosed {
		return c.opError("close", net.ErrClosed)
	}
	c.isClosed = true
	c.readDeadline.stop()
	c.writeDeadline.stop()
	if c.resetsOnClose || c.in.len() > 0 {
		c.peer.isReset = true
	}
	c.peer.hasPeerEnded = true
	c.in = buffer{}
	c.link.changed.Broadcast()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines; the zero time means none.
func (c *conn) SetDeadline(t time.Time) error {
	return c.setDeadlines(t, &c.readDeadline, &c.writeDeadline)
}

// SetReadDeadline sets the deadline of Read, also of one that is waiting.
func (c *conn) SetReadDeadline(t time.Time) error {
	return c.setDeadlines(t, &c.readDeadline)
}

// SetWriteDeadline sets the deadline of Write, also of one that is waiting.
func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.setDeadlines(t, &c.writeDeadline)
}

func (c *conn) setDeadlines(t time.Time, deadlines ...*deadline) error {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.isClosed {
		return c.opError("set", net.ErrClosed)
	}
	for _, d := range deadlines {
		d.set(t, c.link.changed)
	}
	return nil
}

func (c *conn) opError(op string, err error) error {
	return opError(op, c.local, c.remote, err)
}

func (c *conn) sysError(op string, errno syscall.Errno) error {
	return sysError(op, op, c.local, c.remote, errno)
}

// deadline is the read or the write deadline of one end. Its fields are guarded
// by the mutex of the link that it was set with.
type deadline struct {
	timer      *time.Timer
	hasExpired bool
}

// set replaces the deadline and wakes all goroutines that wait on changed, now (they may
// wait for the old one) and at t. The zero t means none. The caller holds changed.L.
func (d *deadline) set(t time.Time, changed *sync.Cond) {
	d.stop()
	d.hasExpired = false
	switch wait := time.Until(t); {
	case t.IsZero():
	case wait <= 0:
		d.hasExpired = true
	default:
		// The timer is compared, not the time: a timer that fired while it was
		// replaced must not expire the next one.
		var timer *time.Timer
		timer = time.AfterFunc(wait, func() {
			changed.L.Lock()
			defer changed.L.Unlock()
			if d.timer == timer {
				d.hasExpired = true
				changed.Broadcast()
			}
		})
		d.timer = timer
	}
	changed.Broadcast()
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

// capacity is how many unread bytes one direction of a connection holds before
// its writer waits. Sockets of real systems have about as much.
const capacity = 256 << 10

// buffer holds the bytes of one direction that were written and not yet read. It
// grows up to most.
type buffer struct {
	limit int
	data  []byte
	off   int // data[:off] has been read
}

func (b *buffer) len() int { return len(b.data) - b.off }

// put appends as much of p as there is room for and returns how much that is.
func (b *buffer) put(p []byte) int {
	n := min(len(p), b.limit-b.len())
	if b.off > 0 && len(b.data)+n > cap(b.data) {
		b.data = b.data[:copy(b.data, b.data[b.off:])]
		b.off = 0
	}
	b.data = append(b.data, p[:n]...)
	return n
}

// take moves bytes to p and returns how many.
func (b *buffer) take(p []byte) int {
	n := copy(p, b.data[b.off:])
	b.off += n
	if b.off == len(b.data) {
		b.data, b.off = b.data[:0], 0
	}
	return n
}
