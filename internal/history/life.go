package history

import (
	"cmp"
	"slices"
	"time"
)

// life is one job: what it was pushed with, and the calls about it.
type life struct {
	jid           string
	push          *Event // nil if there is none in the history
	pushEvent     int32  // the event of the PUSH
	isPushedAgain bool   // it was pushed more than once (AMB-33)

	retries  int64 // how often it may be tried again, or unlimited
	reserve  time.Duration
	earliest time.Duration // the earliest time at which it may be delivered
	begin    time.Duration // after this it is certainly in its queue, unless it was taken

	calls     []call // in their order
	until     time.Duration
	stopEvent int32 // the restart or kill that ends the evaluation at until, -1 if there is none

	earliestTake time.Duration // the earliest call that may have taken it from its queue
	last         time.Duration // the latest return of its calls
	isTouched    bool          // it was delivered, or may have been acknowledged, failed or flushed
	fails        int64         // how many FAILs of it were answered with OK
	isTangled    bool          // too many of its calls overlap
	isSettled    bool          // a reply proves that it came to its end
}

// read fills l with job n of the index. It keeps the memory of l.
func (l *life) read(x *index, n int) {
	*l = life{jid: x.jids[n], calls: l.calls[:0], stopEvent: -1, until: x.end(), earliestTake: forever, pushEvent: -1}
	events := x.byJob[x.starts[n]:x.starts[n+1]]
	for _, i := range events {
		if e := &x.events[i]; e.Op == Push {
			l.isPushedAgain = l.push != nil
			l.push, l.pushEvent = e, i
			if l.isPushedAgain {
				return
			}
		}
	}
	if l.push != nil {
		l.readPush(x)
	}
	for _, i := range events {
		l.add(x, i)
	}
	if l.push != nil {
		named := len(l.calls)
		l.addFlushes(x)
		if len(l.calls) > named {
			slices.SortStableFunc(l.calls, func(a, b call) int { return cmp.Compare(a.begin, b.begin) })
		}
		l.isSettled = l.isSettled || l.isRefusedAgain(x, events)
	}
}

// unlimited stands for a retry below -1, whose meaning is not specified. (FWP-RETRY-06)
const unlimited = 1<<63 - 1

func (l *life) readPush(x *index) {
	e := l.push
	l.retries = 25
	if e.Retry != nil {
		l.retries = max(*e.Retry, 0)
		if *e.Retry < -1 {
			l.retries = unlimited
		}
	}
	seconds := int64(1800)
	if e.ReserveFor != nil {
		seconds = min(max(*e.ReserveFor, 60), 1<<31)
	}
	l.reserve = time.Duration(seconds) * time.Second
	l.begin = e.end()
	if e.At > 0 {
		l.earliest = e.At - x.limits.MaxLead
		l.begin = max(min(l.begin, forever-x.limits.MaxDelay), e.At) + x.limits.MaxDelay
	}
	for _, i := range x.stops.from(e.Call) {
		if end := &x.events[i]; end.end() >= e.Call {
			l.until, l.stopEvent = min(l.until, end.Call), i
			break
		}
	}
	l.earliestTake = min(l.earliestTake, l.until)
}

// add takes a call that names the job.
func (l *life) add(x *index, i int32) {
	e := &x.events[i]
	if e.Outcome == Refused {
		return // it had no effect
	}
	c := x.call(i, l.until)
	if e.Op != Push {
		l.isTouched = true
		l.earliestTake = min(l.earliestTake, e.Call)
	}
	if e.hasReply() {
		l.last = max(l.last, e.Return)
	}
	switch {
	case e.Op == Fetch && !c.isSure:
		return // delivered after the end of the evaluation
	case e.Op == Ack:
		l.isSettled = l.isSettled || e.hasReply()
	case e.Op == Fail && c.isSure:
		l.fails++
		l.isSettled = l.isSettled || l.push != nil && l.fails > l.retries
	}
	if e.Call < l.until {
		l.calls = append(l.calls, c)
	}
}

// addFlushes adds the FLUSHes that may have removed the job, up to the first that certainly did.
func (l *life) addFlushes(x *index) {
	cleared := forever
	for _, i := range x.flushes.from(l.push.Call) {
		e := &x.events[i]
		if e.end() < l.push.Call {
			continue
		}
		if e.Call > cleared {
			break
		}
		l.isTouched = true
		if e.Call >= l.until {
			break
		}
		l.earliestTake = min(l.earliestTake, e.Call)
		c := x.call(i, l.until)
		l.calls = append(l.calls, c)
		if c.isSure && e.Call > l.push.end() {
			l.isSettled = true
			cleared = min(cleared, c.end)
		}
	}
}

// call is one call for the search.
type call struct {
	event  int32
	op     Op
	holder int32 // who sent it
	isSure bool  // it had its effect, not after end
	begin  time.Duration
	end    time.Duration
}

func (x *index) call(i int32, until time.Duration) call {
	e := &x.events[i]
	c := call{event: i, op: e.Op, holder: x.holder(e), isSure: e.hasReply(), begin: e.Call, end: e.end()}
	if c.end >= until && e.Op != Push {
		c.isSure, c.end = false, forever
	}
	return c
}

// holder returns a number for the holder of a job.
func (x *index) holder(e *Event) int32 {
	key := holder{worker: e.Worker}
	if e.Worker == "" {
		key.client = e.Client
	}
	n, ok := x.holders[key]
	if !ok {
		n = int32(len(x.holders)) //nolint:gosec // memory ends before int32 does
		x.holders[key] = n
	}
	return n
}

// holder is a worker, or the connection of a client that is not one.
type holder struct {
	worker string
	client int
}
