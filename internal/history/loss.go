package history

import (
	"fmt"
	"time"
)

// deadline is when a job must have come to its end: the call of the last FETCH that found
// its queue empty. A job that is overdue is lost.
type deadline struct {
	empty          int32 // that FETCH
	isQueueOverdue bool  // overdue if it never left its queue
	isWaitOverdue  bool  // overdue if it waited for another try
	isHoldOverdue  bool  // overdue if it was delivered and neither acknowledged nor failed
	retries        int64
}

// deadline returns that of the job, false if it has none.
func (l *life) deadline(x *index) (deadline, bool) {
	q := x.queues[l.push.queue()]
	if !x.history.Drained || x.history.CutAt != 0 || !l.push.hasReply() || q == nil || q.lastEmpty < 0 {
		return deadline{}, false
	}
	at, patience := x.events[q.lastEmpty].Call, x.limits.Patience
	return deadline{
		empty:          q.lastEmpty,
		isQueueOverdue: at > max(l.last, l.begin),
		isWaitOverdue:  at > l.last+patience,
		isHoldOverdue:  at > l.last+l.reserve+patience,
		retries:        l.retries,
	}, true
}

// allows reports whether the job may be in this state at the deadline. One that is held,
// and has no try left, may be dead by then. (AMB-01b; FWP-RETRY-06)
func (d deadline) allows(s state) bool {
	switch s.phase {
	case phaseQueued:
		return !d.isQueueOverdue
	case phaseWaiting:
		return !d.isWaitOverdue || s.isLate || d.retries == unlimited
	case phaseHeld:
		return !d.isHoldOverdue || s.fails >= d.retries || d.retries == unlimited
	default:
		return true
	}
}

// allowsOpenFetch reports whether a FETCH without a reply may have taken a job of the queue
// before the deadline.
func (d deadline) allowsOpenFetch(x *index, q *queue) bool {
	return q.firstOpen <= x.events[d.empty].end()
}

// addLoss adds a finding about a job that is overdue.
func (j *judge) addLoss(d deadline) {
	x, l := j.index, &j.life
	empty := x.name(d.empty)
	if l.push.At > 0 && len(l.calls) == 1 {
		j.find(ScheduledLost, l.jid, fmt.Sprintf(
			"%s with an at of %s was accepted, job %s never came, and later %s found queue %s empty",
			x.name(l.pushEvent), clock(l.push.At), l.jid, empty, l.push.queue()), l.pushEvent, d.empty)
		return
	}
	var deliveries, fails []int32
	for i := range l.calls {
		switch c := &l.calls[i]; c.op {
		case Fetch:
			deliveries, fails = append(deliveries, c.event), nil
		case Fail:
			fails = append(fails, c.event)
		}
	}
	if len(deliveries) == 0 {
		j.find(Lost, l.jid, fmt.Sprintf("%s was accepted, job %s never came, and later %s found queue %s empty",
			x.name(l.pushEvent), l.jid, empty, l.push.queue()), l.pushEvent, d.empty)
		return
	}
	last := deliveries[len(deliveries)-1]
	if len(fails) > 0 {
		j.find(NotRetried, l.jid, fmt.Sprintf(
			"job %s came with %s and failed with %s, not the last of its %d retries; it never came again, and more than %s "+
				"(--patience) later %s found queue %s empty",
			l.jid, x.name(last), x.names(fails), l.retries, x.limits.Patience, empty, l.push.queue()),
			append(fails, l.pushEvent, last, d.empty)...)
		return
	}
	j.find(NotReturned, l.jid, fmt.Sprintf(
		"job %s came with %s, it was neither acknowledged nor failed, its reservation of %s ran out; it never came again, "+
			"and with %s the patience of %s ended",
		l.jid, x.name(last), l.reserve, empty, x.limits.Patience), l.pushEvent, last, d.empty)
}

// addMissing records a job that was never delivered and that a FETCH without a reply may have taken.
func (j *judge) addMissing(d deadline) {
	l, x := &j.life, j.index
	if q := x.queues[l.push.queue()]; !l.isTouched && d.isQueueOverdue {
		q.missing = append(q.missing, l.pushEvent)
	}
}

