package session

import (
	"context"
	"time"
)

// Peek waits until something is received, at most until the deadline, and returns it
// without removing it. It returns false if nothing was received, or ctx is done.
func (c *Conn) Peek(ctx context.Context, deadline time.Time) (Received, bool) {
	if c.next == nil && !c.receive(ctx, deadline) {
		return Received{}, false
	}
	r := *c.next
	if r.IsComplete() {
		status := c.Status()
		r.Role, r.Command, r.OwedMessages = c.turn(r), status.Command, status.OwedMessages
	}
	return r, true
}

// Poll returns what was received and not taken, without waiting.
func (c *Conn) Poll() (Received, bool) { return c.Peek(context.Background(), time.Time{}) }

// Take is Peek that removes what it returns, and updates the state of the conversation.
// An end of the connection and a breach of the grammar are never removed: every later
// Take returns them again.
func (c *Conn) Take(ctx context.Context, deadline time.Time) (Received, bool) {
	r, ok := c.Peek(ctx, deadline)
	if !ok {
		return r, false
	}
	c.ending = r.Ending
	if r.Ending == NotEnded && r.Broken == nil {
		c.next = nil
	}
	if r.IsComplete() {
		c.state.Received(r.Message)
		if r.Role == Answer {
			c.times.answered = r.At
		}
	}
	return r, true
}

// extraWithin is how long behind an answer an unasked message is taken for another answer
// to the same command.
const extraWithin = time.Second

// turn returns the role of a message, the time of the last answer considered.
func (c *Conn) turn(r Received) MessageRole {
	t := c.state.Role(r.Message)
	if t == Unasked && r.At.Sub(c.times.answered) < extraWithin {
		return Extra
	}
	return t
}

// receive moves what is received next to c.next, and ignores the ends of earlier waits.
func (c *Conn) receive(ctx context.Context, deadline time.Time) bool {
	for {
		r, ok := c.receiveFirst(ctx, deadline)
		if !ok {
			return false
		}
		if c.untaken.Add(-int64(r.Message.size())); r.receipt != nil {
			close(r.receipt)
		}
		if r.GaveUp && c.obsolete > 0 {
			c.obsolete--
			continue
		}
		next := r // most calls bring nothing, and allocate nothing
		c.next = &next
		return true
	}
}

// receiveFirst prefers what was received already to the end of the wait. There is no timer behind a wait that is over
// at once: most are, and in virtual time several goroutines that poll such timers crash the race detector
// (https://go.dev/issue/78156).
func (c *Conn) receiveFirst(ctx context.Context, deadline time.Time) (r Received, ok bool) {
	select {
	case r = <-c.incoming:
		return r, true
	default:
	}
	wait := time.Until(deadline)
	if wait <= 0 {
		return r, false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case r = <-c.incoming:
		return r, true
	case <-timer.C:
	case <-ctx.Done():
	}
	return r, false
}

// TakeSoon is Take with a deadline that counts from a moment, and is later where this machine was late since then.
func (c *Conn) TakeSoon(ctx context.Context, since time.Time, limit time.Duration) (Received, bool) {
	for {
		r, ok := c.Take(ctx, since.Add(limit+c.grace(since)))
		if ok || ctx.Err() != nil || time.Since(since) >= limit+c.grace(since) {
			return r, ok
		}
	}
}

func (c *Conn) grace(since time.Time) time.Duration {
	if c.config.Grace == nil {
		return 0
	}
	return c.config.Grace(since)
}

// Answer takes what is received within the timeout after the last write, or a little later where this machine is late.
// If that is nothing, it gives up, see [Conn.GiveUp]. The only error is that of a ctx which is
// done.
func (c *Conn) Answer(ctx context.Context) (Received, error) {
	r, ok := c.TakeSoon(ctx, c.times.sent, c.config.Timeout)
	switch {
	case ok:
		return r, nil
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	}
	return c.GiveUp(ctx), nil
}

// GiveUp ends the wait for a message and returns what is known of one that is
// unfinished. A message that is complete at this very moment is taken instead, and
// so is one whose bytes keep coming, for at most ten timeouts.
func (c *Conn) GiveUp(ctx context.Context) Received {
	const limit = 10 // timeouts
	for begin := time.Now(); ; {
		r := c.interrupt()
		if !r.IsArriving || time.Since(begin) > limit*c.config.Timeout {
			return r
		}
		if next, ok := c.TakeSoon(ctx, time.Now(), pauseInside); ok {
			return next
		}
		if ctx.Err() != nil {
			return Received{At: time.Now(), GaveUp: true}
		}
	}
}

// interrupt makes the reader report what it has, which may be nothing.
func (c *Conn) interrupt() Received {
	nothing := Received{At: time.Now(), GaveUp: true}
	c.allowance.interrupt()
	if err := c.nc.SetReadDeadline(longAgo()); err != nil {
		return nothing
	}
	r, ok := c.Take(context.Background(), time.Now().Add(time.Second))
	if !ok || !r.GaveUp {
		c.obsolete++ // the reader will still report the end of this wait
	}
	if !ok {
		return nothing
	}
	return r
}

// longAgo is a deadline that ends every operation at once.
func longAgo() time.Time { return time.Unix(1, 0) }
