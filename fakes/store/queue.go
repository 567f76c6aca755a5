package store

import (
	"container/list"
	"iter"
	"slices"
)

// queue holds jobs or waiting consumers, never both: a new job goes to the consumer that
// has waited longest.
type queue[J Job] struct {
	name    string
	jobs    ring[J]
	waiting list.List // of *Waiter[J]
}

// ring is a first-in-first-out list to which jobs can also be added at its head.
type ring[J Job] struct {
	items []J
	head  int
	size  int
}

func (r *ring[J]) len() int { return r.size }

func (r *ring[J]) pushBack(j J) {
	r.grow()
	r.items[(r.head+r.size)%len(r.items)] = j
	r.size++
}

func (r *ring[J]) pushFront(j J) {
	r.grow()
	r.head = (r.head + len(r.items) - 1) % len(r.items)
	r.items[r.head] = j
	r.size++
}

// overtake moves the last job before those that it leaves its queue before.
func (r *ring[J]) overtake(before func(j, earlier J) bool) {
	if before == nil {
		return
	}
	place := func(i int) *J { return &r.items[(r.head+i)%len(r.items)] }
	for i := r.size - 1; i > 0 && before(*place(i), *place(i - 1)); i-- {
		*place(i), *place(i - 1) = *place(i - 1), *place(i)
	}
}

// pop removes and returns the first job; there must be one.
func (r *ring[J]) pop() J {
	var none J
	j := r.items[r.head]
	r.items[r.head] = none
	r.head = (r.head + 1) % len(r.items)
	r.size--
	return j
}

// all returns the jobs in their order.
func (r *ring[J]) all() iter.Seq[J] {
	return func(yield func(J) bool) {
		for i := range r.size {
			if !yield(r.items[(r.head+i)%len(r.items)]) {
				return
			}
		}
	}
}

func (r *ring[J]) grow() {
	if r.size < len(r.items) {
		return
	}
	items := make([]J, max(4, 2*r.size))
	for i := range r.size {
		items[i] = r.items[(r.head+i)%len(r.items)]
	}
	r.items, r.head = items, 0
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
	if first := q.waiting.Front(); first != nil {
		w := first.Value.(*Waiter[J])
		st.part(w)
		w.got <- st.reserve(by, j)
		w.wake()
		return
	}
	if front {
		q.jobs.pushFront(j)
	} else {
		q.jobs.pushBack(j)
		q.jobs.overtake(st.config.Before)
	}
	st.keep(j)
	if st.jobs++; q.jobs.len() == 1 {
		st.filled++
	}
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
		for i := range q.jobs.len() {
			j := q.jobs.pop()
			if j.ID() != id {
				q.jobs.pushBack(j)
				continue
			}
			for range q.jobs.len() - i { // the rest keeps its order
				q.jobs.pushBack(q.jobs.pop())
			}
			st.removed(q, j)
			return true
		}
	}
	return false
}

// removed updates the counts after a job was removed from the queue.
func (st *Store[J, E]) removed(q *queue[J], j J) {
	st.drop(j)
	if st.jobs--; q.jobs.len() == 0 {
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

// forget removes a queue that has no jobs and no consumers, so that the map does not grow.
func (st *Store[J, E]) forget(q *queue[J]) {
	if q.jobs.len() == 0 && q.waiting.Len() == 0 && st.queues[q.name] == q {
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