// judgeMissing adds a finding if more jobs are missing than FETCHes without a reply can have
// taken: one each.
func (j *judge) judgeMissing(q *queue) {
	if len(q.missing) <= len(q.takers) {
		return
	}
	x := j.index
	evidence := append([]int32{q.lastEmpty}, q.missing...)
	j.find(Lost, "", fmt.Sprintf(
		"%d jobs that were accepted for queue %s never came, only %d FETCHes without a reply can have taken one each, "+
			"and later %s found the queue empty",
		len(q.missing), q.name, len(q.takers), x.name(q.lastEmpty)), append(evidence, q.takers...)...)
}

// judgeRestart evaluates a job that was pushed before a restart and never delivered: that it
// survives is a SHOULD, and after a kill not even that. (FWP-STATE-08)
func (j *judge) judgeRestart(d deadline) {
	x, l := j.index, &j.life
	stop := &x.events[l.stopEvent]
	if l.isTouched || !d.isQueueOverdue || d.allowsOpenFetch(x, x.queues[l.push.queue()]) || l.push.end() >= stop.Call {
		return
	}
	for _, i := range x.stops.from(l.push.Call) {
		if e := &x.events[i]; e.end() >= l.push.Call && (e.Op == Kill || e.end() >= x.events[d.empty].Call) {
			return
		}
	}
	j.find(LostByRestart, l.jid, fmt.Sprintf(
		"%s was accepted, then came %s, job %s never came, and later %s found queue %s empty",
		x.name(l.pushEvent), x.name(l.stopEvent), l.jid, x.name(d.empty), l.push.queue()), l.pushEvent, l.stopEvent, d.empty)
}

// judgeSequence evaluates the calls of the job with its machine, and its end if it has a
// deadline.
func (j *judge) judgeSequence() {
	x, l := j.index, &j.life
	j.search = search{calls: l.calls, machine: machine{
		reserve: max(l.reserve-x.limits.MaxLead, 0), earliest: max(l.earliest, 0),
		backoff: x.limits.Backoff, retries: l.retries,
	}}
	d, ok := l.deadline(x)
	switch {
	case ok && l.stopEvent >= 0:
		j.judgeRestart(d)
		ok = false
	case ok && d.allowsOpenFetch(x, x.queues[l.push.queue()]):
		j.addMissing(d)
		ok = false
	}
	if ok && j.search.runToEnd(d) == possible {
		return
	}
	switch j.search.run() {
	case impossible:
		j.explain()
	case possible:
		if ok && j.search.runToEnd(d) == impossible {
			j.addLoss(d)
		}
	case tangled:
		l.isTangled = true
	}
}

// runToEnd is run with only those ends that the deadline allows.
func (s *search) runToEnd(d deadline) searchResult {
	clone := *s
	clone.machine.allowsEnd, clone.final = true, d.allows
	return clone.run()
}

// isRefusedAgain reports whether an ACK without a reply certainly had its effect: its worker
// sent it again within the reservation and was refused. The worker held the job until the
// first ACK, and without its effect it still would, and the ACK of a holder is accepted
// (FWP-ACK-01). The same is true of a FAIL if it was the last of the job.
func (l *life) isRefusedAgain(x *index, events []int32) bool {
	var holder int32
	var until time.Duration // of the reservation, 0 if no worker certainly holds the job
	unread := false
	for _, i := range events {
		e := &x.events[i]
		isHolder := x.holder(e) == holder
		switch {
		case e.Op == Push || e.Call >= l.until:
		case e.isDelivery():
			holder, until, unread = x.holder(e), e.Call+l.reserve-x.limits.MaxLead, false
		case until == 0:
		case l.endsReservation(e, isHolder):
			until = 0
		case !isHolder:
		case !e.hasReply():
			unread = true
		case e.Outcome == Refused && unread && e.Return < until:
			return true
		}
	}
	return false
}

// endsReservation reports whether an ACK or a FAIL may have ended the reservation of the job.
func (l *life) endsReservation(e *Event, isHolder bool) bool {
	if isHolder && e.Outcome == OK {
		return true
	}
	return e.Op == Fail && e.Outcome != Refused && (l.retries > 0 || !isHolder)
}
