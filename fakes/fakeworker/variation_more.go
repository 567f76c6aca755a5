package fakeworker

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// connectionVariations are about which connections carry what, and for how long. (HELLO, Required Fields for Consumers)
func connectionVariations() []Variation {
	return []Variation{
		stateful("connections-renewed", "FWP-WRK-09", "It opens all its connections anew after each tenth job.",
			func() func(*Event) {
				var done atomic.Int64
				return on(Ran, func(e *Event) {
					if done.Add(1)%10 == 0 {
						e.Worker.renewal.Add(1)
					}
				})
			}),
		{
			Name: "wid-odd", Summary: "Its wid, host name and labels have unusual characters.", Reading: "HELLO",
			Configure: func(c *Config) {
				c.WID = rand.Text() + ` ü"\ 日本`
				c.Hostname, c.Labels = `höst "1"`, []string{"", "ünï 🦆", strings.Repeat("x", 300)}
			},
		},
	}
}

// stateful returns one whose hook has state.
func stateful(name, reading, summary string, hook func() func(*Event)) Variation {
	return Variation{name, summary, reading, func(c *Config) { c.Hook = hook() }}
}

// pulseVariations are about when BEATs are sent. (Client Lifecycle; BEAT)
func pulseVariations() []Variation {
	return []Variation{
		stateful("beat-irregular", "Client Lifecycle", "The pauses between its BEATs are of 11 to 15 s.",
			func() func(*Event) {
				pauses := []time.Duration{13 * time.Second, 11 * time.Second, 15 * time.Second, 12 * time.Second}
				return on(Beating, func(e *Event) {
					e.Every = pauses[0]
					pauses = append(pauses[1:], pauses[0])
				})
			}),
		stateful("beat-answers-order", "FWP-BEAT-11", "It says at once in another BEAT that it obeys an order.",
			func() func(*Event) {
				var told atomic.Bool
				return func(e *Event) {
					if e.Point == Ordered && e.State != "" && e.Signal == "" && !told.Swap(true) {
						fields := Fields{"wid": e.Worker.cfg.WID, "current_state": e.State}
						_, _ = e.conn.ask(context.Background(), fwp.BEAT, encode(fields))
					}
				}
			}),
	}
}

// jobVariations are about jobs and their reports. (FETCH; FAIL)
func jobVariations() []Variation {
	return []Variation{
		{
			Name: "holds-one-more", Summary: "It fetches one job more than it may run.", Reading: "FWP-WRK-10",
			Configure: func(c *Config) { c.Concurrency++ },
		},
		{
			Name: "queues-in-turn", Summary: "Each of its FETCHes names one of its queues.", Reading: "FWP-FETCH-13",
			Configure: func(c *Config) {
				var fetches atomic.Uint64
				c.Hook = on(Fetching, func(e *Event) {
					if len(e.Queues) > 0 {
						e.Queues = e.Queues[fetches.Add(1)%uint64(len(e.Queues)):][:1]
					}
				})
			},
		},
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
