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

// beatSituations are about the heartbeat. (Client Lifecycle; BEAT)
func beatSituations() []Situation {
	return []Situation{
		{
			ID: "beat/interval", Title: "an idle worker sends BEAT every 5 to 60 s",
			Clauses: "BEAT-06 BEAT-07 BEAT-08 BEAT-10", Wait: beatsFor,
			Play: func(b *bed) {
				b.watchUntilEnd(b.launch(options{}), beatsFor)
			},
		},
		{
			ID: "beat/long-jobs", Title: "a worker whose executors are all busy sends BEAT as well",
			Clauses: "BEAT-06", Wait: 70 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.pushes(usualConcurrency, "fwp.sleep", "[64]")
				b.mustFetch()
				b.watchUntilEnd(p, 70*time.Second)
				b.beatsSteadily(p)
			},
		},
		{
			ID: "beat/eventful", Title: "a worker beats on when jobs have failed, and a connection was refused and lost",
			Clauses: "BEAT-06", Wait: 80 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.troubles(p)
				b.watchUntilEnd(p, 66*time.Second)
				b.beatsSteadily(p)
			},
		},
		{
			ID: "beat/error", Title: "a worker whose BEAT is answered with an error beats on",
			Clauses: "RESP-09", Wait: 35 * time.Second,
			Play: func(b *bed) {
				// The first one is sent at the start, where a library may hand the error to the program that uses it.
				b.steer(nth(2, fakes.Checked, fwp.BEAT, func(e *fakes.Event) {
					e.Skip, e.Err = true, refusal("not recorded: neither quiet nor terminate, no state, is known")
				}))
				p := b.launch(options{})
				b.mustBeat(p, 2)
				beats := p.of(line(fwp.BEAT))
				ok := b.until(orderPatience, func() bool { return b.count(beats) >= 3 || b.exited(p) }) && b.count(beats) >= 3
				if !ok && !b.exited(p) {
					b.giveUp(true, "the worker sent no other BEAT within %v", orderPatience)
				}
				b.holds("RESP-09", ok && !b.exited(p), "a worker that goes on",
					"after the error reply to its BEAT the worker "+b.ending(p))
				if !b.exited(p) {
					b.itWorks(p, "RESP-09", "a worker that fetches on, since an error orders no state")
				}
			},
		},
		{
			ID: "beat/unknown-worker", Title: "a worker that the server does not know any more greets again, or exits",
			Clauses: "WRK-12", Wait: 35 * time.Second,
			Play: func(b *bed) {
				var forgot atomic.Bool
				b.steer(forget(&forgot))
				p := b.launch(options{})
				b.mustBeat(p, 2)
				told := p.of(func(e *monitor.Event) bool {
					return e.Kind == monitor.Reply && e.To == fwp.BEAT && strings.Contains(string(e.Reply.Text), "Unknown")
				})
				if !b.awaitOrEnd(p, grace, told) {
					b.giveUp(true, "the worker did not get the reply that it is unknown")
				}
				at := b.find(told).At
				again := since(at, p.of(line(fwp.HELLO)))
				b.until(orderPatience, func() bool { return b.find(again) != nil || b.exited(p) })
				b.watchUntilEnd(p, time.Second)
				fetches := b.count(since(at+grace, p.of(line(fwp.FETCH))))
				b.holds("WRK-12", b.find(again) != nil || b.exited(p) || fetches < manyFetches,
					"another HELLO, or the end of the worker",
					fmt.Sprintf("within %v the worker neither greeted again nor ended, and sent %d more FETCHes",
						orderPatience, fetches))
			},
		},
	}
}

// beatsFor is how long the BEATs of an idle worker are watched. Pauses of 10, 20 and 40 s and then of more than a
// minute fit into it: those of a worker whose pauses grow.
const beatsFor = 133 * time.Second

