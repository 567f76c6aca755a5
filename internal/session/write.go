package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// Write sends segments one after the other, each in a write of its own, with a
// pause in between. It blocks until the last is written. If the peer does not read
// them within the timeout, or ctx is done, nothing can be written any more, since
// it is not known how much has arrived; see [Conn.WriteError].
func (c *Conn) Write(ctx context.Context, segments [][]byte, pause time.Duration) error {
	all := segments[0]
	if len(segments) > 1 {
		all = bytes.Join(segments, nil)
	}
	c.state.Sent(all)
	if c.writeErr != nil {
		return c.writeErr
	}
	c.times.began = time.Now()
	if c.config.Observer != nil {
		c.config.Observer.Sent(all, c.times.began)
	}
	defer func() { c.times.sent = time.Now() }()
	defer context.AfterFunc(ctx, func() { c.nc.SetWriteDeadline(longAgo()) })()
	for i, s := range segments {
		if i > 0 && !machine.Wait(ctx.Done(), pause) {
			c.writeErr = fmt.Errorf("write: %w", context.Cause(ctx))
			return c.writeErr
		}
		err := c.write(ctx, s)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.writeErr = fmt.Errorf("the server stopped reading: write: %w", err)
			return c.writeErr
		}
		if err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// write writes one segment, for which the peer has the timeout, and longer where this machine was late.
func (c *Conn) write(ctx context.Context, segment []byte) error {
	for begin := time.Now(); ; {
		c.nc.SetWriteDeadline(begin.Add(c.config.Timeout + c.grace(begin)))
		if ctx.Err() != nil {
			c.nc.SetWriteDeadline(longAgo())
		}
		n, err := c.nc.Write(segment)
		segment = segment[n:]
		isEarly := time.Since(begin) < c.config.Timeout+c.grace(begin) // this machine has turned out to be late
		if !isEarly || !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
			return err
		}
	}
}

// Ask writes the bytes of one command and takes the answer, see [Conn.Answer]. If
// they cannot be written, what is taken has the reason.
func (c *Conn) Ask(ctx context.Context, command []byte) (Received, error) {
	_ = c.Write(ctx, [][]byte{command}, 0)
	return c.Answer(ctx)
}

// Aside is Ask for a command that is not part of the conversation proper: the times of
// the last write and of the last answer stay as they were, and a missing answer is not
// owed.
func (c *Conn) Aside(ctx context.Context, command []byte) (Received, error) {
	defer func(before times) { c.times = before }(c.times)
	r, err := c.Ask(ctx, command)
	if err != nil || !r.IsComplete() {
		c.waived++
	}
	return r, err
}
