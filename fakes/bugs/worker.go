package bugs

import (
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// workerBugs are about workers and their connections.
var workerBugs = []fakes.Bug{
	// About reports on another connection of the worker, or after one has ended.
	bug("worker-ack-refused",
		elsewhere(fwp.ACK, decline(fakes.AboutJob, "this connection does not hold the job"))),
	bug("worker-fail-ignored", elsewhere(fwp.FAIL, skip)),
	bug("worker-fail-refused",
		elsewhere(fwp.FAIL, decline(fakes.AboutJob, "this connection does not hold the job"))),
	// About connections of a worker that come, stay and end.
	bug("worker-end-returns", inHand(ended, workersJobs, giveBack)),
	bug("worker-gone-finishes", inHand(leavingLast, workersJobs, finish)),
	bug("worker-silent-returns", onSilence(giveBack)),
}

// onSilence acts on the jobs of workers without BEAT for 30 s, whenever a job is fetched.
func onSilence(act func(e *event, jids ...string)) func() func(*event) {
	return func() func(*event) {
		var beaten sync.Map // by worker: the time of its last HELLO or BEAT
		silent := func(_ *event, h hand) bool {
			last, _ := beaten.Load(h.worker)
			at, _ := last.(time.Time)
			return time.Since(at) > 30*time.Second
		}
		return catalogue.Both(
			do(func(e *event) { beaten.Store(wid(e), time.Now()) }, checked(fwp.HELLO, fwp.BEAT)),
			inHand(checked(fwp.FETCH), silent, act)())
	}
}
