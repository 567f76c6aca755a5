package main

import (
	"slices"
	"time"
)

// A store holds each job in exactly one place.
type store struct {
	lastID    int64
	queues    map[string]*queue
	waiters   map[string][]*waiter
	scheduled []*job
	retries   []*job
	dead      []*job
	working   map[string][]*job // by jid, which a careless producer may use twice
	finished  map[string]*job   // only a mutant looks at it
	pushed    int64
	processed int64
	failures  int64
}

type queue struct {
	jobs   []*job
	popped int
}

// A waiter is a FETCH that found nothing yet.
type waiter struct {
	c      *conn
	queues []string
	job    chan *job // takes one without blocking
}

func newStore() store {
	return store{
		queues:   map[string]*queue{},
		waiters:  map[string][]*waiter{},
		working:  map[string][]*job{},
		finished: map[string]*job{},
	}
}

func (st *store) knows(jid string) bool {
	same := func(j *job) bool { return j.jid == jid }
	for _, q := range st.queues {
		if slices.ContainsFunc(q.jobs, same) {
			return true
		}
	}
	return len(st.working[jid]) > 0 || slices.ContainsFunc(st.scheduled, same) ||
		slices.ContainsFunc(st.retries, same)
}

// enqueue hands a job to a FETCH that waits for it, or puts it into its queue.
func (s *server) enqueue(j *job, again bool) {
	st := &s.store
	if !again || s.mutant != 43 || j.enqueued.IsZero() {
		j.enqueued = s.now()
	}
	st.pushed++
	if s.handOver(j) {
		return
	}
	q := st.queues[j.queue]
	if q == nil {
		q = &queue{}
		st.queues[j.queue] = q
	}
	switch {
	case s.mutant == 32 && len(q.jobs) >= 16 && q.popped > 0:
		q.jobs[len(q.jobs)-1] = j
	case s.variant == 14 || (s.variant == 15 && again):
		q.jobs = slices.Insert(q.jobs, 0, j)
	default:
		q.jobs = append(q.jobs, j)
	}
	s.note(j, "enqueued")
}

// handOver gives a job to the FETCH that has waited longest for its queue.
func (s *server) handOver(j *job) bool {
	waiting := s.store.waiters[j.queue]
	if len(waiting) == 0 {
		return false
	}
	first := waiting[0]
	s.dropWaiter(first)
	s.reserve(j, first.c)
	first.job <- j
	switch s.mutant {
	case 31:
		for _, other := range waiting[1:] {
			s.dropWaiter(other)
			other.job <- j
		}
	case 60:
		for _, other := range waiting[1:] {
			s.dropWaiter(other)
		}
	}
	return true
}

func (s *server) addWaiter(w *waiter) {
	for _, name := range w.queues {
		s.store.waiters[name] = append(slices.Clone(s.store.waiters[name]), w)
	}
}

// dropWaiter makes a new list, because handOver may still walk along the old one.
func (s *server) dropWaiter(w *waiter) {
	for _, name := range w.queues {
		var left []*waiter
		for _, other := range s.store.waiters[name] {
			if other != w {
				left = append(left, other)
			}
		}
		s.store.waiters[name] = left
	}
}

// take removes the first job of the first queue that has one.
func (s *server) take(names []string, c *conn) *job {
	for _, name := range names {
		q := s.store.queues[name]
		if q == nil || len(q.jobs) == 0 {
			continue
		}
		j := q.jobs[0]
		q.jobs = q.jobs[1:]
		q.popped++
		s.reserve(j, c)
		return j
	}
	return nil
}

// reserve gives a job to a consumer until its deadline.
func (s *server) reserve(j *job, c *conn) {
	from := s.now()
	if s.mutant == 50 {
		from = j.enqueued
	}
	j.deadline = from.Add(j.reserve)
	j.holder = c
	s.store.working[j.jid] = append(s.store.working[j.jid], j)
	s.note(j, "working")
}

// release takes a job out of the working set.
func (s *server) release(j *job) {
	left := slices.DeleteFunc(slices.Clone(s.store.working[j.jid]), func(o *job) bool { return o == j })
	s.store.working[j.jid] = left
	if len(left) == 0 {
		delete(s.store.working, j.jid)
	}
	j.holder = nil
}

// held finds the working job that an ACK or FAIL of this connection means.
func (s *server) held(jid string, c *conn) *job {
	jobs := s.store.working[jid]
	for _, j := range jobs {
		if j.holder == c {
			return j
		}
	}
	if len(jobs) > 0 {
		return jobs[0]
	}
	return nil
}

// purge forgets a job for good.
func (s *server) purge(j *job) { s.note(j, "gone") }

func (s *server) forgetReservations(c *conn) {
	for _, jobs := range s.store.working {
		for _, j := range jobs {
			if j.holder == c {
				j.deadline = s.now().Add(1000 * time.Hour)
			}
		}
	}
}

// flush clears everything; the connections and their workers stay.
func (s *server) flush() {
	old := s.store
	s.store = newStore()
	s.store.lastID = old.lastID
	s.store.waiters = old.waiters
	switch s.mutant {
	case 68:
		s.store.scheduled = old.scheduled
	case 69:
		s.store.working = old.working
	}
	if s.mutant != 77 {
		s.noteFlush()
	}
}
