package situations

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// The situations that restart the server of a quiet worker.
const (
	afterLoss        = "quiet/after-loss"
	lossBesideFetch  = "quiet/first-beat"
	firstBeatAndLoss = "quiet/first-beat-simple"
)

// quietSituations are about the state Quiet. (Quiet State)
func quietSituations() []situation {
	const quiet, stays = "BEAT-13 STATE-17", "STATE-24 STATE-17"
	simple := setup{server: simpleStates}
	return []situation{
		{"quiet/bulk", "a worker with the order to be quiet fetches no more, beats on and stays",
			quiet + " STATE-18 STATE-19", 100, atBeat(2, playQuiet((*trial).watchPause)), setup{}},
		{"quiet/simple", "the same, where the state is a simple string, in the reply to the third BEAT",
			quiet, 40, atBeat(3, playQuiet(watchShortly)), simple},
		{"quiet/spaces", "the same, where its JSON has white space, as in the text, in the reply to the second BEAT",
			quiet, 25, atBeat(2, hooked(spaceState, playQuiet(watchShortly))), simple},
		{lossBesideFetch, "the same, where the reply to the first BEAT has the order, and connections are lost at once",
			quiet, 5, playLossAtFirstBeat, setup{}},
		{firstBeatAndLoss, "the same, where the state is a simple string with white space, also after a loss",
			quiet + " STATE-24", 5, hooked(spaceState, playQuietAtFirstBeat), simple},
		{"quiet/late-job", "jobs that FETCHes bring when their worker is quiet already are run and reported",
			"STATE-17", 5, playLateJob("quiet", timeToAct), setup{}},
		{"quiet/once", "a quiet worker stays quiet when its next BEATs are answered with OK",
			stays, 70, playQuietOnce, setup{}},
		{afterLoss, "a quiet worker stays quiet when its connections were lost",
			stays, 50, playQuietAfterLoss, setup{}},
		{"quiet/working", "a worker with the order to be quiet finishes its jobs and reports them",
			"FETCH-09 STATE-17", 5, playQuietWithJobs, setup{}},
	}
}

// simpleStates has a server write a state as a simple string.
func simpleStates(c *fakes.Config) { c.StateAsSimple = true }

// hooked returns a play whose servers have a hook.
func hooked(hook func(*fakes.Event), play func(*trial)) func(*trial) {
	return func(t *trial) {
		t.hook(hook)
		play(t)
	}
}

// playQuiet returns a play that has a worker be quiet, pushes jobs that it must not fetch, and watches it.
func playQuiet(watch func(*trial, *program)) func(*trial) {
	return func(t *trial) {
		p := t.launch(options{})
		t.order(p, "quiet", true)
		t.tempt(p)
		watch(t, p)
	}
}

// watchShortly watches a worker for so long that it shows whether it has read its state.
func watchShortly(t *trial, p *program) { t.watch(p, 6*time.Second) }

// playAtFirstBeat returns a play that orders a state with the reply to the first BEAT, and watches for long enough that
// a FETCH which waits has come to its end.
func playAtFirstBeat(state string) func(*trial) {
	return func(t *trial) { t.toldAtFirstBeat(state) }
}

// toldAtFirstBeat is such a play, and returns the worker and the reply that told it the state.
func (t *trial) toldAtFirstBeat(state string) (p *program, told *workers.Event) {
	t.idlesElsewhere()
	t.hook(tellState(state, false))
	p = t.launch(options{})
	told = t.mustBeTold(p, state)
	t.tempt(p)
	t.watch(p, timeToAct)
	return p, told
}

// playLossAtFirstBeat restarts the server when the worker is quiet and another FETCH still waits, which fails. That it
// is quiet is shown by an executor that has reported a job and fetches no other one.
func playLossAtFirstBeat(t *trial) {
	t.idlesElsewhere()
	t.hook(heldBeat(0, isFetching, tellState("quiet", false)))
	p := t.launch(options{})
	told := t.mustBeTold(p, "quiet")
	t.watch(p, timeToRead)
	jid := t.push(job{args: "[1]"})
	t.watch(p, time.Second)
	loss := t.restart(p)
	t.tempt(p)
	t.watch(p, timeToAct)
	fetchedOn := t.first(after(told.At, p.lines(fwp.FETCH)))
	report := t.reportOf(jid)
	if report != nil && report.At < loss-time.Second/2 && (fetchedOn == nil || fetchedOn.At > loss) {
		t.staysQuiet(p, told, loss)
	}
}

// playQuietAtFirstBeat restarts the server of the quiet worker as well: it may notice the loss at once.
func playQuietAtFirstBeat(t *trial) {
	p, told := t.toldAtFirstBeat("quiet")
	from := t.restart(p)
	t.watch(p, timeToAct)
	t.staysQuiet(p, told, from)
}

// atBeat returns a play whose order comes with the reply to the nth BEAT.
func atBeat(n int, play func(*trial)) func(*trial) {
	return func(t *trial) {
		t.beatsBefore = n - 1
		play(t)
	}
}

