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

// gone reports whether the server has had no connection for some time, after it had some, and not because the run ends
// them.
func (r *run) gone() bool {
	return r.status.Wanted > 0 && r.status.Ready == 0 && r.now()-r.lastSeen > goneAfter &&
		(!r.leaving || r.wasGone || r.status.Lost > r.lostBefore)
}

// settled reports whether the account says that nothing is left on the server: every job that was pushed, or may have
// been, is settled.
func (r *run) settled() bool {
	if r.status.Pushing {
		return false
	}
	c := r.ledger.Count(false)
	return c.Missing+c.InDoubt+c.Held+c.Waiting+c.Unanswered == 0
}

// drain empties the queues, and goes on while jobs are missing: see missing.go.
func (r *run) drain() {
	if r.ledger.Count(false).Sent == 0 {
		return
	}
	r.enter("drain")
	r.awaitReplies()
	limit := r.now() + time.Duration(r.work.Drain) + r.work.Delay.Max
	patient := func() bool { return r.now() < limit && r.draining() }
	forever := context.Background()
	r.resetWatchdog()
	r.until(forever, func() bool { return !r.status.Pushing || !patient() })
	from := r.now()
	r.resetWatchdog() // a server that answers no push may answer a fetch
	r.each(func(c *client.Shard) { c.Drain(from + r.work.Delay.Max) })
	r.until(forever, func() bool { return r.allDrained() || !patient() })
	undecided := r.awaitMissing(limit)
	if r.figures.drained = r.allDrained() && undecided == ""; r.figures.drained {
		r.note("empty after " + reports.Time(r.now()-from))
		return
	}
	r.figures.notDrained = cmp.Or(undecided, r.whyNotDrained())
	r.note(r.figures.notDrained)
}

// draining reports whether nothing but time ends the drain.
func (r *run) draining() bool {
	return !r.overtime(interruptedDrain) && !r.gone() && !r.watchdog.stalled()
}

// awaitReplies waits for the replies to the pushes in flight, for as long as a reply may take.
func (r *run) awaitReplies() {
	limit := r.now() + cmp.Or(r.config.Timeout, client.DefaultPatience)
	r.until(context.Background(), func() bool {
		return !r.status.Pushing || r.now() > limit+lookEvery || r.overtime(interruptedDrain) || r.gone()
	})
}

// overtime reports whether the run was interrupted that long ago, or its End has passed before this is asked again.
func (r *run) overtime(after time.Duration) bool {
	if end := r.config.End; !end.IsZero() && time.Now().Add(lookEvery).After(end) {
		return true
	}
	at := time.Duration(r.interrupted.Load())
	return at > 0 && r.now() > at+after
}

// allDrained reports whether every queue was seen empty and no job is to be delivered again. If not all is settled,
// every worker has to see its queues empty; for workers without a connection, the account of the jobs has to be
// complete instead.
func (r *run) allDrained() bool {
	s := &r.status
	if s.Pushing || s.Held > 0 {
		return false
	}
	if s.Waits && r.settled() {
		return true
	}
	if !s.Drained && (s.Ready >= s.Wanted || s.Emptied == 0 || r.ledger.Count(false).Missing > 0) {
		return false
	}
	return r.work.FailShare == 0 || r.ledger.Count(false).Waiting <= s.Repeated
}

func (r *run) whyNotDrained() string {
	counts := r.ledger.Count(false)
	switch {
	case r.gone():
		return "the target was lost"
	case r.overtime(interruptedDrain):
		return "the run was interrupted before its queues were empty"
	case r.watchdog.stalled():
		return "the drain was stopped: " + r.watchdog.stall
	case r.status.Held > 0:
		return text.Count(r.status.Held, "job") + " still reserved by workers at the end of the drain"
	case r.status.Ready < r.status.Wanted:
		return fmt.Sprintf("%d of %d connections were missing, so their queues were not emptied",
			r.status.Wanted-r.status.Ready, r.status.Wanted)
	case counts.Waiting > 0 && r.work.FailShare > 0:
		return text.Count(counts.Waiting, "job") + " still to be retried at the end of the drain"
	}
	return "the queues were not empty at the end of the drain"
}

// leave ends the connections, in order if the server allows it.
func (r *run) leave() {
	r.enter("close")
	limit := r.now() + stopLimit + r.work.Work.Max
	if r.watchdog.stalled() {
		limit = r.now() + stalledLimit
	}
	stop := (*client.Shard).Stop
	if r.figures.drained && r.settled() {
		stop = (*client.Shard).Leave
	}
	r.wasGone = r.gone()
	r.leaving, r.lostBefore = true, r.status.Lost
	r.each(stop)
	r.until(context.Background(), func() bool {
		return r.status.Open == 0 || r.now() > limit || r.overtime(interruptedDrain+interruptedStop) || r.gone()
	})
	if r.gone() {
		r.figures.gone = r.whyGone()
	}
	r.each((*client.Shard).Abandon)
	r.engine.Do(0, r.shards[0].EndFlows)
	r.tick(r.now())
}

func (r *run) whyGone() string {
	why := "all of its connections ended without an error, and no new one could be opened"
	if again := r.disrupted.notStarted(); again != nil {
		return text.OfError(again)
	}
	if r.status.Last != nil {
		why = text.OfError(r.status.Last)
	}
	at := ", right after the start"
	if seen := r.lastSeen.Round(100 * time.Millisecond); seen > 0 {
		at = ", " + reports.Time(seen) + " after the start"
	}
	return why + at + r.forwarderMay()
}

// forwarderMay says what clients did last to the transport, if that may have ended a forwarder before the server; empty
// if it was nothing, or it is known that there is none.
func (r *run) forwarderMay() string {
	const moment, may = 2 * time.Second, ": a forwarder (ssh -L, kubectl port-forward) may have ended"
	switch at := r.status.Disconnected; {
	case !r.config.Forwarded || len(r.config.Schedule) > 0:
		return ""
	case at > 0 && (r.lastSeen-at).Abs() <= moment:
		return "; last, a client closed its connection without a goodbye" + may
	case r.figures.refused != nil:
		return "; last, clients opened " + text.Count(r.status.Wanted, "connection") + may
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
	return forward.Refused(err)
}
