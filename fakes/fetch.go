package fakes

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// fetch returns a job, or null if there was none in time. (FETCH)
func (c *conn) fetch(e *Event) fwp.Reply {
	wait := e.Wait
	t := c.s.store.Take(e, e.Queues, e.WaitQueues, c.waiter)
	if t == nil {
		t = c.await(e, time.Now().Add(wait))
	}
	if t == nil {
		return Null()
	}
	c.unsentJob = t
	if c.s.cfg.Hook == nil {
		return Bulk(t.Job.text)
	}
	if c.s.ask(Delivered, e, t.Job) {
		return Null()
	}
	if e.Requeue {
		c.s.store.Repeat(e, t.Job)
	}
	return Bulk(e.Object.text())
}

// fetchArguments reads the queues, and sets where and how long the command waits: on the
// first queue only, and on none if the worker is quiet. (FETCH)
func (c *conn) fetchArguments(e *Event) *Refusal {
	e.Wait = c.s.cfg.FetchBlock
	if r := c.readQueues(e.Command.Args); r != nil {
		return r
	}
	e.Queues, e.WaitQueues = c.queues, c.queues[:1:1]
	if c.s.cfg.Extension == Faktory {
		e.WaitQueues = c.queues
	}
	if c.s.workers.isQuiet(c.Worker) {
		e.Queues, e.WaitQueues = nil, nil
	}
	return nil
}

// readQueues parses the queues. Arguments that are those of the FETCH before are not
// parsed again, unless a hook may have changed the queues.
func (c *conn) readQueues(args []byte) *Refusal {
	if c.queueArgs != "" && string(args) == c.queueArgs && c.s.cfg.Hook == nil {
		return nil
	}
	c.queueArgs = ""
	c.queues = append(c.queues[:0], defaultQueue)
	if args == nil {
		return nil
	}
	queueArgs := internString(args)
	c.queues = c.queues[:0]
	for queue := range strings.SplitSeq(queueArgs, " ") {
		if queue == "" {
			return refuse(AboutArguments, "FETCH takes queue names after single spaces")
		}
		if r := checkQueueName(queue, &c.s.cfg); r != nil {
			return r
		}
		c.queues = append(c.queues, queue)
	}
	c.queueArgs = queueArgs
	return nil
}

// await waits for a job until then, or until the consumer disconnects. A job for a
// consumer that has disconnected is given back to its queue.
func (c *conn) await(e *Event, until time.Time) *store.TimedJob[*job] {
	isDisconnected := c.watchClient(until)
	if isDisconnected {
		e.Skip = false
		c.s.runHooks(Disconnected, e)
		isDisconnected = !e.Skip
	}
	var t *store.TimedJob[*job]
	if !isDisconnected {
		t = c.waitForJob(until)
	}
	if reservation := c.s.store.Leave(c.waiter); t == nil {
		t = reservation
	}
	c.nc.SetReadDeadline(time.Time{})
	if isDisconnected && t != nil {
		c.s.store.GiveBack(e, t)
		return nil
	}
	return t
}

// watchClient waits on the connection itself, so that the end of the connection is
// noticed at once; a job for the waiter ends the wait through the read deadline. It does
// not wait if the client has already sent its next command.
func (c *conn) watchClient(until time.Time) (isDisconnected bool) {
	if c.in.Buffered() > 0 {
		return false
	}
	c.nc.SetReadDeadline(until)
	if len(c.waiter.C()) > 0 { // the deadline above has replaced the one that the waiter's wake has set
		return false
	}
	_, err := c.in.Peek(1)
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// waitForJob waits without watching the connection.
func (c *conn) waitForJob(until time.Time) *store.TimedJob[*job] {
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
