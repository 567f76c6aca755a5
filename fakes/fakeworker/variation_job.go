package fakeworker

import (
	"bytes"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// jobVariations are about which jobs are fetched, and about reports. (FETCH; FAIL)
func jobVariations() []Variation {
	return []Variation{
		{
			Name: "holds-one-more", Summary: "It fetches one job more than it may run.", Reading: "FWP-WRK-10",
			Configure: func(c *Config) { c.Concurrency++ },
		},
		stateful("queues-in-turn", "FWP-FETCH-13", "Each of its FETCHes names one of its queues.", func() func(*Event) {
			var fetches atomic.Uint64
			return on(Fetching, func(e *Event) {
				if len(e.Queues) > 0 {
					e.Queues = e.Queues[fetches.Add(1)%uint64(len(e.Queues)):][:1]
				}
			})
		}),
		variation("report-later", "FETCH", "It reports a job half a second after it has ended.",
			sent(fwp.ACK, func(e *Event) { e.Delay = 500 * time.Millisecond })),
		variation("report-again-after-error", "FWP-FETCH-10", "It reports a job again whose report was refused.",
			on(Replied, func(e *Event) {
				e.Again = isReport(e.Verb) && e.Reply.Kind == fwp.ErrorReply &&
					bytes.Contains(e.Reply.Text, []byte("not possible")) // as long as it may become possible
			})),
	}
}

// failVariations are about the fields of a FAIL. (FAIL)
func failVariations() []Variation {
	failing := func(name, reading, summary string, act func(*Event)) Variation {
		return variation(name, reading, summary, on(Ran, func(e *Event) {
			if e.Outcome != Succeeded {
				act(e)
			}
		}))
	}
	return []Variation{
		failing("message-short", "FWP-FAIL-05", "The message of a FAIL has at most 100 characters.", func(e *Event) {
			if message, is := e.Fields["message"].(string); is {
				runes := []rune(message)
				e.Fields["message"] = string(runes[:min(100, len(runes))])
			}
		}),
		failing("errtype-empty", "FWP-WRK-04", "The errtype of its FAILs is empty, and their message is not.",
			func(e *Event) {
				e.Fields["errtype"] = ""
				if e.Fields["message"] == "" {
					e.Fields["message"] = "no message"
				}
			}),
		failing("fail-more-fields", "FAIL Command", "Its FAILs have a field more.", field("host", "worker-1")),
		failing("backtrace-long", "FAIL Command", "The backtrace of its FAILs has 200 lines.", func(e *Event) {
			e.Fields["backtrace"] = slices.Repeat([]string{"at worker.run (worker.go:17)"}, 200)
		}),
	}
}
