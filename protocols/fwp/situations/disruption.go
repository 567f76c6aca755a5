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
	untouched  fate = iota
	hungUp          // the server closes it
	reset           // the server resets it
	silent          // the server writes nothing any more, and resets it when the outage is over
	late            // the server writes nothing until the outage is over
	refused         // of one that is opened: nothing listens
	unanswered      // of one that is opened: the connect gets no answer
)

// disruption is an outage that goes on.
type disruption struct {
	opened fate // of the connections that are opened meanwhile
	over   chan struct{}

	mu     sync.Mutex
	silent []*recordedConn     // they are reset at its end
	kept   []net.Conn          // accepted, and not recorded
	filled map[string]net.Conn // what fills the backlog, by the local addresses
	hold   func()              // releases the port of a listener that is closed
}

// disrupt begins an outage: the connections that are there, only that of a number if it is not 0, and those that are
// opened meanwhile, have the fates. The error is that this system cannot have one of them.
func (l *recordedListener) disrupt(there, opened fate, only int) (*disruption, error) {
	d := &disruption{opened: opened, over: make(chan struct{}), filled: map[string]net.Conn{}, hold: func() {}}
	l.mu.Lock()
	l.outage = d
	inner := l.inner
	var all []*recordedConn
	for c := range l.conns {
		if only == 0 || c.number == only {
			all = append(all, c)
		}
	}
	l.mu.Unlock()
	switch opened {
	case refused:
		_ = inner.Close() // what it may report is known: it is closed
		d.hold = target.HoldPort(inner.Addr())
	case unanswered:
		if err := l.fill(d, inner); err != nil {
			return nil, err
		}
	}
	for _, c := range all {
		c.meet(d, there)
	}
	return d, nil
}

// restore ends an outage. The error is that the listener could not be opened again.
func (l *recordedListener) restore(d *disruption) error {
	var again net.Listener
	switch d.opened {
	case refused:
		d.hold()
		var err error
		if again, err = l.again(); err != nil {
			return err
		}
	case unanswered:
		target.SetBacklog(l.inner, usualBacklog)
	}
	d.mu.Lock()
	for _, c := range d.kept {
		_ = c.Close() // what it may report is known: it is closed
	}
	for _, c := range d.filled {
		_ = c.Close() // as above
	}
	mute := d.silent
	d.mu.Unlock()
	for _, c := range mute {
		c.meet(d, reset)
	}
	l.mu.Lock()
	if again != nil {
		l.inner = again
	}
	if l.past == nil {
		l.past = map[string]bool{}
	}
	for addr := range d.filled {
		l.past[addr] = true
	}
	l.outage = nil
	l.mu.Unlock()
	close(d.over)
	return nil
}

// usualBacklog is how many connections may wait to be accepted, and mostFilled how many are opened to fill a backlog
// that cannot be made shorter.
const (
	usualBacklog = 128
	mostFilled   = 512
)

// fill has connects to a listener get no answer: it fills the backlog, from which nothing is accepted. One connect
// without an answer shows little: on a busy machine it is late, or the accept that was under way takes one more.
func (l *recordedListener) fill(d *disruption, inner net.Listener) error {
	target.SetBacklog(inner, 0)
	const patience, sure = 200 * time.Millisecond, 3
	unanswered := 0
	for range mostFilled {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		c, err := l.dial(ctx, "tcp", inner.Addr().String())
		cancel()
		if err != nil {
			if unanswered++; unanswered == sure {
				return nil
			}
			continue
		}
		unanswered = 0
		d.mu.Lock()
		d.filled[c.LocalAddr().String()] = c
		d.mu.Unlock()
	}
	return fmt.Errorf("the server still accepted connections after %d of them", mostFilled)
}

// wait waits for the end of an outage, and reports whether the listener is still open then.
func (d *disruption) wait(closed <-chan struct{}) bool {
	select {
	case <-d.over:
		return true
	case <-closed:
		return false
	}
}

// meet has a connection meet its fate.
func (c *recordedConn) meet(d *disruption, f fate) {
	switch f {
	case untouched:
	case silent, late:
		c.to.mu.Lock()
		c.outage = d
		c.to.mu.Unlock()
		if f == silent {
			d.mu.Lock()
			d.silent = append(d.silent, c)
			d.mu.Unlock()
		}
	case reset:
		_ = c.SetLinger(0) // fails on a closed connection only, as does Close
		_ = c.Close()
	default:
		_ = c.Close() // as above
	}
}

// awaitOutage waits while the server writes nothing to the connection. It reports whether that is open then.
func (c *recordedConn) awaitOutage() bool {
	c.to.mu.Lock()
	d := c.outage
	c.to.mu.Unlock()
	if d == nil {
		return true
	}
	select {
	case <-d.over:
	case <-c.gone:
	}
	return !Locked(&c.to.mu, func() bool { return c.closed })
}
