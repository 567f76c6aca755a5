package fakes

import "time"

// write sends the event's reply. It reports whether the connection goes on.
func (c *conn) write(e *Event) bool {
	c.out = AppendReply(c.out[:0], e.Reply)
	e.Bytes = c.out
	c.s.at(Writing, e)
	if !c.pause(e) {
		return false
	}
	n, err := c.send(e)
	if err == nil || n > 0 { // otherwise no byte of the job was sent
		c.held = nil
	}
	c.shrink()
	if err != nil || e.Close {
		c.end(e.Reset)
		return false
	}
	if e.Later != nil {
		c.startLater(*e.Later)
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
		wrote, err := c.nc.Write(rest[:size])
		n += wrote
		if err != nil {
			return n, err
		}
		if rest = rest[size:]; len(rest) > 0 {
			e.Delay = e.Pause
			c.pause(e)
		}
	}
	return n, nil
}

// shrink releases buffers that a large job has made large.
func (c *conn) shrink() {
	const most = 64 << 10
	if cap(c.out) > most {
		c.out = nil
	}
	if cap(c.argument.room) > most || cap(c.argument.fields) > most/64 {
		c.argument = Object{}
	}
}

// startLater starts the timer of a Later. The group of connections counts it, so that
// Close waits for it too.
func (c *conn) startLater(l Later) {
	c.s.serving.Add(1)
	c.later = time.AfterFunc(l.After, func() {
		defer c.s.serving.Done()
		c.writing.Lock()
		defer c.writing.Unlock()
		_, _ = c.nc.Write(l.Bytes) // the next read returns the error of a closed connection
		if l.Close {
			c.end(false)
		}
	})
}

func (c *conn) stopLater() {
	if c.later != nil && c.later.Stop() {
		c.s.serving.Done()
	}
	c.later = nil
}
