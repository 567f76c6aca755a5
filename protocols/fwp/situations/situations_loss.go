package situations

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// lossSituations are about connections that are lost. (worker architecture: Connection, Lost jobs?)
func lossSituations() []situation {
	const again = "FETCH-11 ACK-05"
	return []situation{
		{"loss/ack-unanswered", "a worker continues after its connection ends before the reply to an ACK",
			again, 4, playLoss, setup{rules: "on ran ACK; from 3; first 1: silent, close"}},
		{"loss/ack-unread", "a worker continues after its connection ends before its ACK took effect",
			again, 4, playLoss,
			setup{rules: "on checked ACK; from 3; first 1: skip\non ran ACK if skipped: silent, close"}},
		{"loss/in-a-bulk-string", "a worker continues after its connection ends while it receives a job",
			again, 4, playLoss, setup{rules: "on writing FETCH if reply ~ '^[$][{]'; from 2; first 1: cut 40, close"}},
		{"loss/restart", "a worker continues after a restart of the server",
			"FETCH-11 FETCH-09 HELLO-12", 4, playRestart, setup{}},
		{"loss/beats", "a worker keeps sending BEAT after two restarts of the server, with the same worker id",
			"BEAT-06 BEAT-07 BEAT-10 HELLO-09 HELLO-12", 95, playBeatsAfterRestart, setup{}},
	}
}

// playLoss is played with a server that ends a connection.
func playLoss(t *trial) {
	p := t.launch(options{})
	running := t.push(job{jobtype: "fwp.sleep", args: "[2]"})
	t.mustTake(running)
	t.pushMany(6, "fwp.ok", "[1]")
	if !t.await(p, soon, serverClose) {
		t.giveUp(true, "the worker did not reach the loss of a connection")
	}
	t.comesBack(p)
	t.isReportedBeside(p, running)
}

