package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// conn is one connection of a play. One goroutine reads it all the time, so
// that arrivals carry the time at which they came; everything else belongs to
// the lane that uses the connection.
type conn struct {
	name string
	role Role
	nc   net.Conn

	says     func(text string) // records what the engine sends by itself
	arrivals chan arrival
	next     *arrival      // taken from the channel, not yet used up
	closing  chan struct{} // closed when nobody takes arrivals any more
	read     sync.WaitGroup

	began, sent time.Time // of the last write
	used        time.Time // when it was last written to or greeted
	answered    time.Time // when the latest due reply came
	owed        int       // replies that the server still owes
	state       fwp.State
	line        fwp.Command // the last line sent
	hi          fwp.Hi
	ended       Ending // how it ended, as far as it was seen
	excused     bool   // the script caused the end
	hello       *object
}

// arrival is one thing that came: a reply, the end, or what the strict reader
// refused.
type arrival struct {
	at       time.Time
	reply    fwp.Reply
	ending   Ending // Fin or Reset
	broken   *fwp.SyntaxError
	pending  string // the wait was given up inside a reply: what it waits for
	gaveUp   bool   // nothing came, the wait was given up
	trailing int    // bytes that came with the reply, behind it
}

// String says what came, as a C:/S: transcript would.
func (a arrival) String() string {
	switch {
	case a.ending == Fin:
		return "the connection was closed (orderly, FIN)"
	case a.ending == Reset:
		return "the connection was reset"
	case a.broken != nil:
		return a.broken.Error()
	case a.gaveUp && a.pending != "":
		return "an unfinished reply: " + a.pending
	case a.gaveUp:
		return "no reply"
	}
	return replyText(a.reply)
}

// replyText writes a reply the way scripts do.
func replyText(r fwp.Reply) string {
	switch r.Kind {
	case fwp.NullBulk:
		return "$-1"
	case fwp.Integer:
		return fmt.Sprintf(":%d", r.Int)
	case fwp.Array:
		return fmt.Sprintf("* (array of %d)", len(r.Array))
	}
	return string(rune(r.Kind)) + escaped(string(r.Text))
}

// open wraps a fresh network connection and starts reading.
func open(name string, nc net.Conn, seen func(arrival), says func(string)) *conn {
	now := time.Now()
	c := &conn{name: name, nc: nc, says: says, arrivals: make(chan arrival, 64), closing: make(chan struct{}),
		began: now, sent: now, used: now, owed: 1} // the server owes its HI
	c.read.Go(func() { c.readAll(seen) })
	return c
}

// readAll hands over what comes until the stream ends.
func (c *conn) readAll(seen func(arrival)) {
	r := fwp.NewReader(c.nc, 0)
	for {
		reply, err := r.Read()
		a := arrival{at: time.Now(), reply: reply.Clone(), trailing: len(r.Buffered())}
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			a = ended(err, r.Pending())
		}
		seen(a)
		select {
		case c.arrivals <- a:
		case <-c.closing:
			return
		}
		if err != nil {
			return
		}
	}
}

// ended sorts the errors of reading.
func ended(err error, pending string) arrival {
	a := arrival{at: time.Now()}
	var broken *fwp.SyntaxError
	switch {
	case errors.As(err, &broken):
		a.broken = broken
	case errors.Is(err, os.ErrDeadlineExceeded):
		a.gaveUp, a.pending = true, pending
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the latter is TLS without its farewell
		a.ending = Fin
	default:
		a.ending = Reset
	}
	return a
}

// peek waits until something is there, at most until the deadline; false means
// that nothing came.
func (c *conn) peek(ctx context.Context, deadline time.Time) (arrival, bool) {
	if c.next != nil {
		return *c.next, true
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case a := <-c.arrivals:
		c.next = &a
		return a, true
	default:
	}
	select {
	case a := <-c.arrivals:
		c.next = &a
		return a, true
	case <-timer.C:
	case <-ctx.Done():
	}
	return arrival{}, false
}

// waiting is what has come and was not taken, without waiting for it.
func (c *conn) waiting() (arrival, bool) { return c.peek(context.Background(), time.Time{}) }

// take is peek that uses the arrival up; the end stays for whoever asks again.
func (c *conn) take(ctx context.Context, deadline time.Time) (arrival, bool) {
	a, ok := c.peek(ctx, deadline)
	if ok && a.ending == Open && a.broken == nil {
		c.next = nil
	}
	if ok {
		c.ended = a.ending
	}
	return a, ok
}

// giveUp ends the wait for a reply and tells what a half-read one waits for.
// The stream cannot be used afterwards.
func (c *conn) giveUp() arrival {
	if err := c.nc.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return arrival{at: time.Now(), gaveUp: true}
	}
	a, ok := c.take(context.Background(), time.Now().Add(time.Second))
	if !ok {
		return arrival{at: time.Now(), gaveUp: true}
	}
	return a
}

// write sends segments one after the other, each in a write of its own.
func (c *conn) write(segments [][]byte, pause time.Duration) error {
	c.began = time.Now()
	defer func() { c.sent = time.Now(); c.used = c.sent }()
	for i, s := range segments {
		if i > 0 && pause > 0 {
			time.Sleep(pause)
		}
		if _, err := c.nc.Write(s); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// end ends the connection from our side.
func (c *conn) end(how Ending) error {
	c.excused = true
	switch how {
	case HalfShut:
		half, ok := c.nc.(interface{ CloseWrite() error })
		if !ok {
			return errors.New("this kind of connection has no half-close")
		}
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
		return c.shut(nc)
	}
	return c.shut(c.nc)
}

// shut closes the socket and waits for the reader.
func (c *conn) shut(nc net.Conn) error {
	if c.ended == Open {
		c.ended = Closed
	}
	select {
	case <-c.closing:
		return nil
	default:
	}
	close(c.closing)
	err := nc.Close()
	c.read.Wait()
	return err
}

// leave ends the connection as the specification asks: END first where that
// is possible. It waits a moment for the server to close.
func (c *conn) leave(ctx context.Context, wait time.Duration) {
	polite := c.ended == Open && c.owed == 0 && c.next == nil && !c.excused &&
		c.state != fwp.NotIdentified && c.state != fwp.Ended
	if polite {
		c.says(fwp.END)
	}
	if polite && c.write([][]byte{[]byte("END\r\n")}, 0) == nil {
		deadline := time.Now().Add(wait)
		for {
			a, ok := c.take(ctx, deadline)
			if !ok || a.ending != Open || a.broken != nil {
				break
			}
		}
	}
	_ = c.shut(c.nc) // what a peer makes of a close is no concern of ours
}
