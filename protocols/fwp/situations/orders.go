package situations

import (
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// orders is the order that a worker receives in the reply to a BEAT, and what happens around it. Each field is a
// dimension. With a state alone the worker is idle, the first reply has the state, and the later replies are OK.
type orders struct {
	state       string // quiet or terminate
	isRepeated  bool   // the later replies have the state as well
	beats       int    // replies of OK before the order
	hasTroubles bool   // errors and losses of connections before the order
	// the seconds of the jobs in hand, each in a JSON array; the order comes behind their delivery
	jobs             []string
	hasWaitingFetch  bool   // a FETCH waits at the order, and brings a job behind it
	losesConnections bool   // a loss of all connections behind the order
	hasOutage        bool   // the server is away behind the order, for longer than a worker may take to terminate
	laterState       string // the state in later replies, empty for none
	// watch is the last part of the play, in which the server only watches the worker.
	watch func(*trial, *program)
}

// play gives a worker its orders, and decides the clauses that bind it in each of these situations. The rules judge
// what it sends after an order.
func (o orders) play(t *trial) {
	p, jids := o.begin(t)
	order := t.mustReceiveState(p, o.state)
	if o.hasOutage {
		t.watch(p, timeToObey)
		restore := t.beginOutage(p.server, outageKind{title: "the server closes every connection", connFate: fateReset,
			newConnFate: fateClose}, 0)
		t.watch(p, timeToLeave)
		restore()
	}
	lateJIDs := o.pushLateJobs(t, p)
	loss := o.lose(t, p)
	t.watch(p, timeToAct)
	t.pushForbidden(p)
	if o.laterState != "" {
		t.orderNext(p, order, o.laterState)
	}
	if o.state == "quiet" && o.laterState != "terminate" {
		t.judgeFinish(p, jids)
	}
	o.watch(t, p)
	switch {
	case o.hasWaitingFetch && !o.losesConnections:
		t.judgeLateReports("a BEAT was answered with "+o.state, lateJIDs)
	case o.losesConnections && o.state == "quiet" && (!o.hasWaitingFetch || t.hasObeyed(p, order, loss, lateJIDs)):
		t.judgeQuiet(p, order, loss)
	}
}

// begin starts a worker, prepares the reply with the order, and returns the jobs in hand.
func (o orders) begin(t *trial) (p *program, jids []string) {
	t.requireIdling()
	trigger := "on notified"
	if !o.hasWaitingFetch && len(o.jobs) == 0 {
		trigger += fmt.Sprintf("; from %d", o.beats+1)
	}
	if !o.isRepeated {
		trigger += "; first 1"
	}
	answer := hookOf(trigger + ": state " + o.state)
	switch {
	case o.hasWaitingFetch:
		answer = holdBeat(0, isFetching, answer)
	case len(o.jobs) > 0:
		answer = holdBeat(len(o.jobs), isDelivering, answer)
	}
	if !o.hasTroubles {
		t.hook(answer)
	}
	p = t.launch(options{})
	if o.hasTroubles {
		t.causeTroubles(p)
		t.hook(answer)
	}
	if jids = t.pushAll(jobsWithArgs("fwp.sleep", o.jobs...)...); len(jids) > 0 {
		t.mustTake(jids...)
	}
	t.mustBeat(p, o.beats)
	return p, jids
}

// pushLateJobs pushes the jobs for the FETCHes that wait at the order: so late that the rules judge what the worker
// sends behind these jobs, or, before a loss of connections, so early that another FETCH still waits at the loss.
func (o orders) pushLateJobs(t *trial, p *program) []string {
	switch {
	case !o.hasWaitingFetch:
		return nil
	case o.losesConnections:
		t.watch(p, timeToRead)
		jids := t.pushAll(job{args: "[1]"})
		t.watch(p, time.Second)
		return jids
	}
	t.watch(p, timeToObey)
	return t.pushAll(lateJobs()...)
}

// lateJobs are those for FETCHes that wait at an order or a signal.
func lateJobs() []job { return []job{{args: "[1]"}, {jobtype: "fwp.fail", args: `["late"]`}} }

// lose ends all connections of a worker: after the time to act on the order and the ends of several FETCHes, or while a
// FETCH still waits that waited at the order.
func (o orders) lose(t *trial, p *program) time.Duration {
	switch {
	case !o.losesConnections:
		return 0
	case !o.hasWaitingFetch:
		t.watch(p, 2*timeToAct)
	}
	return t.restart(p)
}

// orderNext puts a state into the replies to the next BEATs, and waits for one of these replies. For the same state as
// before it waits until the next BEAT is due and no longer, because quick runs have this situation.
func (t *trial) orderNext(p *program, order *clientrules.Event, state string) {
	from, patience := t.now()+1, beatPatience
	if stateIn(order.Reply) == state {
		patience = beatPause + timeToAct - order.At
	}
	t.addRules("on notified: state " + state)
	t.await(p, patience, eventsAfter(from, p.events(stateReply(state))))
}

// pushForbidden pushes jobs that a worker with an order must not fetch.
func (t *trial) pushForbidden(p *program) {
	if !t.hasExited(p) {
		t.pushMany(3, "fwp.ok", "[1]")
	}
}

// hasObeyed reports whether a worker was quiet before the loss of its connections: it had reported the late job, and no
// FETCH came between the order and the loss.
func (t *trial) hasObeyed(p *program, order *clientrules.Event, loss time.Duration, lateJIDs []string) bool {
	fetch, report := t.first(eventsAfter(order.At, p.lines(fwp.FETCH))), t.reportOf(lateJIDs[0])
	return report != nil && report.At < loss-time.Second/2 && (fetch == nil || fetch.At > loss)
}

// judgeFinish decides whether a quiet worker reports the jobs that it had in hand at the order.
func (t *trial) judgeFinish(p *program, jids []string) {
	const longest = 8 * time.Second
	if missing := t.awaitReports(p, longest+reportPatience, t.filterDelivered(jids)...); len(jids) > 0 && !t.hasExited(p) {
		t.judgeReports(missing, "ACK or FAIL for each job", "that ran when the worker became quiet")
	}
}

// judgeLateReports decides whether the jobs that FETCHes brought after an order or a signal were reported. Where no
// FETCH waited none was delivered, and none has to be reported.
func (t *trial) judgeLateReports(order string, jids []string) {
	lateJIDs := slices.DeleteFunc(t.filterDelivered(jids), func(jid string) bool { return !t.wasRead(t.deliveryOf(jid)) })
	if len(lateJIDs) == 0 {
		t.remark("no FETCH brought a job")
		return
	}
	missing := slices.DeleteFunc(slices.Clone(lateJIDs), func(jid string) bool { return t.reportOf(jid) != nil })
	t.decide("FETCH-09", len(missing) == 0, "an ACK or a FAIL for each job that a FETCH brings after "+order,
		"no report on "+enumerate(missing)+", delivered after "+order)
	t.setDeliveryEvidence(append(missing, lateJIDs...))
}

// wasRead reports whether a client has read a reply: it has sent another line on the connection, or has kept that open
// for a moment. One that closes it at the same time may not have seen the reply.
func (t *trial) wasRead(reply *clientrules.Event) bool {
	next := func(kind clientrules.Kind) *clientrules.Event {
		return t.first(func(e *clientrules.Event) bool { return e.Conn == reply.Conn && e.At > reply.At && e.Kind == kind })
	}
	closed := next(clientrules.ConnClose)
	return closed == nil || next(clientrules.Line) != nil || closed.At-reply.At > time.Second
}

// judgeQuiet decides whether a quiet worker that has lost its connections fetches no job.
func (t *trial) judgeQuiet(p *program, order *clientrules.Event, loss time.Duration) {
	fetch := t.first(eventsAfter(order.At+timeToAct, p.events(t.excludeOthers(order, loss, line(fwp.FETCH)))))
	switch {
	case t.hasExited(p):
		t.leaveOpen("STATE-24", "the worker ended after it lost its connections")
		return
	case fetch != nil && fetch.At < loss:
		t.leaveOpen("STATE-24", "the worker was not quiet before it lost its connections")
		return
	}
	t.decide("STATE-24", fetch == nil, "no more FETCHes",
		"the worker was quiet and lost its connections; after that it fetches again")
	t.setEvidence(fetch)
}

// The situations that restart the server of a quiet worker.
const (
	quietAfterLoss       = "quiet/after-loss"
	quietFirstBeat       = "quiet/first-beat"
	quietFirstBeatSimple = "quiet/first-beat-simple"
)

// quietSituations are about the state Quiet. (Quiet State)
func quietSituations() []situation {
	const quiet, stays = "BEAT-13 STATE-17", "STATE-24 STATE-17"
	simple := setup{server: setSimpleStates}
	atBeat := func(n int) orders { // the order comes with the reply to a later BEAT, and again with each one
		return orders{state: "quiet", beats: n - 1, isRepeated: true, watch: watchFor(2 * timeToAct)}
	}
	watched := atBeat(2)
	watched.watch = (*trial).watchPause
	return []situation{
		{"quiet/bulk", "after the order to be quiet a worker stops fetching, keeps sending BEAT after an error, and stays",
			quiet + " STATE-18 STATE-19", 100, watched.play,
			setup{rules: "on checked BEAT; from 3; first 1: refuse 'not recorded'"}},
		{"quiet/simple", "the same, with the state as a simple string, in the reply to the third BEAT",
			quiet, 40, atBeat(3).play, simple},
		{"quiet/spaces", "the same, with white space in its JSON as in the specification, in the reply to the second BEAT",
			quiet, 25, atBeat(2).play, setup{rules: spacedState}},
		{quietFirstBeat, "the same, with the order in the reply to the first BEAT, and connections lost at once",
			quiet, 5, orders{state: "quiet", hasWaitingFetch: true, losesConnections: true, watch: watchFor(2 * timeToAct)}.play,
			setup{}},
		{quietFirstBeatSimple, "the same, with the state as a simple string with white space, also after a lost connection",
			quiet + " STATE-24", 5, orders{state: "quiet", losesConnections: true, watch: watchFor(timeToAct)}.play,
			setup{server: setSimpleStates, rules: spacedSimpleState}},
		{"quiet/late-job", "jobs that arrive when the worker is already quiet are run and reported, and a second order " +
			"changes nothing", "STATE-17", 5, orders{state: "quiet", isRepeated: true, hasWaitingFetch: true,
			laterState: "quiet", watch: watchFor(timeToAct / 2)}.play, setup{}},
		{"quiet/once", "a worker that one reply made quiet stays quiet, and keeps sending BEAT after its last job",
			stays, 70, orders{state: "quiet", jobs: []string{"[4]"}, watch: watchBeats(3)}.play, setup{}},
		{quietAfterLoss, "a quiet worker stays quiet after its connections were lost",
			stays, 50, orders{state: "quiet", losesConnections: true, watch: watchBeats(1)}.play, setup{}},
		{"quiet/working", "a worker whose order to be quiet arrives byte by byte finishes and reports its jobs",
			"FETCH-09 STATE-17", 5, orders{state: "quiet", isRepeated: true,
				jobs: []string{"[6]", "[6]"}, watch: watchFor(timeToAct)}.play,
			setup{rules: "on writing BEAT: pieces 1, pause 1ms"}},
	}
}

// spacedState and spacedSimpleState are rules by which the JSON of a state has white space, in a bulk string and in a
// simple one.
const (
	spacedState = `
on ran BEAT if state = quiet: reply '${"state": "quiet"}'
on ran BEAT if state = terminate: reply '${"state": "terminate"}'`
	spacedSimpleState = "on writing BEAT: replace ':' ': '"
)

// setSimpleStates has a server write a state as a simple string.
func setSimpleStates(c *fakes.Config) { c.StateAsSimple = true }

// watchFor returns what watches a worker for a while.
func watchFor(d time.Duration) func(*trial, *program) {
	return func(t *trial, p *program) { t.watch(p, d) }
}

// watchBeats returns what watches a worker until so many BEATs are answered.
func watchBeats(n int) func(*trial, *program) {
	return func(t *trial, p *program) {
		t.awaitCount(p, beatPatience, eventsAfter(t.now(), p.events(reply(fwp.BEAT))), n)
		t.watch(p, 5*time.Second)
	}
}
