package load

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/text"
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
	if r.crosses() || r.status.Pushing {
		return false
	}
	c := r.ledger.Count(false)
	return c.Missing+c.InDoubt+c.Held+c.Waiting+c.Unanswered == 0
}

// drain empties the queues: an accepted job that is not delivered by its end is lost.
func (r *run) drain() {
	if !r.crosses() && r.ledger.Count(false).Sent == 0 {
		return
	}
	r.enter("drain")
	limit := r.now() + time.Duration(r.work.Drain) + r.work.Delay.Max
	patient := func() bool {
		return r.now() < limit && !r.overtime(interruptedDrain) && !r.gone() && !r.watchdog.stalled()
	}
	forever := context.Background()
	r.resetWatchdog()
	r.until(forever, func() bool { return !r.status.Pushing || !patient() })
	others := r.awaitOthers(patient)
	from := r.now()
	r.resetWatchdog() // a server that answers no push may answer a fetch
	r.each(func(c *client.Shard) { c.Drain(from) })
	r.until(forever, func() bool { return r.allDrained() || !patient() })
	r.resolve(patient)
	if r.figures.drained = r.allDrained() && others == nil; r.figures.drained {
		r.note("empty after " + reports.Time(r.now()-from))
		return
	}
	r.figures.notDrained = cmp.Or(text.OfError(others), r.whyNotDrained())
	r.note(r.figures.notDrained)
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
// every worker has to see
// its queues empty; for workers without a connection, the account of the jobs has to be complete instead.
func (r *run) allDrained() bool {
	s := &r.status
	if s.Pushing || s.Held > 0 {
		return false
	}
	if s.Waits && r.settled() {
		return true
	}
	if !s.Drained && (r.crosses() || s.Ready >= s.Wanted || s.Emptied == 0 || r.ledger.Count(false).Missing > 0) {
		return false
	}
	return r.work.FailShare == 0 || r.ledger.Count(false).Waiting <= s.Repeated
}

func (r *run) whyNotDrained() string {
	counts := r.ledger.Count(false)
	switch {
	case r.gone():
		return "the target was gone"
	case r.overtime(interruptedDrain):
		return "the run was interrupted, and its queues were not empty in time"
	case r.watchdog.stalled():
		return "the drain was given up: " + r.watchdog.stall
	case r.status.Held > 0:
		return text.Count(r.status.Held, "job") + " still held by workers when the time for the drain was up"
	case r.status.Ready < r.status.Wanted:
		return fmt.Sprintf("%d of %d connections were missing, so their queues were not emptied",
			r.status.Wanted-r.status.Ready, r.status.Wanted)
	case counts.Waiting > 0 && r.work.FailShare > 0:
		return text.Count(counts.Waiting, "job") + " still to be retried when the time for the drain was up"
	}
	return "not every worker had found its queues empty when the time for the drain was up"
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
	r.tick(r.now())
}

func (r *run) whyGone() string {
	why := "all its connections had ended in order, and no new one could be opened"
	if r.status.Last != nil {
		why = text.OfError(r.status.Last)
	}
	return fmt.Sprintf("%s, %s after the start", why, reports.Time(r.lastSeen.Round(100*time.Millisecond)))
}
