package variations

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/catalogue"
)

// All returns the catalogue, sorted by name.
//
// Every variation in Go is in the file that has the first word of its name:
//
//	connection.go  connections, consumer, end, kill, producer, restart
//	hello.go       hello, hi, password
//	job.go         job, null
//	json.go        json; style.go has the ways to write the same JSON
//	pace.go        pace
//	queue.go       fetch, queue, queues, quiet
//	reply.go       command, error, info, line
//	report.go      accepts, beat, flush, refused, refuses, worker
//	time.go        expiry, reserve, retries, schedule, time
func All() []fakes.Variation { return slices.Clone(allVariations()) }

// Lookup returns the variation with a name, and whether there is one.
func Lookup(name string) (fakes.Variation, bool) {
	all := allVariations()
	i := slices.IndexFunc(all, func(v fakes.Variation) bool { return v.Name == name })
	if i < 0 {
		return fakes.Variation{}, false
	}
	return all[i], true
}

var allVariations = sync.OnceValue(func() []fakes.Variation {
	return catalogue.SortVariations(
		connectionVariations, helloVariations, jobVariations, jsonVariations, paceVariations, queueVariations,
		replyVariations, reportVariations, timeVariations,
		catalogue.RuledVariations(variationsTable(), fakes.Rules(), func(c *fakes.Config) *func(*event) { return &c.Hook }),
	)
})

//go:embed variations.txt
var variationsText string

var variationsTable = catalogue.LazyTable("fakes/variations/variations.txt", variationsText)

// setting returns the variation of a row of variations.txt.
func setting(name string, configure func(*fakes.Config)) fakes.Variation {
	return catalogue.VariationOf(variationsTable(), name, configure)
}

// variation returns that of a row and a hook.
func variation[H catalogue.Hook[event]](name string, hook H) fakes.Variation {
	maker := catalogue.Maker[event](hook)
	return setting(name, func(c *fakes.Config) { add(c, maker()) })
}

// add appends a hook: it is called after those that are set already.
func add(c *fakes.Config, hook func(*event)) { c.Hook = catalogue.Chain(c.Hook, hook) }
