package fakes

import "container/list"

// queue holds jobs or waiting consumers, never both: a job that comes goes to the
// one who has waited longest.
type queue struct {
	name    string
	jobs    ring
	waiting list.List // of *waiter
}

// ring is a first-in-first-out list that also takes things back at its head.
type ring struct {
	items []*job
	head  int
	size  int
}

func (r *ring) len() int { return r.size }

func (r *ring) pushBack(j *job) {
	r.grow()
	r.items[(r.head+r.size)%len(r.items)] = j
	r.size++
}

func (r *ring) pushFront(j *job) {
	r.grow()
	r.head = (r.head + len(r.items) - 1) % len(r.items)
	r.items[r.head] = j
	r.size++
}

// pop takes the first one; there must be one.
func (r *ring) pop() *job {
	j := r.items[r.head]
	r.items[r.head] = nil
	r.head = (r.head + 1) % len(r.items)
	r.size--
	return j
}

func (r *ring) grow() {
	if r.size < len(r.items) {
		return
	}
	items := make([]*job, max(4, 2*r.size))
	for i := range r.size {
		items[i] = r.items[(r.head+i)%len(r.items)]
	}
	r.items, r.head = items, 0
}

// waiter is a consumer whose FETCH waits. A connection has one and uses it again.
type waiter struct {
	got    chan *timed // holds one
	wake   func()      // ends the reading that the connection waits in
	places []place
}

type place struct {
	queue   *queue
	element *list.Element
}

// queue gives the queue of that name, made if there is none.
func (st *store) queue(name string) *queue {
	q := st.queues[name]
	if q == nil {
		q = &queue{name: name}
		st.queues[name] = q
	}
	return q
}

// tidy forgets a queue that nobody needs, so that names do not pile up.
func (st *store) tidy(q *queue) {
	if q.jobs.len() == 0 && q.waiting.Len() == 0 && st.queues[q.name] == q {
		delete(st.queues, q.name)
	}
}

// join has the waiter wait on the queues.
func (st *store) join(w *waiter, queues []string) {
	for _, name := range queues {
		q := st.queue(name)
		w.places = append(w.places, place{q, q.waiting.PushBack(w)})
	}
}

// part takes the waiter out of all its queues.
func (st *store) part(w *waiter) {
	for _, p := range w.places {
		p.queue.waiting.Remove(p.element)
		st.tidy(p.queue)
	}
	clear(w.places)
	w.places = w.places[:0]
}
