package workercheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/monitor"
)

// fetchSituations are about FETCH. (FETCH)
func fetchSituations() []Situation {
	return []Situation{
		{
			ID: "fetch/concurrency", Title: "a worker runs as many jobs at a time as its concurrency allows",
			Clauses: "FETCH-11", Wait: 5 * time.Second,
			Play: func(b *bed) {
				few, many := b.launch(options{concurrency: 2}), b.launch(options{concurrency: 4})
				b.pushes(16, "fwp.sleep", "[10]")
				b.until(8*time.Second, func() bool { return b.held(few) >= 2 && b.held(many) >= 4 })
				b.watchFor(time.Second)
				b.concurrency(few, many)
			},
		},
		{
			ID: "fetch/after-idle", Title: "a worker that had nothing to do takes a job soon",
			Clauses: "FETCH-11", Wait: 5 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.mustFetchAtAll(p)
				b.watchUntilEnd(p, 4*time.Second)
				jids := b.pushes(1, "fwp.ok", "[1]")
				ok := b.until(settled, func() bool { return b.deliveryOf(jids[0]) != nil })
				b.holds("FETCH-11", ok, fmt.Sprintf("the job is taken within %v", settled),
					"the job was not taken; the worker "+b.ending(p))
			},
		},
		{
			ID: "fetch/queues", Title: "a worker fetches from all its queues",
			Clauses: "FETCH-02 WRK-11", Wait: 4 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.mustFetchAtAll(p)
				b.watchUntilEnd(p, 15*time.Second)
				if !b.harness.observed.TakesQueues() && !b.harness.Launcher.Sets("queues") {
					why := "it does not seem to take {queues} or FWP_QUEUES"
					if slices.Contains(b.queuesSeen(p), strings.Join(theQueues, ",")) {
						why = "it takes the value of FWP_QUEUES for the name of one queue"
					}
					b.open("WRK-11", why)
				}
				b.holds("FETCH-02", true, "", "it fetches from "+strings.Join(b.queuesSeen(p), " "))
			},
		},
	}
}

// held returns the largest number of jobs that a process had at a time.
func (b *bed) held(p *proc) int {
	now, most := 0, 0
	for _, e := range b.all(p.of(func(e *monitor.Event) bool {
		return delivered(e) || e.Kind == monitor.Line && (e.Command.Verb == fwp.ACK || e.Command.Verb == fwp.FAIL)
	})) {
		if e.Kind == monitor.Line {
			now--
		} else {
			now++
		}
		most = max(most, now)
	}
	return most
}

// concurrency decides whether two processes that were told to run two and four jobs at a time do so. Where both run
// as many, the program may not take this part of its environment.
func (b *bed) concurrency(few, many *proc) {
	two, four := b.held(few), b.held(many)
	got := fmt.Sprintf("told to run 2 and 4 jobs at a time, two processes held %d and %d", two, four)
	if two != four { // it takes its concurrency from its environment
		b.holds("WRK-10", two <= 2 && four <= 4, "no more jobs than they were told", got)
	}
	switch {
	case two == 0 && four == 0:
		b.giveUp(true, "the worker fetched none of the jobs")
	case two >= 2 && four >= 4:
		b.holds("FETCH-11", true, "", got)
	case two == four && !b.harness.Launcher.Sets("concurrency"):
		b.open("FETCH-11", got+": it does not seem to take {concurrency} or FWP_CONCURRENCY")
	default:
		b.holds("FETCH-11", false, "as many as they were told", got)
	}
}
