package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// countingTarget is the target of a property: it cannot be restarted or signalled, and
// its connections are counted. It is safe for concurrent use.
type countingTarget struct {
	play.Target
	counter   *play.ConnCounter
	patience  time.Duration // for a greeting
	start     time.Time
	refusals  []string           // how messages begin that refuse a client
	watchLine func(reports.Line) // may be nil
	count     atomic.Int64
}

// Dial opens a connection that is counted.
func (t *countingTarget) Dial(ctx context.Context) (net.Conn, error) {
	begin := time.Now()
	nc, err := t.Target.Dial(ctx)
	if err != nil {
		if ctx.Err() == nil || time.Since(begin) >= t.patience { // else the property gave up
			t.counter.NotOpened(text.OfError(err))
		}
		return nil, err
	}
	name := fmt.Sprintf("c%d", t.count.Add(1))
	return &countedConn{Conn: nc, target: t, admission: t.counter.Opened(), name: name, start: time.Now()}, nil
}

// Restart restarts the target of a property that needs it.
func (t *countingTarget) Restart(ctx context.Context) error {
	r, ok := t.Target.(play.Restarter)
	if !ok {
		return errors.ErrUnsupported
	}
	return r.Restart(ctx)
}

// isServing reports whether a new connection is accepted within 2 s: the server may not
// have noticed yet that others were closed.
func (t *countingTarget) isServing(ctx context.Context) bool {
	const patience, pause = 2 * time.Second, 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		if t.acceptsConn(ctx) {
			return true
		}
		machine.Sleep(ctx, pause)
	}
	return false
}

// acceptsConn reports whether a new connection is accepted.
func (t *countingTarget) acceptsConn(ctx context.Context) bool {
	nc, err := t.Target.Dial(ctx)
	if err != nil {
		return false
	}
	defer nc.Close()
	if deadline, limited := ctx.Deadline(); limited {
		nc.SetReadDeadline(deadline)
	}
	first := make([]byte, 1)
	_, err = nc.Read(first)
	return err == nil && !t.isRefusal(first)
}

// refusalSigns returns how the messages of a dialect begin that refuse a client. Where clients do not introduce
// themselves, there are none: the first message answers a command.
func refusalSigns(d scenarios.Dialect) (signs []string) {
	if hello, _ := d.Hello(scenarios.Producer, d.Sample(false)); hello.Words == "" {
		return nil
	}
	for _, f := range d.Grammar().Forms {
		if f.Refusal {
			signs = append(signs, f.Sign)
		}
	}
	return signs
}

// isRefusal reports whether bytes begin as a refusal does.
func (t *countingTarget) isRefusal(b []byte) bool {
	return slices.ContainsFunc(t.refusals, func(sign string) bool { return bytes.HasPrefix(b, []byte(sign)) })
}

// countedConn is a connection of a countingTarget. The first bytes decide whether it was
// accepted.
type countedConn struct {
	net.Conn
	target    *countingTarget
	admission *play.Admission
	name      string
	start     time.Time

	mu        sync.Mutex
	isDecided bool // whether it was accepted
	isClosed  bool // by this side
}

// Read reads, and evaluates the first bytes.
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.report(reports.FromServer, b[:n])
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isDecided || c.isClosed || n == 0 && err == nil:
	case n > 0:
		c.isDecided = true
		c.admission.Decide(!c.target.isRefusal(b[:n]), excerpt(b[:n]))
	default:
		c.isDecided = true
		c.admission.Decide(false, "the end of the connection ("+err.Error()+")")
	}
	if err != nil {
		c.admission.End()
	}
	return n, err
}

// Write writes, and reports the bytes.
func (c *countedConn) Write(b []byte) (int, error) {
	c.report(reports.FromClient, b)
	return c.Conn.Write(b)
}

// Close closes the connection; one without a greeting for that long was not accepted.
func (c *countedConn) Close() error {
	c.mu.Lock()
	if patience := c.target.patience; !c.isDecided && time.Since(c.start) >= patience {
		c.admission.Decide(false, "nothing within "+patience.String())
	}
	c.admission.End()
	c.isClosed = true
	c.mu.Unlock()
	return c.Conn.Close()
}

var errNoHalfClose = errors.New("this connection cannot be closed by half")

// CloseWrite closes the sending half.
func (c *countedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errNoHalfClose
}

// SetLinger sets what Close does with unsent data, where the connection can do that.
func (c *countedConn) SetLinger(sec int) error {
	if tcp, ok := c.Conn.(interface{ SetLinger(sec int) error }); ok {
		return tcp.SetLinger(sec)
	}
	return nil
}

// report passes bytes to watch.
func (c *countedConn) report(from string, b []byte) {
	if c.target.watchLine != nil && len(b) > 0 {
		c.target.watchLine(reports.Line{At: time.Since(c.target.start), Conn: c.name, From: from, Text: excerpt(b)})
	}
}

// excerpt returns b in one short printable line.
func excerpt(b []byte) string {
	const limit = 300
	cut := ""
	if len(b) > limit {
		b, cut = b[:limit], "..."
	}
	return text.Escape(strings.TrimSuffix(string(b), "\r\n")) + cut
}