// beatsSteadily holds that a process has sent BEAT every 60 s, if it has, also where it has ended connections
// meanwhile: the monitors know a worker by its connections.
func (b *bed) beatsSteadily(p *proc) {
	last := b.find(p.of(line(fwp.HELLO)))
	if last == nil || b.exited(p) {
		return
	}
	from := last.At
	for _, e := range b.all(p.of(line(fwp.BEAT))) {
		if e.At-from > time.Minute {
			return
		}
		from = e.At
	}
	if b.now()-from <= time.Minute {
		b.holds("BEAT-06", true, "", "")
	}
}

// manyFetches is how often a worker has to fetch after it should have stopped.
const manyFetches = 10

// settled is how long something may take that needs no waiting.
const settled = 20 * time.Second

// forget returns a hook that does not know a worker from its second BEAT on, until it greets again.
func forget(forgot *atomic.Bool) func(*fakes.Event) {
	var since, last, beats atomic.Int64 // the last connection then, the last one, BEATs
	return func(e *fakes.Event) {
		switch {
		case e.Point == fakes.Accepted:
			last.Store(max(last.Load(), e.Conn.ID))
		case e.Point == fakes.Checked && e.Command.Verb == fwp.BEAT && e.Err == nil && e.Conn.ID <= since.Load():
			e.Skip, e.Err = true, refusal("Unknown worker "+e.Object.Text("wid"))
		case e.Point == fakes.Checked && e.Command.Verb == fwp.BEAT && e.Err == nil &&
			beats.Add(1) >= 2 && !forgot.Swap(true):
			since.Store(last.Load())
			e.Skip, e.Err = true, refusal("Unknown worker "+e.Object.Text("wid"))
		}
	}
}

// mustBeat waits until a process has sent n BEATs, and ends the play otherwise.
func (b *bed) mustBeat(p *proc, n int) {
	b.idlesElsewhere()
	beats := p.of(line(fwp.BEAT))
	b.until(orderPatience, func() bool { return b.count(beats) >= n || b.exited(p) })
	if b.count(beats) < n {
		b.giveUp(true, "the worker sent %d of %d BEATs within %v", b.count(beats), n, orderPatience)
	}
}

// ending says what has become of a process.
func (b *bed) ending(p *proc) string {
	if b.exited(p) {
		return "ended (" + p.How() + ")"
	}
	return "stayed"
}

// quietSituations are about the state Quiet. (Quiet State)
func quietSituations() []Situation {
	simple := func(c *fakes.Config) { c.StateAsSimple = true }
	quiet := func(always bool, watch time.Duration) func(*bed) {
		return func(b *bed) {
			p := b.launch(options{})
			b.order(p, "quiet", always)
			b.temptsQuiet(p, watch)
		}
	}
	const states = "BEAT-13 STATE-17 STATE-18 STATE-19"
	return []Situation{
		{
			ID: "quiet/bulk", Title: "a worker with the order to be quiet fetches no more, beats on and stays",
			Clauses: states, Wait: 80 * time.Second, Play: quiet(true, 65*time.Second),
		},
		{
			ID: "quiet/simple", Title: "the same, where the state is a simple string",
			Clauses: "BEAT-13 STATE-17", Wait: 20 * time.Second, Server: simple, Play: quiet(true, 6*time.Second),
		},
		{
			ID: "quiet/spaces", Title: "the same, where the JSON of the state has white space, as in the specification",
			Clauses: "BEAT-13 STATE-17", Wait: 20 * time.Second, Server: simple,
			Play: func(b *bed) {
				b.steer(spacedState)
				quiet(true, 6*time.Second)(b)
			},
		},
		{
			ID: "quiet/first-beat", Title: "the same, where the reply to the first BEAT of a worker has the order",
			Clauses: "BEAT-13 STATE-17", Wait: 10 * time.Second,
			Play: func(b *bed) {
				b.idlesElsewhere()
				b.steer(tell("quiet", false))
				p := b.launch(options{})
				b.told(p, "quiet")
				b.temptsQuiet(p, 6*time.Second)
			},
		},
		{
			ID: "quiet/late-job", Title: "a job that a FETCH brings when its worker is quiet already is reported",
			Clauses: "STATE-17", Wait: 20 * time.Second, Play: lateJob("quiet", 6*time.Second),
		},
		{
			ID: "quiet/once", Title: "a quiet worker stays quiet when its next BEATs are answered with OK",
			Clauses: "STATE-24 STATE-17", Wait: 50 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				told := b.order(p, "quiet", false)
				b.watchUntilEnd(p, grace)
				b.pushes(3, "fwp.ok", "[1]")
				okay := since(told.At+1, p.of(func(e *monitor.Event) bool { return e.Kind == monitor.Reply && e.To == fwp.BEAT }))
				b.awaitOrEnd(p, orderPatience, okay)
				b.watchUntilEnd(p, 5*time.Second)
			},
		},
		{
			ID: afterLoss, Title: "a quiet worker stays quiet when its connections were lost",
			Clauses: "STATE-24 STATE-17", Wait: 50 * time.Second, Play: quietAfterLoss,
		},
		{
			ID: "quiet/working", Title: "a worker with the order to be quiet finishes its jobs and reports them",
			Clauses: "FETCH-09 STATE-17", Wait: 25 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				jids := b.pushes(usualConcurrency, "fwp.sleep", "[18]")
				b.mustFetch()
				b.order(p, "quiet", true)
				jids = b.onlyDelivered(jids)
				missing := b.reported(p, 18*time.Second+reportPatience, jids...)
				if !b.exited(p) {
					b.holds("FETCH-09", len(missing) == 0, "ACK or FAIL for each job that ran when the worker became quiet",
						"no report on "+listed(missing))
					b.showMissing(missing)
				}
				b.watchUntilEnd(p, grace)
			},
		},
	}
}

