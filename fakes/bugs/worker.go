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
		onOtherConn(fwp.ACK, decline(fakes.AboutJob, "this connection does not hold the job"))),
	bug("worker-fail-ignored", onOtherConn(fwp.FAIL, skipStep)),
	bug("worker-fail-refused",
		onOtherConn(fwp.FAIL, decline(fakes.AboutJob, "this connection does not hold the job"))),
	// About connections of a worker that come, stay and end.
	bug("worker-end-returns", actOnHeldJobs(isEnd, isOfWorker, giveBack)),
	bug("worker-gone-finishes", actOnHeldJobs(isLastLeaving, isOfWorker, finish)),
	bug("worker-silent-returns", actOnSilence(giveBack)),
}

// actOnSilence acts on the jobs of workers without BEAT for 30 s, whenever a job is fetched.
func actOnSilence(act func(e *event, jids ...string)) func() func(*event) {
	return func() func(*event) {
		var beatTimes sync.Map // by worker: the time of its last HELLO or BEAT
		isSilent := func(_ *event, h heldJob) bool {
			last, _ := beatTimes.Load(h.worker)
			at, _ := last.(time.Time)
			return time.Since(at) > 30*time.Second
		}
		return catalogue.Chain(
			do(func(e *event) { beatTimes.Store(wid(e), time.Now()) }, atChecked(fwp.HELLO, fwp.BEAT)),
			actOnHeldJobs(atChecked(fwp.FETCH), isSilent, act)())
	}
}
