package fakes

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// lateVariations take more time than they must, or another time each time.
func lateVariations() []Variation {
	slow := func(verb string, d time.Duration) func(*Event) {
		return when(Checked, verb, func(e *Event) {
			if e.Err == nil {
				e.Delay = d
			}
		})
	}
	return []Variation{
		variation("reserve-ends-late", "FWP-WU-05",
			"a reservation ends 20 s after its time",
			on(Reserved, func(e *Event) { e.Until = e.Until.Add(20 * time.Second) })),
		setting("retries-random", "AMB-38",
			"a failed job is enqueued again after 2 s to 70 s",
			func(c *Config) {
				delay := drawn(2*time.Second, 70*time.Second)
				c.delay = func(jid string, failures int) time.Duration { return delay(jid, int64(failures)) }
			}),
		variation("schedule-late", "AMB-28",
			"a scheduled job is enqueued 6 s late",
			on(Scheduled, func(e *Event) {
				if e.Set == "scheduled" {
					e.Until = e.Until.Add(6 * time.Second)
				}
			})),
		variation("refused-slowly", "Server Protocol Sender and Client Protocol Receiver",
			"an error is sent 300 ms later",
			on(Ran, func(e *Event) {
				if e.Err != nil {
					e.Delay = 300 * time.Millisecond
				}
			})),
		variation("flush-slow", "FLUSH Command", "a FLUSH takes 1 s", slow(fwp.FLUSH, time.Second)),
		variation("info-slow", "INFO Command", "an INFO takes 400 ms", slow(fwp.INFO, 400*time.Millisecond)),
	}
}
