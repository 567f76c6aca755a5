package workq

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/protocols/workq"
)

func timeout() workq.Reply  { return workq.Reply{Error: workq.Timeout} }
func notFound() workq.Reply { return workq.Reply{Error: workq.NotFound} }

// run runs a command and returns its reply; false if the connection ended meanwhile.
func (c *conn) run(command workq.Command) (reply workq.Reply, ok bool) {
	s := c.server
	switch command.Verb {
	case workq.Add, workq.Schedule:
		if s.put(command) == nil {
			return workq.Reply{Error: workq.ClientError, Text: "there is a job with this id"}, true
		}
		return workq.OK(), true
	case workq.Run:
		return c.foreground(command)
	case workq.Result:
		return c.result(command)
	case workq.Lease:
		return c.lease(command)
	case workq.Complete, workq.Fail:
		return s.finish(command), true
	case workq.Delete:
		if e := s.find(command.ID); e == nil || !s.drop(e) {
			return notFound(), true
		}
		return workq.OK(), true
	}
	return s.inspect(command), true
}

// wait blocks until one of the channels is ready or the time is over. It returns the first that is, nil for the time;
// false if the connection ended.
func (c *conn) wait(limit time.Duration, channels ...<-chan struct{}) (signal <-chan struct{}, ok bool) {
	for _, ch := range channels {
		select {
		case <-ch:
			return ch, true
		default:
		}
	}
	if limit <= 0 { // whether a timer or what comes meanwhile is first would be a matter of chance
		return nil, true
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	first, second := channels[0], channels[len(channels)-1]
	select {
	case <-first:
		return first, true
	case <-second:
		return second, true
	case <-timer.C:
		return nil, true
	case <-c.done:
	case <-c.server.done:
	}
	return nil, false
}

// foreground runs a job: it waits for a worker as long as the command says, then for the worker as long as the job may
// run. (run)
func (c *conn) foreground(command workq.Command) (workq.Reply, bool) {
	s := c.server
	e := s.put(command)
	if e == nil {
		return workq.Reply{Error: workq.ClientError, Text: "there is a job with this id"}, true
	}
	defer s.drop(e)
	signal, ok := c.wait(milliseconds(command.Wait), e.leaseSignal, e.endSignal)
	if ok && signal == (<-chan struct{})(e.leaseSignal) {
		signal, ok = c.wait(e.TTR, e.endSignal)
	}
	if !ok || signal == nil {
		return timeout(), ok
	}
	return s.replyOf(e), true
}

// result waits until a job has ended. (result)
func (c *conn) result(command workq.Command) (workq.Reply, bool) {
	e := c.server.find(command.ID)
	if e == nil {
		return notFound(), true
	}
	signal, ok := c.wait(milliseconds(command.Wait), e.endSignal)
	if !ok || signal == nil {
		return timeout(), ok
	}
	return c.server.replyOf(e), true
}

// replyOf returns the result of a job that has ended.
func (s *Server) replyOf(e *entry) workq.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.jobs[e.UUID] != e:
		return notFound() // it was removed meanwhile
	case e.state == FailedForGood && e.result == nil:
		return timeout() // no worker has reported anything
	}
	return workq.ResultReply(e.UUID, e.state == Completed, e.result)
}

// lease gives a job to a worker, or waits for one. The names are looked at in random order. (lease)
func (c *conn) lease(command workq.Command) (workq.Reply, bool) {
	s := c.server
	names := slices.Clone(command.Names)
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = s.ask(Event{Point: Choosing, Command: command, Names: names}).Names
	timer := time.NewTimer(milliseconds(command.Wait))
	defer timer.Stop()
	for {
		w := store.NewWaiter[*entry](func() {})
		h := s.store.Take(struct{}{}, names, names, w)
		if h == nil {
			var isOver bool
			if h, isOver = c.await(w, timer); isOver && h == nil {
				return timeout(), true
			}
			if h == nil {
				return workq.Reply{}, false
			}
		}
		e := h.Job
		if s.recordLease(e) {
			return workq.LeaseReply(e.UUID, e.Name, uint64(e.TTR.Milliseconds()), e.Payload), true //nolint:gosec // not negative
		}
		s.store.Remove(e.serial)
	}
}

// await waits for a job until the time is over or the connection ends; then a job that came at that moment goes back.
func (c *conn) await(w *store.Waiter[*entry], timer *time.Timer) (h *store.TimedJob[*entry], isOver bool) {
	s := c.server
	select {
	case h = <-w.C():
		return h, false
	case <-timer.C:
		return s.store.Leave(w), true
	case <-c.done:
	case <-s.done:
	}
	if h = s.store.Leave(w); h != nil {
		s.store.GiveBack(struct{}{}, h)
	}
	return nil, false
}

// finish takes the report of a worker, which may come after its lease is over, and over another connection. A job that
// was failed is tried again while it has failed less often than max-fails says. (complete; fail; lease, Special
// Considerations)
func (s *Server) finish(command workq.Command) workq.Reply {
	e := s.find(command.ID)
	if e == nil {
		return notFound()
	}
	s.mu.Lock()
	fails, isFailed := e.fails+1, command.Verb == workq.Fail
	hasRetry := isFailed && !e.Foreground && fails < e.MaxFails && (e.MaxAttempts == 0 || e.attempts < e.MaxAttempts)
	isOver := e.isOver()
	s.mu.Unlock()
	if isOver {
		return notFound()
	}
	if isFailed {
		hasRetry = s.ask(Event{Point: Failed, Job: &e.Job, Fails: fails, Retry: hasRetry}).Retry
	}
	ask := s.ask(Event{Point: Finished, Command: command, Job: &e.Job, Success: !isFailed, Result: command.Block})
	if ask.Skip {
		return workq.OK()
	}
	s.store.Remove(e.serial)
	s.mu.Lock()
	if e.isOver() { // by another report, or by its time to live, while the hook was asked
		s.mu.Unlock()
		return notFound()
	}
	if isFailed {
		e.fails = fails
	}
	switch {
	case hasRetry:
		e.state = Pending
	case ask.Success:
		e.end(Completed, ask.Result)
	default:
		e.end(FailedForGood, ask.Result)
	}
	s.mu.Unlock()
	if hasRetry {
		_ = s.store.Push(struct{}{}, e, time.Time{}) // it has no limits
	}
	return workq.OK()
}
