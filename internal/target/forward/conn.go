package forward

import (
	"errors"
	"net"
	"time"
)

// conn is a connection whose use is recorded. The fields are guarded by the record's lock.
type conn struct {
	net.Conn
	record        *Record
	greets        bool // bytes that this side sends before any came belong to the opening
	hasReceived   bool // bytes
	resetsOnClose bool // Close resets
	isClosed      bool // this side has closed it
	hasPeerEnded  bool // the other side has ended it
	leaves        bool // what this side still sends is a goodbye, which the other side answers
}

// AnnounceClose says that a connection is about to be closed, and what is sent meanwhile is no command. It has no
// effect on a connection that is not recorded.
func AnnounceClose(nc net.Conn) {
	if c, ok := nc.(*conn); ok {
		c.record.mu.Lock()
		c.leaves = true
		c.record.mu.Unlock()
	}
}

// Read reads. That the last connection has ended, and not by this side, is a sign: one of several may have been ended
// by the server, in order.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	r := c.record
	r.mu.Lock()
	defer r.mu.Unlock()
	if timeout, ok := errors.AsType[net.Error](err); c.isClosed || ok && timeout.Timeout() {
		return n, err
	}
	if n > 0 {
		r.received, r.ended, c.hasReceived = time.Now(), nil, true
		delete(r.waiting, c)
	}
	if err != nil && !c.hasPeerEnded {
		c.hasPeerEnded = true
		if r.aliveCount--; r.aliveCount == 0 {
			r.noteEnd()
		}
	}
	return n, err
}

// Write writes.
func (c *conn) Write(b []byte) (int, error) {
	r := c.record
	r.mu.Lock()
	if opens := c.greets && !c.hasReceived && c == r.newest; r.ended == nil && !opens && !c.leaves {
		r.waiting[c] = time.Now()
		r.weakCause.isOutdated = r.weakCause.isOutdated || c == r.newest || !r.isOpening()
	}
	r.mu.Unlock()
	return c.Conn.Write(b)
}

// CloseWrite closes this side's half.
func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	c.record.mu.Lock()
	c.record.note(deed{kind: halving, words: "a client closed its half of a connection"}, true)
	c.record.mu.Unlock()
	return half.CloseWrite()
}

// SetLinger makes Close reset the connection if sec is 0.
func (c *conn) SetLinger(sec int) error {
	l, ok := c.Conn.(interface{ SetLinger(sec int) error })
	if !ok {
		return errors.ErrUnsupported
	}
	c.record.mu.Lock()
	c.resetsOnClose = sec == 0
	c.record.mu.Unlock()
	return l.SetLinger(sec)
}

// Close closes or resets the connection.
func (c *conn) Close() error {
	c.record.mu.Lock()
	if !c.isClosed {
		c.recordClose()
	}
	c.record.mu.Unlock()
	return c.Conn.Close()
}

// recordClose records that the connection is closed. A close with a reply under way is a reset for the other side, and
// one of a connection that this side knows to have ended need not be noticed there.
func (c *conn) recordClose() {
	r := c.record
	sent, ok := r.waiting[c]
	r.openCount--
	switch {
	case c.resetsOnClose && !c.hasPeerEnded:
		r.note(deed{kind: resetting, words: "a client reset its connection"}, true)
	case c.resetsOnClose:
		r.note(deed{kind: unreading, words: "a client reset its connection, which the other side had closed"}, true)
	case (ok || c.leaves) && !c.hasPeerEnded:
		r.note(deed{kind: unreading, words: "a client closed its connection before the reply"}, true)
	case r.openCount == 0:
		r.note(deed{kind: leaving, words: "the only client closed its connection"}, false)
	}
	c.isClosed, r.unread = true, latest(r.unread, sent)
	delete(r.waiting, c)
	if !c.hasPeerEnded {
		r.aliveCount--
	}
}