// temptsQuiet pushes jobs that a quiet worker must not fetch, and watches it.
func (b *bed) temptsQuiet(p *proc, watch time.Duration) {
	b.watchUntilEnd(p, grace)
	b.pushes(3, "fwp.ok", "[1]")
	b.watchUntilEnd(p, watch)
}

const afterLoss = "quiet/after-loss"

// quietAfterLoss restarts the server of a quiet worker, which tells it nothing any more.
func quietAfterLoss(b *bed) {
	p := b.launch(options{})
	told := b.order(p, "quiet", false)
	b.watchUntilEnd(p, grace)
	b.remark("the server is restarted")
	from := b.restart(p)
	b.pushes(3, "fwp.ok", "[1]")
	b.awaitOrEnd(p, orderPatience, since(from, p.of(line(fwp.BEAT))))
	b.watchUntilEnd(p, 5*time.Second)
	if b.exited(p) {
		b.giveUp(true, "the worker ended when it had lost its connections")
	}
	again := b.find(since(told.At+grace, p.of(b.notBeside(told, from, line(fwp.FETCH)))))
	if again != nil && again.At < from {
		b.giveUp(true, "the worker was not quiet before it lost its connections")
	}
	b.holds("STATE-24", again == nil, "a worker that fetches no more",
		"the worker was quiet, and fetches again after it had lost its connections")
	if again != nil {
		b.at(again)
	}
}

// restart restarts the server of a process, and returns the time, which is behind all that was seen before.
func (b *bed) restart(p *proc) time.Duration {
	from := b.now() + 1
	if err := p.server.Restart(); err != nil {
		b.giveUp(true, "%v", err) // another process may have taken the port
	}
	return from
}

// grace is how long a worker may take to act on what it was told.
const grace = 3 * time.Second

// onlyDelivered returns those of the jobs that were delivered.
func (b *bed) onlyDelivered(jids []string) []string {
	var some []string
	for _, jid := range jids {
		if b.deliveryOf(jid) != nil {
			some = append(some, jid)
		}
	}
	return some
}

// longest is how long a worker may take from the order to terminate to its end, with slack.
const longest = 33 * time.Second

