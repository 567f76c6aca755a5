package fakes

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// delayVariations answer some commands late, or in pieces with pauses between them.
func delayVariations() []Variation {
	return slices.Concat(delayReplyVariations(), delayLaterVariations())
}

func delayReplyVariations() []Variation {
	return []Variation{
		variation("hello-slow", "HELLO Command",
			"a HELLO takes 1.2 s",
			when(Ran, fwp.HELLO, func(e *Event) { e.Delay = 1200 * time.Millisecond })),
		variation("pace-slow-reports", "Server Protocol Sender and Client Protocol Receiver",
			"ACK, FAIL and BEAT take 500 ms",
			on(Ran, func(e *Event) {
				switch e.Command.Verb {
				case fwp.ACK, fwp.FAIL, fwp.BEAT:
					e.Delay = 500 * time.Millisecond
				}
			})),
		variation("pace-segments", "Link Level",
			"the greeting and every reply come in two segments with 150 ms between them",
			on(Writing, func(e *Event) { e.Chunk, e.Pause = len(e.Bytes)/2+1, 150*time.Millisecond })),
		variation("pace-last-byte", "Link Level",
			"the last byte of the greeting and of every reply comes 200 ms after the others",
			on(Writing, func(e *Event) { e.Chunk, e.Pause = max(len(e.Bytes)-1, 1), 200*time.Millisecond })),
		statefulVariation("pace-pauses", "Server Protocol Sender and Client Protocol Receiver",
			"the server pauses for 1.5 s before every 40th reply that is not one to a FETCH or END",
			func() func(*Event) {
				var count atomic.Int64
				return on(Ran, func(e *Event) {
					if e.Command.Verb != fwp.FETCH && e.Command.Verb != fwp.END && count.Add(1)%40 == 0 {
						e.Delay = 1500 * time.Millisecond
					}
				})
			}),
		statefulVariation("fetch-polls", "FWP-FETCH-14",
			"a FETCH that waits looks for a job every 400 ms only",
			fetchPolls),
	}
}

func delayLaterVariations() []Variation {
	return []Variation{
		variation("password-wrong-slow", "HELLO Command",
			"a HELLO is declined 2 s later",
			when(Ran, fwp.HELLO, func(e *Event) {
				if e.Err != nil {
					e.Delay = 2 * time.Second
				}
			})),
		setting("retries-growing", "AMB-38",
			"a job is enqueued again 10 s after its first failure, and three times as late after each further one",
			func(c *Config) {
				c.RetryDelay = func(failures int) time.Duration {
					d := 10 * time.Second
					for range min(failures-1, 3) {
						d *= 3
					}
					return min(d, 140*time.Second)
				}
			}),
		variation("reserve-ends-by-the-minute", "AMB-38",
			"a reservation ends at the next full minute after its time",
			on(Reserved, func(e *Event) { e.Until = e.Until.Add(time.Minute - 1).Truncate(time.Minute) })),
	}
}

// fetchPolls holds back a job that was enqueued during a FETCH until the server looks again.
func fetchPolls() func(*Event) {
	const often = 400 * time.Millisecond
	var began notes[string, time.Time]
	return func(e *Event) {
		if e.Conn == nil || e.Command.Verb != fwp.FETCH {
			return
		}
		conn := strconv.FormatInt(e.Conn.ID, 10)
		switch e.Point {
		case Checked:
			began.put(conn, time.Now())
		case Delivered:
			at, _ := began.take(conn)
			if waited := time.Since(at) % often; waited > time.Millisecond {
				e.Delay = often - waited
			}
		}
	}
}
