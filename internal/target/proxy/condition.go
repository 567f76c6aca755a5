package proxy

import (
	"math/rand/v2"
	"net"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// Condition is how the network is. The zero value passes everything on at once.
type Condition struct {
	// HeldSides are the sides whose bytes do not pass, and neither does the end of a connection: both are held back until
	// they may. A new connection waits as its first bytes do.
	HeldSides []Side
	// Delay is that of each piece of bytes, in each direction; up to Jitter is added to it. Pieces stay in order.
	Delay, Jitter time.Duration
	// Rate is how many bytes of a connection pass in a second, in each direction; 0 is no limit.
	Rate int
	// Segment is how many bytes are passed on at a time; 0 is as many as there are.
	Segment int
}

// network is the present condition. It is replaced as a whole.
type network struct {
	Condition

	isCalm  bool // nothing is done to bytes
	isHeld  [Server + 1]bool
	changed chan struct{} // closed when it is replaced
}

// Set sets the condition of the network from now on. It holds for bytes that are read from now on, and for those that
// are held back.
func (p *Proxy) Set(c Condition) {
	n := &network{Condition: c, changed: make(chan struct{})}
	for _, side := range c.HeldSides {
		n.isHeld[side] = true
	}
	n.isCalm = len(c.HeldSides) == 0 && c.Delay == 0 && c.Jitter == 0 && c.Rate == 0 && c.Segment == 0
	close(p.network.Swap(n).changed)
}

// awaitPassage blocks while nothing passes from a side, and reports whether the proxy is still open.
func (p *Proxy) awaitPassage(from Side) bool {
	for {
		n := p.network.Load()
		if !n.isHeld[from] {
			return true
		}
		select {
		case <-n.changed:
		case <-p.done:
			return false
		}
	}
}

// direction is one direction of a connection.
type direction struct {
	proxy  *Proxy
	from   Side
	random *rand.Rand // nil until it is needed
	number int
}

// write passes bytes on as the network is. It blocks meanwhile.
func (w *direction) write(to net.Conn, data []byte) error {
	n := w.proxy.network.Load()
	if n.isCalm {
		_, err := to.Write(data)
		return err
	}
	if !machine.Wait(w.proxy.done, w.delay(n)) {
		return net.ErrClosed
	}
	for len(data) > 0 {
		if !w.proxy.awaitPassage(w.from) {
			return net.ErrClosed
		}
		n := w.proxy.network.Load()
		piece := data
		if n.Segment > 0 {
			piece = data[:min(n.Segment, len(data))]
		}
		if n.Rate > 0 && !machine.Wait(w.proxy.done, time.Duration(len(piece))*time.Second/time.Duration(n.Rate)) {
			return net.ErrClosed
		}
		if _, err := to.Write(piece); err != nil {
			return err
		}
		data = data[len(piece):]
	}
	return nil
}

// delay returns how long the next bytes are delayed.
func (w *direction) delay(n *network) time.Duration {
	if n.Jitter <= 0 {
		return n.Delay
	}
	if w.random == nil {
		stream := uint64(w.number)<<1 | uint64(w.from&1)              //nolint:gosec // numbers are positive
		w.random = rand.New(rand.NewPCG(w.proxy.config.Seed, stream)) //nolint:gosec // it is to be repeatable
	}
	return n.Delay + time.Duration(w.random.Int64N(int64(n.Jitter)+1))
}
