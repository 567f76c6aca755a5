package session

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// pauseInside is how long a peer may pause inside a message and still count as
// sending it.
const pauseInside = time.Second

// readAll receives messages until the stream ends.
func (c *Conn) readAll(reader Reader, from *timedReader) {
	defer c.allowance.finish(0)
	for {
		m, err := reader.Read()
		r := Received{At: time.Now(), Message: m, Trailing: reader.Buffered()}
		if err == nil { // a message that is incomplete keeps its beginning
			r.Message.ArrivalTime = from.arrivalTime(r.At, r.Trailing > 0)
		} else {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			r = receivedError(err)
		}
		if r.GaveUp {
			c.resume(&r, reader, from)
		}
		r.text = c.text
		c.notify(r)
		if m.IsHidden {
			c.allowance.finish(reader.Buffered())
			continue
		}
		if !c.deliver(r) || err != nil && !r.GaveUp {
			return
		}
		if !r.GaveUp {
			c.allowance.finish(reader.Buffered())
		}
	}
}

// resume notes in r how far a reader that gave up has come, and lets it continue.
func (c *Conn) resume(r *Received, reader Reader, from *timedReader) {
	r.Pending, r.Rule = reader.Pending()
	r.IsArriving = r.Pending != "" && (c.allowance.waits() || r.At.Sub(from.last) < pauseInside+c.grace(from.last))
	c.allowance.isInterrupted.Store(false)
	c.nc.SetReadDeadline(time.Time{}) // the reader continues where it stopped
}

// notify shows r to those who look on; what is hidden, and nothing is wrong with, only an Observer gets.
func (c *Conn) notify(r Received) {
	if c.config.OnReceived != nil && (!r.Message.IsHidden || r.Message.Lapse != nil) {
		c.config.OnReceived(r)
	}
	if c.config.Observer != nil {
		c.config.Observer.Received(r)
	}
}

// timedReader records when the last bytes were read, and keeps to the allowance of the connection.
type timedReader struct {
	io.Reader
	allowance *allowance
	last      time.Time
	begun     time.Time // when the first bytes of the message were read that is not complete; zero if none were
}

// arrivalTime returns how long the bytes of a message took to arrive that is complete now, with more behind it or not.
func (s *timedReader) arrivalTime(now time.Time, hasMore bool) time.Duration {
	begun := s.begun
	if s.begun = s.last; !hasMore {
		s.begun = time.Time{}
	}
	if begun.IsZero() {
		return 0
	}
	return now.Sub(begun)
}

func (s *timedReader) Read(p []byte) (int, error) {
	if err := s.allowance.await(); err != nil {
		return 0, err
	}
	n, err := s.Reader.Read(p)
	if n > 0 {
		if s.last = time.Now(); s.begun.IsZero() {
			s.begun = s.last
		}
		s.allowance.unfinished += n
	}
	return n, err
}

// receivedError turns an error of reading into what is received.
func receivedError(err error) Received {
	r := Received{At: time.Now()}
	broken, ok := errors.AsType[*SyntaxError](err)
	switch {
	case ok:
		r.Broken = broken
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.GaveUp = true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // the latter is TLS without a close_notify
		r.Ending = Fin
	default:
		r.Ending = Reset
	}
	return r
}

// deliver passes r to the user of the connection; it returns false if nothing more is
// taken. If much is waiting to be taken, it waits until it is.
func (c *Conn) deliver(r Received) bool {
	if c.untaken.Add(int64(r.Message.size())) > smallSize {
		r.receipt = make(chan struct{})
	}
	select {
	case c.incoming <- r:
	case <-c.closing:
		return false
	}
	if r.receipt == nil {
		return true
	}
	select {
	case <-r.receipt:
		return true
	case <-c.closing:
		return false
	}
}
