package history

import (
	"fmt"
	"slices"
	"time"
)

// pause is a span in which a queue is paused.
type pause struct {
	event      int32
	from, upTo time.Duration // it may be paused: the call of the Pause, and the end of the Resume
	sure, over time.Duration // it is paused: the end of the Pause, and the call of the Resume or of a stop
}

// pauses adds a Pause or a Resume to its queues. The events come in the order of their calls.
func (x *index) pauses(i int32) {
	e := &x.events[i]
	for _, name := range e.Queues {
		q := x.queue(name)
		switch last := len(q.pauses) - 1; {
		case e.Op == Pause:
			q.pauses = append(q.pauses, pause{event: i, from: e.Call, upTo: forever, sure: e.end(), over: forever})
		case last >= 0:
			q.pauses[last].over = min(q.pauses[last].over, e.Call)
			if e.Outcome == OK {
				q.pauses[last].upTo = e.end()
			}
		}
	}
}

// perhapsPaused reports whether a FETCH may have found nothing because the queue is paused.
func (q *queue) perhapsPaused(e *Event) bool {
	return slices.ContainsFunc(q.pauses, func(p pause) bool { return e.Call <= p.upTo && e.end() >= p.from })
}

// paused adds a finding if a FETCH brought the job from a queue that was paused all the time, of which the server must
// have known: a job had come from it before. (FKT-QUEUE-01)
func (j *judge) paused(i int32) {
	x, e := j.index, &j.index.events[i]
	q := x.queue(j.life.push.queue())
	for _, p := range q.pauses {
		for _, stop := range x.ends.from(p.from) {
			p.over = min(p.over, x.events[stop].Call)
		}
		if q.came < p.from && e.Call > p.sure && e.Return < p.over {
			j.find(FromPaused, e.JID, fmt.Sprintf("%s brought job %s of queue %s, which was paused all the time with %s",
				x.name(i), e.JID, q.name, x.name(p.event)), p.event, i)
			return
		}
	}
}

// requeued adds a finding if a FETCH found nothing in the queue of the job after its worker had failed it and a Requeue
// was answered, before anything could take it. (FKT-MUTATE-03)
func (j *judge) requeued() {
	x, l := j.index, &j.life
	for i := range l.calls {
		if until, waits := l.awaits(i); waits {
			j.afterRequeue(&l.calls[i], min(until, x.queue(l.push.queue()).opened))
		}
	}
}

// awaits reports whether a call is a failure behind which the job certainly waits for a retry, and until when it does.
func (l *life) awaits(i int) (until time.Duration, waits bool) {
	if c := &l.calls[i]; i == 0 || c.op != Fail || !c.sure || l.fails > l.retries {
		return 0, false
	} else if d := &l.calls[i-1]; d.op != Fetch || d.holder != c.holder || d.end > c.begin || c.end > d.begin+l.reserve {
		return 0, false
	}
	for _, next := range l.calls[i+1:] {
		if next.op != Requeue {
			return min(next.begin, l.until), next.begin > l.calls[i].end
		}
	}
	return l.until, true
}

// afterRequeue looks for the FETCH behind the first Requeue that came after a failure.
func (j *judge) afterRequeue(fail *call, until time.Duration) {
	x, q := j.index, j.index.queue(j.life.push.queue())
	for _, r := range x.requeues.from(fail.end) {
		e := &x.events[r]
		if e.Outcome != OK || e.Call <= fail.end {
			continue
		}
		if i := q.empties.within(x.events, e.Return, until); i >= 0 {
			j.find(NotRequeued, j.life.jid, fmt.Sprintf(
				"job %s failed with %s, %s was answered, and %s found nothing in its queue %s",
				j.life.jid, x.name(fail.event), x.name(r), x.name(i), q.name), fail.event, r, i)
		}
		return
	}
}
