package situations

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// timeToLeave is how long a worker may take from the order to terminate to its end, with slack.
const timeToLeave = 33 * time.Second

// beatPause is the pause between BEATs that is advised.
const beatPause = 15 * time.Second

// endings are the clauses of most rows of terminateSituations.
const endings = "STATE-20 STATE-22 WRK-18"

// terminateSituations are about the state Terminating. (Terminating State; END)
func terminateSituations() []situation {
	simple, judge := setup{server: setSimpleStates}, (*trial).judgeTermination
	atBeat := func(n int) orders {
		return orders{state: "terminate", beats: n - 1, isRepeated: true, watch: judge}
	}
	atFirst := orders{state: "terminate", watch: watchFor(timeToAct)}
	lateJobs := orders{state: "terminate", isRepeated: true, hasWaitingFetch: true, watch: judge}
	cannotReport := orders{state: "terminate", jobs: []string{"[4]"}, hasOutage: true, watch: watchFor(30 * time.Second)}
	runs := func(always bool, jobs ...string) func(*trial) {
		return orders{state: "terminate", isRepeated: always, jobs: jobs, watch: judge}.play
	}
	return []situation{
		{"terminate/idle", "after the order to terminate an idle worker sends END and exits",
			"BEAT-13 " + endings + " STATE-15 END-03", 15, atBeat(1).play, setup{}},
		{"terminate/simple", "the same, with the state as a simple string, in the reply to the third BEAT",
			"BEAT-13 " + endings, 30, atBeat(3).play, simple},
		{"terminate/spaces", "the same, with white space in its JSON as specified, in the reply to the second BEAT",
			"BEAT-13 " + endings, 15, atBeat(2).play, setup{rules: spacedState}},
		{"terminate/first-beat", "a worker stops fetching when the reply to the first BEAT has the order",
			"BEAT-13 STATE-20", 5, atFirst.play, setup{}},
		{"terminate/first-beat-simple", "the same, with the state as a simple string with white space",
			"BEAT-13 STATE-20", 5, atFirst.play, setup{server: setSimpleStates, rules: spacedSimpleState}},
		{"terminate/late-job", "jobs that arrive when the worker is already terminating are reported",
			"STATE-20 WRK-18", 5, lateJobs.play, setup{}},
		{"terminate/end-without-reply", "a worker ends when the server closes after END without a reply",
			"STATE-22 WRK-18", 15, atBeat(1).play, setup{server: setEndWithoutOK}},
		{"terminate/short-job", "jobs that end in time are reported before the worker exits, also after a second order",
			"FETCH-09 " + endings + " END-04", 5, runs(true, "[1]", "[16]"), setup{}},
		{"terminate/after-loss", "a terminating worker does not fetch after it lost its connections",
			endings, 5, orders{state: "terminate", jobs: []string{"[9]"}, losesConnections: true, watch: judge}.play, setup{}},
		{"terminate/outage", "a worker that cannot report its job, because the server is away, is gone after 30 s",
			"STATE-22", 70, cannotReport.play, setup{}},
		{"terminate/long-job", "of two jobs the one that still runs is reported as failed, and the worker is gone after 30 s",
			"STATE-21 " + endings + " FETCH-09 END-04 BEAT-16", 45, runs(true, "[18]", "[120]"), setup{}},
		{"terminate/once", "a worker terminates even if its next BEATs are answered with OK, and its first FAIL is refused",
			endings + " STATE-21", 45, runs(false, "[120]", "[120]"),
			setup{rules: "on checked FAIL; first 1: refuse 'not recorded'"}},
		{"terminate/after-quiet", "after errors a worker is quiet, and then terminates with a running job",
			endings + " STATE-21 STATE-17 BEAT-13", 70, orders{state: "quiet", hasTroubles: true, jobs: []string{"[120]"},
				laterState: "terminate", watch: judge}.play, simple},
	}
}

// setEndWithoutOK has a server close after END without a reply.
func setEndWithoutOK(c *fakes.Config) { c.EndWithoutOK = true }

// judgeTermination watches a worker for as long as it may take to leave after the order to terminate, and its process
// to its end. That it has obeyed in time is for the rules.
func (t *trial) judgeTermination(p *program) {
	order := t.first(p.events(stateReply("terminate")))
	if order == nil {
		return
	}
	t.judgeEnd(p, endOrder{
		clause: endClause, name: "the order to terminate", at: order.At, limit: endLimit,
		isIdle: !t.has(p.events(delivery)), descendants: p.descendants(),
	})
	exit := t.first(p.events(eventsOfKind(clientrules.ProcessExit)))
	if exit != nil && exit.At < order.At+time.Minute && slices.Contains(strings.Fields(t.situation.clauses), "BEAT-16") {
		t.decide("BEAT-16", true, "", "the worker ended before its next BEAT was due")
	}
}

