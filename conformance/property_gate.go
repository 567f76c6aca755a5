package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/scenarios"
)

// gate is a target as a property sees it: nobody restarts it or signals its workers,
// and who was let in and who was not is kept. It is safe for concurrent use.
type gate struct {
	scenarios.Target
	host     *host
	patience time.Duration // with a greeting
	start    time.Time
	watch    func(scenarios.Line) // may be nil

	mu      sync.Mutex
	opened  int
	in      int // that are open, and not refused so far
	refused *scenarios.Refusal
}

// Dial opens a connection that is counted.
func (g *gate) Dial(ctx context.Context) (net.Conn, error) {
	begin := time.Now()
	nc, err := g.Target.Dial(ctx)
	if err != nil {
		if ctx.Err() == nil || time.Since(begin) >= g.patience { // else we gave up, for reasons of our own
			g.refuse(err.Error(), 0)
		}
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.in++
	g.host.guests.Add(1)
	g.opened++
	return &guest{Conn: nc, gate: g, name: fmt.Sprintf("c%d", g.opened), since: time.Now()}, nil
}

// refuse keeps the refusal at which the fewest connections were open; counted are
// those of the refused that were counted.
func (g *gate) refuse(got string, counted int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.in -= counted
	g.host.guests.Add(-int64(counted))
	if all := g.host.open(); g.refused == nil || all < g.refused.All {
		g.refused = &scenarios.Refusal{Got: got, Own: g.in, All: all}
	}
}

// leave takes note that a connection ended that was let in.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.in--
	g.host.guests.Add(-1)
}

// served tells whether somebody who comes now is let in, within a while: the server may
// not have noticed yet that others have gone.
func (g *gate) served(ctx context.Context) bool {
	const patience, pause = 2 * time.Second, 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		if g.greeted(ctx) {
			return true
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return false
}

// greeted tells whether a new connection is let in.
func (g *gate) greeted(ctx context.Context) bool {
	nc, err := g.Target.Dial(ctx)
	if err != nil {
		return false
	}
	defer nc.Close()
	if deadline, limited := ctx.Deadline(); limited {
		nc.SetReadDeadline(deadline)
	}
	var first [1]byte
	_, err = nc.Read(first[:])
	return err == nil && first[0] != '-'
}

func (g *gate) refusal() *scenarios.Refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused
}

// guest is a connection that came through a gate. What comes first tells whether it was
// let in.
type guest struct {
	net.Conn
	gate  *gate
	name  string
	since time.Time

	mu      sync.Mutex
	met     bool // something has come, or the end
	refused bool
	over    bool // it counts no more
	closed  bool // by us
}

// Read reads, and looks at what came first.
func (c *guest) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.tell("S", b[:n])
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.met || c.closed || n == 0 && err == nil:
	case n > 0 && b[0] != '-':
		c.met = true
	case n > 0:
		c.refuse(oneLine(b[:n]))
	default:
		c.refuse("the end of the connection (" + err.Error() + ")")
	}
	if err != nil {
		c.left()
	}
	return n, err
}

// refuse takes note that the connection was not let in. Its lock is held.
func (c *guest) refuse(got string) {
	c.met, c.refused = true, true
	c.gate.refuse(got, 1)
}

// Write writes.
func (c *guest) Write(b []byte) (int, error) {
	c.tell("C", b)
	return c.Conn.Write(b)
}

// Close ends the connection; one that has brought nothing for so long was not let in.
func (c *guest) Close() error {
	c.mu.Lock()
	if !c.met && time.Since(c.since) >= c.gate.patience {
		c.refuse("nothing within " + c.gate.patience.String())
	}
	c.left()
	c.closed = true
	c.mu.Unlock()
	return c.Conn.Close()
}

// left takes note that the connection is over. Its lock is held.
func (c *guest) left() {
	if !c.over && !c.refused {
		c.gate.leave()
	}
	c.over = true
}

var errNoHalf = errors.New("this connection cannot be closed by half")

// CloseWrite closes our half.
func (c *guest) CloseWrite() error {
	if half, can := c.Conn.(interface{ CloseWrite() error }); can {
		return half.CloseWrite()
	}
	return errNoHalf
}

// SetLinger has Close reset the connection, where that can be done.
func (c *guest) SetLinger(sec int) error {
	if tcp, can := c.Conn.(interface{ SetLinger(sec int) error }); can {
		return tcp.SetLinger(sec)
	}
	return nil
}

// tell passes on what was said.
func (c *guest) tell(from string, b []byte) {
	if c.gate.watch != nil && len(b) > 0 {
		c.gate.watch(scenarios.Line{At: time.Since(c.gate.start), Conn: c.name, From: from, Text: oneLine(b)})
	}
}

// oneLine makes what was sent printable and short.
func oneLine(b []byte) string {
	const most = 300
	cut := ""
	if len(b) > most {
		b, cut = b[:most], "..."
	}
	quoted := strconv.Quote(strings.TrimSuffix(string(b), "\r\n"))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + cut
}
