package fakes

import "time"

// write sends the event's reply. It reports whether the connection goes on.
func (c *conn) write(e *Event) bool {
	c.out = AppendReply(c.out[:0], e.Reply)
	e.Bytes = c.out
	c.s.runHooks(Writing, e)
	if !c.delay(e) {
		return false
	}
	n, err := c.send(e)
	if err == nil || n > 0 { // otherwise no byte of the job was sent
		c.unsentJob = nil
	}
	c.shrink()
	if err != nil || e.Close {
		c.end(e.ResetsConn)
		return false
	}
	if e.DelayedWrite != nil {
		c.startDelayedWrite(*e.DelayedWrite)
	}
	return true
}

// send writes the event's bytes, in pieces of Chunk bytes if a hook set it.
func (c *conn) send(e *Event) (n int, err error) {
	if len(e.Bytes) == 0 {
		return 0, nil
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	for rest := e.Bytes; len(rest) > 0; {
		size := len(rest)
		if e.Chunk > 0 {
			size = min(size, e.Chunk)
		}
		count, err := c.nc.Write(rest[:size])
		n += count
		if err != nil {
			return n, err
		}
		if rest = rest[size:]; len(rest) > 0 {
			e.Delay = e.ChunkPause
			c.delay(e)
		}
	}
	return n, nil
}

// shrink releases buffers that a large job has made large.
func (c *conn) shrink() {
	const limit = 64 << 10
	if cap(c.out) > limit {
		c.out = nil
	}
	if cap(c.argument.buf) > limit || cap(c.argument.fields) > limit/64 {
		c.argument = Object{}
	}
}

// startDelayedWrite starts the timer of a DelayedWrite. The group of connections counts it, so that
// Close waits for it too.
func (c *conn) startDelayedWrite(l DelayedWrite) {
	c.s.serving.Add(1)
	c.delayedWriteTimer = time.AfterFunc(l.After, func() {
		defer c.s.serving.Done()
		c.writing.Lock()
		defer c.writing.Unlock()
		_, _ = c.nc.Write(l.Bytes) // the next read returns the error of a closed connection
		if l.Close {
			c.end(false)
		}
	})
}

func (c *conn) cancelDelayedWrite() {
	if c.delayedWriteTimer != nil && c.delayedWriteTimer.Stop() {
		c.s.serving.Done()
	}
	c.delayedWriteTimer = nil
}
