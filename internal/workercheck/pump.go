package workercheck

import (
	"net"
	"os"
	"sync"
	"time"
)

// pump reads a connection as fast as bytes arrive, so that they are recorded when the client has sent them and not when
// the server gets to them. Its methods may be called by many goroutines at once.
type pump struct {
	mu       sync.Mutex
	in       []byte
	err      error
	deadline time.Time
	closed   bool          // the server reads no more
	changed  chan struct{} // closed at the next change of the above
}

// mostAhead bounds the bytes that are read and that the server has not taken.
const mostAhead = 256 << 10

func newPump() *pump { return &pump{changed: make(chan struct{})} }

// change makes a change that a Read may wait for.
func (p *pump) change(act func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	act()
	close(p.changed)
	p.changed = make(chan struct{})
}

// run reads the connection until that fails. Record is called before the bytes can be read here.
func (p *pump) run(nc net.Conn, record func(data []byte, err error)) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := nc.Read(buffer)
		record(buffer[:n], err)
		p.change(func() {
			p.in = append(p.in, buffer[:n]...)
			p.err = err
		})
		if err != nil {
			return
		}
		p.drain()
	}
}

// drain waits while too much is unread that the server may still read.
func (p *pump) drain() {
	for {
		p.mu.Lock()
		full, changed := len(p.in) > mostAhead && !p.closed, p.changed
		p.mu.Unlock()
		if !full {
			return
		}
		<-changed
	}
}

// read is the Read of the server.
func (p *pump) read(b []byte) (int, error) {
	for {
		p.mu.Lock()
		deadline, changed := p.deadline, p.changed
		n := copy(b, p.in)
		switch {
		case !deadline.IsZero() && !time.Now().Before(deadline):
			p.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case n > 0:
			p.in = p.in[n:]
			if len(p.in) == 0 {
				p.in = nil
			}
			close(p.changed)
			p.changed = make(chan struct{})
			p.mu.Unlock()
			return n, nil
		case p.err != nil:
			p.mu.Unlock()
			return 0, p.err
		}
		p.mu.Unlock()
		wait(changed, deadline)
	}
}

// wait waits for a change or a deadline.
func wait(changed <-chan struct{}, deadline time.Time) {
	if deadline.IsZero() {
		<-changed
		return
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}