// tempt pushes jobs that a worker must not fetch any more, when it has had the time to act on its order.
func (t *trial) tempt(p *program) {
	t.watch(p, timeToAct)
	t.pushMany(3, "fwp.ok", "[1]")
}

func playQuietOnce(t *trial) {
	p := t.launch(options{})
	told := t.order(p, "quiet", false)
	t.watch(p, timeToAct)
	t.pushMany(3, "fwp.ok", "[1]")
	t.awaitCount(p, beatPatience, after(told.At+1, p.events(reply(fwp.BEAT))), 3)
	t.watch(p, 5*time.Second)
}

// playQuietAfterLoss restarts the server of a quiet worker, which tells it nothing any more.
func playQuietAfterLoss(t *trial) {
	p := t.launch(options{})
	told := t.order(p, "quiet", false)
	t.watch(p, timeToAct)
	from := t.restart(p)
	t.pushMany(3, "fwp.ok", "[1]")
	t.await(p, beatPatience, after(from, p.lines(fwp.BEAT)))
	t.watch(p, 5*time.Second)
	t.staysQuiet(p, told, from)
}

// staysQuiet decides whether a quiet worker that has lost its connections fetches no job.
func (t *trial) staysQuiet(p *program, told *workers.Event, loss time.Duration) {
	again := t.first(after(told.At+timeToAct, p.events(t.notBeside(told, loss, line(fwp.FETCH)))))
	switch {
	case t.exited(p):
		t.open("STATE-24", "the worker ended when it had lost its connections")
		return
	case again != nil && again.At < loss:
		t.open("STATE-24", "the worker was not quiet before it lost its connections")
		return
	}
	t.holds("STATE-24", again == nil, "a worker that fetches no more",
		"the worker was quiet, and fetches again after it had lost its connections")
	t.shownBy(again)
}

func playQuietWithJobs(t *trial) {
	const runs = 6
	p, jids, _ := t.toldAtWork("quiet", true, fmt.Sprint("[", runs, "]"), fmt.Sprint("[", runs, "]"))
	missing := t.reported(p, runs*time.Second+reportPatience, t.delivered(jids)...)
	if !t.exited(p) {
		t.allReported(missing, "ACK or FAIL for each job", "that ran when the worker became quiet")
	}
	t.watch(p, timeToAct)
}

// toldAtWork starts a worker, has it run jobs that take so many seconds, each as a JSON array, and tells it a state
// then, with the reply to a BEAT that waits for that.
func (t *trial) toldAtWork(state string, always bool, seconds ...string) (*program, []string, *workers.Event) {
	t.idlesElsewhere()
	t.hook(heldBeat(len(seconds), isDelivering, tellState(state, always)))
	p := t.launch(options{})
	jids := t.pushAll(jobsWithArgs("fwp.sleep", seconds...)...)
	t.mustTake(jids...)
	return p, jids, t.mustBeTold(p, state)
}

// playLateJob returns a play that gives a worker an order while a FETCH waits, and that FETCH a job so long after it
// that the rules judge what the worker sends when it is done. Where no FETCH waits nothing is delivered, and nothing
// has to be reported.
func playLateJob(state string, watched time.Duration) func(*trial) {
	orders := map[string]string{"quiet": "be quiet", "terminate": "terminate"}
	return func(t *trial) {
		t.idlesElsewhere()
		t.hook(heldBeat(0, isFetching, tellState(state, true)))
		p := t.launch(options{})
		told := t.mustBeTold(p, state)
		t.watch(p, timeToObey)
		jids := t.pushAll(job{args: "[1]"}, job{jobtype: "fwp.fail", args: `["late"]`})
		t.watch(p, timeToAct)
		t.watch(p, watched)
		if state == "terminate" {
			t.terminated(p, told)
		}
		late := slices.DeleteFunc(t.delivered(jids), func(jid string) bool { return !t.wasRead(t.deliveryOf(jid)) })
		if len(late) == 0 {
			t.remark("no FETCH brought a job")
			return
		}
		missing := slices.DeleteFunc(slices.Clone(late), func(jid string) bool { return t.reportOf(jid) != nil })
		t.holds("FETCH-09", len(missing) == 0, "an ACK or a FAIL for each job that a FETCH brings after the order",
			"no report on "+listed(missing)+", delivered after the order to "+orders[state])
		t.shownByDelivery(append(missing, late...))
	}
}

// wasRead reports whether a client has read a reply: it has sent another line on the connection, or has kept that open
// for a moment. One that closes it at the same time may not have seen the reply.
func (t *trial) wasRead(reply *workers.Event) bool {
	later := func(kind workers.Kind) *workers.Event {
		return t.first(func(e *workers.Event) bool { return e.Conn == reply.Conn && e.At > reply.At && e.Kind == kind })
	}
	closed := later(workers.Closed)
	return closed == nil || later(workers.Line) != nil || closed.At-reply.At > time.Second
}
