package fakes

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/fwp"
)

// fetch answers with a job, or with null when none came in time. (FETCH)
func (c *conn) fetch(e *Event) fwp.Reply {
	wait := e.Wait
	t := c.s.store.Take(e, e.Queues, e.Block, c.waiter)
	if t == nil {
		t = c.await(e, time.Now().Add(wait))
	}
	if t == nil {
		return fwp.Reply{Kind: fwp.NullBulk}
	}
	c.held = t
	if c.s.cfg.Hook == nil {
		return bulk(t.Job.text)
	}
	if c.s.ask(Delivered, e, t.Job) {
		return fwp.Reply{Kind: fwp.NullBulk}
	}
	if e.Again {
		c.s.store.Repeat(e, t.Job)
	}
	return bulk(e.Object.text())
}

// fetchArguments reads the queues, and decides where and how long is waited: on the
// first queue only, and on none by a worker that knows it should be quiet. (FETCH)
func (c *conn) fetchArguments(e *Event) *Refusal {
	e.Wait = c.s.cfg.FetchBlock
	if r := c.readQueues(e.Command.Args); r != nil {
		return r
	}
	e.Queues, e.Block = c.queues, c.queues[:1:1]
	if c.s.workers.isQuiet(c.Worker) {
		e.Queues, e.Block = nil, nil
	}
	return nil
}

// readQueues does not read again what the connection asked for before, unless a hook
// may have changed what was read.
func (c *conn) readQueues(args []byte) *Refusal {
	if c.asked != "" && string(args) == c.asked && c.s.cfg.Hook == nil {
		return nil
	}
	c.asked = ""
	c.queues = append(c.queues[:0], defaultQueue)
	if args == nil {
		return nil
	}
	asked := name(args)
	c.queues = c.queues[:0]
	for queue := range strings.SplitSeq(asked, " ") {
		if queue == "" {
			return refuse(AboutArguments, "FETCH takes queue names after single spaces")
		}
		if r := checkQueueName(queue, &c.s.cfg); r != nil {
			return r
		}
		c.queues = append(c.queues, queue)
	}
	c.asked = asked
	return nil
}

// await waits for a job until then, or until the consumer goes away. A job that is
// given to one who has gone goes back to where it was.
func (c *conn) await(e *Event, until time.Time) *store.Held[*job] {
	gone := c.listen(until)
	if gone {
		e.Skip = false
		c.s.at(Gone, e)
		gone = !e.Skip
	}
	var t *store.Held[*job]
	if !gone {
		t = c.sit(until)
	}
	if late := c.s.store.Leave(c.waiter); t == nil {
		t = late
	}
	c.nc.SetReadDeadline(time.Time{})
	if gone && t != nil {
		c.s.store.GiveBack(e, t)
		return nil
	}
	return t
}

// listen waits on the connection itself, so that it is seen at once when the
// consumer goes away; whoever has a job for it ends the waiting through the read
// deadline. It does not wait if the client has sent on without waiting for its
// answer.
func (c *conn) listen(until time.Time) (gone bool) {
	if c.in.Buffered() > 0 {
		return false
	}
	c.nc.SetReadDeadline(until)
	if len(c.waiter.C()) > 0 { // its deadline came before ours
		return false
	}
	_, err := c.in.Peek(1)
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// sit waits without looking at the connection.
func (c *conn) sit(until time.Time) *store.Held[*job] {
	select {
	case t := <-c.waiter.C():
		return t
	default:
	}
	rest := time.Until(until)
	if rest <= 0 {
		return nil
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case t := <-c.waiter.C():
		return t
	case <-timer.C:
	case <-c.done:
	}
	return nil
}
