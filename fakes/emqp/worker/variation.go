package worker

import (
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/emqp"
)

// Variation is a way in which a worker differs from others and conforms.
type Variation = catalogue.Variation[Config]

// Variations returns the catalogue, sorted by name.
func Variations() []Variation { return catalogue.SortVariations(variations) }

//go:embed variations.txt
var variationsText string

var variationsTable = catalogue.LazyTable("fakes/emqp/worker/variations.txt", variationsText)

// variation returns one that a hook makes, or a function that makes a hook for each worker because it remembers
// something.
func variation[H catalogue.Hook[Event]](name string, hook H) Variation {
	maker := catalogue.Maker[Event](hook)
	return setting(name, func(c *Config) { c.Hook = catalogue.Chain(c.Hook, maker()) })
}

// setting returns the variation of a row of variations.txt.
func setting(name string, configure func(*Config)) Variation {
	return catalogue.VariationOf(variationsTable(), name, configure)
}

var variations = []Variation{
	setting("one-executor", func(c *Config) { c.Concurrency = 1 }),
	setting("ten-executors", func(c *Config) { c.Concurrency = 10 }),
	setting("awaits-ack", func(c *Config) { c.AwaitsAck, c.LeaveOpen = true, true }),
	setting("identity", func(c *Config) { c.Identity = "worker-1" }),
	setting("heartbeats-often", func(c *Config) { c.Heartbeat /= 2 }),
	variation("inform-example", actAt(Sending, frame(atFirst, "[40, 'fwp-high'], [10, 'fwp-low']"), emqp.INFORM)),
	variation("ready-before-inform", actAt(Sending, func(e *Event) {
		e.Preamble = append(e.Preamble, emqp.Ready("first").Frames())
	}, emqp.INFORM)),
	variation("timestamp-with-fraction", actAt(Sending, func(e *Event) {
		e.Frames[atFirst] = fmt.Appendf(nil, "%.3f", float64(time.Now().UnixMilli())/1000)
	}, emqp.HEARTBEAT)),
	variation("acknowledges", catalogue.WithMemory(
		catalogue.Any(at(Received, emqp.REQUEST), at(Sending, emqp.READY)), func(request *string, e *Event) {
			if e.Point == Received {
				*request = e.Message.ID
			} else if *request != "" {
				e.Preamble = append(e.Preamble, emqp.Ack("ack-"+string(e.Frames[atID]), *request).Frames())
			}
		})),
	variation("true-as-json",
		catalogue.ActIf(func(e *Event) bool { return e.Point == Ran && e.Information == "True" },
			func(e *Event) { e.Information = `{"value": true}` })),
	variation("information-in-json",
		catalogue.ActIf(func(e *Event) bool { return e.Point == Ran && e.Information != "True" }, func(e *Event) {
			e.Information = fmt.Sprintf(`{"ok": %t, "value": %s}`, !e.HasFailed, strconv.QuoteToASCII(e.Information))
		})),
	variation("information-with-more",
		catalogue.ActIf(func(e *Event) bool { return e.Point == Ran && !e.HasFailed && e.Information != "True" },
			func(e *Event) { e.Information = "[done] " + e.Information + " [end]" })),
	variation("retries-with-pauses", actAt(Working, func(e *Event) {
		if e.Retries > 0 {
			time.Sleep(300 * time.Millisecond)
		}
	})),
	variation("kbai-late", actAt(Received, func(*Event) { time.Sleep(2 * time.Second) }, emqp.DISCONNECT)),
	variation("replies-to-failures-with-nothing",
		catalogue.ActIf(func(e *Event) bool { return e.Point == Ran && e.HasFailed }, func(e *Event) { e.Information = "" })),
	variation("silence-long", actAt(Waiting, func(e *Event) { e.Patience = 20 * time.Second })),
}
