package store

import "container/list"

// queue holds jobs or waiting consumers, never both: a job that comes goes to the
// one who has waited longest.
type queue[J Job] struct {
	name    string
	jobs    ring[J]
	waiting list.List // of *Waiter[J]
}

// ring is a first-in-first-out list that also takes things back at its head.
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

// pop takes the first one; there must be one.
func (r *ring[J]) pop() J {
	var none J
	j := r.items[r.head]
	r.items[r.head] = none
	r.head = (r.head + 1) % len(r.items)
	r.size--
	return j
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

// Waiter is a consumer that waits for a job. A connection has one and uses it again.
type Waiter[J Job] struct {
	got    chan *Held[J] // holds one
	wake   func()
	places []place[J]
}

type place[J Job] struct {
	queue   *queue[J]
	element *list.Element
}

// NewWaiter returns a waiter. wake is called, under the lock of the store, when a job was put into C.
func NewWaiter[J Job](wake func()) *Waiter[J] {
	return &Waiter[J]{got: make(chan *Held[J], 1), wake: wake}
}

// C returns the channel that the job comes on. It holds one.
func (w *Waiter[J]) C() <-chan *Held[J] { return w.got }

// enqueue hands a job to the consumer that waits for it, or puts it into its queue.
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
	}
	if st.jobs++; q.jobs.len() == 1 {
		st.filled++
	}
}

// Purge takes a job out of its queue, wherever it is there. It reports whether there was one.
func (st *Store[J, E]) Purge(id string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
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
			if st.jobs--; q.jobs.len() == 0 {
				st.filled--
				st.forget(q)
			}
			return true
		}
	}
	return false
}

// queue returns the queue of that name, made if there is none.
func (st *Store[J, E]) queue(name string) *queue[J] {
	q := st.queues[name]
	if q == nil {
		q = &queue[J]{name: name}
		st.queues[name] = q
	}
	return q
}

// forget removes a queue without jobs and consumers, so that names do not pile up.
func (st *Store[J, E]) forget(q *queue[J]) {
	if q.jobs.len() == 0 && q.waiting.Len() == 0 && st.queues[q.name] == q {
		delete(st.queues, q.name)
	}
}

// join has the waiter wait on the queues.
func (st *Store[J, E]) join(w *Waiter[J], queues []string) {
	for _, name := range queues {
		q := st.queue(name)
		w.places = append(w.places, place[J]{q, q.waiting.PushBack(w)})
	}
}

// part takes the waiter out of all its queues.
func (st *Store[J, E]) part(w *Waiter[J]) {
	for _, p := range w.places {
		p.queue.waiting.Remove(p.element)
		st.forget(p.queue)
	}
	clear(w.places)
	w.places = w.places[:0]
}
