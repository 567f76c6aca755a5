package fakes

import (
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

func paceVariations() []Variation {
	return []Variation{
		variation("pace-far-away", "Link Level", "every reply is sent 30 ms later", away(30*time.Millisecond)),
		variation("pace-jitter", "Link Level", "every reply is sent up to 300 ms later", jitter()),
		variation("pace-slow-push", "PUSH Command",
			"a PUSH takes 400 ms",
			when(Checked, fwp.PUSH, func(e *Event) {
				if e.Err == nil {
					e.Delay = 400 * time.Millisecond
				}
			})),
		variation("pace-slow-info", "INFO Command",
			"INFO takes 400 ms",
			when(Ran, fwp.INFO, func(e *Event) { e.Delay = 400 * time.Millisecond })),
		variation("pace-slow-fetch", "FETCH Command",
			"a job is delivered 300 ms after its FETCH",
			on(Delivered, func(e *Event) { e.Delay = 300 * time.Millisecond })),
		variation("pace-bytes", "Link Level",
			"replies are written byte by byte",
			on(Writing, func(e *Event) {
				// long replies in 20 pieces: more than these would only take time
				if e.Chunk, e.Pause = 1, time.Microsecond; len(e.Bytes) > 2000 {
					e.Chunk = len(e.Bytes) / 20
				}
			})),
	}
}

// away delays every reply, as by a distance.
func away(d time.Duration) func(*Event) {
	return on(Writing, func(e *Event) { e.Delay = d })
}

func jitter() func(*Event) {
	delay := drawn(0, 300*time.Millisecond)
	return on(Writing, func(e *Event) { e.Delay = delay(strconv.FormatInt(e.Conn.ID, 10), int64(e.Conn.Commands)) })
}
