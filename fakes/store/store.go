// Package store keeps the jobs of a fake server: queues and the consumers that wait on them, jobs that are scheduled,
// retried, held by workers or dead. It knows no protocol and no server: what a job says is the server's own, and a
// server that wants to see or change what happens hands in a [Policy].
//
// Files, in the order in which they can be read: store.go, policy.go, queue.go, reservation.go, schedule.go, heap.go.
package store

import (
	"errors"
	"sync"
	"time"
)

// Job is what the store asks a job. A job is never changed once it is in the store, because consumers are sent it
// without a lock: what changes it makes a new one.
type Job interface {
	ID() string
	Queue() string
	Reserve() time.Duration // how long a worker may hold it
}

// Config is what a server decides about its store. Zero values work, save for Enqueue and Expire.
type Config[J Job, E any] struct {
	MaxQueueJobs int           // in one queue; no limit if zero
	MaxQueues    int           // that hold jobs; no limit if zero
	ScanEvery    time.Duration // between two looks for what is due; zero: as soon as something is

	// Enqueue returns the job as it enters its queue now.
	Enqueue func(j J, now time.Time) J
	// Expire returns what becomes of a job whose reservation ran out.
	Expire Fate[J]
	// Policy may be nil.
	Policy Policy[J, E]
}

// Fate returns the job after a failure, the set that it goes to, and when it is due there.
type Fate[J Job] func(j J, now time.Time) (failed J, set Set, due time.Time)

// Why the store does not do what it was asked for.
var (
	ErrQueueFull     = errors.New("the queue is full")
	ErrTooManyQueues = errors.New("there are too many queues")
	ErrNotHeld       = errors.New("no such job is being worked on")
)

// Store holds jobs of the type J. E is whatever a server wants to know of the command that a step belongs to; the store
// only hands it on. One lock guards it all; under it there is nothing but bookkeeping. Its methods may be called by
// many goroutines at once.
type Store[J Job, E any] struct {
	config Config[J, E]

	mu        sync.Mutex
	queues    map[string]*queue[J]
	jobs      int // in all queues
	filled    int // queues that hold jobs
	scheduled timeline[J]
	retries   timeline[J]
	held      map[string]*Held[J] // by id
	expiry    timeline[J]
	working   int
	dead      int
	processed int64
	failures  int64

	armed time.Time     // when the clock looks next; zero: when it is woken
	wake  chan struct{} // holds one
}

// New returns an empty store. What time brings about needs a call of Run.
func New[J Job, E any](config Config[J, E]) *Store[J, E] {
	return &Store[J, E]{
		config: config, queues: map[string]*queue[J]{}, held: map[string]*Held[J]{}, wake: make(chan struct{}, 1),
	}
}

// Push takes in a new job: into its queue, or into the schedule if due is not zero. The error is [ErrQueueFull] or
// [ErrTooManyQueues].
func (st *Store[J, E]) Push(by E, j J, due time.Time) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.room(j.Queue()); err != nil {
		return err
	}
	if due.IsZero() {
		st.enqueue(by, j)
	} else {
		st.postpone(by, Scheduled, &Held[J]{Job: j, due: due})
	}
	return nil
}

func (st *Store[J, E]) room(name string) error {
	q := st.queues[name]
	if most := st.config.MaxQueueJobs; most > 0 && q != nil && q.jobs.len() >= most {
		return ErrQueueFull
	}
	if most := st.config.MaxQueues; most > 0 && st.filled >= most && (q == nil || q.jobs.len() == 0) {
		return ErrTooManyQueues
	}
	return nil
}

// Take reserves the first job that the queues have, looking in the order given. If there is none it returns nil, and
// the waiter waits on the queues in block.
func (st *Store[J, E]) Take(by E, queues, block []string, w *Waiter[J]) *Held[J] {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, name := range queues {
		q := st.queues[name]
		if q == nil || q.jobs.len() == 0 {
			continue
		}
		j := q.jobs.pop()
		if st.jobs--; q.jobs.len() == 0 {
			st.filled--
			st.forget(q)
		}
		return st.reserve(by, j)
	}
	st.join(w, block)
	return nil
}

// Leave ends the waiting, and returns the job that may have come in the last moment. When it returns, the waiter is not
// woken any more.
func (st *Store[J, E]) Leave(w *Waiter[J]) *Held[J] {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.part(w)
	select {
	case h := <-w.got:
		return h
	default:
		return nil
	}
}

// Repeat enqueues a job once more.
func (st *Store[J, E]) Repeat(by E, j J) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.repeat(by, j)
}

func (st *Store[J, E]) repeat(by E, j J) {
	st.put(by, st.config.Enqueue(j, time.Now()), false)
}

// Clear removes all jobs and counts; consumers that wait go on waiting.
func (st *Store[J, E]) Clear(by E) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, skip := st.ask(Clearing, Step[J, E]{By: by}); !skip {
		st.clear()
	}
}

// Restarted tells the policy that the server was restarted. Everything is lost if that says so.
func (st *Store[J, E]) Restarted(by E) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, skip := st.ask(Restarting, Step[J, E]{By: by}); skip {
		st.clear()
	}
}

func (st *Store[J, E]) clear() {
	for _, q := range st.queues {
		q.jobs = ring[J]{}
		st.forget(q)
	}
	st.scheduled, st.retries, st.expiry = timeline[J]{}, timeline[J]{}, timeline[J]{}
	st.held = map[string]*Held[J]{}
	st.jobs, st.filled, st.working, st.dead = 0, 0, 0, 0
	st.processed, st.failures = 0, 0
}

// Sizes counts what a store holds.
type Sizes struct {
	Queues                            map[string]int // jobs in each queue that has some
	Jobs                              int            // in all queues
	Scheduled, Retries, Dead, Working int
	Processed, Failures               int64 // since the store was cleared
}

// Sizes returns what the store holds now.
func (st *Store[J, E]) Sizes() Sizes {
	st.mu.Lock()
	defer st.mu.Unlock()
	n := Sizes{
		Queues: map[string]int{}, Jobs: st.jobs, Working: st.working,
		Scheduled: len(st.scheduled.items), Retries: len(st.retries.items), Dead: st.dead,
		Processed: st.processed, Failures: st.failures,
	}
	for name, q := range st.queues {
		if q.jobs.len() > 0 {
			n.Queues[name] = q.jobs.len()
		}
	}
	return n
}
