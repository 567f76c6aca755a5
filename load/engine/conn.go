package engine

import (
	"errors"
	"io"
	"time"
)

// largest is the most that is read or written at once inside the loop, and the most
// memory that is kept to write from.
const largest = 16 << 10

// errNothing reports that there are no bytes, and that the connection is open.
var errNothing = errors.New("nothing to read")

// conn is the connection of a session, or the dial for it. Its fields are guarded by
// the loop.
type conn struct {
	loop    *loop
	link    *Link // nil: no session wants to know of it any more
	wire    wire
	opening bool   // the dial is under way
	pending []byte // what is to be written later, in order
	spare   []byte // memory for pending
	writing bool   // the wire is writing what is pending
	closing bool   // is closed when nothing is being written
	halving bool   // our half is closed when nothing is being written
	failure error  // of a write or, while it is being opened, of the dial: nothing more is written
}

// wire moves the bytes of one connection. Its methods are called inside the loop, and none
// of them waits or steps a session. It calls the methods of its conn inside the loop.
type wire interface {
	// dial begins to open the connection. It has opened or refused called later, or sets failure.
	dial()
	// cancel gives the dial up. The connection leaves the loop then or later.
	cancel()
	// write writes what goes at once, and returns how much that was. Less than all of b, or
	// nothing, is not an error.
	write(b []byte) (int, error)
	// flush has pending written, however long the peer takes to read it, and then calls
	// written; or fail.
	flush()
	// limit gives flush so much more time. When it is over the connection is closed.
	limit(left time.Duration)
	// closeWrite closes our half of the connection, if it has halves.
	closeWrite()
	// abort makes the close that follows a reset, if that can be done.
	abort()
	// close closes the connection. Nothing of it reaches the conn afterwards.
	close()
}

// opened reports to the session that the dial has succeeded.
func (c *conn) opened() {
	c.opening = false
	if c.link == nil {
		c.shut()
		return
	}
	c.loop.step(c.link, c, Event{Kind: Opened})
}

// refused reports to the session that the dial has failed.
func (c *conn) refused(err error) {
	c.opening, c.failure = false, err
	if c.link == nil {
		c.shut()
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

// broken reports to the session that reading has failed, unless there was only nothing to
// read.
func (c *conn) broken(err error) {
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
	if c.opening || c.failure != nil || c.closing || c.halving {
		return
	}
	if !c.writing && len(b) <= largest {
		n, err := c.wire.write(b)
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
	if !c.writing {
		c.writing = true
		c.wire.flush()
	}
}

// reuse keeps the memory of what was written for what is written next, within limits.
func (c *conn) reuse(b []byte) {
	if cap(b) <= largest {
		c.spare = b[:0]
	}
}

// written ends the writing of what was pending.
func (c *conn) written() {
	c.writing = false
	switch {
	case c.closing:
		c.shut()
	case c.halving:
		c.wire.closeWrite()
	}
}

// closeWrite closes our half of the connection after what was sent has gone.
func (c *conn) closeWrite() {
	if c.opening || c.halving {
		return
	}
	c.halving = true
	if !c.writing {
		c.wire.closeWrite()
	}
}

// fail notes that a write has failed, or a dial at once. It is reported to the session in its next step.
func (c *conn) fail(err error) {
	c.failure, c.pending = err, nil
	if c.link != nil {
		c.loop.enqueue(c.link)
	}
}

// failed reports the failure that fail has noted.
func (c *conn) failed() {
	if c.opening {
		c.refused(c.failure)
		return
	}
	c.loop.lose(c, Ended, c.failure)
}

// finish takes the connection from its session, and closes it after what was sent has
// gone, or when that has taken too long.
func (c *conn) finish() {
	c.detach()
	switch {
	case c.opening:
		c.wire.cancel()
	case c.writing:
		c.closing = true
		c.wire.limit(c.loop.engine.config.Linger)
	default:
		c.shut()
	}
}

// reset takes the connection from its session, and ends it as a crash would.
func (c *conn) reset() {
	c.wire.abort()
	c.abandon()
}

// abandon closes the connection, whatever it was doing.
func (c *conn) abandon() {
	c.detach()
	c.pending = nil
	if c.opening {
		c.wire.cancel()
		return
	}
	c.shut()
}

func (c *conn) detach() {
	if c.link != nil {
		c.link.conn = nil
		c.link = nil
	}
}

// shut closes the connection at once.
func (c *conn) shut() {
	if _, is := c.loop.conns[c]; !is {
		return
	}
	delete(c.loop.conns, c)
	c.wire.close()
}
