package client

import (
	"errors"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/results"
	"github.com/fwpsuite/fwp/load/wire"
)

// Status is how far a shard is. The tags say how those of all shards are joined.
type Status struct {
	Wanted   int `join:"sum"` // connections that are to stay open, since Connect
	Ready    int `join:"sum"` // connections that are identified
	Readied  int `join:"sum"` // how often a connection was identified, again and again included
	Open     int `join:"sum"` // connections that Stop has not yet ended for good
	InFlight int `join:"sum"` // commands without a reply, but for hello and goodbye

	Errors      int64 `join:"sum"`   // of any kind, as in the recorder
	First       error `join:"first"` // or the end of an idle connection; nil if there was none
	Last        error // nil if there was none
	Lost        int64 `join:"sum"`   // connections that were identified, and ended without a cause on the client's side
	FirstLost   error `join:"first"` // why the first of them did
	Disconnects int64 `join:"sum"`   // connections that their clients have ended by themselves, without goodbye
	// Disconnected is when the last of them was ended, or its half closed.
	Disconnected time.Duration `join:"max"`

	Served int64 `join:"sum"` // commands that went well, but for hello, beat and goodbye

	Replied time.Duration `join:"max"` // when the latest reply to a command came, hello and goodbye left out
	Carried time.Duration `join:"max"` // the same, fetches that found nothing left out

	Pushing bool  `join:"or"`  // arrivals are left, or pushes without a reply
	Due     bool  `join:"or"`  // arrivals are left that no client has taken
	Aborted bool  `join:"or"`  // an arrival found no free connection, and Overload is Abort
	Backlog int64 `join:"sum"` // arrivals that are due and that no client has taken
	Waited  int64 `join:"sum"` // arrivals that found no connection free, and waited for one
	Peak    int64 `join:"max"` // the greatest Backlog of a shard until now

	results.ClientCounts // of the account of the jobs

	Held     int   `join:"sum"` // jobs that the workers have
	Drained  bool  // every worker that may fetch has found nothing, since Drain
	Emptied  int   `join:"sum"` // how many those are
	Waits    bool  // since Drain: every worker that may fetch has found nothing, or waits for a job to come
	Repeated int64 `join:"sum"` // jobs whose ack was sent twice and refused the second time: the first may have arrived
}

// Times returns the times that the protocol sets.
func (c *Shard) Times() wire.Times { return c.times }

// Status returns how far the shard is. It costs little, whatever the shard's size.
func (c *Shard) Status() Status {
	s := c.status
	d := &c.dispatcher
	s.Due = d.due()
	s.Pushing, s.Aborted, s.Waited = s.Due || d.taken > 0, d.aborted, d.waited
	s.Backlog = d.backlog(c.loop.Now())
	d.peak = max(d.peak, s.Backlog)
	s.Peak = d.peak
	found := c.drainFrom > 0 && s.Held == 0
	s.Drained = found && s.Emptied == c.active
	s.Waits = found && !slices.ContainsFunc(c.workers, func(w *worker) bool { return !w.finds(c.loop.Now()) })
	return s
}

// answeredIn is how long a server may take to answer a fetch if there is a job, at least.
const answeredIn = 100 * time.Millisecond

// finds reports whether a worker has found its queues empty since the drain began: a fetch came back empty, or it waits
// in a fetch that a job in one of them would have answered by now.
func (w *worker) finds(now time.Duration) bool {
	c := w.shard
	if w.passive || w.drained || w.state != wire.Working {
		return true
	}
	return c.times.Wait > 0 && slices.ContainsFunc(w.conns, func(d *duty) bool {
		all := len(w.asks.queues.Names) == 1 || !c.times.FirstOnly || d.asked.sent >= c.drainFrom
		return d.phase == busy && d.doing == fetching && all &&
			now-d.asked.sent >= max(answeredIn, 2*c.slowest)
	})
}

// empty notes that a worker has found nothing since the drain began.
func (w *worker) empty() {
	c := w.shard
	if c.drainFrom > 0 && !w.drained && w.emptied >= c.drainFrom && w.state == wire.Working {
		w.drained = true
		c.status.Emptied++
	}
}

// fetchesNoMore removes a worker that may not fetch any more from those that drain.
func (w *worker) fetchesNoMore() {
	c := w.shard
	if w.passive {
		return
	}
	c.active--
	if w.drained {
		w.drained = false
		c.status.Emptied--
	}
}

// failure is a way in which commands of a kind fail.
type failure struct {
	op   measure.Op
	kind measure.ErrorKind
}

// trouble books something that went wrong.
func (c *Shard) trouble(op measure.Op, kind measure.ErrorKind, err error) {
	c.recorder.Error(op, kind)
	c.status.Errors++
	if c.status.First == nil {
		c.status.First = err
	}
	c.status.Last = err
	if which := (failure{op, kind}); c.firsts[which] == nil {
		c.firsts[which] = err
	}
	if breach, ok := errors.AsType[*wire.BreachError](err); ok {
		c.breached(breach)
	}
}

// First returns the first error of commands of a kind that went wrong in this way; nil if
// there was none.
func (c *Shard) First(op measure.Op, kind measure.ErrorKind) error {
	return c.firsts[failure{op, kind}]
}

// lost counts a connection that the server has ended, or that had to be given up.
func (c *Shard) lost(err error) {
	if c.status.Lost++; c.status.Lost == 1 {
		c.status.FirstLost = err
	}
}

func (c *Shard) becameReady(now time.Duration) {
	c.status.Ready++
	c.status.Readied++
	if c.away {
		c.away = false
		c.opener.follow(now)
		c.cycler.follow(now)
	}
}

func (c *Shard) unready() { c.status.Ready-- }

// Memory for replies that come in pieces. It is shared, for few connections have such a
// reply at a time.
const (
	keptBuffers = 64
	keptSize    = 64 << 10
)

func (c *Shard) borrow() []byte {
	if last := len(c.buffers) - 1; last >= 0 {
		b := c.buffers[last]
		c.buffers = c.buffers[:last]
		return b
	}
	return make([]byte, 0, 1024)
}

func (c *Shard) giveBack(b []byte) {
	if len(c.buffers) < keptBuffers && cap(b) <= keptSize {
		c.buffers = append(c.buffers, b[:0])
	}
}
