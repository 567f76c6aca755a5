package fakeworker

import (
	"context"
	"crypto/rand"
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
