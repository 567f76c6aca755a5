package store

import (
	"container/list"
	"slices"
)

// queue holds jobs or waiting consumers, never both unless it is paused: a new job goes to the consumer that
// has waited longest.
type queue[J Job] struct {
	name    string
	jobs    []J       // the first one leaves next
	waiting list.List // of *Waiter[J]
	known   bool      // a job was put into it
	paused  bool      // it gives no job to consumers
}

// add adds a job at the end, or before the last ones that leave later.
func (q *queue[J]) add(j J, before func(j, earlier J) bool) {
	i := len(q.jobs)
	for before != nil && i > 0 && before(j, q.jobs[i-1]) {
		i--
	}
	q.jobs = slices.Insert(q.jobs, i, j)
}

// pop removes and returns the first job; there must be one.
func (q *queue[J]) pop() J {
	var none J
	j := q.jobs[0]
	q.jobs[0] = none
	q.jobs = q.jobs[1:]
	return j
}

// Waiter is a consumer that waits for a job. It can be used again.
type Waiter[J Job] struct {
	got    chan *Held[J] // holds one
	wake   func()
	places []place[J]
}

type place[J Job] struct {
	queue   *queue[J]
	element *list.Element
}

// NewWaiter returns a waiter. wake is called, under the lock of the store, when there is a job in C.
func NewWaiter[J Job](wake func()) *Waiter[J] {
	return &Waiter[J]{got: make(chan *Held[J], 1), wake: wake}
}

// C returns the channel of the job. It holds one.
func (w *Waiter[J]) C() <-chan *Held[J] { return w.got }

// enqueue gives a job to the consumer that waits for it, or adds it to its queue.
func (st *Store[J, E]) enqueue(by E, j J) {
	if s, skip := st.ask(Enqueuing, Step[J, E]{By: by, Job: j}); !skip {
		st.put(by, s.Job, s.Front)
	}
}

func (st *Store[J, E]) put(by E, j J, front bool) {
	q := st.queue(j.Queue())
	q.known = true
	if q.waiting.Len() > 0 && !q.paused {
		st.hand(by, q, j)
		return
	}
	st.fill(q, j, front)
}

// fill adds a job to its queue, on which no consumer waits.
func (st *Store[J, E]) fill(q *queue[J], j J, front bool) {
	if front {
		q.jobs = slices.Insert(q.jobs, 0, j)
	} else {
		q.add(j, st.config.Before)
	}
	st.keep(j)
	if st.jobs++; len(q.jobs) == 1 {
		st.filled++
	}
}

// hand gives a job to the consumer that has waited longest on a queue; there must be one.
func (st *Store[J, E]) hand(by E, q *queue[J], j J) {
	w := q.waiting.Front().Value.(*Waiter[J]) //nolint:forcetypeassert // join adds nothing else
	st.part(w)
	w.got <- st.reserve(by, j)
	w.wake()
}

// Remove removes a job from wherever it is: its queue, the schedule, the retries, or the workers that hold it. It
// reports whether there was one.
func (st *Store[J, E]) Remove(id string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, l := range [...]*timeline[J]{&st.scheduled, &st.retries} {
		if i := slices.IndexFunc(l.items, func(h *Held[J]) bool { return h.Job.ID() == id }); i >= 0 {
			st.drop(l.items[i].Job)
			l.cut(l.items[i])
			return true
		}
	}
	if h := st.held[id]; h != nil {
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
			st.removed(q, j)
			return true
		}
	}
	return false
}

// removed updates the counts after a job was removed from the queue.
func (st *Store[J, E]) removed(q *queue[J], j J) {
	st.drop(j)
	if st.jobs--; len(q.jobs) == 0 {
		st.filled--
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
	if st.config.Keep && (q.known || q.paused) {
		return
	}
	if len(q.jobs) == 0 && q.waiting.Len() == 0 && st.queues[q.name] == q {
		delete(st.queues, q.name)
	}
}

// join adds the waiter to the queues.
func (st *Store[J, E]) join(w *Waiter[J], queues []string) {
	for _, name := range queues {
		q := st.queue(name)
		w.places = append(w.places, place[J]{q, q.waiting.PushBack(w)})
	}
}

// part removes the waiter from all its queues.
func (st *Store[J, E]) part(w *Waiter[J]) {
	for _, p := range w.places {
		p.queue.waiting.Remove(p.element)
		st.forget(p.queue)
	}
	clear(w.places)
	w.places = w.places[:0]
}
