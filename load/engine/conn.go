package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

const (
	// readSize is small because every connection that is not a plain socket has it.
	readSize = 512
	// largest is the most that is read or written at once inside the loop, and the most
	// memory that is kept to write from.
	largest = 16 << 10
)

// errNothing reports that there are no bytes, and that the connection is open.
var errNothing = errors.New("nothing to read")

// conn is the connection of a session, or the dial for it. Its fields are guarded by
// the loop, but for net, which does not change once it is there.
type conn struct {
	loop    *loop
	link    *Link              // nil: no session wants to know of it any more
	cancel  context.CancelFunc // of the dial; nil: done
	net     net.Conn           // nil: not there yet
	direct  *direct            // nil: all writing is done aside
	pending []byte             // what is to be written aside, after what is being written
	spare   []byte             // memory for pending
	writer  func()             // write, made once
	writing bool               // a goroutine writes
	closing bool               // is closed when nothing is being written
	halving bool               // our half is closed when nothing is being written
	failure error              // of a write: nothing more is written
}

// dial runs in a goroutine of its own. It leaves the reading to another one: that lives
// long, and has no use for the stack which a dial needs.
func (c *conn) dial(ctx context.Context) {
	l := c.loop
	began := l.Now()
	there, err := l.engine.config.Dial(ctx)
	l.enter()
	defer l.leave()
	c.cancel()
	c.cancel = nil
	if err == nil {
		c.net = there
		c.direct = newDirect(there)
	}
	switch {
	case c.link == nil:
		c.shut()
	case err != nil:
		c.link.dialed = began
		l.lose(c, Failed, err)
	default:
		c.link.dialed = began
		l.engine.wg.Go(c.read)
		l.step(c.link, c, Event{Kind: Opened})
	}
}

// read passes what arrives to the session, until nothing more can arrive. It runs in a
// goroutine of its own.
func (c *conn) read() {
	if c.direct != nil {
		if err := c.direct.attend(c.ready); err != nil {
			c.take(nil, err)
		}
		return
	}
	in := make([]byte, readSize)
	for {
		n, err := c.net.Read(in)
		c.take(in[:n], err)
		if err != nil {
			return
		}
	}
}

// ready reads what has come, inside the loop and into memory that the loop has only
// once. It returns false if nothing more can come.
func (c *conn) ready() bool {
	for {
		if err := c.readSome(); err != nil {
			return errors.Is(err, errNothing)
		}
	}
}

// readSome reads as much as one connection may before others have their turn.
func (c *conn) readSome() error {
	l := c.loop
	l.enter()
	defer l.leave()
	for range 4 {
		n, err := c.direct.read(l.in)
		if err == nil && n == 0 {
			err = io.EOF
		}
		if err != nil {
			c.broken(err)
			return err
		}
		c.data(l.in[:n])
	}
	return nil
}

// take passes to the session what Read returned.
func (c *conn) take(in []byte, err error) {
	c.loop.enter()
	defer c.loop.leave()
	if len(in) > 0 {
		c.data(in)
	}
	if err != nil {
		c.broken(err)
	}
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
// aside. It keeps no part of b.
func (c *conn) send(b []byte) {
	if c.net == nil || c.failure != nil || c.closing || c.halving {
		return
	}
	if c.direct != nil && !c.writing && len(b) <= largest {
		n, err := c.direct.write(b)
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
		if c.writer == nil {
			c.writer = c.write
		}
		c.loop.engine.wg.Add(1) // wg.Go takes memory each time
		go c.writer()
	}
}

// write writes what is pending, however long the peer takes to read it. It runs in a
// goroutine of its own.
func (c *conn) write() {
	l := c.loop
	defer l.engine.wg.Done()
	for more := true; more; {
		l.enter()
		b := c.pending
		c.pending = nil
		l.leave()
		_, err := c.net.Write(b)
		l.enter()
		if cap(b) <= largest {
			c.spare = b[:0]
		}
		if err != nil {
			c.fail(err)
		}
		more = len(c.pending) > 0
		if !more {
			c.written()
		}
		l.leave()
	}
}

// written ends the writing aside.
func (c *conn) written() {
	c.writing = false
	switch {
	case c.closing:
		c.shut()
	case c.halving:
		c.shutHalf()
	}
}

// closeWrite closes our half of the connection after what was sent has gone.
func (c *conn) closeWrite() {
	if c.net == nil || c.halving {
		return
	}
	c.halving = true
	if !c.writing {
		c.shutHalf()
	}
}

// shutHalf closes our half at once, but not inside the loop: TLS has something to write.
func (c *conn) shutHalf() {
	if half, can := c.net.(interface{ CloseWrite() error }); can {
		c.loop.engine.wg.Go(func() { _ = half.CloseWrite() }) // reading returns why it failed
	}
}

// fail notes that a write has failed. It is reported to the session in its next step.
func (c *conn) fail(err error) {
	c.failure, c.pending = err, nil
	if c.link != nil {
		c.loop.enqueue(c.link)
	}
}

// finish takes the connection from its session, and closes it after what was sent has
// gone, or when that has taken too long.
func (c *conn) finish() {
	c.detach()
	switch {
	case c.cancel != nil:
		c.cancel() // and dial does the rest
	case c.writing:
		c.closing = true
		c.net.SetWriteDeadline(time.Now().Add(c.loop.engine.config.Linger))
	default:
		c.shut()
	}
}

// reset takes the connection from its session, and ends it as a crash would.
func (c *conn) reset() {
	nc := c.net
	if wrapped, ok := nc.(interface{ NetConn() net.Conn }); ok { // TLS: the socket below
		nc = wrapped.NetConn()
	}
	if l, can := nc.(interface{ SetLinger(seconds int) error }); can {
		_ = l.SetLinger(0) // fails on a closed connection only
	}
	if c.cancel != nil {
		c.cancel()
	}
	c.abandon()
}

// abandon closes the connection, whatever it was doing.
func (c *conn) abandon() {
	c.detach()
	c.pending = nil
	if c.net != nil {
		c.shut()
	}
}

func (c *conn) detach() {
	if c.link != nil {
		c.link.conn = nil
		c.link = nil
	}
}

// shut closes the connection at once, but not inside the loop: Close waits for whoever
// is reading, which may be the caller, and a connection that is more than a socket
// may send something first.
func (c *conn) shut() {
	if _, is := c.loop.conns[c]; !is {
		return
	}
	delete(c.loop.conns, c)
	if c.net != nil {
		c.loop.engine.wg.Go(func() { c.net.Close() })
	}
}
