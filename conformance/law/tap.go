package law

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
)

// Tap divides the bytes of a connection into messages for an observer, where something else than package session holds
// the connection. Bytes of the server that are no message, and the end of the connection, end what the observer gets.
// Sent and Received may be called by two goroutines at once.
type Tap struct {
	to     session.Observer
	reader session.Reader
	from   *tapReader

	mu       sync.Mutex // of what follows
	state    session.State
	hasEnded bool
}

// NewTap returns a Tap of a connection on which nothing has passed.
func NewTap(p session.Codec, to session.Observer) *Tap {
	t := &Tap{to: to, from: &tapReader{}}
	t.reader, t.state = p.Begin(t.from)
	t.reader.TolerateLapses()
	return t
}

// RecordSent records bytes of the client, which may be any part of a command. They must not have been written yet.
func (t *Tap) RecordSent(b []byte, at time.Time) {
	if len(b) == 0 || t.ended(false) {
		return
	}
	t.mu.Lock()
	t.state.Sent(b)
	t.mu.Unlock()
	t.to.Sent(b, at)
}

// RecordReceived records bytes of the server.
func (t *Tap) RecordReceived(b []byte, at time.Time) {
	if t.ended(false) {
		return
	}
	for t.from.bytes = append(t.from.bytes, b...); ; {
		m, err := t.reader.Read()
		switch syntax, ok := errors.AsType[*session.SyntaxError](err); {
		case err == nil:
			t.to.Received(session.Received{At: at, Message: m})
			continue
		case ok && !t.ended(true):
			t.to.Received(session.Received{At: at, Broken: syntax})
		}
		return
	}
}

// Ended records the end of the connection, or that the client sends no more.
func (t *Tap) Ended(ending session.Ending) {
	if !t.ended(ending != session.HalfClosed) {
		t.to.Ended(ending)
	}
}

// ended reports whether the observer gets nothing any more, which is so from now on if isEnd is set.
func (t *Tap) ended(isEnd bool) (before bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, t.hasEnded = t.hasEnded, t.hasEnded || isEnd
	return before
}

// tapReader is a stream of what was received and not read.
type tapReader struct{ bytes []byte }

// Read returns os.ErrDeadlineExceeded where nothing is left: readers continue where they stopped.
func (r *tapReader) Read(b []byte) (int, error) {
	if len(r.bytes) == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(b, r.bytes)
	r.bytes = r.bytes[n:]
	return n, nil
}

// Tapped returns a new connection whose bytes are judged as they pass.
func (w *Watch) Tapped(nc net.Conn, p session.Codec) net.Conn {
	return tapConn{nc, NewTap(p, w.Dialed(""))}
}

// tapConn is a connection with a Tap.
type tapConn struct {
	net.Conn
	tap *Tap
}

// NetConn returns the connection below.
func (c tapConn) NetConn() net.Conn { return c.Conn }

// Read reads, and records the bytes.
func (c tapConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.tap.RecordReceived(b[:n], time.Now()); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.tap.Ended(session.Closed)
	}
	return n, err
}

// Write records the bytes, and writes them.
func (c tapConn) Write(b []byte) (int, error) {
	c.tap.RecordSent(b, time.Now())
	return c.Conn.Write(b)
}

// Close closes the connection.
func (c tapConn) Close() error {
	c.tap.Ended(session.Closed)
	return c.Conn.Close()
}

// CloseWrite closes the sending half, where the connection can do that.
func (c tapConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	c.tap.Ended(session.HalfClosed)
	return half.CloseWrite()
}

// SetLinger sets what Close does with unsent data, where the connection can do that.
func (c tapConn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(interface{ SetLinger(seconds int) error }); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}
