package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func queueVariations() []Variation {
	return []Variation{
		variation("queue-last-in-first-out", "AMB-27",
			"the last job is delivered first",
			on(Enqueued, func(e *Event) { e.Front = true })),
		variation("queue-without-order", "AMB-27",
			"jobs are delivered in random order",
			on(Enqueued, func(e *Event) { e.Front = chance(1, e.Object.Text("jid"), 0).IntN(2) == 0 })),
		variation("fetch-wakes-on-any-queue", "AMB-19",
			"a FETCH waits on all of its queues",
			when(Checked, fwp.FETCH, func(e *Event) { e.Block = e.Queues })),
		setting("fetch-waits-less", "AMB-29",
			"a FETCH waits for 1.6 s",
			func(c *Config) { c.FetchBlock = 1600 * time.Millisecond }),
		variation("fetch-waits-by-queues", "AMB-29",
			"a FETCH of several queues waits for 1.6 s",
			when(Checked, fwp.FETCH, func(e *Event) {
				if len(e.Queues) > 1 {
					e.Wait = 1600 * time.Millisecond
				}
			})),
		setting("fetch-waits-coarsely", "FETCH Command",
			"a FETCH waits for 2.1 s, because the server's timers are coarse",
			func(c *Config) { c.FetchBlock = 2100 * time.Millisecond }),
	}
}

func scheduleVariations() []Variation {
	return []Variation{
		setting("schedule-every-5s", "AMB-28",
			"the schedule and the retries are polled every 5 s, and reservations every 15 s",
			func(c *Config) {
				c.ScanEvery = 5 * time.Second
				c.add(on(Reserved, func(e *Event) {
					// rounded up, so that no reservation ends early
					e.Until = e.Until.Add(15*time.Second - 1).Truncate(15 * time.Second)
				}))
			}),
		variation("expiry-enqueues", "AMB-01b",
			"a job whose reservation ran out is enqueued at once, whatever its retry is",
			on(Expired, func(e *Event) { e.Set, e.Until = "retries", time.Now() })),
		variation("kill-forgets", "FWP-STATE-08",
			"a server that was killed has lost everything",
			on(Restarted, func(e *Event) { e.Skip = e.Reset })),
		setting("retries-soon", "AMB-38",
			"a failed job is enqueued again after 1 s",
			func(c *Config) { c.RetryDelay = func(int) time.Duration { return time.Second } }),
		setting("retries-late", "AMB-38",
			"a failed job is enqueued again after 80 s",
			func(c *Config) { c.RetryDelay = func(int) time.Duration { return 80 * time.Second } }),
	}
}
