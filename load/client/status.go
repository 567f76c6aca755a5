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
	Target          int `join:"sum"` // connections that are to stay open, since Connect
	ReadyConns      int `join:"sum"` // connections that are identified
	Identifications int `join:"sum"` // how often a connection was identified, again and again included
	OpenConns       int `join:"sum"` // connections that Stop has not yet ended for good
	InFlight        int `join:"sum"` // commands without a reply, but for hello and goodbye

	Errors      int64 `join:"sum"`   // of any kind, as in the recorder
	FirstError  error `join:"first"` // or the end of an idle connection; nil if there was none
	LastError   error // nil if there was none
	Losses      int64 `join:"sum"`   // connections that were identified, and ended without a cause on the client's side
	FirstLoss   error `join:"first"` // why the first of them did
	Disconnects int64 `join:"sum"`   // connections that their clients have ended by themselves, without goodbye
	// DisconnectedAt is when the last of them was ended, or its half closed.
	DisconnectedAt time.Duration `join:"max"`

	ServedCommands int64 `join:"sum"` // commands that went well, but for hello, beat and goodbye

	RepliedAt     time.Duration `join:"max"` // when the latest reply to a command came, hello and goodbye left out
	UsefulReplyAt time.Duration `join:"max"` // the same, fetches without a job left out, too

	IsPushing   bool  `join:"or"`  // arrivals are left, or pushes without a reply
	HasDue      bool  `join:"or"`  // arrivals are left that no client has taken
	IsAborted   bool  `join:"or"`  // an arrival found no free connection, and Overload is Abort
	Backlog     int64 `join:"sum"` // arrivals that are due and that no client has taken
	WaitCount   int64 `join:"sum"` // arrivals that found no connection free, and waited for one
	PeakBacklog int64 `join:"max"` // the greatest Backlog of a shard until now

	results.ClientCounts // of the account of the jobs

	HeldJobs       int  `join:"sum"` // jobs that the workers have
	IsDrained      bool // every worker that may fetch has found nothing, since Drain
	DrainedWorkers int  `join:"sum"` // how many those are
	// since Drain, every worker that may fetch has found nothing, or waits in a fetch that a job would have answered
	AllFindNothing bool
	// jobs whose ack was sent twice and refused the second time: the first may have arrived
	RepeatedAcks int64 `join:"sum"`
}

// Times returns the times that the protocol sets.
func (c *Shard) Times() wire.Times { return c.times }

// Status returns how far the shard is. It costs little, whatever the shard's size.
func (c *Shard) Status() Status {
	s := c.status
	d := &c.dispatcher
	s.HasDue = d.hasDue()
	s.IsPushing, s.IsAborted, s.WaitCount = s.HasDue || d.assignments > 0, d.isAborted, d.waitCount
	s.Backlog = d.backlog(c.loop.Now())
	d.peak = max(d.peak, s.Backlog)
	s.PeakBacklog = d.peak
	isDrained := c.drainStart > 0 && s.HeldJobs == 0
	s.IsDrained = isDrained && s.DrainedWorkers == c.fetchers
	s.AllFindNothing = isDrained && !slices.ContainsFunc(c.workers,
		func(w *worker) bool { return !w.findsNothing(c.loop.Now()) })
	return s
}

// answerLimit is how long a server may take to answer a fetch if there is a job, at least.
const answerLimit = 100 * time.Millisecond

// findsNothing reports whether a worker has found its queues empty since the drain began: a fetch came back empty, or
// it waits in a fetch that a job in one of them would have answered by now.
func (w *worker) findsNothing(now time.Duration) bool {
	c := w.shard
	if w.isPassive || w.isDrained || w.state != wire.Working {
		return true
	}
	return c.times.Wait > 0 && slices.ContainsFunc(w.conns, func(d *workerConn) bool {
		asksAll := len(w.queueSet.queues.Names) == 1 || !c.times.WaitsOnFirst || d.command.sent >= c.drainStart
		return d.phase == phaseBusy && d.current == dutyFetch && asksAll &&
			now-d.command.sent >= max(answerLimit, 2*c.longestService)
	})
}

// noteEmpty notes that a worker has found nothing since the drain began.
func (w *worker) noteEmpty() {
	c := w.shard
	if c.drainStart > 0 && !w.isDrained && w.latestEmpty >= c.drainStart && w.state == wire.Working {
		w.isDrained = true
		c.status.DrainedWorkers++
	}
}

// stopFetching removes a worker that may not fetch any more from those that drain.
func (w *worker) stopFetching() {
	c := w.shard
	if w.isPassive {
		return
	}
	c.fetchers--
	if w.isDrained {
		w.isDrained = false
		c.status.DrainedWorkers--
	}
}

// failure is a way in which commands of a kind fail.
type failure struct {
	op   measure.Op
	kind measure.ErrorKind
}

// bookError books something that went wrong.
func (c *Shard) bookError(op measure.Op, kind measure.ErrorKind, err error) {
	c.recorder.CountError(op, kind)
	c.status.Errors++
	if c.status.FirstError == nil {
		c.status.FirstError = err
	}
	c.status.LastError = err
	if key := (failure{op, kind}); c.firstErrors[key] == nil {
		c.firstErrors[key] = err
	}
	if breach, ok := errors.AsType[*wire.BreachError](err); ok {
		c.addBreach(breach)
	}
}

// FirstError returns the first error of commands of a kind that went wrong in this way; nil if
// there was none.
func (c *Shard) FirstError(op measure.Op, kind measure.ErrorKind) error {
	return c.firstErrors[failure{op, kind}]
}

// countLoss counts a connection that the server has ended, or that had to be given up.
func (c *Shard) countLoss(err error) {
	if c.status.Losses++; c.status.Losses == 1 {
		c.status.FirstLoss = err
	}
}

func (c *Shard) noteReady(now time.Duration) {
	c.status.ReadyConns++
	c.status.Identifications++
	if c.isAway {
		c.isAway = false
		c.opener.retryAll(now)
		c.cycler.retryAll(now)
	}
}

func (c *Shard) noteUnready() { c.status.ReadyConns-- }

// Memory for replies that come in pieces. It is shared, for few connections have such a
// reply at a time.
const (
	bufferLimit     = 64
	bufferSizeLimit = 64 << 10
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
	if len(c.buffers) < bufferLimit && cap(b) <= bufferSizeLimit {
		c.buffers = append(c.buffers, b[:0])
	}
}
