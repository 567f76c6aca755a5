package engine

import (
	"errors"
	"io"
	"time"
)

// chunkSize is the most that is read or written at once inside the loop, and the most
// memory that is kept to write from.
const chunkSize = 16 << 10

// errNothing reports that there are no bytes, and that the connection is open.
var errNothing = errors.New("nothing to read")

// conn is the connection of a session, or the dial for it. Its fields are guarded by
// the loop.
type conn struct {
	loop          *loop
	link          *Link // nil: no session wants to know of it any more
	transport     transport
	isOpening     bool   // the dial is under way
	pending       []byte // what is to be written later, in order
	spare         []byte // memory for pending
	isWriting     bool   // the wire is writing what is pending
	isClosing     bool   // is closed when nothing is being written
	isHalfClosing bool   // our half is closed when nothing is being written
	failure       error  // of a write or, while it is being opened, of the dial: nothing more is written
}

// transport moves the bytes of one connection. Its methods are called inside the loop, and none
// of them waits or steps a session. It calls the methods of its conn inside the loop.
type transport interface {
	// dial begins to open the connection. reportOpened or reportRefused follows later, or failure is set at once.
	dial()
	// cancel gives the dial up. The connection leaves the loop then or later.
	cancel()
	// write writes what goes at once, and returns how much that was. Less than all of b, or
	// nothing, is not an error.
	write(b []byte) (int, error)
	// flush has pending written, however slowly the peer reads, and then calls endWriting,
	// or fail.
	flush()
	// limit gives flush so much more time. When it is over the connection is closed.
	limit(timeout time.Duration)
	// closeWrite closes our half of the connection, if it has halves.
	closeWrite()
	// abort makes the close that follows a reset, if that can be done.
	abort()
	// close closes the connection. Nothing of it reaches the conn afterwards.
	close()
}

// reportOpened reports to the session that the dial has succeeded.
func (c *conn) reportOpened() {
	c.isOpening = false
	if c.link == nil {
		c.closeNow()
		return
	}
	c.loop.step(c.link, c, Event{Kind: Opened})
}

// reportRefused reports to the session that the dial has failed.
func (c *conn) reportRefused(err error) {
	c.isOpening, c.failure = false, err
	if c.link == nil {
		c.closeNow()
		return
	}
	c.loop.lose(c, Failed, err)
}

// data gives the session what was read. It is dropped if the session has closed the
// connection; it is read all the same, lest the peer wait for that instead of reading
// what is still to be sent.
func (c *conn) data(in []byte) {
	if c.link != nil {
		c.loop.step(c.link, c, Event{Kind: Data, In: in})
	}
}

// reportReadError reports to the session that reading has failed, unless there was only nothing to
// read.
func (c *conn) reportReadError(err error) {
	switch {
	case c.link == nil || errors.Is(err, errNothing):
	case errors.Is(err, io.EOF):
		c.loop.lose(c, Ended, nil)
	default:
		c.loop.lose(c, Ended, err)
	}
}

// send writes b, or as much of it as goes without waiting, and has the rest written
// later. It keeps no part of b.
func (c *conn) send(b []byte) {
	if c.isOpening || c.failure != nil || c.isClosing || c.isHalfClosing {
		return
	}
	if !c.isWriting && len(b) <= chunkSize {
		n, err := c.transport.write(b)
		if err != nil {
			c.fail(err)
			return
		}
		if b = b[n:]; len(b) == 0 {
			return
		}
	}
	if c.pending == nil {
		c.pending, c.spare = c.spare, nil
	}
	c.pending = append(c.pending, b...)
	if !c.isWriting {
		c.isWriting = true
		c.transport.flush()
	}
}

// reuse keeps the memory of what was written for what is written next, within limits.
func (c *conn) reuse(b []byte) {
	if cap(b) <= chunkSize {
		c.spare = b[:0]
	}
}

// endWriting ends the writing of what was pending.
func (c *conn) endWriting() {
	c.isWriting = false
	switch {
	case c.isClosing:
		c.closeNow()
	case c.isHalfClosing:
		c.transport.closeWrite()
	}
}

// closeWrite closes our half of the connection after what was sent has gone.
func (c *conn) closeWrite() {
	if c.isOpening || c.isHalfClosing {
		return
	}
	c.isHalfClosing = true
	if !c.isWriting {
		c.transport.closeWrite()
	}
}

// fail notes that a write has failed, or a dial at once. It is reported to the session in its next step.
func (c *conn) fail(err error) {
	c.failure, c.pending = err, nil
	if c.link != nil {
		c.loop.enqueue(c.link)
	}
}

// reportFailure reports the failure that fail has noted.
func (c *conn) reportFailure() {
	if c.isOpening {
		c.reportRefused(c.failure)
		return
	}
	c.loop.lose(c, Ended, c.failure)
}

// finish takes the connection from its session, and closes it after what was sent has
// gone, or when that has taken too long.
func (c *conn) finish() {
	c.detach()
	switch {
	case c.isOpening:
		c.transport.cancel()
	case c.isWriting:
		c.isClosing = true
		c.transport.limit(c.loop.engine.config.Linger)
	default:
		c.closeNow()
	}
}

// reset takes the connection from its session, and ends it as a crash would.
func (c *conn) reset() {
	c.transport.abort()
	c.abandon()
}

// abandon closes the connection, whatever it was doing.
func (c *conn) abandon() {
	c.detach()
	c.pending = nil
	if c.isOpening {
		c.transport.cancel()
		return
	}
	c.closeNow()
}

func (c *conn) detach() {
	if c.link != nil {
		c.link.conn = nil
		c.link = nil
	}
}

// closeNow closes the connection at once.
func (c *conn) closeNow() {
	if _, ok := c.loop.conns[c]; !ok {
		return
	}
	delete(c.loop.conns, c)
	c.transport.close()
}
