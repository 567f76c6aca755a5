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
	const clauses = "FETCH-11 ACK-05"
	return []situation{
		{"loss/ack-unanswered", "a worker continues after its connection ends before the reply to an ACK",
			clauses, 4, playLoss, setup{rules: "on ran ACK; from 3; first 1: silent, close"}},
		{"loss/ack-unread", "a worker continues after its connection ends before its ACK took effect",
			clauses, 4, playLoss,
			setup{rules: "on checked ACK; from 3; first 1: skip\non ran ACK if skipped: silent, close"}},
		{"loss/in-a-bulk-string", "a worker continues after its connection ends while it receives a job",
			clauses, 4, playLoss, setup{rules: "on writing FETCH if reply ~ '^[$][{]'; from 2; first 1: cut 40, close"}},
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
	if !t.await(p, quickPatience, serverClose) {
		t.giveUp(true, "the worker did not reach the loss of a connection")
	}
	t.judgeLossRecovery(p)
	t.judgeOtherJob(p, running)
}

// judgeOtherJob decides whether a worker has reported a job while it lost another connection than that of the job.
// That is open, and where jobs of open connections are reported on these, nothing was lost that had to do with it.
func (t *trial) judgeOtherJob(p *program, jid string) {
	closed := map[int]bool{}
	for _, e := range t.all(eventsOfKind(clientrules.ConnClose)) {
		closed[e.Conn] = true
	}
	fetched := map[string]int{}
	for _, e := range t.all(delivery) {
		fetched[e.Job.JID] = e.Conn
	}
	isElsewhere := t.has(func(e *clientrules.Event) bool {
		conn, ok := fetched[e.Text("jid")]
		return line(fwp.ACK, fwp.FAIL)(e) && ok && !closed[conn] && e.Conn != conn
	})
	if conn, ok := fetched[jid]; ok && !closed[conn] && !isElsewhere {
		t.judgeReports(t.awaitReports(p, reportPatience, jid), "ACK or FAIL for each job",
			"that ran while another connection was lost")
	}
}

func playRestart(t *trial) {
	p := t.launch(options{})
	t.awaitReports(p, quickPatience, t.pushMany(usualConcurrency, "fwp.sleep", "[1]")...)
	running := t.push(job{jobtype: "fwp.sleep", args: "[3]"}) // beside an executor that fetches
	t.mustTake(running)
	t.watch(p, timeToRead) // a report that is sent too early comes before the loss
	t.restart(p)
	t.judgeLossRecovery(p, running)
}

func playBeatsAfterRestart(t *trial) {
	p := t.launch(options{})
	t.mustBeat(p, 1)
	t.mustFetch(p)
	t.await(p, recoveryPatience, eventsAfter(t.restart(p), p.lines(fwp.FETCH)))
	from := t.restart(p)
	beats, hellos := eventsAfter(from, p.lines(fwp.BEAT)), eventsAfter(from, p.lines(fwp.HELLO))
	if t.await(p, recoveryPatience, hellos) {
		t.await(p, beatPatience, beats)
		t.watchPause(p) // the heartbeat of the old connections may go on beside that of the new ones
	}
	if !t.has(hellos) || t.hasExited(p) {
		t.giveUp(!t.hasExited(p), "the worker did not come back: it %s", t.ending(p))
	}
	t.decide("BEAT-06", t.has(beats), "BEATs on the new connections",
		fmt.Sprintf("no BEAT within %v of its first HELLO after the loss of its connections", beatPatience))
	t.setEvidence(t.first(hellos))
}

// recovery is what a worker comes back from. Behind it each executor works again.
type recovery struct {
	concurrency int           // jobs that it ran at a time before; 0 if that is not known
	outage      *outage       // nil: the loss of connections to a server that was not away
	from        time.Duration // when the outage began
}

// String names it: "outage".
func (r recovery) String() string {
	if r.outage != nil {
		return "outage"
	}
	return "loss of its connections"
}

