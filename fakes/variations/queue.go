package variations

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// queueVariations are about queues.
var queueVariations = []fakes.Variation{
	// About the queues of jobs.
	variation("queue-without-order",
		do(func(e *event) { e.Front = fakes.Chance(1, jid(e), 0).IntN(2) == 0 }, at(fakes.Enqueued))),
	setting("queues-few", func(c *fakes.Config) { c.MaxQueues = 40 }),
	variation("queues-named-once",
		do(decline(fakes.AboutArguments, "a queue is named twice"), atPoint(fakes.Checked, fwp.FETCH), func(e *event) bool {
			return len(slices.Compact(slices.Sorted(slices.Values(e.Queues)))) < len(e.Queues)
		})),
	setting("queues-short", func(c *fakes.Config) { c.MaxQueueJobs = 1500 }),
	// About FETCH, and about workers that are quiet.
	variation("fetch-of-the-gone", do(skip, at(fakes.Disconnected, fakes.GivenBack))),
	variation("fetch-polls",
		catalogue.Recall(conn, atPoint(fakes.Checked, fwp.FETCH), func(*event) time.Time { return time.Now() },
			atPoint(fakes.Delivered, fwp.FETCH), pollOnFetch)),
	setting("fetch-waits-coarsely", func(c *fakes.Config) { c.FetchBlock = 2100 * time.Millisecond }),
	setting("fetch-waits-less", func(c *fakes.Config) { c.FetchBlock = 1600 * time.Millisecond }),
	variation("fetch-wakes-on-any-queue", do(func(e *event) { e.WaitQueues = e.Queues },
		atPoint(fakes.Checked, fwp.FETCH))),
	variation("quiet-fetches", do(func(e *event) {
		e.Queues = []string{"default"}
		if e.Command.Args != nil {
			e.Queues = strings.Split(string(e.Command.Args), " ")
		}
		e.WaitQueues = e.Queues[:1]
	}, isValid(fwp.FETCH), isQuiet)),
	variation("quiet-until-gone",
		do(func(e *event) { e.Conn.Server().SetWorker(wid(e), fakes.Worker{}) }, isValid(fwp.HELLO), func(e *event) bool {
			w := e.Conn.Server().Worker(wid(e))
			return w.Connections == 0 && w.Signal+w.KnownState != ""
		})),
}

// pollOnFetch holds back a job that was enqueued during a FETCH until the server looks again.
func pollOnFetch(begin time.Time, e *event) {
	const often = 400 * time.Millisecond
	if elapsed := time.Since(begin) % often; elapsed > time.Millisecond {
		e.Delay = often - elapsed
	}
}
