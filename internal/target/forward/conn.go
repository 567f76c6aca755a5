package forward

import (
	"errors"
	"net"
	"time"
)

// conn is a connection whose use is recorded. The fields are guarded by the record's lock.
type conn struct {
	net.Conn
	record *Record
	greets bool // bytes that this side sends before any came belong to the opening
	came   bool // bytes
	abrupt bool // Close resets
	over   bool // this side has closed it
	gone   bool // the other side has ended it
	leaves bool // what this side still sends is a goodbye, which the other side answers
}

// Leaves says that a connection is about to be closed, and what is sent meanwhile is no command. It has no effect on a
// connection that is not recorded.
func Leaves(nc net.Conn) {
	if c, is := nc.(*conn); is {
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
	if timeout, is := errors.AsType[net.Error](err); c.over || is && timeout.Timeout() {
		return n, err
	}
	if n > 0 {
		r.received, r.ended, c.came = time.Now(), nil, true
		delete(r.waiting, c)
	}
	if err != nil && !c.gone {
		c.gone = true
		if r.alive--; r.alive == 0 {
			r.sign()
		}
	}
	return n, err
}

// Write writes.
func (c *conn) Write(b []byte) (int, error) {
	r := c.record
	r.mu.Lock()
	if opens := c.greets && !c.came && c == r.newest; r.ended == nil && !opens && !c.leaves {
		r.waiting[c] = time.Now()
		r.quiet.over = r.quiet.over || c == r.newest || !r.opens()
	}
	r.mu.Unlock()
	return c.Conn.Write(b)
}

// CloseWrite closes this side's half.
func (c *conn) CloseWrite() error {
	half, can := c.Conn.(interface{ CloseWrite() error })
	if !can {
		return errors.ErrUnsupported
	}
	c.record.mu.Lock()
	c.record.did(deed{kind: halving, what: "a client closed its half of a connection"}, true)
	c.record.mu.Unlock()
	return half.CloseWrite()
}

// SetLinger makes Close reset the connection if sec is 0.
func (c *conn) SetLinger(sec int) error {
	l, can := c.Conn.(interface{ SetLinger(sec int) error })
	if !can {
		return errors.ErrUnsupported
	}
	c.record.mu.Lock()
	c.abrupt = sec == 0
	c.record.mu.Unlock()
	return l.SetLinger(sec)
}

// Close closes or resets the connection.
func (c *conn) Close() error {
	c.record.mu.Lock()
	if !c.over {
		c.closes()
	}
	c.record.mu.Unlock()
	return c.Conn.Close()
}

// closes records that the connection is closed. A close with a reply under way is a reset for the other side, and one
// of a connection that this side knows to have ended need not be noticed there.
func (c *conn) closes() {
	r := c.record
	asked, waits := r.waiting[c]
	r.open--
	switch {
	case c.abrupt && !c.gone:
		r.did(deed{kind: resetting, what: "a client reset its connection"}, true)
	case c.abrupt:
		r.did(deed{kind: unreading, what: "a client reset its connection, which the other side had closed"}, true)
	case (waits || c.leaves) && !c.gone:
		r.did(deed{kind: unreading, what: "a client closed its connection before the reply"}, true)
	case r.open == 0:
		r.did(deed{kind: leaving, what: "the only client closed its connection"}, false)
	}
	c.over, r.unread = true, latest(r.unread, asked)
	delete(r.waiting, c)
	if !c.gone {
		r.alive--
	}
}
