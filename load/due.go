package load

import (
	"math"
	"time"

	"github.com/fwpsuite/fwp/load/results"
)

// The intervals between two counts of the jobs that are due: a count takes a millisecond for ten million jobs, but
// looks at each that waits where jobs have a time, and these may be many.
const (
	countInterval     = 100 * time.Millisecond
	slowCountInterval = time.Second
	slowCountJobs     = 20_000
)

// How much queues may grow without being overloaded, besides chance: a share of the arrivals, as of the rate, and the
// jobs on their way to workers.
const (
	dueShare     = 0.01
	dueInFlight  = 50 * time.Millisecond // at the rate of the arrivals, at most one for each worker
	waveInterval = 5 * time.Second       // how often servers look for jobs with a time
	minWaves     = 4                     // in a window, for their lows to be in each half
	busyWorkers  = 0.8                   // share of the places of workers that have a job
)

// dueJobs counts the jobs that are due while the window is open: accepted, their time has come, and no worker has got
// them.
type dueJobs struct {
	times         []time.Duration
	jobs          []int64
	visits        int64 // jobs that the latest count has looked at
	reservedTotal int64 // by workers at these times, in all
}

// fetchesWhilePushing reports whether jobs are pushed while workers fetch.
func (r *run) fetchesWhilePushing() bool {
	return r.work.Consumers > 0 && (r.work.Producers > 0 || r.work.Churn)
}

// sampleDueJobs counts the jobs that are due, if it is time to.
func (r *run) sampleDueJobs(now time.Duration, isForced bool) {
	d, interval := &r.figures.dueJobs, countInterval
	if d.visits > slowCountJobs {
		interval = slowCountInterval
	}
	if n := len(d.times); !r.fetchesWhilePushing() || !isForced && n > 0 && now < d.times[n-1]+interval {
		return
	}
	d.times, d.jobs, d.reservedTotal = append(d.times, now), append(d.jobs, r.countDueJobs(now)),
		d.reservedTotal+int64(r.status.HeldJobs)
}

func (r *run) countDueJobs(now time.Duration) (n int64) {
	if r.work.Delay.Max == 0 {
		return r.ledger.Count(false).Missing
	}
	r.figures.dueJobs.visits = 0
	for k := range r.ledger.Missing() {
		r.figures.dueJobs.visits++
		if at, ok := r.ledger.PushedAt(k); ok && at+r.jobs.Delay(k) <= now {
			n++
		}
	}
	return n
}

// lastDue returns the latest count, nil if there is none.
func (r *run) lastDue() *int64 {
	if n := len(r.figures.dueJobs.jobs); n > 0 {
		return new(r.figures.dueJobs.jobs[n-1])
	}
	return nil
}

// reportDue returns how the jobs that are due grew from the first part of the window to the last one; nil if that is
// not known. It compares the fewest of each part: what keeps up has next to none now and then, whatever bursts, pauses
// and times of jobs do in between. Where jobs have a time or come back the parts are halves, because servers look for
// such jobs every few seconds; else thirds.
func (r *run) reportDue(rate *results.LoadRate) *results.JobsDue {
	d, f, w := &r.figures.dueJobs, &r.figures, &r.work
	parts := 3
	if w.Delay.Max > 0 || w.FailShare > 0 {
		parts = 2
	}
	each := f.measured / time.Duration(parts)
	first, last := int64(math.MaxInt64), int64(math.MaxInt64)
	for i, at := range d.times {
		if at <= r.window.From+each {
			first = min(first, d.jobs[i])
		}
		if at >= r.window.Until-each {
			last = min(last, d.jobs[i])
		}
	}
	if each == 0 || max(first, last) == math.MaxInt64 {
		return nil
	}
	span := (f.measured - each).Seconds()
	result := &results.JobsDue{
		Begin: d.jobs[0], End: d.jobs[len(d.jobs)-1], Growth: float64(last-first) / span,
		Allowed: r.allowedGrowth(float64(max(rate.Planned, rate.Done))/f.measured.Seconds(), span) / span,
	}
	if places := w.Consumers * max(1, w.Topology.Concurrency); w.Work.Max > 0 {
		result.WorkersAreBusy = float64(d.reservedTotal) >= busyWorkers*float64(places*len(d.times))
	}
	return result
}

// allowedGrowth returns by how many jobs queues may grow in so many seconds although the server keeps up with a rate.
func (r *run) allowedGrowth(rate, span float64) float64 {
	w := &r.work
	burst, chance := float64(w.Burst), 1.0
	if w.Poisson || w.Burst > 1 || w.Work.Min != w.Work.Max || w.Delay.Max > 0 || w.FailShare > 0 || w.TraceData != nil {
		chance = 2
	}
	places := float64(w.Consumers * max(1, w.Topology.Concurrency))
	allowed := dueShare*rate*span + chance*math.Sqrt(rate*span*burst) + min(places, rate*dueInFlight.Seconds())
	if burst > 1 {
		allowed += burst
	}
	if w.Delay.Max > 0 && r.figures.measured < minWaves*waveInterval {
		allowed += rate * waveInterval.Seconds()
	}
	if r.plan == nil {
		allowed += float64(w.Backlog) * places
	}
	return allowed
}
