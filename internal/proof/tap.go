package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/session"
	steps "github.com/fwpsuite/fwp/scenarios/play"
)

// place is where a reply stands: the number of its connection, in the order in which they are opened, and its own
// there.
type place struct{ conn, message int }

// tap passes the replies of a server on, one at a time, changes at most one of them, and remembers them.
type tap struct {
	steps.Target
	protocol session.Codec

	change   mutation
	at       place
	turn     chan struct{} // whoever has it passes a reply on
	conns    int
	messages []message
}

// message is a reply that was passed on.
type message struct {
	reply
	place

	at time.Time // when; no two are at the same time
}

// newTap returns a tap that changes the reply at a place.
func newTap(target steps.Target, protocol session.Codec, at place, change mutation) *tap {
	return &tap{Target: target, protocol: protocol, at: at, change: change, turn: make(chan struct{}, 1)}
}

// Dial implements [steps.Target].
func (t *tap) Dial(ctx context.Context) (net.Conn, error) {
	nc, err := t.Target.Dial(ctx)
	return t.conn(nc, err)
}

// DialBackend implements [steps.BackendTarget].
func (t *tap) DialBackend(ctx context.Context) (net.Conn, error) {
	backend, ok := t.Target.(steps.BackendTarget)
	if !ok {
		return t.Dial(ctx)
	}
	nc, err := backend.DialBackend(ctx)
	return t.conn(nc, err)
}

// errCannot is that of an order which a server does not take.
var errCannot = errors.New("the server cannot do that")

// Restart implements [steps.Restarter].
func (t *tap) Restart(ctx context.Context) error {
	if s, ok := t.Target.(steps.Restarter); ok {
		return s.Restart(ctx)
	}
	return errCannot
}

// Kill implements [steps.Killer].
func (t *tap) Kill(ctx context.Context) error {
	if s, ok := t.Target.(steps.Killer); ok {
		return s.Kill(ctx)
	}
	return errCannot
}

// Signal implements [steps.Signaller].
func (t *tap) Signal(ctx context.Context, client, state string) error {
	if s, ok := t.Target.(steps.Signaller); ok {
		return s.Signal(ctx, client, state)
	}
	return errCannot
}

func (t *tap) conn(nc net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	c := &tapConn{Conn: nc, tap: t, number: t.conns}
	t.conns++
	c.reader, c.state = t.protocol.Begin(&c.in)
	c.in.from = nc
	return c, nil
}

// pass takes the next reply of a connection, and returns what is passed on: bytes, and the end of the connection.
func (t *tap) pass(at place, raw []byte) ([]byte, error) {
	t.turn <- struct{}{}
	time.Sleep(time.Microsecond)
	r := message{reply: reply{raw: raw}, place: at, at: time.Now()}
	for _, previous := range slices.Backward(t.messages) {
		if previous.raw[0] == raw[0] && string(previous.raw) != string(raw) {
			r.other = previous.raw
			break
		}
	}
	t.messages = append(t.messages, r)
	<-t.turn
	if at != t.at {
		return raw, nil
	}
	time.Sleep(t.change.delay)
	if t.change.isClose {
		return nil, io.EOF
	}
	if t.change.change != nil {
		if result := t.change.change(r.reply); result != nil {
			return result, nil
		}
	}
	return raw, nil
}

// tapConn is a connection of a tap.
type tapConn struct {
	net.Conn
	tap    *tap
	number int

	in     copyReader
	reader session.Reader
	count  int
	out    []byte // what is to be read next
	err    error  // behind that

	mu    sync.Mutex // of the state: one goroutine reads, and another one writes
	state session.State
}

// Read reads what is passed on.
func (c *tapConn) Read(p []byte) (int, error) {
	for len(c.out) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		m, err := c.reader.Read()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return 0, err
		case err != nil: // whatever it is, the player meets it too
			c.out, c.err = c.in.take(0), err
			continue
		}
		c.mu.Lock()
		c.state.Received(m)
		c.mu.Unlock()
		raw := c.in.take(c.reader.Buffered())
		if len(raw) == 0 { // it was made of bytes that came before
			continue
		}
		c.out, c.err = c.tap.pass(place{c.number, c.count}, raw)
		c.count++
		if c.err != nil {
			_ = c.Close()
		}
	}
	n := copy(p, c.out)
	c.out = c.out[n:]
	return n, nil
}

// Write writes, so that the reader knows which reply is due.
func (c *tapConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.state.Sent(p)
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// CloseWrite shuts down our side.
func (c *tapConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errCannot
}

// SetLinger has a close reset the connection.
func (c *tapConn) SetLinger(sec int) error {
	if l, ok := c.Conn.(interface{ SetLinger(sec int) error }); ok {
		return l.SetLinger(sec)
	}
	return errCannot
}

// copyReader remembers what is read.
type copyReader struct {
	from io.Reader
	buf  []byte
}

// Read reads and remembers.
func (c *copyReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.buf = append(c.buf, p[:n]...)
	return n, err
}

// take returns what was read up to the last bytes, of which there are so many, and forgets it.
func (c *copyReader) take(rest int) []byte {
	at := len(c.buf) - rest
	result := slices.Clone(c.buf[:at])
	c.buf = c.buf[at:]
	return result
}
