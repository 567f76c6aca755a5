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
	fault("worker-ack-ignored", "ACK-02",
		"an ACK on another connection than that of the FETCH is answered with OK and has no effect",
		elsewhere(fwp.ACK, skip)),
	fault("worker-ack-refused", "HELLO-11 ACK-01", "an ACK on another connection than that of the FETCH is refused",
		elsewhere(fwp.ACK, decline(fakes.AboutJob, "this connection does not hold the job"))),
	fault("worker-fail-ignored", "STATE-09",
		"a FAIL on another connection than that of the FETCH is answered with OK and has no effect",
		elsewhere(fwp.FAIL, skip)),
	fault("worker-fail-refused", "HELLO-11 FAIL-01", "a FAIL on another connection than that of the FETCH is refused",
		elsewhere(fwp.FAIL, decline(fakes.AboutJob, "this connection does not hold the job"))),
	fault("worker-gone-ack-ignored", "ACK-02",
		"an ACK for a job whose connection has ended is answered with OK and has no effect",
		ifGone(fakes.Delivered, valid(fwp.ACK), skip)),
	fault("worker-gone-fail-ignored", "STATE-09",
		"a FAIL for a job whose connection has ended is answered with OK and has no effect",
		ifGone(fakes.Delivered, valid(fwp.FAIL), skip)),
	// About connections of a worker that come, stay and end.
	fault("worker-closed-after-a-minute", "STATE-13", "the connection of a consumer is closed 65 s after its HELLO",
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
	fault("worker-end-deaf", "FETCH-06 HELLO-11",
		"when a connection of a worker has ended, the FETCHes that wait on its others are not ended by a job",
		deafened(leaving, func(e *event, waiting string) bool { return waiting == e.Conn.Worker })),
	fault("worker-end-forgets", "HELLO-11",
		"after the END of one connection of a worker the BEATs of its others are refused",
		after(worker, both(ended, ofWorker), both(valid(fwp.BEAT), ofWorker),
			decline(fakes.AboutWorker, "the worker has left"))),
	fault("worker-end-locks", "HELLO-11",
		"after the END of one connection of a worker the FETCHes of its others are refused",
		after(worker, both(ended, ofWorker), both(valid(fwp.FETCH), ofWorker),
			decline(fakes.AboutWorker, "the worker has left"))),
	fault("worker-end-returns", "STATE-05 END-05",
		"END returns the jobs of all connections of its worker to their queues", inHand(ended, workersJobs, giveBack)),
	fault("worker-gone-finishes", "STATE-07 END-05 STATE-08",
		"the jobs of a worker are discarded when its last connection ends", inHand(leavingLast, workersJobs, finish)),
	fault("worker-gone-returns", "STATE-05 END-05",
		"the jobs of a worker go back to their queues when its last connection ends",
		inHand(leavingLast, workersJobs, giveBack)),
	fault("worker-idle-closed", "STATE-13",
		"the connection of a consumer on which no command is sent for 20 s is closed",
		do(func(e *event) { e.Later = &fakes.Later{After: 20 * time.Second, Close: true} }, writing(), ofWorker)),
	fault("worker-returns-finishes", "STATE-07 HELLO-11",
		"the HELLO of another connection of a worker discards the jobs of the worker",
		inHand(arriving, workersJobs, finish)),
	fault("worker-returns-returns", "STATE-05 HELLO-11",
		"the HELLO of another connection of a worker returns the jobs of the worker to their queues",
		inHand(arriving, workersJobs, giveBack)),
	fault("worker-silent-lost", "STATE-07 STATE-09",
		"the jobs of a worker that has sent no BEAT for 30 s are discarded", onSilence(finish)),
	fault("worker-silent-returns", "STATE-05",
		"the jobs of a worker that has sent no BEAT for 30 s go back to their queues", onSilence(giveBack)),
	// These confuse the ids of workers.
	fault("worker-ids-cut", "BEAT-01", "a signal for a worker is for all whose ids have the same 40 first bytes",
		signalFor(func(a, b string) bool { return a[:min(len(a), 40)] == b[:min(len(b), 40)] })),
	fault("worker-ids-folded", "BEAT-01", "a signal for a worker is for all whose ids differ only in case",
		signalFor(strings.EqualFold)),
	fault("worker-ids-numbers", "BEAT-01", "a signal for a worker is for all whose ids are the same number",
		signalFor(func(a, b string) bool { return digits(a) == digits(b) })),
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
