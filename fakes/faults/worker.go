package faults

import (
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// workerFaults are about workers and their connections.
var workerFaults = []fakes.Fault{
	// About reports on another connection of the worker, or after one has ended.
	fault("worker-ack-ignored", elsewhere(fwp.ACK, skip)),
	fault("worker-ack-refused",
		elsewhere(fwp.ACK, decline(fakes.AboutJob, "this connection does not hold the job"))),
	fault("worker-fail-ignored", elsewhere(fwp.FAIL, skip)),
	fault("worker-fail-refused",
		elsewhere(fwp.FAIL, decline(fakes.AboutJob, "this connection does not hold the job"))),
	fault("worker-gone-ack-ignored", ifGone(fakes.Delivered, valid(fwp.ACK), skip)),
	fault("worker-gone-fail-ignored", ifGone(fakes.Delivered, valid(fwp.FAIL), skip)),
	// About connections of a worker that come, stay and end.
	fault("worker-closed-after-a-minute",
		keep(conn, both(writing(), ofWorker), func(greeted *time.Time, e *event) {
			if greeted.IsZero() {
				*greeted = time.Now()
			}
			if left := 65*time.Second - time.Since(*greeted); left > 0 {
				e.Later = &fakes.Later{After: left, Close: true}
			} else {
				e.Close = true
			}
		})),
	fault("worker-end-deaf",
		deafened(leaving, func(e *event, waiting string) bool { return waiting == e.Conn.Worker })),
	fault("worker-end-forgets", after(worker, both(ended, ofWorker), both(valid(fwp.BEAT), ofWorker),
		decline(fakes.AboutWorker, "the worker has left"))),
	fault("worker-end-locks", after(worker, both(ended, ofWorker), both(valid(fwp.FETCH), ofWorker),
		decline(fakes.AboutWorker, "the worker has left"))),
	fault("worker-end-returns", inHand(ended, workersJobs, giveBack)),
	fault("worker-gone-finishes", inHand(leavingLast, workersJobs, finish)),
	fault("worker-gone-returns", inHand(leavingLast, workersJobs, giveBack)),
	fault("worker-idle-closed",
		do(func(e *event) { e.Later = &fakes.Later{After: 20 * time.Second, Close: true} }, writing(), ofWorker)),
	fault("worker-returns-finishes", inHand(arriving, workersJobs, finish)),
	fault("worker-returns-returns", inHand(arriving, workersJobs, giveBack)),
	fault("worker-silent-lost", onSilence(finish)),
	fault("worker-silent-returns", onSilence(giveBack)),
	// These confuse the ids of workers.
	fault("worker-ids-cut",
		signalFor(func(a, b string) bool { return a[:min(len(a), 40)] == b[:min(len(b), 40)] })),
	fault("worker-ids-folded", signalFor(strings.EqualFold)),
	fault("worker-ids-numbers", signalFor(func(a, b string) bool { return digits(a) == digits(b) })),
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
