package history

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

// window is a span of time in which a job was certainly in its queue: its PUSH was
// answered, its at was past, and no command that could take it was sent.
type window struct {
	begin, end time.Duration
	jid        string
	push       int32
}

// window returns that of the job; it is empty if begin is not before end.
func (l *life) window(x *index) window {
	w := window{begin: l.begin, end: l.earliestTake, jid: l.jid, push: l.pushEvent}
	if q := x.queues[l.push.queue()]; q != nil {
		w.end = min(w.end, q.firstOpen)
	}
	return w
}

// keepWindow keeps the window of the job for the rule about several jobs. Only a job
// that was delivered later was certainly there before, and not lost.
func (l *life) keepWindow(x *index) {
	isDelivered := slices.ContainsFunc(l.calls, func(c call) bool { return c.op == Fetch })
	if w := l.window(x); isDelivered && w.begin < w.end {
		q := x.queue(l.push.queue())
		q.windows = append(q.windows, w)
	}
}

// closeWindows sorts the windows by begin, and replaces each by the one that ends last of
// all that begin no later.
func (q *queue) closeWindows() {
	slices.SortFunc(q.windows, func(a, b window) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.push, b.push))
	})
	for i := 1; i < len(q.windows); i++ {
		if before := q.windows[i-1]; before.end >= q.windows[i].end {
			q.windows[i].jid, q.windows[i].push, q.windows[i].end = before.jid, before.push, before.end
		}
	}
}

// around returns a window that contains the whole of an event.
func (q *queue) around(e *Event) (window, bool) {
	i := sort.Search(len(q.windows), func(i int) bool { return q.windows[i].begin >= e.Call })
	if i == 0 || q.windows[i-1].end <= e.Return {
		return window{}, false
	}
	return q.windows[i-1], true
}

// choice is a FETCH that delivered a job from another queue than the first it names.
type choice struct {
	event int32
	place int // of that queue among them
}

// choose keeps a FETCH for the rule on the order of queues. Those of clients that are not
// consumers, or are quiet, are not evaluated. (FWP-FETCH-12, AMB-32)
func (j *judge) choose(i int32) {
	e := &j.index.events[i]
	if e.Worker == "" || e.Quiet {
		return
	}
	if place := slices.Index(e.Queues, j.life.push.queue()); place > 0 {
		j.choices = append(j.choices, choice{event: i, place: place})
	}
}

// judgeOrder evaluates a FETCH that delivered a job while an earlier one of its queues had one.
// (FWP-FETCH-04)
func (j *judge) judgeOrder(c choice) {
	x := j.index
	e := &x.events[c.event]
	for _, name := range e.Queues[:c.place] {
		q := x.queues[name]
		if q == nil {
			continue
		}
		if w, found := q.around(e); found {
			j.find(QueueOrder, e.JID, fmt.Sprintf(
				"%s asked %s and returned job %s of queue %s, while job %s was in queue %s: %s was answered before, and no "+
					"command that could take the job was sent until the FETCH was answered",
				x.name(c.event), strings.Join(e.Queues, ", "), e.JID, e.Queues[c.place],
				w.jid, name, x.name(w.push)), w.push, c.event)
			j.addBreaches(Absent) // it was delivered later, but the PUSH may not have put it there at once
			return
		}
	}
}

// judgeAbsence evaluates a FETCH that found nothing while the job was in its queue.
// (FWP-STATE-04; FWP-STATE-11)
func (j *judge) judgeAbsence() {
	x, l := j.index, &j.life
	q := x.queues[l.push.queue()]
	w := l.window(x)
	if q == nil || w.begin >= w.end {
		return
	}
	i := q.empties.findWithin(x.events, w.begin, w.end)
	if i < 0 {
		return
	}
	breach, reason := Absent, "was answered before"
	if l.push.At > 0 {
		breach, reason = ScheduledAbsent, fmt.Sprintf("was answered before, and its at of %s was past", clock(l.push.At))
	}
	j.find(breach, l.jid, fmt.Sprintf("%s found nothing in queue %s while job %s was there: %s %s, and no command "+
		"that could take the job was sent until the FETCH was answered",
		x.name(i), q.name, l.jid, x.name(l.pushEvent), reason), l.pushEvent, i)
}