// sigTerm is the signal by which platforms end a process.
const sigTerm = "SIGTERM"

// signalSituations are about signals that the process gets. (worker guide: Deployment)
func signalSituations() []situation {
	return []situation{
		{"signal/term-idle", "an idle worker ends at SIGTERM, with END",
			"STATE-15 WRK-18", 2, playSignal("TERM", endLimit), setup{}},
		{"signal/int-idle", "an idle worker ends at SIGINT, with END",
			"STATE-15", 2, playSignal("INT", timeToLeave), setup{}},
		{"signal/tstp", "a worker that SIGTSTP makes quiet stops fetching, sends BEAT and stays until it is terminated",
			"BEAT-11 BEAT-13 STATE-22 WRK-18", 70, playSuspended, setup{}},
		{"signal/term-short-job", "a job that runs at SIGTERM and ends in time is acknowledged",
			"FETCH-09 END-04 WRK-18", 5, playSignal("TERM", endLimit, "[4]", "[4]"), setup{}},
		{"signal/term-long-job", "a job that still runs after SIGTERM is reported as failed before the exit",
			"FETCH-09 END-04 WRK-18", 32, playSignal("TERM", endLimit, "[5]", "[120]"), setup{}},
		{"signal/term-twice", "what a worker with running jobs does at a second SIGTERM is noted",
			"STATE-25", 25, playSecondSignal, setup{}},
		{"signal/term-late-job", "a job that a waiting FETCH brings behind SIGTERM is reported before the exit",
			"FETCH-09", 3, playLateAtSignal("TERM"), setup{}},
		{"signal/tstp-late-job", "a job that a waiting FETCH brings behind SIGTSTP is reported",
			"FETCH-09", 3, playLateAtSignal("TSTP"), setup{}},
	}
}

// playSignal returns a play that sends a worker a signal. It runs jobs then that take so many seconds, each as a JSON
// array.
func playSignal(name string, limit time.Duration, seconds ...string) func(*trial) {
	return func(t *trial) {
		t.requireIdling()
		p := t.launch(options{})
		t.mustFetch(p)
		if jids := t.pushAll(jobsWithArgs("fwp.sleep", seconds...)...); len(jids) > 0 {
			t.mustTake(jids...)
		}
		t.watch(p, time.Second)
		o := endOrder{name: "SIG" + name, at: t.now(), limit: limit, isIdle: len(seconds) == 0, descendants: p.descendants()}
		if o.name == sigTerm {
			o.clause = endClause
		}
		t.signal(p, name)
		t.judgeEnd(p, o)
	}
}

// playLateAtSignal returns a play that sends a worker a signal while its FETCHes wait, and pushes jobs for them.
func playLateAtSignal(name string) func(*trial) {
	return func(t *trial) {
		t.requireIdling()
		p := t.launch(options{})
		t.awaitReports(p, quickPatience, t.push(job{}))
		t.watch(p, time.Second)
		t.signal(p, name)
		t.watch(p, timeToRead)
		p.Signal("CONT") // a process without a handler is stopped by TSTP
		jids := t.pushAll(lateJobs()...)
		t.watch(p, timeToAct)
		t.judgeLateReports("SIG"+name, jids)
	}
}

// playSuspended sends a worker the signal by which libraries make it quiet. The specification lets a worker report
// that; it asks for no such signal. A process without a handler is stopped by it: SIGCONT has that go on.
func playSuspended(t *trial) {
	t.requireIdling()
	p := t.launch(options{})
	t.mustFetch(p)
	t.mustBeat(p, 1)
	from := t.now() + 1
	t.signal(p, "TSTP")
	t.watch(p, time.Second)
	p.Signal("CONT")
	t.watch(p, timeToAct)
	t.pushMany(3, "fwp.ok", "[1]")
	beats := eventsAfter(from, p.lines(fwp.BEAT))
	t.await(p, beatPatience, beats)
	t.watch(p, 5*time.Second)
	got := "it is quiet after SIGTSTP"
	switch {
	case t.hasExited(p):
		got = "it ends at SIGTSTP"
	case t.has(eventsAfter(from+time.Second+timeToAct, p.lines(fwp.FETCH))):
		got = "it keeps fetching after SIGTSTP"
	}
	state := ""
	for _, e := range t.all(beats) {
		if s, ok := e.Object["current_state"].(string); ok {
			state = s
		}
	}
	if state != "" {
		got += ", and its BEAT has the current_state " + shortJSON(state)
	}
	t.decide("BEAT-11", true, "", got)
	if order := p.events(stateReply("terminate")); !t.hasExited(p) {
		t.addRules("on notified: state terminate")
		t.await(p, beatPatience, order)
		t.judgeTermination(p)
	}
}
