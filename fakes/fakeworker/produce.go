package fakeworker

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fwpsuite/fwp/fwp"
)

// Produce runs a producer in place of a worker: it pushes each job that it reads, one JSON object a line, and hands say
// a line about each, "pushed JID" or "refused JID". Concurrency is the number of its callers, which have a connection
// each. It returns at the end of the jobs: 0, or 1 if a job was not pushed. When ctx is done it ends without ceremony;
// a Read of jobs that blocks then goes on. Say may be called by many goroutines at once.
func (w *Worker) Produce(ctx context.Context, jobs io.Reader, say func(line string)) int {
	w.produces = true
	if err := w.parse(); err != nil {
		w.logf("%v", err)
		return 2
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer w.closeAll()
	lines := make(chan []byte)
	go readLines(ctx, jobs, lines)
	var failed atomic.Bool
	var callers sync.WaitGroup
	done, stop := make(chan struct{}), make(chan struct{})
	for range w.cfg.Concurrency {
		callers.Go(func() { (&caller{w: w, say: say, failed: &failed}).push(ctx, lines) })
	}
	go func() {
		callers.Wait()
		close(done)
	}()
	if w.cfg.Beats {
		var beats sync.WaitGroup
		beats.Go(func() { w.beat(ctx, stop) })
		defer beats.Wait()
	}
	defer close(stop)
	select {
	case <-ctx.Done():
		return 137
	case code := <-w.exit:
		return code
	case <-done:
	}
	e := &Event{Code: btoi(failed.Load())}
	w.at(Exiting, e)
	return e.Code
}

// readLines sends the lines that it reads, until their end.
func readLines(ctx context.Context, from io.Reader, to chan<- []byte) {
	defer close(to)
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case to <- line:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// caller pushes jobs, one after the other, on a connection of its own.
type caller struct {
	w      *Worker
	say    func(line string)
	failed *atomic.Bool
	conn   *conn // nil: none is open
}

// push pushes jobs until there are no more, and ends the connection.
func (c *caller) push(ctx context.Context, lines <-chan []byte) {
	for {
		select {
		case line, more := <-lines:
			if !more {
				if c.conn != nil {
					c.conn.end(ctx)
				}
				return
			}
			c.one(ctx, line)
		case <-ctx.Done():
			return
		}
	}
}

// one pushes one job and reports what became of it.
func (c *caller) one(ctx context.Context, line []byte) {
	unit := Fields{}
	in := json.NewDecoder(bytes.NewReader(line))
	in.UseNumber()
	if err := in.Decode(&unit); err != nil {
		c.w.logf("%v", err)
		c.failed.Store(true)
		return
	}
	e := &Event{Fields: unit, Line: line}
	if unit["jid"] == nil {
		unit["jid"] = "fakeworker" + strings.ToLower(rand.Text())
		e.Fresh = true
	}
	jid, _ := unit["jid"].(string)
	c.w.at(Pushing, e)
	e.Verb, e.State = fwp.PUSH, "pushed"
	for range 1 + btoi(e.Again) - btoi(e.Skip) {
		if e.Reply = c.send(ctx, e.Fields); e.Reply.Kind != fwp.SimpleString {
			e.State = "refused"
		}
	}
	c.w.at(Pushed, e)
	if e.State == "refused" {
		c.failed.Store(true)
	}
	if ctx.Err() == nil {
		c.say(e.State + " " + jid)
	}
}

// send sends a PUSH and returns its reply; none if the connection was lost. (PUSH)
func (c *caller) send(ctx context.Context, unit Fields) fwp.Reply {
	if c.conn != nil && c.conn.worn() {
		c.conn.end(ctx)
		c.conn = nil
	}
	for {
		if c.conn == nil {
			opened, err := c.w.open(ctx, false)
			if err != nil {
				c.w.logf("%v", err)
				return fwp.Reply{}
			}
			c.conn = opened
		}
		reply, err := c.conn.ask(ctx, fwp.PUSH, encode(unit))
		if err == nil {
			return reply
		}
		c.conn.close()
		c.conn = nil
		c.w.logf("PUSH: %v", err)
		e := &Event{Verb: fwp.PUSH}
		c.w.at(Lost, e)
		if !e.Again || errors.Is(err, errNoWork) {
			return fwp.Reply{}
		}
	}
}
