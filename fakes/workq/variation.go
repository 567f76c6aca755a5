package workq

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// Variation is a way in which a server differs from others and conforms. Its reading names the part of the document
// that allows it.
type Variation = catalogue.Variation[Config]

// Variations returns the catalogue, sorted by name.
func Variations() []Variation { return slices.Clone(allVariations()) }

var allVariations = sync.OnceValue(func() []Variation {
	return catalogue.SortVariations(replyVariations, inspectVariations,
		catalogue.RuledVariations(variationsTable(), Rules(), func(c *Config) *func(*Event) { return &c.Hook }))
})

//go:embed variations.txt
var variationsText string

var variationsTable = catalogue.LazyTable("fakes/workq/variations.txt", variationsText)

// variation returns one that a hook makes, or a function that makes a hook for each server because it remembers
// something.
func variation[H catalogue.Hook[Event]](name string, hook H) Variation {
	maker := catalogue.Maker[Event](hook)
	return setting(name, func(c *Config) { c.Hook = catalogue.Chain(c.Hook, maker()) })
}

// setting returns the variation of a row of variations.txt.
func setting(name string, configure func(*Config)) Variation {
	return catalogue.VariationOf(variationsTable(), name, configure)
}

// tickDelay is how late a server is that looks at the times once a second. The document gives them without a tolerance:
// such a server is not wrong.
const tickDelay = 800 * time.Millisecond

// replyVariations are about replies, times, and what the document leaves open.
var replyVariations = []Variation{
	variation("add-again-ok", actAt(Ran, func(e *Event) {
		if e.Err == nil && e.Reply.Error == workq.ClientError {
			e.Reply = workq.OK()
		}
	}, workq.Add, workq.Schedule)),
	variation("add-again-server-error", actAt(Ran, func(e *Event) {
		if e.Err == nil && e.Reply.Error == workq.ClientError {
			e.Reply.Error = workq.ServerError
		}
	}, workq.Add, workq.Schedule)),
	variation("error-long-text", actAt(Ran, func(e *Event) {
		if e.Reply.Error == workq.ClientError {
			e.Reply.Text = strings.Repeat("not so ", 285)
		}
	})),
	variation("eviction-late", actAt(Evicted, func(*Event) { time.Sleep(tickDelay) })),
	variation("expiry-late", actAt(Leased, func(e *Event) { e.Until = e.Until.Add(tickDelay) })),
	variation("fail-bare-ok", actAt(Ran, setBare, workq.Fail)),
	variation("finish-again-ok", acceptSecondReport(workq.OK())),
	variation("finish-again-refused",
		acceptSecondReport(workq.Reply{Error: workq.ClientError, Text: "the job has ended"})),
	setting("line-by-line", func(c *Config) { c.LineByLine = true }),
	setting("queue-last-first", func(c *Config) { c.LastFirst = true }),
	variation("reply-in-pieces",
		actAt(Writing, func(e *Event) { e.Chunk, e.Pause = (len(e.Bytes)+1)/2, 50*time.Millisecond })),
	variation("reply-late", actAt(Writing, func(*Event) { time.Sleep(150 * time.Millisecond) })),
	variation("timeout-late",
		actAt(Parsed, func(e *Event) { e.Command.Wait += 400 }, workq.Lease, workq.Result, workq.Run)),
}

// setBare writes a success without its sign.
func setBare(e *Event) { e.Reply.Bare = e.Reply.Error == "" }

// acceptSecondReport returns hooks with an answer of their own to the end of a job that has ended before.
func acceptSecondReport(reply workq.Reply) func() func(*Event) {
	match := at(Ran, workq.Complete, workq.Fail, workq.Delete)
	return catalogue.WithMemoryBy(jobOf, match, func(hasEnded *bool, e *Event) {
		switch {
		case e.Err != nil:
		case e.Command.Verb == workq.Delete:
			*hasEnded = false
		case e.Reply.Error == "":
			*hasEnded = true
		case *hasEnded:
			e.Reply = reply
		}
	})
}
