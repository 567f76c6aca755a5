package variations

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// queueVariations are about queues.
var queueVariations = []fakes.Variation{
	// About the queues of jobs.
	variation("queue-last-in-first-out", "AMB-27", "the last job is delivered first",
		do(func(e *event) { e.Front = true }, at(fakes.Enqueued))),
	variation("queue-without-order", "AMB-27", "jobs are delivered in random order",
		do(func(e *event) { e.Front = fakes.Chance(1, jid(e), 0).IntN(2) == 0 }, at(fakes.Enqueued))),
	setting("queues-few", "AMB-14", "a PUSH to a 41st queue that holds jobs is refused",
		func(c *fakes.Config) { c.MaxQueues = 40 }),
	variation("queues-limited", "AMB-14", "a FETCH of more than 16 queues is refused",
		do(decline(fakes.AboutLimit, "too many queues"), of(fakes.Checked, fwp.FETCH), func(e *event) bool {
			return len(e.Queues) > 16
		})),
	variation("queues-named-once", "FETCH Command", "a FETCH that names a queue twice is refused",
		do(decline(fakes.AboutArguments, "a queue is named twice"), of(fakes.Checked, fwp.FETCH), func(e *event) bool {
			return len(slices.Compact(slices.Sorted(slices.Values(e.Queues)))) < len(e.Queues)
		})),
	setting("queues-short", "PUSH Command", "a PUSH to a queue that holds 1500 jobs is refused",
		func(c *fakes.Config) { c.MaxQueueJobs = 1500 }).Leaving("push/ten-thousand-jobs"),
	// About FETCH, and about workers that are quiet.
	variation("fetch-of-the-gone", "Work unit state diagram",
		"a job is given to a FETCH whose client has disconnected, and comes back when its reservation is over",
		do(skip, at(fakes.Disconnected, fakes.GivenBack))),
	variation("fetch-polls", "FWP-FETCH-14", "a FETCH that waits looks for a job every 400 ms only",
		catalogue.Recall(conn, of(fakes.Checked, fwp.FETCH), func(*event) time.Time { return time.Now() },
			of(fakes.Delivered, fwp.FETCH), fetchPolls)),
	variation("fetch-waits-by-queues", "AMB-29", "a FETCH of several queues waits for 1.6 s",
		do(waitFor(1600*time.Millisecond), of(fakes.Checked, fwp.FETCH), func(e *event) bool {
			return len(e.Queues) > 1
		})),
	setting("fetch-waits-coarsely", "FETCH Command", "a FETCH waits for 2.1 s, because the server's timers are coarse",
		func(c *fakes.Config) { c.FetchBlock = 2100 * time.Millisecond }),
	setting("fetch-waits-less", "AMB-29", "a FETCH waits for 1.6 s",
		func(c *fakes.Config) { c.FetchBlock = 1600 * time.Millisecond }),
	variation("fetch-wakes-on-any-queue", "AMB-19", "a FETCH waits on all of its queues",
		do(func(e *event) { e.Block = e.Queues }, of(fakes.Checked, fwp.FETCH))),
	variation("quiet-fetches", "AMB-32", "a quiet worker gets jobs", do(func(e *event) {
		e.Queues = []string{"default"}
		if e.Command.Args != nil {
			e.Queues = strings.Split(string(e.Command.Args), " ")
		}
		e.Block = e.Queues[:1]
	}, valid(fwp.FETCH), quiet)),
	variation("quiet-null-at-once", "AMB-32", "a FETCH of a quiet worker is answered with null at once",
		do(waitFor(time.Millisecond), valid(fwp.FETCH), quiet)),
	variation("quiet-refused", "AMB-32", "a FETCH of a quiet worker is refused",
		do(decline(fakes.AboutState, "the worker should be quiet"), valid(fwp.FETCH), quiet)),
	variation("quiet-until-gone", "Quiet State",
		"a worker whose last connection has ended is neither quiet nor terminating any more",
		do(func(e *event) { e.Conn.Server().SetWorker(wid(e), fakes.Worker{}) }, valid(fwp.HELLO), func(e *event) bool {
			w := e.Conn.Server().Worker(wid(e))
			return w.Connections == 0 && w.Signal+w.Knows != ""
		})),
}

func waitFor(d time.Duration) func(*event) { return func(e *event) { e.Wait = d } }

// fetchPolls holds back a job that was enqueued during a FETCH until the server looks again.
func fetchPolls(began time.Time, e *event) {
	const often = 400 * time.Millisecond
	if waited := time.Since(began) % often; waited > time.Millisecond {
		e.Delay = often - waited
	}
}
