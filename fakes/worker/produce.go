package worker

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Produce runs a producer in place of a worker: it pushes each job that it reads, one JSON object a line, or several
// together where the line is an array of them, and hands say a line about each, "pushed JID" or "refused JID".
// Concurrency is the number of its callers, which have a connection each. It returns at the end of the jobs: 0, or 1 if
// a job was not pushed. When ctx is done it ends without ceremony; a Read of jobs that blocks then goes on. Say may be
// called by many goroutines at once.
func (w *Worker) Produce(ctx context.Context, jobs io.Reader, say func(line string)) int {
	w.produces = true
	if err := w.parse(); err != nil {
		w.logf("%v", err)
		return 2
	}
	ctx, w.cancel = context.WithCancelCause(ctx)
	defer w.cancel(nil)
	defer w.closeAll()
	lines := make(chan []byte)
	go readLines(ctx, jobs, lines)
	var hasFailed atomic.Bool
	var callers sync.WaitGroup
	done, stop := make(chan struct{}), make(chan struct{})
	for range w.cfg.Concurrency {
		callers.Go(func() { (&caller{w: w, say: say, hasFailed: &hasFailed}).push(ctx, lines) })
	}
	go func() {
		callers.Wait()
		close(done)
	}()
	if w.cfg.SendsBeats {
		var beats sync.WaitGroup
		beats.Go(func() { w.beat(ctx, stop) })
		defer beats.Wait()
	}
	defer close(stop)
	select {
	case <-ctx.Done():
	case <-done:
	}
	if code, ok := exitCodeOf(ctx); ok {
		return code
	}
	e := &Event{Code: btoi(hasFailed.Load())}
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
	w         *Worker
	say       func(line string)
	hasFailed *atomic.Bool
	conn      *conn    // nil: none is open
	waiting   [][]byte // jobs that the connection has not taken
}

// ownJID is how the jids of the producer begin.
const ownJID = "fakeworker"

// push pushes jobs until there are no more, and ends the connection.
func (c *caller) push(ctx context.Context, lines <-chan []byte) {
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				if c.conn != nil {
					c.conn.end(ctx)
				}
				return
			}
			c.pushJob(ctx, line)
		case <-ctx.Done():
			return
		}
	}
}

// pushJob pushes one job and reports what became of it.
func (c *caller) pushJob(ctx context.Context, line []byte) {
	var units []Fields
	isBatch := line[0] == '['
	if !isBatch {
		line = slices.Concat([]byte("["), line, []byte("]"))
	}
	in := json.NewDecoder(bytes.NewReader(line))
	in.UseNumber()
	if err := in.Decode(&units); err != nil {
		c.w.logf("%v", err)
		c.hasFailed.Store(true)
		return
	}
	if isBatch {
		c.pushBatch(ctx, units)
		return
	}
	e := c.newEvent(fwp.PUSH, units[0])
	for range 1 + btoi(e.Repeat) - btoi(e.Skip) {
		e.Reply = c.sendNext(ctx, encode(e.Fields))
		e.setPushed(e.Reply.Kind == fwp.SimpleString)
	}
	c.tell(ctx, e)
}

// pushBatch pushes jobs by one PUSHB, which Faktory has, and reports what became of each.
func (c *caller) pushBatch(ctx context.Context, units []Fields) {
	var all []*Event
	var jobs [][]byte
	for _, unit := range units {
		e := c.newEvent("PUSHB", unit)
		if all = append(all, e); !e.Skip {
			jobs = append(jobs, encode(e.Fields))
		}
	}
	reply := c.send(ctx, "PUSHB", slices.Concat([]byte("["), bytes.Join(jobs, []byte(",")), []byte("]")))
	var reasons map[string]string
	isAnswered := reply.Kind == fwp.BulkString && json.Unmarshal(reply.Text, &reasons) == nil
	for _, e := range all {
		e.Reply = reply
		if reason, ok := reasons[e.jid]; ok {
			e.Reply = fwp.Reply{Kind: fwp.ErrorReply, Text: []byte(reason)}
		}
		e.setPushed(isAnswered && e.Reply.Kind == fwp.BulkString)
		c.tell(ctx, e)
	}
}

// newEvent returns the event of a job that is about to be pushed.
func (c *caller) newEvent(verb string, unit Fields) *Event {
	e := &Event{Fields: unit, Line: encode(unit)}
	if unit["jid"] == nil {
		unit["jid"] = ownJID + strings.ToLower(rand.Text())
		e.IsOwnJID = true
	}
	e.jid, _ = unit["jid"].(string)
	c.w.at(Pushing, e)
	e.Verb, e.State = verb, "pushed"
	return e
}

// setPushed has a caller be told that a job was refused, unless it was pushed.
func (e *Event) setPushed(isPushed bool) {
	if !isPushed {
		e.State = "refused"
	}
}

// tell tells the caller what became of a job.
func (c *caller) tell(ctx context.Context, e *Event) {
	c.w.at(Pushed, e)
	if e.State == "refused" {
		c.hasFailed.Store(true)
	}
	if ctx.Err() == nil {
		c.say(e.State + " " + e.jid)
	}
}

// sendNext sends a PUSH, behind those that wait, and returns its reply; with Buffers always one.
func (c *caller) sendNext(ctx context.Context, job []byte) (reply fwp.Reply) {
	c.waiting = append(c.waiting, job)
	for len(c.waiting) > 0 {
		if reply = c.send(ctx, fwp.PUSH, c.waiting[0]); reply.Kind == 0 && c.w.cfg.Buffers {
			return ok()
		}
		c.waiting = c.waiting[1:]
	}
	return reply
}

// send sends a PUSH, or a PUSHB, and returns its reply; none if the connection was lost. (PUSH)
func (c *caller) send(ctx context.Context, verb string, args []byte) fwp.Reply {
	if c.conn != nil && c.conn.isExhausted() {
		c.conn.end(ctx)
		c.conn = nil
	}
	for {
		if c.conn == nil {
			newConn, err := c.w.openConn(ctx, false)
			if err != nil {
				c.w.logf("%v", err)
				return fwp.Reply{}
			}
			c.conn = newConn
		}
		reply, err := c.conn.roundTrip(ctx, verb, args)
		if err == nil {
			return reply
		}
		c.conn.close()
		c.conn = nil
		c.w.logf("%s: %v", verb, err)
		e := &Event{Verb: verb}
		c.w.at(ConnectionLost, e)
		if !e.Repeat || errors.Is(err, errNoWork) {
			return fwp.Reply{}
		}
	}
}