// terminateSituations are about the state Terminating. (Terminating State; END)
func terminateSituations() []Situation {
	ordered := func(job string, always bool) func(*bed) {
		return func(b *bed) {
			p := b.launch(options{})
			if job != "" {
				b.pushes(usualConcurrency, "fwp.sleep", job)
				b.mustFetch()
			}
			told := b.order(p, "terminate", always)
			b.watchUntilEnd(p, longest)
			b.terminated(p, told)
		}
	}
	terminate := func(job string) func(*bed) { return ordered(job, true) }
	return []Situation{
		{
			ID: "terminate/idle", Title: "an idle worker with the order to terminate sends END and exits",
			Clauses: "BEAT-13 STATE-20 STATE-22 STATE-15 END-03", Wait: 15 * time.Second, Play: terminate(""),
		},
		{
			ID: "terminate/simple", Title: "the same, where the state is a simple string",
			Clauses: "BEAT-13 STATE-20 STATE-22", Wait: 15 * time.Second,
			Server: func(c *fakes.Config) { c.StateAsSimple = true }, Play: terminate(""),
		},
		{
			ID: "terminate/spaces", Title: "the same, where the JSON of the state has white space, as in the specification",
			Clauses: "BEAT-13 STATE-20 STATE-22", Wait: 15 * time.Second,
			Play: func(b *bed) {
				b.steer(spacedState)
				terminate("")(b)
			},
		},
		{
			ID: "terminate/late-job", Title: "a job that a FETCH brings when its worker terminates already is reported",
			Clauses: "STATE-20", Wait: 15 * time.Second, Play: lateJob("terminate", longest),
		},
		{
			ID: "terminate/end-without-reply", Title: "a worker ends where the server closes after END without a reply",
			Clauses: "STATE-22", Wait: 15 * time.Second,
			Server: func(c *fakes.Config) { c.EndWithoutOK = true }, Play: terminate(""),
		},
		{
			ID: "terminate/short-job", Title: "a job that ends in time is acknowledged before the worker exits",
			Clauses: "FETCH-09 STATE-20 STATE-22 END-04", Wait: 25 * time.Second, Play: terminate("[20]"),
		},
		{
			ID: "terminate/long-job", Title: "a job that still runs is reported as failed, and the worker is gone after 30 s",
			Clauses: "STATE-21 STATE-22 STATE-20 FETCH-09 END-04 BEAT-16", Wait: 45 * time.Second, Play: terminate("[120]"),
		},
		{
			ID: "terminate/once", Title: "a worker that was told to terminate does so when its next BEATs are answered with OK",
			Clauses: "STATE-22 STATE-20 STATE-21", Wait: 45 * time.Second, Play: ordered("[120]", false),
		},
		{
			ID: "terminate/after-quiet", Title: "a quiet worker with the order to terminate does so",
			Clauses: "STATE-20 STATE-22", Wait: 30 * time.Second,
			Play: func(b *bed) {
				p := b.launch(options{})
				b.order(p, "quiet", true)
				told := b.order(p, "terminate", true)
				b.watchUntilEnd(p, longest)
				b.terminated(p, told)
			},
		},
	}
}

// terminated decides whether a worker has obeyed the order to terminate. That it did so in time is for the monitors.
func (b *bed) terminated(p *proc, told *monitor.Event) {
	b.gone(p)
	if b.exited(p) && b.exitOf(p) < told.At+beatDue && slices.Contains(strings.Fields(b.situation.Clauses), "BEAT-16") {
		b.holds("BEAT-16", true, "", "the worker ended before its next BEAT was due")
	}
	late := b.find(since(told.At+grace, b.ofWorker(told, line(fwp.FETCH))))
	if late == nil {
		b.holds("STATE-20", true, "", "")
	}
	b.holds("BEAT-13", b.exited(p) || late == nil, "a worker that terminates", "the worker fetches on after the order")
	b.at(told)
}

// beatDue is how long after the order to terminate a worker may have sent no BEAT.
const beatDue = 15 * time.Second

// exitOf returns when a process ended that is over.
func (b *bed) exitOf(p *proc) time.Duration {
	return b.find(p.of(func(e *monitor.Event) bool { return e.Kind == monitor.Exited })).At
}

// gone ends the play of a process that should have ended: where it has no connection any more but stays, the text
// does not say that it has to end.
func (b *bed) gone(p *proc) {
	if !b.exited(p) {
		b.remark(fmt.Sprintf("the process is still there %v after the order", longest))
	}
}
