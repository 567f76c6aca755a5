package situations

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/internal/target"
)

// fate is what becomes of a connection in an outage.
type fate uint8

const (
	fateNone     fate = iota
	fateClose         // the server closes it
	fateReset         // the server resets it
	fateSilence       // the server writes nothing any more, and resets it when the outage is over
	fateDelay         // the server writes nothing until the outage is over
	fateRefusal       // of one that is opened: nothing listens
	fateNoAnswer      // of one that is opened: the connect gets no answer
)

// disruption is an outage that goes on.
type disruption struct {
	newConnFate fate // of the connections that are opened meanwhile
	done        chan struct{}

	mu           sync.Mutex
	silentConns  []*recordedConn     // they are reset at its end
	waitingConns []net.Conn          // accepted, and not recorded
	fillers      map[string]net.Conn // what fills the backlog, by the local addresses
	releasePort  func()              // releases the port of a listener that is closed
}

// disrupt begins an outage: the connections that are there, only that of a number if it is not 0, and those that are
// opened meanwhile, have the fates. The error is that this system cannot have one of them.
func (l *recordedListener) disrupt(connFate, newConnFate fate, number int) (*disruption, error) {
	d := &disruption{newConnFate: newConnFate, done: make(chan struct{}), fillers: map[string]net.Conn{},
		releasePort: func() {}}
	l.mu.Lock()
	l.outage = d
	inner := l.inner
	var all []*recordedConn
	for c := range l.conns {
		if number == 0 || c.number == number {
			all = append(all, c)
		}
	}
	l.mu.Unlock()
	switch newConnFate {
	case fateRefusal:
		_ = inner.Close() // what it may report is known: it is closed
		d.releasePort = target.HoldPort(inner.Addr())
	case fateNoAnswer:
		if err := l.fill(d, inner); err != nil {
			return nil, err
		}
	}
	for _, c := range all {
		c.disrupt(d, connFate)
	}
	return d, nil
}

// restore ends an outage. The error is that the listener could not be opened again.
func (l *recordedListener) restore(d *disruption) error {
	var ln net.Listener
	switch d.newConnFate {
	case fateRefusal:
		d.releasePort()
		var err error
		if ln, err = l.reopen(); err != nil {
			return err
		}
	case fateNoAnswer:
		target.SetBacklog(l.inner, usualBacklog)
	}
	d.mu.Lock()
	for _, c := range d.waitingConns {
		_ = c.Close() // what it may report is known: it is closed
	}
	for _, c := range d.fillers {
		_ = c.Close() // as above
	}
	conns := d.silentConns
	d.mu.Unlock()
	for _, c := range conns {
		c.disrupt(d, fateReset)
	}
	l.mu.Lock()
	if ln != nil {
		l.inner = ln
	}
	if l.fillerAddrs == nil {
		l.fillerAddrs = map[string]bool{}
	}
	for addr := range d.fillers {
		l.fillerAddrs[addr] = true
	}
	l.outage = nil
	l.mu.Unlock()
	close(d.done)
	return nil
}

// usualBacklog is how many connections may wait to be accepted, and maxFilled how many are opened to fill a backlog
// that cannot be made shorter.
const (
	usualBacklog = 128
	maxFilled    = 512
)

// fill has connects to a listener get no answer: it fills the backlog, from which nothing is accepted. One connect
// without an answer shows little: on a busy machine it is late, or the accept that was under way takes one more.
func (l *recordedListener) fill(d *disruption, inner net.Listener) error {
	target.SetBacklog(inner, 0)
	const patience, attempts = 200 * time.Millisecond, 3
	unanswered := 0
	for range maxFilled {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		c, err := l.dial(ctx, "tcp", inner.Addr().String())
		cancel()
		if err != nil {
			if unanswered++; unanswered == attempts {
				return nil
			}
			continue
		}
		unanswered = 0
		d.mu.Lock()
		d.fillers[c.LocalAddr().String()] = c
		d.mu.Unlock()
	}
	return fmt.Errorf("the server still accepted connections after %d of them", maxFilled)
}

// wait waits for the end of an outage, and reports whether the listener is still open then.
func (d *disruption) wait(done <-chan struct{}) bool {
	select {
	case <-d.done:
		return true
	case <-done:
		return false
	}
}

// disrupt has a connection meet its fate.
func (c *recordedConn) disrupt(d *disruption, f fate) {
	switch f {
	case fateNone:
	case fateSilence, fateDelay:
		c.recording.mu.Lock()
		c.outage = d
		c.recording.mu.Unlock()
		if f == fateSilence {
			d.mu.Lock()
			d.silentConns = append(d.silentConns, c)
			d.mu.Unlock()
		}
	case fateReset:
		_ = c.SetLinger(0) // fails on a closed connection only, as does Close
		_ = c.Close()
	default:
		_ = c.Close() // as above
	}
}

// awaitOutage waits while the server writes nothing to the connection. It reports whether that is open then.
func (c *recordedConn) awaitOutage() bool {
	c.recording.mu.Lock()
	d := c.outage
	c.recording.mu.Unlock()
	if d == nil {
		return true
	}
	select {
	case <-d.done:
	case <-c.done:
	}
	return !WithLock(&c.recording.mu, func() bool { return c.isClosed })
}
