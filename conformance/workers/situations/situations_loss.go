package situations

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// lossSituations are about connections that are lost. (worker architecture: Connection, Lost jobs?)
func lossSituations() []situation {
	const again = "FETCH-11 ACK-05"
	return []situation{
		{"loss/ack-unanswered", "a worker goes on whose connection ends before the reply to an ACK",
			again, 4, playLoss(func() func(*fakes.Event) { return nth(3, fakes.Ran, fwp.ACK, hangUp) }), setup{}},
		{"loss/ack-unread", "a worker goes on whose connection ends before its ACK was carried out",
			again, 4, playLoss(func() func(*fakes.Event) { return hangUpUnread(3, fwp.ACK) }), setup{}},
		{"loss/in-a-bulk-string", "a worker goes on whose connection ends in the middle of a job",
			again, 4, playLoss(func() func(*fakes.Event) { return hangUpInJob(2) }), setup{}},
		{"loss/restart", "a worker goes on after a restart of the server",
			"FETCH-11 FETCH-09 HELLO-12", 4, playRestart, setup{}},
		{"loss/beats", "a worker beats on after two restarts of the server, under the same worker id",
			"BEAT-06 BEAT-07 BEAT-10 HELLO-09 HELLO-12", 95, playBeatsAfterRestart, setup{}},
		{"loss/outage", "a worker goes on after the server was away for 10 s",
			"FETCH-11 FETCH-09 WRK-05", 15, playOutage, setup{}},
	}
}

// playLoss returns a play whose server ends a connection by a hook, which each play has made anew.
func playLoss(hook func() func(*fakes.Event)) func(*trial) {
	return func(t *trial) {
		t.hook(hook())
		p := t.launch(options{})
		running := t.push(job{jobtype: "fwp.sleep", args: "[2]"})
		t.mustTake(running)
		t.pushMany(6, "fwp.ok", "[1]")
		if !t.await(p, soon, serverClose) {
			t.giveUp(true, "the worker did not get as far as the loss of a connection")
		}
		t.comesBack(p)
		t.isReportedBeside(p, running)
	}
}

// isReportedBeside decides whether a worker has reported a job while it lost another connection than that of the job.
// That is open, and where jobs of open connections are reported on these, nothing was lost that had to do with it.
func (t *trial) isReportedBeside(p *program, jid string) {
	closed := map[int]bool{}
	for _, e := range t.all(ofKind(workers.Closed)) {
		closed[e.Conn] = true
	}
	fetched := map[string]int{}
	for _, e := range t.all(delivery) {
		fetched[e.Job.JID] = e.Conn
	}
	elsewhere := t.has(func(e *workers.Event) bool {
		conn, is := fetched[e.Text("jid")]
		return line(fwp.ACK, fwp.FAIL)(e) && is && !closed[conn] && e.Conn != conn
	})
	if conn, is := fetched[jid]; is && !closed[conn] && !elsewhere {
		t.allReported(t.reported(p, reportPatience, jid), "ACK or FAIL for each job",
			"that ran while another connection was lost")
	}
}

func playRestart(t *trial) {
	p := t.launch(options{})
	t.reported(p, soon, t.pushMany(usualConcurrency, "fwp.sleep", "[1]")...)
	running := t.push(job{jobtype: "fwp.sleep", args: "[3]"}) // beside an executor that fetches
	t.mustTake(running)
	t.watch(p, timeToRead) // a report that is sent too early comes before the loss
	t.restart(p)
	t.comesBack(p, running)
}

func playBeatsAfterRestart(t *trial) {
	p := t.launch(options{})
	t.mustBeat(p, 1)
	t.mustFetch(p)
	t.await(p, comeback, after(t.restart(p), p.lines(fwp.FETCH)))
	from := t.restart(p)
	beats, hellos := after(from, p.lines(fwp.BEAT)), after(from, p.lines(fwp.HELLO))
	if t.await(p, comeback, hellos) {
		t.await(p, beatPatience, beats)
		t.watchPause(p) // the heartbeat of the old connections may go on beside that of the new ones
	}
	if !t.has(hellos) || t.exited(p) {
		t.giveUp(!t.exited(p), "the worker did not come back: it %s", t.ending(p))
	}
	t.holds("BEAT-06", t.has(beats), "BEATs on the new connections",
		fmt.Sprintf("no BEAT within %v of its first HELLO after the loss of its connections", beatPatience))
	t.waited(beatPatience)
	t.shownBy(t.first(hellos))
}

func playOutage(t *trial) {
	away := t.canBeAway()
	p := t.launch(options{})
	running := t.pushMany(usualConcurrency, "fwp.sleep", "[4]") // they end while there is no server
	t.mustTake(running...)
	t.watch(p, timeToRead) // a report that is sent too early comes before the loss
	from := t.outage(p, away, 10*time.Second)
	t.holds("WRK-05", true, "", fmt.Sprintf("in 10 s without a server it opened %d connections",
		t.count(after(from, ofKind(workers.Opened)))))
	t.comesBack(p, running...)
}

// canBeAway returns what has the server close every connection that it accepts.
func (t *trial) canBeAway() *atomic.Bool {
	away := &atomic.Bool{}
	t.hook(func(e *fakes.Event) {
		if e.Point == fakes.Accepted && away.Load() {
			e.Skip = true
		}
	})
	return away
}

// outage has the server be away for a while, and returns when that began.
func (t *trial) outage(p *program, away *atomic.Bool, d time.Duration) time.Duration {
	away.Store(true)
	t.remark("the server closes every connection, for %.0f s", d.Seconds())
	if err := p.server.Kill(); err != nil {
		t.giveUp(true, "%v", err) // another process may have taken the port
	}
	from := t.now()
	t.watch(p, d)
	away.Store(false)
	t.remark("the server accepts connections again")
	return from
}

// comeback is how long a worker may take until it works again after a loss. The specification has no bound.
const comeback = 60 * time.Second

// comesBack decides whether a worker fetches and reports jobs again, as many at a time as before, and whether it
// reports those that ran when its connections were lost. Each takes so long that its report cannot have been lost with
// them. A worker that works again has as long for these reports as for its return: it may repeat them with back-off.
func (t *trial) comesBack(p *program, running ...string) {
	t.worksElsewhere()
	atATime := t.mostHeld(p, 0)
	missing := t.reported(p, comeback, t.pushMany(3, "fwp.ok", "[1]")...)
	expected := fmt.Sprintf("a worker that works again within %v", comeback)
	got := fmt.Sprintf("%d of 3 jobs were not worked within %v after the loss", len(missing), comeback)
	switch forgotten := t.delivered(missing); {
	case t.exited(p):
		expected, got = "a worker that connects again", "the worker ended ("+p.How()+") when it lost its connection"
		t.holds("FETCH-11", len(missing) == 0, expected, got)
	case len(missing) > 0 && len(forgotten) == len(missing): // it fetches
		t.allReported(forgotten, "ACK or FAIL for each job", "that it fetched after the loss")
	default:
		t.holds("FETCH-11", len(missing) == 0, expected, got)
		t.waited(comeback)
	}
	if len(running) > 0 && len(missing) == 0 {
		missing = t.reported(p, comeback, t.delivered(running)...)
		t.allReported(missing, "ACK or FAIL for each job", "that ran when the connections were lost")
		t.runsAsMany(p, atATime, "the loss of its connections")
	}
	t.watch(p, 2*time.Second) // for what its other connections report
}
