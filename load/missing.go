package load

import (
	"context"
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/load/client"
	"github.com/fwpsuite/fwp/load/wire"
)

const (
	// returnPatience is how long after the end of its reservation a job may take to be delivered again: it may have to
	// wait for its next try. (AMB-38)
	returnPatience = 150 * time.Second

	// lastLook is how long every worker has to find its queues empty once more, after missing jobs were waited for.
	lastLook = 10 * time.Second
)

// doubtCount is how many jobs were missing or in doubt at the latest count, and how many replies had come by then.
type doubtCount struct{ jobs, replies int64 }

// awaitMissing goes on with a drain that has found the queues empty while jobs may still come: for the rest of its
// time, for Config.MissingWait, or, in a disrupted run, until the reservations of the jobs in doubt have ended. It
// returns why jobs that are missing then are not known to be lost; empty if they are, or none is.
func (r *run) awaitMissing(limit time.Duration) (reason string) {
	if !r.isDrained() {
		return ""
	}
	d, until := &r.disruptionLog, limit
	switch {
	case len(d.disruptions) > 0:
		until = min(limit, r.now()+time.Duration(r.work.ReserveFor)+returnPatience)
	case r.config.MissingWait > 0:
		until = min(limit, r.now()+r.config.MissingWait)
	}
	ctx := context.Background()
	r.waitUntil(ctx, func() bool {
		return r.isDrained() && !r.hasJobsInDoubt() || r.now() >= until || !r.canDrain()
	})
	switch {
	case !r.hasJobsInDoubt():
		d.isResolved = len(d.disruptions) > 0
		return ""
	case r.now() < until:
		return r.drainFailure()
	}
	before, from := r.serverJobs(), r.now()
	r.eachShard(func(c *client.Shard) { c.Drain(from) }) // the queues have to be empty now, too
	r.waitUntil(ctx, func() bool { return r.isDrained() || r.now() >= from+lastLook || !r.canDrain() })
	if !r.isDrained() {
		return r.drainFailure()
	}
	isEarly := until < limit
	if d.isResolved = isEarly && len(d.disruptions) > 0; d.isResolved {
		r.ledger.EndReservations()
	}
	return r.doubtReason(isEarly && !d.isResolved, before, r.serverJobs())
}

// doubtReason returns why jobs that no worker has got by the end of the drain are not known to be lost, empty if they
// are or none is. A job that was due at once is lost after the whole drain. One with a time may still wait for it, so
// it is lost only if the server says, before and after its queues were found empty, that it has no job.
func (r *run) doubtReason(isEarly bool, before, after wire.ServerJobs) string {
	c := r.ledger.Count(true)
	if c.LostJobs+c.LostByRestart+c.LostByKill == 0 {
		return ""
	}
	var waiting int64
	for _, queue := range r.jobs.Queues() {
		waiting += after.Queues[queue]
	}
	switch {
	case isEarly:
		return fmt.Sprintf("not delivered within %v after the queues were empty", r.config.MissingWait)
	case waiting > 0:
		return fmt.Sprintf("not delivered within %v, although the server has %s in their queues", r.work.Drain,
			text.Count(waiting, "job"))
	case r.work.Delay.Max > 0 && (!hasNoJobs(before) || !hasNoJobs(after)):
		reason := fmt.Sprintf("not delivered within %v of their time", r.work.Drain)
		if behind := -r.ledger.Clock().Offset(); behind >= minClockDifference {
			reason += fmt.Sprintf(" (the server's clock is %v behind)", behind.Round(100*time.Millisecond))
		}
		return reason
	}
	return ""
}

// hasNoJobs reports whether a server says that it has no job of the run.
func hasNoJobs(s wire.ServerJobs) bool { return s.IsComplete && s.Alive == 0 && s.Dead <= 0 }

// serverJobs asks the server how many jobs it has, on a new connection. Jobs that were dead before the run do not
// count. It blocks until there is a reply or none is to be expected.
func (r *run) serverJobs() (stock wire.ServerJobs) {
	sizer := r.shards[0].InfoParser()
	if sizer == nil {
		return stock
	}
	before := sizer.ParseInfo(r.introduction.Info)
	replies := make(chan wire.Introduction, 1)
	go func() {
		in, _ := r.config.Protocol.Introduce(context.Background(), r.config.Dial) // without a reply it is not known
		replies <- in
	}()
	r.waitUntil(context.Background(), func() bool {
		select {
		case in := <-replies:
			stock = sizer.ParseInfo(in.Info)
			stock.IsComplete, stock.Dead = stock.IsComplete && before.IsComplete, stock.Dead-before.Dead
			return true
		default:
			return false
		}
	})
	return stock
}

// hasJobsInDoubt reports whether jobs are missing or, in a disrupted run, may still come back. Only a reply takes a job
// out of doubt, so there is no need to count before the next one: a wait may take minutes, and a count goes through all
// jobs.
func (r *run) hasJobsInDoubt() bool {
	a, replies := &r.doubtCount, r.status.ServedCommands+r.status.Errors
	switch {
	case r.status.HeldJobs > 0:
		return true
	case a.jobs > 0 && replies == a.replies:
		return true
	}
	c := r.ledger.Count(false)
	a.jobs, a.replies = c.Missing, replies
	if len(r.disruptionLog.disruptions) > 0 {
		a.jobs += c.HeldJobs + c.Waiting + c.InDoubt // held are those of which a report was refused
	}
	return a.jobs > 0
}
