package load

import (
	"math"
	"time"

	"github.com/fwpsuite/fwp/load/results"
)

// The intervals between two counts of the jobs that are due: a count takes a millisecond for ten million jobs, but
// looks at each that waits where jobs have a time, and these may be many.
const (
	countEvery = 100 * time.Millisecond
	countMany  = time.Second
	manyJobs   = 20_000
)

// What is no growth of the queues, beside what chance explains: a share of the arrivals, as of the rate, and the jobs
// on their way to workers.
const (
	dueShare    = 0.01
	dueInFlight = 50 * time.Millisecond // at the rate of the arrivals, at most one for each worker
	wave        = 5 * time.Second       // how often servers look for jobs with a time
	leastWaves  = 4                     // in a window, for their lows to be in each half
	busyWorkers = 0.8                   // share of the places of workers that have a job
)

// dueJobs counts the jobs that are due while the window is open: accepted, their time has come, and no worker has got
// them.
type dueJobs struct {
	at   []time.Duration
	jobs []int64
	seen int64 // jobs that the latest count has looked at
	held int64 // by workers at these times, in all
}

// fetched reports whether jobs are pushed while workers fetch.
func (r *run) fetched() bool {
	return r.work.Consumers > 0 && (r.work.Producers > 0 || r.work.Churn)
}

// countDue counts the jobs that are due, if it is time to.
func (r *run) countDue(now time.Duration, always bool) {
	d, every := &r.figures.due, countEvery
	if d.seen > manyJobs {
		every = countMany
	}
	if n := len(d.at); !r.fetched() || !always && n > 0 && now < d.at[n-1]+every {
		return
	}
	d.at, d.jobs, d.held = append(d.at, now), append(d.jobs, r.jobsDue(now)), d.held+int64(r.status.Held)
}

func (r *run) jobsDue(now time.Duration) (n int64) {
	if r.work.Delay.Max == 0 {
		return r.ledger.Count(false).Missing
	}
	r.figures.due.seen = 0
	for k := range r.ledger.Missing() {
		r.figures.due.seen++
		if at, known := r.ledger.PushedAt(k); known && at+r.jobs.Delay(k) <= now {
			n++
		}
	}
	return n
}

// lastDue returns the latest count, nil if there is none.
func (r *run) lastDue() *int64 {
	if n := len(r.figures.due.jobs); n > 0 {
		return new(r.figures.due.jobs[n-1])
	}
	return nil
}

// reportDue returns how the jobs that are due grew from the first part of the window to the last one; nil if that is
// not known. It compares the fewest of each part: what keeps up has next to none now and then, whatever bursts, pauses
// and times of jobs do in between. Where jobs have a time or come back the parts are halves, because servers look for
// such jobs every few seconds; else thirds.
func (r *run) reportDue(rate *results.LoadRate) *results.JobsDue {
	d, f, w := &r.figures.due, &r.figures, &r.work
	parts := 3
	if w.Delay.Max > 0 || w.FailShare > 0 {
		parts = 2
	}
	each := f.measured / time.Duration(parts)
	first, last := int64(math.MaxInt64), int64(math.MaxInt64)
	for i, at := range d.at {
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
	over := (f.measured - each).Seconds()
	due := &results.JobsDue{
		Begin: d.jobs[0], End: d.jobs[len(d.jobs)-1], Growth: float64(last-first) / over,
		Allowed: r.allowedDue(float64(max(rate.Planned, rate.Done))/f.measured.Seconds(), over) / over,
	}
	if places := w.Consumers * max(1, w.Topology.Concurrency); w.Work.Max > 0 {
		due.Workers = float64(d.held) >= busyWorkers*float64(places*len(d.at))
	}
	return due
}

// allowedDue returns by how many jobs queues may grow in so many seconds although the server keeps up with a rate.
func (r *run) allowedDue(rate, over float64) float64 {
	w := &r.work
	burst, chance := float64(w.Burst), 1.0
	if w.Poisson || w.Burst > 1 || w.Work.Min != w.Work.Max || w.Delay.Max > 0 || w.FailShare > 0 || w.Recorded != nil {
		chance = 2
	}
	places := float64(w.Consumers * max(1, w.Topology.Concurrency))
	allowed := dueShare*rate*over + chance*math.Sqrt(rate*over*burst) + min(places, rate*dueInFlight.Seconds())
	if burst > 1 {
		allowed += burst
	}
	if w.Delay.Max > 0 && r.figures.measured < leastWaves*wave {
		allowed += rate * wave.Seconds()
	}
	if r.plan == nil {
		allowed += float64(w.Backlog) * places
	}
	return allowed
}
