package history

import (
	"fmt"
	"time"
)

// deadline is when a job must have come to its end: the call of the last FETCH that found
// its queue empty. A job that is overdue is lost.
type deadline struct {
	empty   int32 // that FETCH
	queued  bool  // overdue if it never left its queue
	waiting bool  // overdue if it waited for another try
	held    bool  // overdue if it was delivered and neither acknowledged nor failed
	retries int64
}

// deadline returns that of the job, false if it has none.
func (l *life) deadline(x *index) (deadline, bool) {
	q := x.queues[l.push.queue()]
	if !x.history.Drained || x.history.Cut != 0 || !l.push.closed() || q == nil || q.last < 0 {
		return deadline{}, false
	}
	at, patience := x.events[q.last].Call, x.limits.Patience
	return deadline{
		empty:   q.last,
		queued:  at > max(l.last, l.begin),
		waiting: at > l.last+patience,
		held:    at > l.last+l.reserve+patience,
		retries: l.retries,
	}, true
}

// allows reports whether the job may be in this state at the deadline. One that is held,
// and has no try left, may be dead by then. (AMB-01b; FWP-RETRY-06)
func (d deadline) allows(s state) bool {
	switch s.phase {
	case queued:
		return !d.queued
	case waiting:
		return !d.waiting || s.late || d.retries == unlimited
	case held:
		return !d.held || s.fails >= d.retries || d.retries == unlimited
	default:
		return true
	}
}

// swallowable reports whether a FETCH without a reply may have taken a job of the queue
// before the deadline.
func (d deadline) swallowable(x *index, q *queue) bool { return q.opened <= x.events[d.empty].end() }

// lost adds a finding about a job that is overdue.
func (j *judge) lost(d deadline) {
	x, l := j.index, &j.life
	empty := x.name(d.empty)
	if l.push.At > 0 && len(l.calls) == 1 {
		j.find(ScheduledLost, l.jid, fmt.Sprintf(
			"%s with an at of %s was accepted, job %s never came, and later %s found queue %s empty",
			x.name(l.pushed), clock(l.push.At), l.jid, empty, l.push.queue()), l.pushed, d.empty)
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
			x.name(l.pushed), l.jid, empty, l.push.queue()), l.pushed, d.empty)
		return
	}
	last := deliveries[len(deliveries)-1]
	if len(fails) > 0 {
		j.find(NotRetried, l.jid, fmt.Sprintf(
			"job %s came with %s and failed with %s, not the last of its %d retries; it never came again, and more than %s "+
				"(--patience) later %s found queue %s empty",
			l.jid, x.name(last), x.names(fails), l.retries, x.limits.Patience, empty, l.push.queue()),
			append(fails, l.pushed, last, d.empty)...)
		return
	}
	j.find(NotReturned, l.jid, fmt.Sprintf(
		"job %s came with %s, it was neither acknowledged nor failed, its reservation of %s ran out; it never came again, "+
			"and with %s the patience of %s ended",
		l.jid, x.name(last), l.reserve, empty, x.limits.Patience), l.pushed, last, d.empty)
}

// miss records a job that was never delivered and that a FETCH without a reply may have taken.
func (j *judge) miss(d deadline) {
	l, x := &j.life, j.index
	if q := x.queues[l.push.queue()]; !l.touched && d.queued {
		q.missing = append(q.missing, l.pushed)
	}
}

// swallowed adds a finding if more jobs are missing than FETCHes without a reply can have
// taken: one each.
func (j *judge) swallowed(q *queue) {
	if len(q.missing) <= len(q.takers) {
		return
	}
	x := j.index
	evidence := append([]int32{q.last}, q.missing...)
	j.find(Lost, "", fmt.Sprintf(
		"%d jobs that were accepted for queue %s never came, only %d FETCHes without a reply can have taken one each, "+
			"and later %s found the queue empty",
		len(q.missing), q.name, len(q.takers), x.name(q.last)), append(evidence, q.takers...)...)
}

// restarted evaluates a job that was pushed before a restart and never delivered: that it
// survives is a SHOULD, and after a kill not even that. (FWP-STATE-08)
func (j *judge) restarted(d deadline) {
	x, l := j.index, &j.life
	stop := &x.events[l.stopped]
	if l.touched || !d.queued || d.swallowable(x, x.queues[l.push.queue()]) || l.push.end() >= stop.Call {
		return
	}
	for _, i := range x.ends.from(l.push.Call) {
		if e := &x.events[i]; e.end() >= l.push.Call && (e.Op == Kill || e.end() >= x.events[d.empty].Call) {
			return
		}
	}
	j.find(LostByRestart, l.jid, fmt.Sprintf(
		"%s was accepted, then came %s, job %s never came, and later %s found queue %s empty",
		x.name(l.pushed), x.name(l.stopped), l.jid, x.name(d.empty), l.push.queue()), l.pushed, l.stopped, d.empty)
}

// sequence evaluates the calls of the job with its machine, and its end if it has a
// deadline.
func (j *judge) sequence() {
	x, l := j.index, &j.life
	j.search = search{calls: l.calls, machine: machine{
		reserve: max(l.reserve-x.limits.Early, 0), ready: max(l.ready, 0),
		backoff: x.limits.Backoff, retries: l.retries,
	}}
	d, due := l.deadline(x)
	switch {
	case due && l.stopped >= 0:
		j.restarted(d)
		due = false
	case due && d.swallowable(x, x.queues[l.push.queue()]):
		j.miss(d)
		due = false
	}
	if due && j.search.ends(d) == possible {
		return
	}
	switch j.search.run() {
	case impossible:
		j.explain()
	case possible:
		if due && j.search.ends(d) == impossible {
			j.lost(d)
		}
	case tangled:
		l.tangled = true
	}
}

// ends is run with an end that the deadline allows.
func (s *search) ends(d deadline) answer {
	whole := *s
	whole.machine.whole, whole.final = true, d.allows
	return whole.run()
}

// refusedAgain reports whether an ACK without a reply certainly had its effect: its worker
// sent it again within the reservation and was refused. The worker held the job until the
// first ACK, and without its effect it still would, and the ACK of a holder is accepted
// (FWP-ACK-01). The same is true of a FAIL if it was the last of the job.
func (l *life) refusedAgain(x *index, events []int32) bool {
	var holder int32
	var until time.Duration // of the reservation, 0 if no worker certainly holds the job
	unread := false
	for _, i := range events {
		e := &x.events[i]
		mine := x.holder(e) == holder
		switch {
		case e.Op == Push || e.Call >= l.until:
		case e.delivery():
			holder, until, unread = x.holder(e), e.Call+l.reserve-x.limits.Early, false
		case until == 0:
		case l.mayFree(e, mine):
			until = 0
		case !mine:
		case !e.closed():
			unread = true
		case e.Outcome == Refused && unread && e.Return < until:
			return true
		}
	}
	return false
}

// mayFree reports whether an ACK or a FAIL may have ended the reservation of the job.
func (l *life) mayFree(e *Event, mine bool) bool {
	if mine && e.Outcome == OK {
		return true
	}
	return e.Op == Fail && e.Outcome != Refused && (l.retries > 0 || !mine)
}
