package workerload

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/load/measure"
)

// The limits of jobs that are kept ready in a closed loop: of a number of jobs all are, up to a limit of their memory.
const (
	defaultReady = 1000
	maxReady     = 100_000
)

// supply keeps jobs ready until all were given, or ctx is done.
func (r *run) supply(ctx context.Context) {
	defer r.endSource()
	limit, ready := r.Workload.JobLimit, int64(defaultReady)
	if limit > 0 {
		ready = min(limit, maxReady)
	}
	for k := int64(0); limit == 0 || k < limit; k++ {
		for r.countWaiting() >= ready {
			select {
			case <-ctx.Done():
				return
			case <-r.deliveries:
			}
		}
		if ctx.Err() != nil {
			return
		}
		r.push(k, 0)
	}
}

// arrive gives jobs as the plan says, from now on, until its end or until ctx is done.
func (r *run) arrive(ctx context.Context) {
	defer r.endSource()
	from := r.start()
	for k := int64(0); ; k++ {
		dueTime, ok := r.plan.At(k)
		if dueTime += from; !ok || !machine.Sleep(ctx, dueTime-r.now()) {
			return
		}
		sent := r.now()
		r.push(k, dueTime)
		r.record(func(rec *measure.Recorder) {
			rec.Command(measure.Push, measure.Timing{Intended: dueTime, Free: dueTime, Sent: sent, Replied: r.now()})
		})
	}
}

// push gives the worker a job that was due.
func (r *run) push(k int64, dueTime time.Duration) {
	isFailing := r.okJobs.Fails(k, 1)
	jobs := r.okJobs
	if isFailing {
		jobs = r.failJobs
	}
	r.notePush(k, dueTime, isFailing)
	if err := r.server.Push(jobs.AppendBody(nil, k, 0, dueTime, time.Time{})); err != nil {
		panic("workerload: the server refuses a job of its own: " + err.Error())
	}
}
