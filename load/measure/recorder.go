package measure

import (
	"math"
	"sync/atomic"
	"time"
)

// Timing holds the times of a command, since the engine's start. From Free on its connection could have sent it.
// Replied is when its reply came, or when it was waited for no longer.
type Timing struct{ Intended, Free, Sent, Replied time.Duration }

// Window is a half-open span of time, From <= t < Until. Until 0 is no end, so the zero value is all time.
type Window struct{ From, Until time.Duration }

// Holds reports whether t is in w.
func (w Window) Holds(t time.Duration) bool {
	return t >= w.From && (w.Until == 0 || t < w.Until)
}

// Recorder records the times of the commands of one loop. Its methods but Recycle must be called inside that loop. It
// allocates only when a series gets its first value in a set that has not been used before. The zero value records
// everything, whatever its intended time.
//
// Times are nanoseconds in HdrHistograms of three significant digits from 1 µs to 1 h: a bucket is 512 ns wide up to
// 1 ms, and at most 0.1 % of the value above. Nanoseconds because the standard tools read a log's values as
// nanoseconds; 1 µs because finer differences are noise of the clock and of the scheduler, and would cost memory: such
// a histogram takes 184 KiB, and is created with its first value.
type Recorder struct {
	window Window
	start  time.Duration
	set    *Set
	spare  atomic.Pointer[Set]
	ops    []Op
}

// NewRecorder returns a Recorder that records everything, whatever its intended time, until SetWindow. Its sets have
// the ops in that order; others follow.
func NewRecorder(ops ...Op) *Recorder { return &Recorder{ops: ops} }

// SetWindow sets which commands and flows are recorded from now on: those whose intended time is in w. The others are
// counted separately (Set.OutsideWindow). Before the first call all are recorded; a run that needs the times of its
// connects but not those of its warm-up calls SetWindow in between.
func (r *Recorder) SetWindow(w Window) { r.window = w }

// Command records the lateness, service and response time of a command that got its reply. For one that got an error
// reply call CountError instead, for one that got none CountError and RecordUnanswered.
func (r *Recorder) Command(op Op, t Timing) {
	figures := r.current().ensureOp(op)
	if !r.window.Holds(t.Intended) {
		figures.outsideWindow++
		return
	}
	figures.times[Lateness].record(difference(t.Sent, max(t.Intended, t.Free)))
	figures.times[Service].record(difference(t.Replied, t.Sent))
	figures.times[Response].record(difference(t.Replied, t.Intended))
}

// Span records a time of the target itself, which has no command of the generator: it has no lateness.
func (r *Recorder) Span(op Op, from, until time.Duration) {
	figures := r.current().ensureOp(op)
	if !r.window.Holds(from) {
		figures.outsideWindow++
		return
	}
	figures.times[Service].record(difference(until, from))
	figures.times[Response].record(difference(until, from))
}

// RecordUnanswered records a command that has got no reply until it was given up: its service and response time would
// have been longer.
func (r *Recorder) RecordUnanswered(op Op, t Timing) {
	if !r.window.Holds(t.Intended) {
		return
	}
	times := &r.current().ensureOp(op).times
	times[Lateness].record(difference(t.Sent, max(t.Intended, t.Free)))
	times[Service].recordWait(difference(t.Replied, t.Sent))
	times[Response].recordWait(difference(t.Replied, t.Intended))
}

// Job records that a job, whose push was intended for the time intended, has reached the end of f now.
func (r *Recorder) Job(f Flow, intended, now time.Duration) {
	if r.window.Holds(intended) {
		r.current().flows[f].record(difference(now, intended))
	}
}

// RecordLateness records how late a job came whose push was intended for the time intended.
func (r *Recorder) RecordLateness(intended, lateness time.Duration) {
	if r.window.Holds(intended) {
		r.current().flows[DeliveryLateness].record(lateness)
	}
}

// RecordUndelivered records that a job had not come when it was late by so much, and was waited for no longer.
func (r *Recorder) RecordUndelivered(intended, lateness time.Duration) {
	if r.window.Holds(intended) {
		r.current().flows[DeliveryLateness].recordWait(lateness)
	}
}

// MaxQueues is how many queues Queue records, each of which takes 200 KB in every set.
const MaxQueues = 20

// Queue records the time of a delivered job in the series of queue i, if 0 <= i < MaxQueues.
func (r *Recorder) Queue(i int, intended, now time.Duration) {
	if i >= 0 && i < MaxQueues && r.window.Holds(intended) {
		r.current().queue(i).record(difference(now, intended))
	}
}

// RecordUnansweredJob records that a job, whose push was intended for the time intended, had not reached the end of f
// when that was waited for no longer: its push, or its ack, had no reply.
func (r *Recorder) RecordUnansweredJob(f Flow, intended, now time.Duration) {
	if r.window.Holds(intended) {
		r.current().flows[f].recordWait(difference(now, intended))
	}
}

// CountError counts a command that failed, in the window or not. Its times are not recorded, because a quick refusal
// would make a failing server look fast.
func (r *Recorder) CountError(op Op, kind ErrorKind) { r.current().ensureOp(op).errors[kind]++ }

// RecordUnserved records an arrival that no connection has taken until now, the end of the load. Its response time
// would have been longer, and so would be the flows that begin with it.
func (r *Recorder) RecordUnserved(op Op, intended, now time.Duration) {
	if !r.window.Holds(intended) {
		return
	}
	s := r.current()
	for _, t := range []*seriesData{&s.ensureOp(op).times[Response], &s.flows[ToFetched], &s.flows[ToAcked]} {
		t.recordWait(difference(now, intended))
		t.unserved++
	}
}

// CountCarried counts an arrival that succeeded, if it was due in the window.
func (r *Recorder) CountCarried(dueTime time.Duration) {
	if r.window.Holds(dueTime) {
		r.current().carried++
	}
}

// Drop counts n arrivals that were not sent because all connections were busy.
func (r *Recorder) Drop(n int64) { r.current().dropped += n }

// Take returns what was recorded since the last Take (at first: since 0) until now, and continues with an empty set.
func (r *Recorder) Take(now time.Duration) *Set {
	set := r.current()
	set.From, set.Until = r.start, now
	r.start = now
	r.set = r.spare.Swap(nil)
	return set
}

// Recycle empties a set and keeps it for use after the next Take. The caller must not use it any more. It may be called
// from any goroutine, and should be called outside the loop, because it clears all of the memory. Recorders may use
// each other's sets.
func (r *Recorder) Recycle(s *Set) {
	s.Reset()
	r.spare.Store(s)
}

// current returns the set to record in. It is created late, because the spare one may be recycled after a Take.
func (r *Recorder) current() *Set {
	if r.set == nil {
		if r.set = r.spare.Swap(nil); r.set == nil {
			r.set = newSet(r.ops)
		}
	}
	return r.set
}

// difference returns later-earlier without wrapping around: a difference that no duration can hold is out of range.
func difference(later, earlier time.Duration) time.Duration {
	d := later - earlier
	switch {
	case later >= earlier && d < 0:
		return math.MaxInt64
	case later < earlier && d >= 0:
		return math.MinInt64
	default:
		return d
	}
}
