package client

import (
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/workload"
)

// hashing is a password's hash, computed outside the loop. The connection may be gone
// by the time it is done, so it belongs to itself.
type hashing struct {
	began time.Duration
	done  atomic.Bool // the rest is written before, and read after it
	hash  string
	err   error
}

// greeted takes the greeting.
func (c *conn) greeted(now time.Duration, r reply) {
	hi, err := fwp.ParseHi(r)
	switch {
	case r.Kind == fwp.ErrorReply:
		c.lose(now, measure.Rejected, err)
		return
	case err != nil:
		c.lose(now, measure.Malformed, &BreachError{"", ForeignReply, err.Error()})
		return
	}
	c.phase = greeted
	if !hi.Protected {
		return
	}
	h := &hashing{began: now}
	c.hash = h
	password := c.crew.password
	c.crew.loop.Aside(c, func() {
		h.hash, h.err = fwp.PasswordHash(password, hi.Salt, hi.Iterations)
		h.done.Store(true)
	})
}

// identify says HELLO, once the password's hash is there. What the hash took is none
// of the server's time: it is left out of what HELLO took.
func (c *conn) identify(now time.Duration, out []byte) []byte {
	hash := ""
	if h := c.hash; h != nil {
		if !h.done.Load() {
			return out
		}
		if h.err != nil {
			c.lose(now, measure.Other, h.err)
			return out
		}
		hash = h.hash
		c.opened += now - h.began
		c.hash = nil
	}
	c.expect(hello, command{op: measure.Hello, intended: c.opened, free: c.opened, sent: now})
	c.mayQuit(now, workload.AtHello)
	return c.role.greet(out, hash)
}

// identified takes the reply to HELLO. What is timed is everything since the
// connection was there: a server that is slow to greet is slow.
func (c *conn) identified(now time.Duration, r reply) {
	got := judge(measure.Hello, r)
	switch got.how {
	case rejected:
		c.lose(now, measure.Rejected, got.err)
		return
	case wrong:
		c.lose(now, measure.Malformed, got.err)
		return
	}
	c.crew.recorder.Command(measure.Hello, measure.Timing{
		Intended: c.opened, Free: c.opened, Sent: c.opened, Replied: now,
	})
	c.phase, c.free, c.pause = idle, now, 0
	c.crew.becameReady()
}