// recoveryPatience is how long a worker may take until it works again after a loss. The specification has no bound. One
// that tries once a minute to connect takes a little longer: retrySlack is how much.
const (
	recoveryPatience = 60 * time.Second
	retrySlack       = 15 * time.Second
)

// judgeLossRecovery decides whether a worker that has lost connections works again.
func (t *trial) judgeLossRecovery(p *program, running ...string) {
	t.requireWork()
	t.judgeRecovery(p, recovery{concurrency: t.maxHeld(p, 0)}, running...)
}

// judgeRecovery decides whether a worker fetches and reports jobs again, as many at a time as before, beats on, and
// reports the jobs that ran when its connections were lost, or gets them again. Each takes so long that its report
// cannot have been lost with them. A worker that works again has as long for these reports as for its return: it may
// repeat them with back-off.
func (t *trial) judgeRecovery(p *program, r recovery, running ...string) {
	begun := t.now()
	patience := recoveryPatience
	if r.outage != nil {
		patience += retrySlack
	}
	missing := t.pushMany(3, "fwp.ok", "[1]")
	for range 2 { // a supervisor starts it again, if it ends
		if r.outage != nil && t.hasExited(p) {
			p = t.restartProgram(p, r, running)
		}
		if missing = t.awaitReports(p, patience, missing...); r.outage == nil || len(missing) == 0 || !t.hasExited(p) {
			break
		}
	}
	if r.outage != nil && r.outage.isObserved() {
		t.observeReturn(missing, begun)
		return
	}
	t.judgeReturn(p, r, begun, missing)
	t.makeCertain(harmNoWork, begun)
	if len(missing) == 0 && (len(running) > 0 || r.outage != nil) {
		t.judgeHeldJobs(p, r, patience, t.filterDelivered(running))
		t.judgeQueues(p)
		t.judgeConcurrencyAfter(p, r.concurrency, "the "+r.String())
	} else if len(missing) == 0 {
		t.judgeExecutors(p, "the "+r.String())
	}
	if r.outage != nil {
		t.judgeBeatsAfter(p, begun, len(missing) == 0)
	}
	t.watch(p, 2*time.Second) // for what its other connections report
}

// judgeReturn decides whether a worker has fetched and reported the jobs that it got behind a loss.
func (t *trial) judgeReturn(p *program, r recovery, begun time.Duration, missing []string) {
	expected := fmt.Sprintf("a worker that works again within %v", recoveryPatience)
	got := fmt.Sprintf("%d of 3 jobs were not done within %v after the %s", len(missing), recoveryPatience, r)
	if t.has(eventsAfter(begun, p.lines(fwp.BEAT))) {
		got += ", while it sent BEATs"
	}
	switch unreported := t.filterDelivered(missing); {
	case t.hasExited(p):
		expected, got = "a worker that connects again", "the worker ended ("+p.ExitStatus()+") when it lost its connection"
		t.decide("FETCH-11", len(missing) == 0, expected, got)
	case len(missing) > 0 && len(unreported) == len(missing): // it fetches
		t.judgeReports(unreported, "ACK or FAIL for each job", "that it fetched after the loss")
	default:
		t.decide("FETCH-11", len(missing) == 0, expected, got)
	}
}

// judgeHeldJobs decides whether a worker has reported jobs that ran when its connections were lost. In an outage they
// come back. Else a report that the worker sent on a connection that was lost need not be repeated, and is not seen
// where the server did not read on.
func (t *trial) judgeHeldJobs(p *program, r recovery, patience time.Duration, jids []string) {
	missing := t.awaitReports(p, patience, jids...)
	if r.outage == nil {
		missing = slices.DeleteFunc(missing, func(jid string) bool {
			return t.has(p.events(func(e *clientrules.Event) bool {
				return e.Kind == clientrules.LineAfterClose && e.Text("jid") == jid
			}))
		})
		if len(missing) > 0 && t.has(p.events(func(e *clientrules.Event) bool { return e.IsUnseenLoss() })) {
			t.leaveOpen("FETCH-09", "reports on "+enumerate(missing)+" may have been sent on the lost connections")
			return
		}
	}
	if len(jids) == 0 {
		t.decideHeld("FETCH-09") // the jobs that it got behind the outage
		return
	}
	t.judgeReports(missing, "ACK or FAIL for each job", "that ran when the connections were lost")
	t.makeCertain("", t.deliveryOf(jids[0]).At)
}