// isReportedBeside decides whether a worker has reported a job while it lost another connection than that of the job.
// That is open, and where jobs of open connections are reported on these, nothing was lost that had to do with it.
func (t *trial) isReportedBeside(p *program, jid string) {
	closed := map[int]bool{}
	for _, e := range t.all(ofKind(clientrules.Closed)) {
		closed[e.Conn] = true
	}
	fetched := map[string]int{}
	for _, e := range t.all(delivery) {
		fetched[e.Job.JID] = e.Conn
	}
	elsewhere := t.has(func(e *clientrules.Event) bool {
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
	t.shownBy(t.first(hellos))
}

// recovery is what a worker comes back from. Behind it each executor works again.
type recovery struct {
	atATime int           // jobs that it ran at a time before; 0 if that is not known
	outage  *outage       // nil: the loss of connections to a server that was not away
	from    time.Duration // when the outage began
}

// String names it: "outage".
func (r recovery) String() string {
	if r.outage != nil {
		return "outage"
	}
	return "loss of its connections"
}

// comeback is how long a worker may take until it works again after a loss. The specification has no bound. One that
// tries once a minute to connect takes a little longer: trying is how much.
const (
	comeback = 60 * time.Second
	trying   = 15 * time.Second
)

// comesBack decides whether a worker that has lost connections works again.
func (t *trial) comesBack(p *program, running ...string) {
	t.worksElsewhere()
	t.recovers(p, recovery{atATime: t.mostHeld(p, 0)}, running...)
}

// recovers decides whether a worker fetches and reports jobs again, as many at a time as before, beats on, and reports
// the jobs that ran when its connections were lost, or gets them again. Each takes so long that its report cannot have
// been lost with them. A worker that works again has as long for these reports as for its return: it may repeat them
// with back-off.
func (t *trial) recovers(p *program, r recovery, running ...string) {
	begun := t.now()
	patience := comeback
	if r.outage != nil {
		patience += trying
	}
	missing := t.pushMany(3, "fwp.ok", "[1]")
	for range 2 { // a supervisor starts it again, if it ends
		if r.outage != nil && t.exited(p) {
			p = t.startAgain(p, r, running)
		}
		if missing = t.reported(p, patience, missing...); r.outage == nil || len(missing) == 0 || !t.exited(p) {
			break
		}
	}
	if r.outage != nil && r.outage.isObserved() {
		t.observeReturn(missing, begun)
		return
	}
	t.worksAgain(p, r, begun, missing)
	t.outright(harmNoWork, begun)
	if len(missing) == 0 && (len(running) > 0 || r.outage != nil) {
		t.reportsHeld(p, r, patience, t.delivered(running))
		t.fetchesFromAll(p)
		t.runsAsMany(p, r.atATime, "the "+r.String())
	} else if len(missing) == 0 {
		t.hasAllHands(p, "the "+r.String())
	}
	if r.outage != nil {
		t.beatsOn(p, begun, len(missing) == 0)
	}
	t.watch(p, 2*time.Second) // for what its other connections report
}

// worksAgain decides whether a worker has fetched and reported the jobs that it got behind a loss.
func (t *trial) worksAgain(p *program, r recovery, begun time.Duration, missing []string) {
	expected := fmt.Sprintf("a worker that works again within %v", comeback)
	got := fmt.Sprintf("%d of 3 jobs were not done within %v after the %s", len(missing), comeback, r)
	if t.has(after(begun, p.lines(fwp.BEAT))) {
		got += ", while it sent BEATs"
	}
	switch forgotten := t.delivered(missing); {
	case t.exited(p):
		expected, got = "a worker that connects again", "the worker ended ("+p.How()+") when it lost its connection"
		t.holds("FETCH-11", len(missing) == 0, expected, got)
	case len(missing) > 0 && len(forgotten) == len(missing): // it fetches
		t.allReported(forgotten, "ACK or FAIL for each job", "that it fetched after the loss")
	default:
		t.holds("FETCH-11", len(missing) == 0, expected, got)
	}
}

// reportsHeld decides whether a worker has reported jobs that ran when its connections were lost. In an outage they
// come back. Else a report that the worker sent on a connection that was lost need not be repeated, and is not seen
// where the server did not read on.
func (t *trial) reportsHeld(p *program, r recovery, patience time.Duration, jids []string) {
	missing := t.reported(p, patience, jids...)
	if r.outage == nil {
		missing = slices.DeleteFunc(missing, func(jid string) bool {
			return t.has(p.events(func(e *clientrules.Event) bool {
				return e.Kind == clientrules.AfterClose && e.Text("jid") == jid
			}))
		})
		if len(missing) > 0 && t.has(p.events(func(e *clientrules.Event) bool { return e.IsUnseenLoss() })) {
			t.open("FETCH-09", "reports on "+listed(missing)+" may have been sent on the lost connections")
			return
		}
	}
	if len(jids) == 0 {
		t.kept("FETCH-09") // the jobs that it got behind the outage
		return
	}
	t.allReported(missing, "ACK or FAIL for each job", "that ran when the connections were lost")
	t.outright("", t.deliveryOf(jids[0]).At)
}

// observeReturn notes whether a worker has come back, where it need not.
func (t *trial) observeReturn(missing []string, begun time.Duration) {
	got := fmt.Sprintf("it did not work again within %v", comeback)
	if len(missing) == 0 {
		got = fmt.Sprintf("it worked again after %v", (t.now() - begun).Round(time.Second))
	}
	t.holds("WRK-05", true, "", got)
}

// beatsOn decides whether a worker sends BEAT behind an outage. One that does not work again has had its time.
func (t *trial) beatsOn(p *program, from time.Duration, works bool) {
	beats := after(from, p.lines(fwp.BEAT))
	if works {
		t.await(p, beatPatience, beats)
	}
	if t.exited(p) {
		return
	}
	t.holds("BEAT-06", t.has(beats), "BEATs after the outage", fmt.Sprintf("no BEAT within %v", beatPatience))
	t.outright("", from)
}

// startAgain notes that a worker has ended in an outage, and starts it again, as its supervisor does. It is to be
// blamed for jobs that are gone: the server does not hold them any more, and they have no report.
func (t *trial) startAgain(p *program, r recovery, running []string) *program {
	got := fmt.Sprintf("it ended with %s at the first %s", p.How(), r.outage.kind.meets)
	if late := t.endOf(p) - r.from; late > time.Second {
		got = fmt.Sprintf("it ended with %s at a %s, %.0f s after the start of the outage", p.How(), r.outage.kind.meets,
			late.Seconds())
	}
	t.dies()
	t.holds("WRK-05", true, "", got+": a supervisor must restart it")
	gone := slices.DeleteFunc(slices.Clone(running), func(jid string) bool {
		return t.reportOf(jid) != nil || p.server.has(jid)
	})
	if len(gone) > 0 {
		t.holds("FETCH-09", false, "jobs that come back", listed(gone)+" are lost, because "+got)
	}
	again, err := t.start(options{server: p.server})
	if err != nil {
		t.giveUp(true, "%s; after a restart: %s", got, firstLine(err.Error()))
	}
	return again
}

// endOf returns when a process that is over has ended.
func (t *trial) endOf(p *program) time.Duration {
	return t.first(p.events(ofKind(clientrules.Exited))).At
}

// has reports whether the server has a job.
func (s *server) has(jid string) bool {
	return slices.ContainsFunc(s.Jobs(), func(j fakes.StoredJob) bool { return j.JID == jid })
}

// atATime returns how many jobs a process has run at a time, or else one of an earlier play: 0 if none has.
func (t *trial) atATime(p *program) int {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	t.harness.atATime = max(t.harness.atATime, t.mostHeld(p, 0))
	return t.harness.atATime
}

// harmNoWork is what users complain of most.
const harmNoWork = "no work"

// outright has the latest decision stand, if it is about what did not come within a minute, whatever another play
// shows, since this machine was on time from a moment on. It sets what the breach does to users, if it is more than its
// clause says.
func (t *trial) outright(harm string, from time.Duration) {
	last := &t.decisions[len(t.decisions)-1]
	if last.Outcome != play.Mismatched {
		return
	}
	if last.Harm = harm; t.lag(t.recording.start.Add(from)) < roomInAWait {
		t.certain[last.Clause] = true
	}
}
