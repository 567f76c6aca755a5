package store

import (
	"cmp"
	"container/heap"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Job is what the store needs to know about a job. A job is not changed while it is in the store, because it is sent to
// consumers without a lock: a change makes a new one.
type Job interface {
	ID() string
	Queue() string
	Reserve() time.Duration // how long a worker may hold it
}

// Config configures a store. Zero values work, except those of Enqueue and Expire.
type Config[J Job, E any] struct {
	MaxQueueJobs int           // in one queue; no limit if zero
	MaxQueues    int           // that hold jobs; no limit if zero
	MaxBytes     int           // of all jobs, dead ones apart; no limit if zero
	Bytes        *atomic.Int64 // counts them, for several stores if they have the same one; nil: for this one alone
	RetainDead   bool          // dead jobs and empty queues too, which are only counted and forgotten otherwise
	ScanEvery    time.Duration // the interval of polling for what is due; zero: at once when it is due

	// Enqueue returns the job as it enters its queue now.
	Enqueue func(j J, now time.Time) J
	// IsBefore reports whether a job leaves its queue before another one that entered it earlier; nil if none does.
	IsBefore func(j, earlier J) bool
	// Expire is the fate of a job whose reservation ran out.
	Expire Fate[J]
	// Size returns how many bytes a job takes; nil if MaxBytes is zero.
	Size func(j J) int
	// Policy may be nil.
	Policy Policy[J, E]
}

// Fate returns the job after a failure, the set that it goes to, and when it is due there.
type Fate[J Job] func(j J, now time.Time) (failed J, set Set, dueTime time.Time)

// The errors of the store's methods.
var (
	ErrQueueFull     = errors.New("the queue is full")
	ErrTooManyQueues = errors.New("there are too many queues")
	ErrFull          = errors.New("the server has no room for more jobs")
	ErrNotHeld       = errors.New("no such job is being worked on")
)

// Store holds jobs of the type J. E describes the command that a step belongs to; the store only passes it to the
// policy. One lock guards everything; nothing blocks while it is held. Its methods may be called by many goroutines at
// once.
type Store[J Job, E any] struct {
	config Config[J, E]

	mu           sync.Mutex
	queues       map[string]*queue[J]
	queuedCount  int // in all queues
	filledQueues int // queues that hold jobs
	scheduled    timeline[J]
	retries      timeline[J]
	deadJobs     timeline[J]             // dead jobs, with RetainDead
	reservations map[string]*TimedJob[J] // by id
	expiry       timeline[J]
	workingJobs  int
	deadCount    int
	bytes        int // of its jobs in queues, in timelines and held; zero without a limit
	processed    int64
	failures     int64

	clockOffset time.Duration // of the clock, before the system's
	nextAction  time.Time     // when the clock acts next; zero: when it is woken
	wake        chan struct{} // holds one
}

// New returns an empty store. [Store.Run] is its clock.
func New[J Job, E any](config Config[J, E]) *Store[J, E] {
	config.Bytes = cmp.Or(config.Bytes, new(atomic.Int64))
	return &Store[J, E]{
		config: config, queues: map[string]*queue[J]{}, reservations: map[string]*TimedJob[J]{}, wake: make(chan struct{}, 1),
	}
}

// Push adds a new job to its queue, or to the schedule if due is not zero. The error is [ErrQueueFull],
// [ErrTooManyQueues] or [ErrFull].
func (st *Store[J, E]) Push(cause E, j J, dueTime time.Time) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.checkRoom(j.Queue()); err != nil {
		return err
	}
	if limit := st.config.MaxBytes; limit > 0 && st.config.Bytes.Load()+int64(st.config.Size(j)) > int64(limit) {
		return ErrFull
	}
	if dueTime.IsZero() {
		st.enqueue(cause, j)
	} else {
		st.postpone(cause, Scheduled, &TimedJob[J]{Job: j, dueTime: dueTime})
	}
	return nil
}

// addBytes counts the bytes of a job that is put somewhere, and subtractBytes those of one that is removed.
func (st *Store[J, E]) addBytes(j J) {
	if st.config.MaxBytes > 0 {
		st.adjustBytes(st.config.Size(j))
	}
}

