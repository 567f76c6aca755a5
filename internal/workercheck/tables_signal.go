package workercheck

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
)

// signalSituations are about signals that the process gets. (worker guide: Deployment)
func signalSituations() []Situation {
	signalled := func(name, job string, watch time.Duration) func(*bed) {
		return func(b *bed) {
			b.idlesElsewhere()
			p := b.launch(options{})
			if job == "" {
				b.mustFetchAtAll(p)
			} else {
				b.pushes(usualConcurrency, "fwp.sleep", job)
				b.mustFetch()
			}
			b.watchUntilEnd(p, time.Second)
			b.signal(p, name)
			b.watchUntilEnd(p, watch)
			b.gone(p)
		}
	}
	return []Situation{
		{
			ID: "signal/term-idle", Title: "an idle worker ends at SIGTERM, with END",
			Clauses: "STATE-15", Wait: 2 * time.Second, Play: signalled("TERM", "", longest),
		},
		{
			ID: "signal/int-idle", Title: "an idle worker ends at SIGINT, with END",
			Clauses: "STATE-15", Wait: 2 * time.Second, Play: signalled("INT", "", longest),
		},
		{
			ID: "signal/tstp", Title: "a worker that SIGTSTP makes quiet fetches no more, beats on and stays",
			Clauses: "BEAT-11", Wait: 25 * time.Second, Play: suspended,
		},
		{
			ID: "signal/term-short-job", Title: "a job that runs at SIGTERM and ends in time is acknowledged",
			Clauses: "FETCH-09 END-04", Wait: 6 * time.Second, Play: signalled("TERM", "[5]", longest),
		},
		{
			ID: "signal/term-long-job", Title: "a job that still runs after SIGTERM is reported as failed before the exit",
			Clauses: "FETCH-09 END-04", Wait: 32 * time.Second, Play: signalled("TERM", "[120]", 40*time.Second),
		},
	}
}

// suspended sends a worker the signal by which libraries make it quiet. The specification lets a worker report that; it
// asks for no such signal. A process without a handler is stopped by it: SIGCONT has that go on.
func suspended(b *bed) {
	b.idlesElsewhere()
	p := b.launch(options{})
	b.mustFetchAtAll(p)
	b.mustBeat(p, 1)
	from := b.now() + 1
	b.signal(p, "TSTP")
	b.watchUntilEnd(p, time.Second)
	p.Signal("CONT")
	b.watchUntilEnd(p, grace)
	b.pushes(3, "fwp.ok", "[1]")
	b.awaitOrEnd(p, orderPatience, since(from, p.of(line(fwp.BEAT))))
	b.watchUntilEnd(p, 5*time.Second)
	state := ""
	for _, e := range b.all(since(from, p.of(line(fwp.BEAT)))) {
		if s, is := e.Object["current_state"].(string); is {
			state = s
		}
	}
	fetches := b.count(since(from+time.Second+grace, p.of(line(fwp.FETCH))))
	got := "it is quiet after SIGTSTP"
	switch {
	case b.exited(p):
		got = "it ends at SIGTSTP"
	case fetches > 0:
		got = "it fetches on after SIGTSTP"
	}
	if state != "" {
		got += ", and its BEAT has the current_state " + brief(state)
	}
	b.holds("BEAT-11", true, "", got)
}

// mustFetchAtAll waits for the first FETCH of a process.
func (b *bed) mustFetchAtAll(p *proc) {
	if !b.awaitOrEnd(p, settled, p.of(line(fwp.FETCH))) {
		b.giveUp(true, "the worker sent no FETCH within %v", settled)
	}
}
