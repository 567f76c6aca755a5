package session

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// large is the size from which a message is not buffered behind others, so that a
// peer which sends without end fills no memory.
const large = 1 << 20

// pauseInside is how long a peer may pause inside a message and still count as
// sending it.
const pauseInside = time.Second

// readAll receives messages until the stream ends.
func (c *Conn) readAll(reader Reader, from *stamped) {
	for {
		m, err := reader.Read()
		r := Received{At: time.Now(), Message: m, Trailing: reader.Buffered()}
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			r = failed(err)
		}
		if r.GaveUp {
			r.Pending, r.Rule = reader.Pending()
			r.Coming = r.Pending != "" && r.At.Sub(from.last) < pauseInside
		}
		r.text = c.text
		if m.size() > large {
			r.taken = make(chan struct{})
		}
		if c.config.Seen != nil {
			c.config.Seen(r)
		}
		if !c.hand(r) || err != nil && !r.GaveUp {
			return
		}
		if r.GaveUp { // the reader continues where it stopped
			c.nc.SetReadDeadline(time.Time{})
		}
	}
}

// stamped records when the last bytes were read.
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

// failed turns an error of reading into what is received.
func failed(err error) Received {
	r := Received{At: time.Now()}
	broken, is := errors.AsType[*SyntaxError](err)
	switch {
	case is:
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

// hand passes r to the user of the connection; it returns false if nothing more is
// taken. Of a large message it waits until it is taken.
func (c *Conn) hand(r Received) bool {
	select {
	case c.incoming <- r:
	case <-c.closing:
		return false
	}
	if r.taken == nil {
		return true
	}
	select {
	case <-r.taken:
		return true
	case <-c.closing:
		return false
	}
}