// observeReturn notes whether a worker has come back, where it need not.
func (t *trial) observeReturn(missing []string, begun time.Duration) {
	got := fmt.Sprintf("it did not work again within %v", recoveryPatience)
	if len(missing) == 0 {
		got = fmt.Sprintf("it worked again after %v", (t.now() - begun).Round(time.Second))
	}
	t.decide("WRK-05", true, "", got)
}

// judgeBeatsAfter decides whether a worker sends BEAT behind an outage. One that does not work again has had its time.
func (t *trial) judgeBeatsAfter(p *program, from time.Duration, isWorking bool) {
	beats := eventsAfter(from, p.lines(fwp.BEAT))
	if isWorking {
		t.await(p, beatPatience, beats)
	}
	if t.hasExited(p) {
		return
	}
	t.decide("BEAT-06", t.has(beats), "BEATs after the outage", fmt.Sprintf("no BEAT within %v", beatPatience))
	t.makeCertain("", from)
}

// restartProgram notes that a worker has ended in an outage, and starts it again, as its supervisor does. It is to be
// blamed for jobs that are gone: the server does not hold them any more, and they have no report.
func (t *trial) restartProgram(p *program, r recovery, running []string) *program {
	got := fmt.Sprintf("it ended with %s at the first %s", p.ExitStatus(), r.outage.kind.encounter)
	if delay := t.endOf(p) - r.from; delay > time.Second {
		got = fmt.Sprintf("it ended with %s at a %s, %.0f s after the start of the outage", p.ExitStatus(),
			r.outage.kind.encounter,
			delay.Seconds())
	}
	t.excuseEnd()
	t.decide("WRK-05", true, "", got+": a supervisor must restart it")
	lostJIDs := slices.DeleteFunc(slices.Clone(running), func(jid string) bool {
		return t.reportOf(jid) != nil || p.server.has(jid)
	})
	if len(lostJIDs) > 0 {
		t.decide("FETCH-09", false, "jobs that come back", enumerate(lostJIDs)+" are lost, because "+got)
	}
	next, err := t.start(options{server: p.server})
	if err != nil {
		t.giveUp(true, "%s; after a restart: %s", got, firstLine(err.Error()))
	}
	return next
}

// endOf returns when a process that is over has ended.
func (t *trial) endOf(p *program) time.Duration {
	return t.first(p.events(eventsOfKind(clientrules.ProcessExit))).At
}

// has reports whether the server has a job.
func (s *server) has(jid string) bool {
	return slices.ContainsFunc(s.Jobs(), func(j fakes.StoredJob) bool { return j.JID == jid })
}

// peakConcurrency returns how many jobs a process has run at a time, or else one of an earlier play: 0 if none has.
func (t *trial) peakConcurrency(p *program) int {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	t.harness.peakConcurrency = max(t.harness.peakConcurrency, t.maxHeld(p, 0))
	return t.harness.peakConcurrency
}

// harmNoWork is what users complain of most.
const harmNoWork = "no work"

// makeCertain has the latest decision stand, if it is about what did not come within a minute, whatever another play
// shows, since this machine was on time from a moment on. It sets what the breach does to users, if it is more than its
// clause says.
func (t *trial) makeCertain(harm string, from time.Duration) {
	last := &t.decisions[len(t.decisions)-1]
	if last.Outcome != play.Mismatched {
		return
	}
	if last.Harm = harm; t.lag(t.recording.start.Add(from)) < longWaitRoom {
		t.isCertain[last.Clause] = true
	}
}
