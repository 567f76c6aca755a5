package session

import (
	"context"
	"errors"
	"net"
	"time"
)

// End ends the connection from our side: with an orderly close, a half-close
// (messages can still be received) or a reset. Except for a half-close, the reading
// goroutine is over when End returns. Ending a connection twice is no error.
func (c *Conn) End(ending Ending) error {
	if c.isOver() {
		return nil
	}
	switch ending {
	case HalfClosed:
		half, ok := c.nc.(interface{ CloseWrite() error })
		if !ok {
			return errors.New("this kind of connection has no half-close")
		}
		c.observeEnd(ending)
		return half.CloseWrite()
	case Reset:
		nc := c.nc
		if wrapped, ok := nc.(interface{ NetConn() net.Conn }); ok { // TLS: the socket below
			nc = wrapped.NetConn()
		}
		if l, ok := nc.(interface{ SetLinger(sec int) error }); ok {
			if err := l.SetLinger(0); err != nil {
				return err
			}
		}
		return c.shut(nc, ending)
	}
	return c.shut(c.nc, Closed)
}

// shut closes the socket and waits for the reading goroutine.
func (c *Conn) shut(nc net.Conn, ending Ending) error {
	if c.isOver() {
		return nil
	}
	if c.ending == NotEnded {
		c.ending = Closed
	}
	c.observeEnd(ending)
	close(c.closing)
	err := nc.Close()
	c.reading.Wait()
	return err
}

func (c *Conn) observeEnd(ending Ending) {
	if c.config.Observer != nil {
		c.config.Observer.Ended(ending)
	}
}

// isOver reports whether the connection was ended from our side.
func (c *Conn) isOver() bool {
	select {
	case <-c.closing:
		return true
	default:
		return false
	}
}

// Farewell returns what [Conn.Leave] sends before it closes: nothing if the
// connection is over or cannot be written to, or the peer owes an answer or has
// sent something that was not taken.
func (c *Conn) Farewell() []byte {
	status := c.Status()
	if c.ending != NotEnded || status.OwedMessages != 0 || c.next != nil || c.writeErr != nil {
		return nil
	}
	return status.Farewell
}

// Leave ends the connection as the protocol asks: it sends the farewell, see
// [Conn.Farewell], and waits up to a second for the peer to close, even if ctx is
// done.
func (c *Conn) Leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if line := c.Farewell(); line != nil && c.Write(ctx, [][]byte{line}, 0) == nil {
		for {
			r, ok := c.Take(ctx, time.Now().Add(time.Second))
			if !ok || r.Ending != NotEnded || r.Broken != nil {
				break
			}
		}
	}
	_ = c.shut(c.nc, Closed) // an error of the peer does not matter any more
}
