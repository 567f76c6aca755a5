package measure

import (
	"math"
	"sync/atomic"
	"time"
)

// Timing holds the times of a command that was replied to, since the engine's start. From Free on its connection could
// have sent it.
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
type Recorder struct {
	window Window
	since  time.Duration
	set    *Set
	spare  atomic.Pointer[Set]
	ops    []Op
}

// NewRecorder returns a Recorder that records everything, whatever its intended time, until SetWindow. Its sets have
// the ops in that order; others follow.
func NewRecorder(ops ...Op) *Recorder { return &Recorder{ops: ops} }

// SetWindow sets which commands and flows are recorded from now on: those whose intended time is in w. The others are
// counted separately (Set.Aside). Before the first call all are recorded; a run that needs the times of its connects
// but not those of its warm-up calls SetWindow in between.
func (r *Recorder) SetWindow(w Window) { r.window = w }

// Command records the lateness, service and response time of a command that got its reply. For one that got an error
// reply, or none, call Error instead.
func (r *Recorder) Command(op Op, t Timing) {
	figures := r.current().of(op)
	if !r.window.Holds(t.Intended) {
		figures.aside++
		return
	}
	figures.times[Lateness].record(since(t.Sent, max(t.Intended, t.Free)))
	figures.times[Service].record(since(t.Replied, t.Sent))
	figures.times[Response].record(since(t.Replied, t.Intended))
}

// Job records that a job, whose push was intended for the time intended, has reached the end of f now.
func (r *Recorder) Job(f Flow, intended, now time.Duration) {
	if r.window.Holds(intended) {
		r.current().flows[f].record(since(now, intended))
	}
}

// MostQueues is how many queues Queue records, each of which takes 200 KB in every set.
const MostQueues = 20

// Queue records the same of a job that was delivered, among those of its queue, unless i is not within 0 and
// MostQueues-1.
func (r *Recorder) Queue(i int, intended, now time.Duration) {
	if i >= 0 && i < MostQueues && r.window.Holds(intended) {
		r.current().queue(i).record(since(now, intended))
	}
}

// Error counts a command that failed, in the window or not. Its times are not recorded, because a quick refusal would
// make a failing server look fast.
func (r *Recorder) Error(op Op, kind ErrorKind) { r.current().of(op).errors[kind]++ }

// Unserved records an arrival that no connection has taken until now, the end of the load.
func (r *Recorder) Unserved(op Op, intended, now time.Duration) {
	if r.window.Holds(intended) {
		r.current().of(op).times[Unserved].record(since(now, intended))
	}
}

// Drop counts n arrivals that were not sent because all connections were busy.
func (r *Recorder) Drop(n int64) { r.current().dropped += n }

// Take returns what was recorded since the last Take (at first: since 0) until now, and continues with an empty set.
func (r *Recorder) Take(now time.Duration) *Set {
	taken := r.current()
	taken.From, taken.Until = r.since, now
	r.since = now
	r.set = r.spare.Swap(nil)
	return taken
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

// since returns later-earlier without wrapping around: a difference that no duration can hold is out of range.
func since(later, earlier time.Duration) time.Duration {
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
