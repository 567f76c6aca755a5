package scenarios

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
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

	timeout  time.Duration     // the longest that a write may take
	says     func(text string) // records what the engine sends by itself
	arrivals chan arrival
	next     *arrival      // taken from the channel, not yet used up
	stale    int           // marks of given-up waits that are still to come, for nobody
	closing  chan struct{} // closed when nobody takes arrivals any more
	read     sync.WaitGroup

	began, sent time.Time // of the last write
	beaten      time.Time // when it came, or last sent a BEAT
	answered    time.Time // when the latest due reply came
	owed        int       // replies that the server still owes
	state       fwp.State
	line        fwp.Command // the last line sent
	hi          fwp.Hi
	ended       Ending      // how it ended, as far as it was seen
	excused     atomic.Bool // the script or its operator caused the end
	stuck       error       // why nothing more can be written
	astray      string      // why nothing that comes can be tied to a line any more
	hello       *Object
}

// open wraps a fresh network connection and starts reading. left is called when
// nothing is read any more.
func open(name string, nc net.Conn, timeout time.Duration, left func(), seen func(arrival), says func(string)) *conn {
	now := time.Now()
	c := &conn{name: name, nc: nc, timeout: timeout, says: says, arrivals: make(chan arrival, 64), closing: make(chan struct{}),
		began: now, sent: now, beaten: now, owed: 1} // the server owes its HI
	c.read.Go(func() {
		defer left()
		c.readAll(seen)
	})
	return c
}

// peek waits until something is there, at most until the deadline; false means
// that nothing came.
func (c *conn) peek(ctx context.Context, deadline time.Time) (arrival, bool) {
	if c.next != nil {
		return *c.next, true
	}
	over, stop := alarm(time.Until(deadline))
	defer stop()
	for {
		a, ok := c.receive(ctx, over)
		if ok && a.gaveUp && c.stale > 0 {
			c.stale--
			continue
		}
		if ok {
			c.next = &a
		}
		return a, ok
	}
}

// alarm is a channel that can be received from when the time is up. There is no
// timer behind one that is up at once: most are, and in virtual time several
// goroutines that poll such timers crash the race detector
// (https://go.dev/issue/78156).
func alarm(d time.Duration) (over <-chan time.Time, stop func()) {
	if d > 0 {
		timer := time.NewTimer(d)
		return timer.C, func() { timer.Stop() }
	}
	up := make(chan time.Time)
	close(up)
	return up, func() {}
}

// receive prefers what is there already to the end of the wait.
func (c *conn) receive(ctx context.Context, over <-chan time.Time) (a arrival, ok bool) {
	select {
	case a = <-c.arrivals:
	default:
		select {
		case a = <-c.arrivals:
		case <-over:
			return a, false
		case <-ctx.Done():
			return a, false
		}
	}
	if a.taken != nil {
		close(a.taken)
	}
	return a, true
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

// longAgo is a deadline that ends every wait at once.
func longAgo() time.Time { return time.Unix(1, 0) }

// write sends segments one after the other, each in a write of its own. A server
// that does not read them is given up on after the timeout, and nothing can be
// written from then on: nobody knows how much has arrived.
func (c *conn) write(ctx context.Context, segments [][]byte, pause time.Duration) error {
	if c.stuck != nil {
		return c.stuck
	}
	c.began = time.Now()
	defer func() { c.sent = time.Now() }()
	c.nc.SetWriteDeadline(c.began.Add(c.timeout + time.Duration(len(segments))*pause))
	defer context.AfterFunc(ctx, func() { c.nc.SetWriteDeadline(longAgo()) })()
	for i, s := range segments {
		if i > 0 && pause > 0 {
			time.Sleep(pause)
		}
		_, err := c.nc.Write(s)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.stuck = fmt.Errorf("the server stopped reading: write: %w", err)
			return c.stuck
		}
		if err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// aside asks what no line of the script asks, and takes the answer. The windows of
// the script's lines are counted as if it had not happened. The error says that
// ctx is done.
func (c *conn) aside(ctx context.Context, line string) (arrival, error) {
	began, sent := c.began, c.sent
	defer func() { c.began, c.sent = began, sent }()
	_ = c.write(ctx, [][]byte{[]byte(line + "\r\n")}, 0) // why it cannot be written shows in what comes
	return c.answer(ctx)
}

// answer takes what comes to the last line within the timeout. The error says that
// ctx is done.
func (c *conn) answer(ctx context.Context) (arrival, error) {
	a, ok := c.take(ctx, c.sent.Add(c.timeout))
	switch {
	case ok:
		return a, nil
	case ctx.Err() != nil:
		return a, context.Cause(ctx)
	}
	return c.giveUp(ctx), nil
}

// end ends the connection from our side.
func (c *conn) end(how Ending) error {
	c.excused.Store(true)
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
// is possible. It waits a moment for the server to close, even if ctx is done.
func (c *conn) leave(ctx context.Context) {
	const wait = time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	polite := c.ended == Open && c.owed == 0 && c.next == nil && !c.excused.Load() && c.stuck == nil &&
		c.state != fwp.NotIdentified && c.state != fwp.Ended
	if polite {
		c.says(fwp.END)
	}
	if polite && c.write(ctx, [][]byte{[]byte("END\r\n")}, 0) == nil {
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

// unasked tells a second reply from data out of the blue by the time since the
// reply that was due.
func (c *conn) unasked(a arrival) BreachKind {
	const soon = time.Second
	if a.at.Sub(c.answered) < soon {
		return ExtraReply
	}
	return Unasked
}

// sentLine counts what the server owes now.
func (c *conn) sentLine(segments [][]byte) {
	sent := bytes.Join(segments, nil)
	c.owed += bytes.Count(sent, []byte{'\n'})
	c.line = fwp.SplitCommand(bytes.TrimRight(sent, "\r\n"))
	switch {
	case c.line.Verb == fwp.BEAT:
		c.beaten = time.Now()
	case c.line.Verb == fwp.END && c.state != fwp.NotIdentified:
		c.state = fwp.Ended
	}
}
