package workercheck

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/fakes"
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
				b.until(8*time.Second, func() bool { return b.held(few, 0) >= 2 && b.held(many, 0) >= 4 })
				b.watchFor(time.Second)
				b.concurrency(few, many)
			},
		},
		{
			ID: "fetch/eventful", Title: "a worker runs as many jobs at a time when jobs have failed, and a connection was lost",
			Clauses: "FETCH-11", Wait: 15 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.runsSeveral(p)
				b.troubles(p)
				from := b.now()
				b.pushes(2*int(back/(5*time.Second)), "fwp.sleep", "[5]")
				b.until(back, func() bool { return b.held(p, from) >= usualConcurrency || b.exited(p) })
				most := b.held(p, from)
				b.holds("FETCH-11", most >= usualConcurrency, fmt.Sprintf("%d jobs at a time, as before", usualConcurrency),
					fmt.Sprintf("at most %d at a time within %v after failed jobs, an error reply and the loss of a connection; "+
						"the worker %s", most, back, b.ending(p)))
			},
		},
		{
			ID: "fetch/beside-long-job", Title: "a worker fetches jobs while one of its executors has a long one",
			Clauses: "FETCH-11", Wait: 6 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.runsSeveral(p)
				long := b.push(job{jobtype: "fwp.sleep", args: "[60]"})
				b.until(settled, func() bool { return b.deliveryOf(long) != nil || b.exited(p) })
				jids := b.pushes(4, "fwp.ok", "[1]")
				taken := func() int { return len(b.onlyDelivered(jids)) }
				b.until(settled, func() bool { return taken() == len(jids) || b.exited(p) })
				if b.deliveryOf(long) == nil || b.exited(p) {
					b.giveUp(true, "the long job was not fetched, or the worker ended")
				}
				b.holds("FETCH-11", taken() == len(jids), "other jobs, since it runs one of two",
					fmt.Sprintf("beside a long job %d of %d others were taken within %v", taken(), len(jids), settled))
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

// runsSeveral has a worker run as many jobs at a time as it was told, and ends the play if it does not.
func (b *bed) runsSeveral(p *proc) {
	jids := b.pushes(usualConcurrency, "fwp.sleep", "[3]")
	several := func() bool { return b.held(p, 0) >= usualConcurrency }
	b.until(settled, func() bool { return several() || b.exited(p) })
	if !several() {
		b.giveUp(true, "the worker did not run %d jobs at a time at its start", usualConcurrency)
	}
	b.reported(p, settled, jids...)
}

// troubles has a worker go through what may cost it an executor or its heartbeat: jobs that fail, one of an unknown
// type, error replies and the loss of a connection on which it fetches. It ends the play if the worker does not get
// as far.
func (b *bed) troubles(p *proc) {
	var lose atomic.Bool
	b.steer(refuseFirst(1, fwp.FETCH, "it was not possible"))
	b.steer(refuseFirst(1, fwp.FAIL, "it was not possible"))
	b.steer(func(e *fakes.Event) {
		idle := e.Point == fakes.Ran && e.Command.Verb == fwp.FETCH && e.Reply.Kind == fwp.NullBulk
		if idle && lose.CompareAndSwap(true, false) {
			hangUp(e)
		}
	})
	jids := append(b.pushes(2, "fwp.fail", `["x"]`), b.pushes(1, unknownType, "[1]")...)
	jids = append(jids, b.pushes(2, "fwp.ok", "[1]")...)
	missing := b.reported(p, settled, jids...)
	lose.Store(true)
	lost := p.of(func(e *monitor.Event) bool { return e.Kind == monitor.Closed && e.By == monitor.Server })
	if !b.awaitOrEnd(p, settled, lost) || len(missing) > 0 {
		b.giveUp(true, "the worker reported %d of %d jobs, and did not get as far as the loss of a connection",
			len(jids)-len(missing), len(jids))
	}
}

// held returns the largest number of jobs that a process had at a time, of those that it got from a time on.
func (b *bed) held(p *proc, from time.Duration) int {
	has, most := map[any]bool{}, 0
	for _, e := range b.all(since(from, p.of(func(e *monitor.Event) bool {
		return delivered(e) || e.Kind == monitor.Line && (e.Command.Verb == fwp.ACK || e.Command.Verb == fwp.FAIL)
	}))) {
		if e.Kind == monitor.Line {
			delete(has, e.Object["jid"])
		} else {
			has[jidOf(&e)] = true
		}
		most = max(most, len(has))
	}
	return most
}

// concurrency decides whether two processes that were told to run two and four jobs at a time do so. Where both run
// as many, the program may not take this part of its environment.
func (b *bed) concurrency(few, many *proc) {
	two, four := b.held(few, 0), b.held(many, 0)
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
