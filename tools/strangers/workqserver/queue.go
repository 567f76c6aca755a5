package main

import (
	"slices"
)

// queue holds the jobs of one name: those that are ready, best first, and those that are scheduled.
type queue struct {
	name      string
	ready     []*job
	scheduled []*job
	ghosts    int // only mutant 24 counts here
}

// before tells whether a is to be leased before b.
func (s *server) before(a, b *job) bool {
	if s.mutant == 20 {
		if d := int32(a.key) - int32(b.key); d != 0 {
			return d > 0
		}
		return a.seq < b.seq
	}
	if a.key != b.key {
		return a.key > b.key
	}
	return a.seq < b.seq
}

// insert puts a job into its queue behind all that go before it.
func (s *server) insert(q *queue, j *job) {
	i := len(q.ready)
	for i > 0 && s.before(j, q.ready[i-1]) {
		i--
		if s.mutant == 21 {
			break
		}
	}
	q.ready = slices.Insert(q.ready, i, j)
}

// enqueue makes a job ready: a lease that waits for it gets it, and otherwise it stands in its queue.
func (s *server) enqueue(j *job) {
	s.seq++
	j.seq = s.seq
	if s.variant == 9 || s.variant == 10 && j.attempts > 0 {
		j.seq = -s.seq
	}
	s.insert(s.queueOf(j.name), j)
	s.dispatch(j.name)
}

// dispatch gives the jobs of a name to the leases that wait for them, the longest wait first.
func (s *server) dispatch(name string) {
	q := s.queueOf(name)
	for len(q.ready) > 0 {
		i := slices.IndexFunc(s.waiters, func(w *waiter) bool { return w.wants(name) })
		if i < 0 {
			return
		}
		w := s.waiters[i]
		s.waiters = slices.Delete(s.waiters, i, i+1)
		w.got <- s.take(q)
		if s.mutant == 16 {
			s.dismiss(name)
		}
	}
}

// dismiss sends away all other leases that wait for a name.
func (s *server) dismiss(name string) {
	s.waiters = slices.DeleteFunc(s.waiters, func(w *waiter) bool {
		if w.wants(name) {
			w.got <- nil
			return true
		}
		return false
	})
}

// remove takes a job out of the queues it stands in.
func (q *queue) remove(j *job) {
	same := func(o *job) bool { return o == j }
	q.ready = slices.DeleteFunc(q.ready, same)
	q.scheduled = slices.DeleteFunc(q.scheduled, same)
}