func (st *Store[J, E]) subtractBytes(j J) {
	if st.config.MaxBytes > 0 {
		st.adjustBytes(-st.config.Size(j))
	}
}

// adjustBytes counts bytes in, or out.
func (st *Store[J, E]) adjustBytes(n int) {
	st.bytes += n
	st.config.Bytes.Add(int64(n))
}

// ReleaseBytes counts out the bytes of the jobs of a store that is not used any more.
func (st *Store[J, E]) ReleaseBytes() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.adjustBytes(-st.bytes)
}

func (st *Store[J, E]) checkRoom(name string) error {
	q := st.queues[name]
	if limit := st.config.MaxQueueJobs; limit > 0 && q != nil && len(q.jobs) >= limit {
		return ErrQueueFull
	}
	if limit := st.config.MaxQueues; limit > 0 && st.filledQueues >= limit && (q == nil || len(q.jobs) == 0) {
		return ErrTooManyQueues
	}
	return nil
}

// Take reserves the first job that the queues have, looking in the order given. If there is none it returns nil, and
// the waiter waits on the queues in block.
func (st *Store[J, E]) Take(cause E, queues, block []string, w *Waiter[J]) *TimedJob[J] {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, name := range queues {
		q := st.queues[name]
		if q == nil || q.isPaused || len(q.jobs) == 0 {
			continue
		}
		j := q.pop()
		st.countRemoved(q, j)
		return st.reserve(cause, j)
	}
	st.joinQueues(w, block)
	return nil
}

// Leave ends the wait, and returns the job that the waiter may have been given meanwhile. When it returns, the waiter
// is not woken any more.
func (st *Store[J, E]) Leave(w *Waiter[J]) *TimedJob[J] {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.leaveQueues(w)
	select {
	case h := <-w.got:
		return h
	default:
		return nil
	}
}

// Repeat enqueues a job once more.
func (st *Store[J, E]) Repeat(cause E, j J) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.repeat(cause, j)
}

func (st *Store[J, E]) repeat(cause E, j J) {
	st.put(cause, st.config.Enqueue(j, st.nowLocked()), false)
}

// Clear removes all jobs and counts; consumers that wait go on waiting.
func (st *Store[J, E]) Clear(cause E) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, skip := st.ask(Clearing, Step[J, E]{Cause: cause}); !skip {
		st.clear()
	}
}

// Restarted is called after a restart of the server. Everything is lost if the policy skips the step.
func (st *Store[J, E]) Restarted(cause E) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, skip := st.ask(Restarting, Step[J, E]{Cause: cause}); skip {
		st.clear()
	}
}

func (st *Store[J, E]) clear() {
	for _, q := range st.queues {
		q.jobs, q.isKnown, q.isPaused = nil, false, false
		st.forget(q)
	}
	st.scheduled, st.retries, st.deadJobs, st.expiry = timeline[J]{}, timeline[J]{}, timeline[J]{}, timeline[J]{}
	st.reservations = map[string]*TimedJob[J]{}
	st.queuedCount, st.filledQueues, st.workingJobs, st.deadCount = 0, 0, 0, 0
	st.adjustBytes(-st.bytes)
	st.processed, st.failures = 0, 0
}

// Sizes counts what a store holds.
type Sizes struct {
	Queues                            map[string]int // jobs in each queue that is not empty, or is kept
	Jobs                              int            // in all queues
	Scheduled, Retries, Dead, Working int
	Processed, Failures               int64 // since the store was cleared
}

// Sizes returns what the store holds now.
func (st *Store[J, E]) Sizes() Sizes {
	st.mu.Lock()
	defer st.mu.Unlock()
	n := Sizes{
		Queues: map[string]int{}, Jobs: st.queuedCount, Working: st.workingJobs,
		Scheduled: len(st.scheduled.items), Retries: len(st.retries.items), Dead: st.deadCount,
		Processed: st.processed, Failures: st.failures,
	}
	for name, q := range st.queues {
		if len(q.jobs) > 0 || st.config.RetainDead && q.isKnown {
			n.Queues[name] = len(q.jobs)
		}
	}
	return n
}

// StoredJob is a job and where it is.
type StoredJob[J Job] struct {
	Job     J
	Set     Set       // Scheduled, Retries or Dead; Nowhere for a job in its queue, and for one that is held
	DueTime time.Time // when it leaves its set, or its reservation ends; when it died; zero for a job in its queue
}

