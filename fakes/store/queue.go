package store

import (
	"container/list"
	"slices"
)

// queue holds jobs or waiting consumers, never both unless it is paused: a new job goes to the consumer that
// has waited longest.
type queue[J Job] struct {
	name     string
	jobs     []J       // the first one leaves next
	waiting  list.List // of *Waiter[J]
	isKnown  bool      // a job was put into it
	isPaused bool      // it gives no job to consumers
}

// add adds a job at the end, or before the last ones that leave later.
func (q *queue[J]) add(j J, isBefore func(j, earlier J) bool) {
	i := len(q.jobs)
	for isBefore != nil && i > 0 && isBefore(j, q.jobs[i-1]) {
		i--
	}
	q.jobs = slices.Insert(q.jobs, i, j)
}

// pop removes and returns the first job; there must be one.
func (q *queue[J]) pop() J {
	var zero J
	j := q.jobs[0]
	q.jobs[0] = zero
	q.jobs = q.jobs[1:]
	return j
}

// Waiter is a consumer that waits for a job. It can be used again.
type Waiter[J Job] struct {
	got    chan *TimedJob[J] // holds one
	wake   func()
	places []place[J]
}

type place[J Job] struct {
	queue   *queue[J]
	element *list.Element
}

// NewWaiter returns a waiter. wake is called, under the lock of the store, when there is a job in C.
func NewWaiter[J Job](wake func()) *Waiter[J] {
	return &Waiter[J]{got: make(chan *TimedJob[J], 1), wake: wake}
}

// C returns the channel of the job. It holds one.
func (w *Waiter[J]) C() <-chan *TimedJob[J] { return w.got }

// enqueue gives a job to the consumer that waits for it, or adds it to its queue.
func (st *Store[J, E]) enqueue(cause E, j J) {
	if s, skip := st.ask(Enqueuing, Step[J, E]{Cause: cause, Job: j}); !skip {
		st.put(cause, s.Job, s.Front)
	}
}

func (st *Store[J, E]) put(cause E, j J, front bool) {
	q := st.queue(j.Queue())
	q.isKnown = true
	if q.waiting.Len() > 0 && !q.isPaused {
		st.hand(cause, q, j)
		return
	}
	st.insert(q, j, front)
}

// insert adds a job to its queue, on which no consumer waits.
func (st *Store[J, E]) insert(q *queue[J], j J, front bool) {
	if front {
		q.jobs = slices.Insert(q.jobs, 0, j)
	} else {
		q.add(j, st.config.IsBefore)
	}
	st.addBytes(j)
	if st.queuedCount++; len(q.jobs) == 1 {
		st.filledQueues++
	}
}

// hand gives a job to the consumer that has waited longest on a queue; there must be one.
func (st *Store[J, E]) hand(cause E, q *queue[J], j J) {
	w := q.waiting.Front().Value.(*Waiter[J]) //nolint:forcetypeassert // join adds nothing else
	st.leaveQueues(w)
	w.got <- st.reserve(cause, j)
	w.wake()
}

// Remove removes a job from wherever it is: its queue, the schedule, the retries, or the workers that hold it. It
// reports whether there was one.
func (st *Store[J, E]) Remove(id string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, l := range [...]*timeline[J]{&st.scheduled, &st.retries} {
		if i := slices.IndexFunc(l.items, func(h *TimedJob[J]) bool { return h.Job.ID() == id }); i >= 0 {
			st.subtractBytes(l.items[i].Job)
			l.cut(l.items[i])
			return true
		}
	}
	if h := st.reservations[id]; h != nil {
		return st.release(h)
	}
	return st.purge(id)
}

// Purge removes a job from its queue. It reports whether there was one.
func (st *Store[J, E]) Purge(id string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.purge(id)
}

func (st *Store[J, E]) purge(id string) bool {
	for _, q := range st.queues {
		if i := slices.IndexFunc(q.jobs, func(j J) bool { return j.ID() == id }); i >= 0 {
			j := q.jobs[i]
			q.jobs = slices.Delete(q.jobs, i, i+1)
			st.countRemoved(q, j)
			return true
		}
	}
	return false
}

// countRemoved updates the counts after a job was removed from the queue.
func (st *Store[J, E]) countRemoved(q *queue[J], j J) {
	st.subtractBytes(j)
	if st.queuedCount--; len(q.jobs) == 0 {
		st.filledQueues--
		st.forget(q)
	}
}

// queue returns the queue of that name, and creates it if there is none.
func (st *Store[J, E]) queue(name string) *queue[J] {
	q := st.queues[name]
	if q == nil {
		q = &queue[J]{name: name}
		st.queues[name] = q
	}
	return q
}

// forget removes a queue that has no jobs and no consumers, so that the map does not grow, unless it is to be kept.
func (st *Store[J, E]) forget(q *queue[J]) {
	if st.config.RetainDead && (q.isKnown || q.isPaused) {
		return
	}
	if len(q.jobs) == 0 && q.waiting.Len() == 0 && st.queues[q.name] == q {
		delete(st.queues, q.name)
	}
}

// joinQueues adds the waiter to the queues.
func (st *Store[J, E]) joinQueues(w *Waiter[J], queues []string) {
	for _, name := range queues {
		q := st.queue(name)
		w.places = append(w.places, place[J]{q, q.waiting.PushBack(w)})
	}
}

// leaveQueues removes the waiter from all its queues.
func (st *Store[J, E]) leaveQueues(w *Waiter[J]) {
	for _, p := range w.places {
		p.queue.waiting.Remove(p.element)
		st.forget(p.queue)
	}
	clear(w.places)
	w.places = w.places[:0]
}
