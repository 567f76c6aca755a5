package explore

import (
	"context"
	"net"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// arrival is what a connection brought: a reply, or how it ended.
type arrival struct {
	reply fwp.Reply
	err   error // of the end, or a *fwp.SyntaxError
	at    time.Time
	more  int // bytes behind the reply that had come with it
}

// conn is one connection of a play. A goroutine reads it all the time.
type conn struct {
	number   int
	nc       net.Conn
	arrivals chan arrival
	gone     chan struct{}
	owed     int    // messages; below zero: so many at the most
	judged   bool   // the next message is judged
	sent     int    // the step that sent the last command
	pieces   int    // commands until nothing comes any more of one that was sent in segments
	awaited  string // the step's text of the command whose answer is owed
	clause   string // that rules it
	shut     bool   // half-closed by us
	odd      bool   // it was sent what is no single line
	wild     bool   // it was sent what nobody can tell into commands
	most     int    // answers that this may bring
	heard    int    // of them
}

func open(number int, nc net.Conn) *conn {
	c := &conn{number: number, nc: nc, arrivals: make(chan arrival, 16), gone: make(chan struct{})}
	go c.read()
	return c
}

func (c *conn) read() {
	r := fwp.NewReader(c.nc, 0)
	for {
		reply, err := r.Read()
		a := arrival{err: err, at: time.Now()}
		if err == nil {
			a.reply, a.more = reply.Clone(), len(r.Buffered())
		}
		select {
		case c.arrivals <- a:
		case <-c.gone:
			return
		}
		if err != nil {
			return
		}
	}
}

// leave ends the connection; its reader ends with it.
func (c *conn) leave(how scenarios.Ending) {
	if l, ok := c.nc.(interface{ SetLinger(sec int) error }); ok && how == scenarios.Reset {
		_ = l.SetLinger(0)
	}
	close(c.gone)
	_ = c.nc.Close()
}

// write sends segments one after the other.
func (c *conn) write(ctx context.Context, segments [][]byte, pause, limit time.Duration) error {
	c.nc.SetWriteDeadline(time.Now().Add(limit))
	for i, s := range segments {
		if i > 0 && pause > 0 {
			if !sleep(ctx, pause) {
				return ctx.Err()
			}
		}
		if _, err := c.nc.Write(s); err != nil {
			return err
		}
	}
	return nil
}

// sleep waits and says whether the time is over; it is not if ctx is done.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
