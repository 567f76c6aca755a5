package history

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// index is a history sorted for the judge: by job, and by queue.
type index struct {
	history *History
	events  []Event // in the order of their calls
	limits  Limits

	jids   []string
	byJob  []int32 // the events of the jobs, one job after the other
	starts []int32 // of job i: byJob[starts[i]:starts[i+1]]

	queues  map[string]*queue
	holders map[holder]int32
	flushes line // that were not refused
	stops   line // restarts and kills
}

// queue is the index of one queue.
type queue struct {
	name      string
	empties   line          // FETCHes that found nothing in it
	lastEmpty int32         // of those the one that was called last, -1 if there is none
	firstOpen time.Duration // the call of the first FETCH without a reply that names it
	takers    []int32       // the FETCHes without a reply that name it
	windows   []window      // of its jobs, see ready.go
	missing   []int32       // the PUSHes of jobs that one of the takers may have taken
}

// line is some events in the order of their calls, with an index of their times.
type line struct {
	events []int32
	ends   []time.Duration // the latest return of all up to here
	first  []time.Duration // the earliest return of all from here on
}

func newIndex(h *History) *index {
	x := &index{
		history: h, events: h.sorted(), limits: h.Limits.withDefaults(), queues: map[string]*queue{},
		holders: map[holder]int32{},
	}
	x.groupByJob()
	for i := range x.events {
		x.place(int32(i)) //nolint:gosec // memory ends before int32 does
	}
	x.flushes.close(x.events)
	x.stops.close(x.events)
	for _, q := range x.queues {
		q.empties.close(x.events)
	}
	return x
}

// groupByJob sorts the events by job in two passes, without comparing any.
func (x *index) groupByJob() {
	numbers := make(map[string]int32, len(x.events)/3)
	job := make([]int32, len(x.events))
	var sizes []int32
	for i := range x.events {
		e := &x.events[i]
		job[i] = -1
		if e.JID == "" || x.isCut(e) || e.Op == Fetch && !e.isDelivery() {
			continue
		}
		n, ok := numbers[e.JID]
		if !ok {
			n = int32(len(x.jids)) //nolint:gosec // memory ends before int32 does
			numbers[e.JID] = n
			x.jids = append(x.jids, e.JID)
			sizes = append(sizes, 0)
		}
		job[i] = n
		sizes[n]++
	}
	x.starts = make([]int32, len(sizes)+1)
	for i, size := range sizes {
		x.starts[i+1] = x.starts[i] + size
	}
	x.byJob = make([]int32, x.starts[len(sizes)])
	next := slices.Clone(x.starts)
	for i, n := range job {
		if n >= 0 {
			x.byJob[next[n]] = int32(i) //nolint:gosec // memory ends before int32 does
			next[n]++
		}
	}
}

// place adds an event to the lines of events that concern more than one job.
func (x *index) place(i int32) {
	e := &x.events[i]
	switch {
	case x.isCut(e):
	case e.Op == Restart || e.Op == Kill:
		x.stops.add(i)
	case e.Op == Flush && e.Outcome != Refused:
		x.flushes.add(i)
	default:
		x.placeFetch(i)
	}
}

// placeFetch adds a FETCH to the lines of its queues.
func (x *index) placeFetch(i int32) {
	e := &x.events[i]
	switch {
	case e.isOpenFetch():
		for _, name := range e.queueNames() {
			q := x.queue(name)
			q.takers = append(q.takers, i)
			q.firstOpen = min(q.firstOpen, e.Call)
		}
	case e.provesEmpty():
		for _, name := range e.queueNames() {
			q := x.queue(name)
			q.empties.add(i)
			q.lastEmpty = i
		}
	}
}

func (x *index) queue(name string) *queue {
	q := x.queues[name]
	if q == nil {
		q = &queue{name: name, lastEmpty: -1, firstOpen: forever}
		x.queues[name] = q
	}
	return q
}

// isCut reports whether the event is after the end of the record.
func (x *index) isCut(e *Event) bool { return x.history.CutAt != 0 && e.Call >= x.history.CutAt }

// end returns the end of the record.
func (x *index) end() time.Duration { return cmp.Or(x.history.CutAt, forever) }

func (l *line) add(i int32) { l.events = append(l.events, i) }

func (l *line) close(events []Event) {
	l.ends = make([]time.Duration, len(l.events))
	l.first = make([]time.Duration, len(l.events))
	for i, n := range l.events {
		l.ends[i] = events[n].end()
		if i > 0 {
			l.ends[i] = max(l.ends[i], l.ends[i-1])
		}
	}
	for i, n := range slices.Backward(l.events) {
		l.first[i] = events[n].end()
		if i+1 < len(l.first) {
			l.first[i] = min(l.first[i], l.first[i+1])
		}
	}
}

// from returns the events from the first that was not over before t; some of the later
// ones may have been over.
func (l *line) from(t time.Duration) []int32 {
	return l.events[sort.Search(len(l.events), func(i int) bool { return l.ends[i] >= t }):]
}

// findWithin returns an event that was called after begin and over before end, -1 if there
// is none.
func (l *line) findWithin(events []Event, begin, end time.Duration) int32 {
	i := sort.Search(len(l.events), func(i int) bool { return events[l.events[i]].Call > begin })
	if i == len(l.events) || l.first[i] >= end {
		return -1
	}
	for ; events[l.events[i]].end() >= end; i++ {
	}
	return l.events[i]
}
