package situations

import (
	"slices"
	"time"

	"github.com/fwpsuite/fwp/conformance/workers"
	"github.com/fwpsuite/fwp/fwp"
)

// orders is what a worker is told, and what else comes to it then. Each field is a dimension: with a state alone an
// idle worker is told it by the reply to its first BEAT, and its next BEATs are answered with OK.
type orders struct {
	state    string
	always   bool     // the replies to its next BEATs have the state as well
	beats    int      // that are answered with OK before
	troubles bool     // that it goes through before
	jobs     []string // the seconds, each in a JSON array, of those that run when it is told: the BEAT waits
	late     bool     // a FETCH waits when it is told, and brings a job then: the BEAT waits for that FETCH
	lost     bool     // its connections are lost when it has acted
	then     string   // the state that the replies to its next BEATs have when it has acted
	// watch is how it is watched at last, with nothing to do.
	watch func(*trial, *program)
}

// play tells a worker its orders, and decides what binds it whatever else comes to it. What it sends after an order is
// for the rules.
func (o orders) play(t *trial) {
	p, jids := o.tell(t)
	told := t.mustBeTold(p, o.state)
	late := o.pushLate(t, p)
	loss := o.lose(t, p)
	t.watch(p, timeToAct)
	t.tempt(p)
	if o.then != "" {
		t.tellAlso(p, told, o.then)
	}
	if o.state == "quiet" && o.then != "terminate" {
		t.finishes(p, jids)
	}
	o.watch(t, p)
	switch {
	case o.late && !o.lost:
		t.lateReported(o.state, late)
	case o.lost && o.state == "quiet" && (!o.late || t.obeyed(p, told, loss, late)):
		t.staysQuiet(p, told, loss)
	}
}

// tell starts a worker, has it get as far as its order, and returns the jobs that it runs then.
func (o orders) tell(t *trial) (p *program, jids []string) {
	t.idlesElsewhere()
	answer := tellState(o.state, o.always)
	switch {
	case o.late:
		answer = heldBeat(0, isFetching, answer)
	case len(o.jobs) > 0:
		answer = heldBeat(len(o.jobs), isDelivering, answer)
	case o.beats > 0:
		answer = behind(o.beats, answer)
	}
	if !o.troubles {
		t.hook(answer)
	}
	p = t.launch(options{})
	if o.troubles {
		t.troubles(p)
		t.hook(answer)
	}
	if jids = t.pushAll(jobsWithArgs("fwp.sleep", o.jobs...)...); len(jids) > 0 {
		t.mustTake(jids...)
	}
	t.mustBeat(p, o.beats)
	return p, jids
}

// pushLate gives a FETCH that waits a job so long after the order that the rules judge what the worker sends when it is
// done, or so early that another FETCH waits still when the connections are lost.
func (o orders) pushLate(t *trial, p *program) []string {
	switch {
	case !o.late:
		return nil
	case o.lost:
		t.watch(p, timeToRead)
		jids := t.pushAll(job{args: "[1]"})
		t.watch(p, time.Second)
		return jids
	}
	t.watch(p, timeToObey)
	return t.pushAll(job{args: "[1]"}, job{jobtype: "fwp.fail", args: `["late"]`})
}

// lose has a worker lose its connections when it has had the time to act, and several FETCHes would have ended, or else
// while one that waited at the order waits still.
func (o orders) lose(t *trial, p *program) time.Duration {
	switch {
	case !o.lost:
		return 0
	case !o.late:
		t.watch(p, 2*timeToAct)
	}
	return t.restart(p)
}

// tellAlso has the replies to the next BEATs have a state, and waits for one. Where a worker was told the same before,
// it waits no longer than for a BEAT that is due: a quick run has this situation.
func (t *trial) tellAlso(p *program, told *workers.Event, state string) {
	from, patience := t.now()+1, beatPatience
	if stateIn(told.Reply) == state {
		patience = beatDue + timeToAct - told.At
	}
	t.hook(tellState(state, true))
	t.await(p, patience, after(from, p.events(tells(state))))
}

// tempt pushes jobs that a worker must not fetch any more.
func (t *trial) tempt(p *program) {
	if !t.exited(p) {
		t.pushMany(3, "fwp.ok", "[1]")
	}
}

// obeyed reports whether a worker was quiet when it lost its connections: an executor had reported the job that came
// late, and fetched no other one.
func (t *trial) obeyed(p *program, told *workers.Event, loss time.Duration, late []string) bool {
	fetchedOn, report := t.first(after(told.At, p.lines(fwp.FETCH))), t.reportOf(late[0])
	return report != nil && report.At < loss-time.Second/2 && (fetchedOn == nil || fetchedOn.At > loss)
}

// finishes decides whether a quiet worker reports the jobs that ran when it was told.
func (t *trial) finishes(p *program, jids []string) {
	const longest = 8 * time.Second
	if missing := t.reported(p, longest+reportPatience, t.delivered(jids)...); len(jids) > 0 && !t.exited(p) {
		t.allReported(missing, "ACK or FAIL for each job", "that ran when the worker became quiet")
	}
}

// lateReported decides whether the jobs that FETCHes brought after an order were reported. Where no FETCH waited none
// was delivered, and none has to be reported.
func (t *trial) lateReported(state string, jids []string) {
	late := slices.DeleteFunc(t.delivered(jids), func(jid string) bool { return !t.wasRead(t.deliveryOf(jid)) })
	if len(late) == 0 {
		t.remark("no FETCH brought a job")
		return
	}
	missing := slices.DeleteFunc(slices.Clone(late), func(jid string) bool { return t.reportOf(jid) != nil })
	t.holds("FETCH-09", len(missing) == 0, "an ACK or a FAIL for each job that a FETCH brings after the order",
		"no report on "+listed(missing)+", delivered after the order to "+map[string]string{
			"quiet": "be quiet", "terminate": "terminate"}[state])
	t.shownByDelivery(append(missing, late...))
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