// Jobs returns the jobs that the store has: those in queues in their order, then the scheduled, retried and held ones
// in the order of their times, then the dead ones that are kept.
func (st *Store[J, E]) Jobs() []StoredJob[J] {
	st.mu.Lock()
	defer st.mu.Unlock()
	var all []StoredJob[J]
	for _, name := range slices.Sorted(maps.Keys(st.queues)) {
		for _, j := range st.queues[name].jobs {
			all = append(all, StoredJob[J]{Job: j})
		}
	}
	for _, l := range []struct {
		*timeline[J]
		set Set
	}{{&st.scheduled, Scheduled}, {&st.retries, Retries}, {&st.expiry, Nowhere}, {&st.deadJobs, Dead}} {
		jobs := slices.SortedFunc(slices.Values(l.items), (*TimedJob[J]).compare)
		for _, h := range jobs {
			all = append(all, StoredJob[J]{h.Job, l.set, h.dueTime})
		}
	}
	return all
}

// Restore adds a job as Jobs has returned it, of this store or of an earlier one. The policy is not asked; a consumer
// that waits for the job gets it.
func (st *Store[J, E]) Restore(cause E, s StoredJob[J]) {
	st.mu.Lock()
	defer st.mu.Unlock()
	h := &TimedJob[J]{Job: s.Job, dueTime: s.DueTime, index: -1}
	switch q := st.queue(s.Job.Queue()); {
	case s.DueTime.IsZero() && q.waiting.Len() > 0:
		st.put(cause, s.Job, false)
		return
	case s.DueTime.IsZero():
		st.insert(q, s.Job, false)
		return
	case s.Set == Nowhere:
		st.addReservation(h)
	default:
		st.timeline(s.Set).add(h)
		st.addBytes(h.Job)
		st.arm(h.dueTime)
	}
	st.forget(st.queue(s.Job.Queue()))
}

// SetCounts sets the counts that no job shows: those of dead jobs, and what was done since the store was cleared.
func (st *Store[J, E]) SetCounts(deadCount int, processed, failures int64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.deadCount, st.processed, st.failures = deadCount, processed, failures
}

// TimedJob is a job with the time at which it is due: of a job that a worker holds, the end of its reservation.
type TimedJob[J Job] struct {
	Job J

	dueTime time.Time
	index   int          // in its timeline, -1 if it is in none
	number  uint64       // to its timeline: the first one was 1
	next    *TimedJob[J] // reservations: an older one of the same id
}

// compare orders jobs of one timeline by due time, and those that are due at the same time as they were added.
func (h *TimedJob[J]) compare(other *TimedJob[J]) int {
	return cmp.Or(h.dueTime.Compare(other.dueTime), cmp.Compare(h.number, other.number))
}

// timeline is a heap by due time, used through its methods add, cut and first.
type timeline[J Job] struct {
	items []*TimedJob[J]
	count uint64
}

func (l *timeline[J]) add(h *TimedJob[J]) {
	l.count++
	h.number = l.count
	heap.Push((*byTime[J])(l), h)
}

func (l *timeline[J]) cut(h *TimedJob[J]) {
	if h.index >= 0 {
		heap.Remove((*byTime[J])(l), h.index)
	}
}

// first returns the earliest one, nil if there is none.
func (l *timeline[J]) first() *TimedJob[J] {
	if len(l.items) == 0 {
		return nil
	}
	return l.items[0]
}

type byTime[J Job] timeline[J]

func (b *byTime[J]) Len() int           { return len(b.items) }
func (b *byTime[J]) Less(i, j int) bool { return b.items[i].compare(b.items[j]) < 0 }

func (b *byTime[J]) Swap(i, j int) {
	b.items[i], b.items[j] = b.items[j], b.items[i]
	b.items[i].index, b.items[j].index = i, j
}

func (b *byTime[J]) Push(x any) {
	h := x.(*TimedJob[J])
	h.index = len(b.items)
	b.items = append(b.items, h)
}

func (b *byTime[J]) Pop() any {
	last := len(b.items) - 1
	h := b.items[last]
	b.items[last] = nil
	b.items = b.items[:last]
	h.index = -1
	return h
}
