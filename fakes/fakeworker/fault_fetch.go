package fakeworker

import (
	"cmp"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fwp"
)

// fetchFaults are about FETCH. (FETCH)
var fetchFaults = []Fault{
	spacedFault("fetch-commas", "WRK-11 FETCH-11 FETCH-09", "Commas stand between the queues of its FETCHes.", ","),
	fault("fetch-default-only", "WRK-11", "It fetches from the queue default, whatever its queues are.",
		on(Fetching, func(e *Event) { e.Queues = []string{"default"} })),
	lineFault("fetch-ends-in-space", "FRAME-04 FRAME-02 WRK-11", "A space stands at the end of its FETCHes.", fwp.FETCH,
		replace("\r\n", " \r\n")),
	fault("fetch-error-ends", "RESP-09 FETCH-11 STATE-15", "It ends when a FETCH is answered with an error.",
		exitAt(fwp.FETCH, fwp.ErrorReply)),
	fault("fetch-error-stops", "RESP-09 FETCH-11", "It fetches no more when a FETCH was answered with an error.",
		catalogue.From(catalogue.Server[Event], refused(fwp.FETCH), fetches, rest(time.Second))),
	fault("fetch-first-queue-only", "WRK-11", "It fetches from the first of its queues only.",
		on(Fetching, func(e *Event) { e.Queues = e.Queues[:1] })),
	fault("fetch-in-batches", "FETCH-11", "It fetches no job before all that it runs have ended.", inBatches),
	fault("fetch-rests", "FETCH-11", "It waits for half a minute when a FETCH has found no job.", restEmpty),
	spacedFault("fetch-two-spaces", "FRAME-04 FRAME-02", "Two spaces stand between the queues of its FETCHes.", "  "),
	fault("one-job-at-a-time", "FETCH-11", "It runs one job at a time, whatever its concurrency is.",
		catalogue.Keep(fetches, func(busy *int, e *Event) {
			if *busy = cmp.Or(*busy, e.Conn); *busy != e.Conn {
				rest(100 * time.Millisecond)(e)
			}
		})),
}

// spacedFault returns a fault of what stands between the queues of a FETCH.
func spacedFault(name, clauses, summary, by string) Fault {
	return fault(name, clauses, summary, sent(fwp.FETCH, func(e *Event) {
		if verb, queues, has := strings.Cut(string(e.Line), " "); has {
			e.Line = []byte(verb + " " + strings.ReplaceAll(queues, " ", by))
		}
	}))
}

// inBatches has a worker that runs as many jobs as it may wait for the end of all of them.
func inBatches() func(*Event) {
	return catalogue.Keep(catalogue.Any(at(Delivered), fetches), func(full *bool, e *Event) {
		switch running := e.Worker.Running(); {
		case e.Point == Delivered:
			*full = *full || running+1 >= e.Worker.cfg.Concurrency
		case running == 0:
			*full = false
		case *full:
			rest(100 * time.Millisecond)(e)
		}
	})()
}

// restEmpty waits for half a minute on a connection whose FETCH has found no job.
func restEmpty() func(*Event) {
	return catalogue.KeepBy(connOf, catalogue.Any(replyTo(fwp.FETCH), fetches), func(until *time.Time, e *Event) {
		switch {
		case e.Point == Replied && e.Reply.Kind == fwp.NullBulk:
			*until = time.Now().Add(30 * time.Second)
		case e.Point == Fetching && time.Now().Before(*until):
			rest(time.Second)(e)
		}
	})()
}
