package workerload

import (
	"context"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/load/measure"
)

// The limits of jobs that are kept ready in a closed loop: of a number of jobs all are, up to a limit of their memory.
const (
	usualReady = 1000
	mostReady  = 100_000
)

// supply keeps jobs ready until all were given, or ctx is done.
func (r *run) supply(ctx context.Context) {
	defer r.given()
	limit, ready := r.Workload.JobLimit, int64(usualReady)
	if limit > 0 {
		ready = min(limit, mostReady)
	}
	for k := int64(0); limit == 0 || k < limit; k++ {
		for r.waiting() >= ready {
			select {
			case <-ctx.Done():
				return
			case <-r.taken:
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
	defer r.given()
	from := r.start()
	for k := int64(0); ; k++ {
		due, more := r.plan.At(k)
		if due += from; !more || !machine.Sleep(ctx, due-r.now()) {
			return
		}
		sent := r.now()
		r.push(k, due)
		r.record(func(rec *measure.Recorder) {
			rec.Command(measure.Push, measure.Timing{Intended: due, Free: due, Sent: sent, Replied: r.now()})
		})
	}
}

// push gives the worker a job that was due.
func (r *run) push(k int64, due time.Duration) {
	fails := r.good.Fails(k, 1)
	jobs := r.good
	if fails {
		jobs = r.bad
	}
	r.pushed(k, due, fails)
	if err := r.server.Push(jobs.AppendBody(nil, k, 0, due, time.Time{})); err != nil {
		panic("workerload: the server refuses a job of its own: " + err.Error())
	}
}
