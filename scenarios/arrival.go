package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// arrival is one thing that came: a reply, the end, or what the strict reader
// refused.
type arrival struct {
	at       time.Time
	reply    fwp.Reply
	ending   Ending // Fin or Reset
	broken   *fwp.SyntaxError
	pending  string // the wait was given up inside a reply: what it waits for
	gaveUp   bool   // nothing came, the wait was given up
	coming   bool   // it was still coming when the wait was given up
	trailing int    // bytes that came with the reply, behind it

	taken chan struct{} // closed when a lane has seen it; nil for what is small
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
	case a.gaveUp && a.coming:
		return "a reply that was still coming: " + a.pending
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
	return string(rune(r.Kind)) + excerpt(r.Text)
}

// large is the size from which a reply is not buffered behind others, so that a
// server which sends without end fills no memory.
const large = 1 << 20

// readAll hands over what comes until the stream ends.
func (c *conn) readAll(seen func(arrival)) {
	stream := &stamped{Reader: c.nc}
	r := fwp.NewReader(stream, 0)
	for {
		before := r.Offset()
		reply, err := r.Read()
		a := arrival{at: time.Now(), reply: reply.Clone(), trailing: len(r.Buffered())}
		if r.Offset()-before > large {
			a.taken = make(chan struct{})
		}
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			a = ended(err, r.Pending())
			a.coming = a.pending != "" && a.at.Sub(stream.last) < pauseInside
		}
		seen(a)
		if !c.hand(a) || err != nil && !a.gaveUp {
			return
		}
		if a.gaveUp { // the reader goes on where it was
			c.nc.SetReadDeadline(time.Time{})
		}
	}
}

// pauseInside is how long a server may pause inside a reply and still be held to be
// sending it.
const pauseInside = time.Second

// stamped notes when the last bytes came.
type stamped struct {
	io.Reader
	last time.Time
}

func (s *stamped) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if n > 0 {
		s.last = time.Now()
	}
	return n, err
}

// hand gives an arrival to the lane; false if nobody takes any more.
func (c *conn) hand(a arrival) bool {
	select {
	case c.arrivals <- a:
	case <-c.closing:
		return false
	}
	if a.taken == nil {
		return true
	}
	select {
	case <-a.taken:
		return true
	case <-c.closing:
		return false
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

// giveUp ends the wait for a reply and tells what a half-read one waits for. A
// reply that comes at this very moment still counts, and so does one that is slow
// to come and goes on coming.
func (c *conn) giveUp(ctx context.Context) arrival {
	const most = 10 // timeouts
	for begin := time.Now(); ; {
		a := c.disturb()
		if !a.coming || time.Since(begin) > most*c.timeout {
			return a
		}
		if next, ok := c.take(ctx, time.Now().Add(pauseInside)); ok {
			return next
		}
		if ctx.Err() != nil {
			return arrival{at: time.Now(), gaveUp: true}
		}
	}
}

// disturb takes what the reader has, be it nothing.
func (c *conn) disturb() arrival {
	nothing := arrival{at: time.Now(), gaveUp: true}
	if err := c.nc.SetReadDeadline(longAgo()); err != nil {
		return nothing
	}
	a, ok := c.take(context.Background(), time.Now().Add(time.Second))
	if !ok || !a.gaveUp {
		c.stale++ // the reader will tell that it was disturbed, and nobody wants to know
	}
	if !ok {
		return nothing
	}
	return a
}
