package worker

import (
	_ "embed"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// Variation is a way in which a worker differs from others and conforms.
type Variation = catalogue.Variation[Config]

// Variations returns the catalogue, sorted by name.
func Variations() []Variation { return catalogue.SortVariations(variations) }

//go:embed variations.txt
var variationsText string

var variationsTable = catalogue.LazyTable("fakes/workq/worker/variations.txt", variationsText)

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
	setting("wait-for-a-minute", func(c *Config) { c.Wait = time.Minute }),
	setting("wait-for-a-moment", func(c *Config) { c.Wait = 50 * time.Millisecond }),
	setting("more-names",
		func(c *Config) { c.Names = []string{"fwp.ok", "mail_2", "fwp.echo", "fwp.sleep", "a-b.c", "fwp.fail"} }),
	setting("more-names-first",
		func(c *Config) { c.Names = []string{"a", "fwp.fail", "fwp.echo", "fwp.sleep", "fwp.ok"} }),
	variation("bytewise", catalogue.ActIf(at(Sending), func(e *Event) { e.Chunk = max(1, len(e.Bytes)/500) })),
	variation("connection-for-each-job",
		catalogue.ActIf(func(e *Event) bool { return e.Point == Replied && e.Verb != workq.Lease },
			func(e *Event) { e.Close = true })),
	variation("result-of-its-own", reports("fwp.ok", func(e *Event) { e.Block = []byte("done: \r\n+OK") })),
	variation("error-of-its-own",
		reports("fwp.fail", func(e *Event) { e.Block = []byte("RuntimeError: " + string(e.Block)) })),
	variation("timed-out-silently", catalogue.ActIf(func(e *Event) bool {
		return e.Point == Ran && e.Name == "fwp.sleep" && e.Verb == workq.Fail
	}, skip)),
	variation("lingers",
		catalogue.ActIf(at(Sending, workq.Lease), func(*Event) { time.Sleep(300 * time.Millisecond) })),
	variation("large-payload-slowly", catalogue.ActIf(
		func(e *Event) bool { return e.Point == Delivered && len(e.Block) > 512<<10 },
		func(*Event) { time.Sleep(40 * time.Second) })),
	variation("stops-before", catalogue.ActIf(at(Delivered), func(e *Event) { e.TTR -= 100 * time.Millisecond })),
	variation("not-found-closes", catalogue.ActIf(isRefusal(workq.NotFound), func(e *Event) { e.Close = true })),
}
