package load

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/target/forward"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/reports"
)

// isGone reports whether the server has had no connection for some time, after it had some, and not because the run
// ends them.
func (r *run) isGone() bool {
	return r.status.Target > 0 && r.status.ReadyConns == 0 && r.now()-r.lastConnAt > goneAfter &&
		(!r.isLeaving || r.wasGone || r.status.Losses > r.lostBefore)
}

// isSettled reports whether the account says that nothing is left on the server: every job that was pushed, or may have
// been, is settled.
func (r *run) isSettled() bool {
	if r.status.IsPushing {
		return false
	}
	c := r.ledger.Count(false)
	return c.Missing+c.InDoubt+c.HeldJobs+c.Waiting+c.Unanswered == 0
}

// drain empties the queues, and goes on while jobs are missing: see missing.go.
func (r *run) drain() {
	if r.ledger.Count(false).Sent == 0 {
		return
	}
	r.enter("drain")
	r.awaitReplies()
	limit := r.now() + time.Duration(r.work.Drain) + r.work.Delay.Max
	mayWait := func() bool { return r.now() < limit && r.canDrain() }
	ctx := context.Background()
	r.resetWatchdog()
	r.waitUntil(ctx, func() bool { return !r.status.IsPushing || !mayWait() })
	from := r.now()
	r.resetWatchdog() // a server that answers no push may answer a fetch
	r.eachShard(func(c *client.Shard) { c.Drain(from + r.work.Delay.Max) })
	r.waitUntil(ctx, func() bool { return r.isDrained() || !mayWait() })
	reason := r.awaitMissing(limit)
	if r.figures.isDrained = r.isDrained() && reason == ""; r.figures.isDrained {
		r.note("empty after " + reports.Time(r.now()-from))
		return
	}
	r.figures.drainFailure = cmp.Or(reason, r.drainFailure())
	r.note(r.figures.drainFailure)
}

// canDrain reports whether the drain may go on: no interrupt has ended it, nor the Deadline, nothing stalls, and the
// target is there.
func (r *run) canDrain() bool {
	return !r.isOvertime(interruptedDrain) && !r.isGone() && !r.watchdog.hasStalled()
}

// awaitReplies waits for the replies to the pushes in flight, for as long as a reply may take.
func (r *run) awaitReplies() {
	limit := r.now() + cmp.Or(r.config.Timeout, client.DefaultPatience)
	r.waitUntil(context.Background(), func() bool {
		return !r.status.IsPushing || r.now() > limit+lookEvery || r.isOvertime(interruptedDrain) || r.isGone()
	})
}

// isOvertime reports whether the run was interrupted that long ago, or its Deadline has passed before this is asked
// again.
func (r *run) isOvertime(after time.Duration) bool {
	if end := r.config.Deadline; !end.IsZero() && time.Now().Add(lookEvery).After(end) {
		return true
	}
	at := time.Duration(r.interrupted.Load())
	return at > 0 && r.now() > at+after
}

// isDrained reports whether every queue was seen empty and no job is to be delivered again. If not all is settled,
// every worker has to see its queues empty; for workers without a connection, the account of the jobs has to be
// complete instead.
func (r *run) isDrained() bool {
	s := &r.status
	if s.IsPushing || s.HeldJobs > 0 {
		return false
	}
	if s.AllFindNothing && r.isSettled() {
		return true
	}
	if !s.IsDrained && (s.ReadyConns >= s.Target || s.DrainedWorkers == 0 || r.ledger.Count(false).Missing > 0) {
		return false
	}
	return r.work.FailShare == 0 || r.ledger.Count(false).Waiting <= s.RepeatedAcks
}

func (r *run) drainFailure() string {
	counts := r.ledger.Count(false)
	switch {
	case r.isGone():
		return "the target was lost"
	case r.isOvertime(interruptedDrain):
		return "the run was interrupted before its queues were empty"
	case r.watchdog.hasStalled():
		return "the drain was stopped: " + r.watchdog.stall
	case r.status.HeldJobs > 0:
		return text.Count(r.status.HeldJobs, "job") + " still reserved by workers at the end of the drain"
	case r.status.ReadyConns < r.status.Target:
		return fmt.Sprintf("%d of %d connections were missing, so their queues were not emptied",
			r.status.Target-r.status.ReadyConns, r.status.Target)
	case counts.Waiting > 0 && r.work.FailShare > 0:
		return text.Count(counts.Waiting, "job") + " still to be retried at the end of the drain"
	}
	return "the queues were not empty at the end of the drain"
}

// leave ends the connections, in order if the server allows it.
func (r *run) leave() {
	r.enter("close")
	limit := r.now() + stopLimit + r.work.Work.Max
	if r.watchdog.hasStalled() {
		limit = r.now() + stalledLimit
	}
	stop := (*client.Shard).Stop
	if r.figures.isDrained && r.isSettled() {
		stop = (*client.Shard).Leave
	}
	r.wasGone = r.isGone()
	r.isLeaving, r.lostBefore = true, r.status.Losses
	r.eachShard(stop)
	r.waitUntil(context.Background(), func() bool {
		return r.status.OpenConns == 0 || r.now() > limit || r.isOvertime(interruptedDrain+interruptedStop) || r.isGone()
	})
	if r.isGone() {
		r.figures.goneReason = r.goneReason()
	}
	r.eachShard((*client.Shard).Abandon)
	r.engine.Do(0, r.shards[0].EndFlows)
	r.tick(r.now())
}

// goneReason returns why the target is taken to be gone: the last error, and when the last connection was there.
func (r *run) goneReason() string {
	reason := "all of its connections ended without an error, and no new one could be opened"
	if err := r.disruptionLog.startFailure(); err != nil {
		return text.OfError(err)
	}
	if r.status.LastError != nil {
		reason = text.OfError(r.status.LastError)
	}
	at := ", right after the start"
	if uptime := r.lastConnAt.Round(100 * time.Millisecond); uptime > 0 {
		at = ", " + reports.Time(uptime) + " after the start"
	}
	return reason + at + r.forwarderHint()
}

// forwarderHint says what clients did last to the transport, if that may have ended a forwarder before the server;
// empty if it was nothing, or it is known that there is none.
func (r *run) forwarderHint() string {
	const moment, hint = 2 * time.Second, ": a forwarder (ssh -L, kubectl port-forward) may have ended"
	switch at := r.status.DisconnectedAt; {
	case !r.config.MayBeForwarded || len(r.config.Schedule) > 0:
		return ""
	case at > 0 && (r.lastConnAt-at).Abs() <= moment:
		return "; last, a client closed its connection without a goodbye" + hint
	case r.figures.refusal != nil:
		return "; last, clients opened " + text.Count(r.status.Target, "connection") + hint
	}
	return ""
}

// refusesAll reports whether nothing accepts connections any more, although all of the run have ended: it was no limit
// of connections.
func (r *run) refusesAll(ctx context.Context) bool {
	nc, err := r.config.Dial(ctx)
	if err == nil {
		_ = nc.Close()
	}
	return forward.IsConnRefused(err)
}
